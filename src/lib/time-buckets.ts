import { DAY_MS, HOUR_MS } from "./time.ts";

export const BUCKET_UNITS = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
export type BucketUnit = (typeof BUCKET_UNITS)[number];

/** Not more than the shortest bucket of a unit: changes of the clocks shorten some. */
const SHORTEST: Readonly<Record<BucketUnit, number>> = {
  HOUR: HOUR_MS / 2,
  DAY: DAY_MS / 2,
  WEEK: 6 * DAY_MS,
  MONTH: 26 * DAY_MS,
};

/**
 * The edges of the buckets that cover the half-open range: one more than buckets, in ms since 1970. The first lies at or
 * before `from`, the last at or after `to`. Null if there would be more than `most` buckets.
 *
 * A day begins at the first moment of its date in the zone, whatever the clocks do at midnight. A week begins on Monday.
 * An hour begins at minute 0 of the zone's clocks, and where these are set back or forward.
 */
export function bucketEdges(
  unit: BucketUnit,
  timeZone: string,
  range: { readonly from: Date; readonly to: Date },
  most: number,
): readonly number[] | null {
  const [from, to] = [range.from.getTime(), range.to.getTime()];
  if ((to - from) / SHORTEST[unit] > 2 * most + 2) return null;
  const zone = new Zone(timeZone);
  const edges = unit === "HOUR" ? hourEdges(zone, from, to) : dateEdges(unit, zone, from, to);
  return edges.length > most + 1 ? null : edges;
}

function hourEdges(zone: Zone, from: number, to: number): readonly number[] {
  const edges = [zone.lastHour(from)];
  for (let edge = zone.nextHour(from); ; edge = zone.nextHour(edge)) {
    edges.push(edge);
    if (edge >= to) return edges;
  }
}

function dateEdges(unit: Exclude<BucketUnit, "HOUR">, zone: Zone, from: number, to: number): readonly number[] {
  const edges: number[] = [];
  // Clocks that were set back over midnight may show an earlier date again: one unit before is early enough.
  for (let index = -1; ; index += 1) {
    const edge = zone.startOf(dateOf(unit, zone.clock(from), index));
    if (edge <= from) edges.length = 0;
    // A date that a zone left out has no moment.
    if (edge !== edges.at(-1)) edges.push(edge);
    if (edge >= to) return edges;
  }
}

/** The date, `index` units after the one of the given local time, as midnight in UTC. */
function dateOf(unit: Exclude<BucketUnit, "HOUR">, local: number, index: number): number {
  const date = new Date(local);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (unit) {
    case "DAY":
      return midnight(year, month, day + index);
    case "WEEK":
      return midnight(year, month, day - ((date.getUTCDay() + 6) % 7) + 7 * index);
    case "MONTH":
      return midnight(year, month + index, 1);
  }
}

/** `Date.UTC` takes years below 100 for those of the twentieth century. */
function midnight(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** The clocks of an IANA zone. Local times are in ms, as if the zone were UTC. */
class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  }

  clock(time: number): number {
    return time + this.#offset(time);
  }

  /** The first moment at which the clocks show the local time or a later one. */
  startOf(local: number): number {
    const [before, after] = [local - DAY_MS, local + DAY_MS];
    const [early, late] = [this.#offset(before), this.#offset(after)];
    if (early === late) return local - early;
    const change = this.#changeBetween(before, after);
    return local - early < change ? local - early : Math.max(change, local - late);
  }

  lastHour(time: number): number {
    const start = this.#startOfHour(time);
    return this.#offset(start) === this.#offset(time) ? start : this.#changeBetween(start, time);
  }

  nextHour(time: number): number {
    const next = this.#startOfHour(time) + HOUR_MS;
    return this.#offset(next) === this.#offset(time) ? next : this.#changeBetween(time, next);
  }

  #startOfHour(time: number): number {
    const local = this.clock(time);
    return Math.floor(local / HOUR_MS) * HOUR_MS - this.#offset(time);
  }

  /** The moment at which the clocks are changed, known to lie in the half-open range after `before`. */
  #changeBetween(before: number, after: number): number {
    const early = this.#offset(before);
    let [low, high] = [before, after];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#offset(middle) === early) low = middle;
      else high = middle;
    }
    return high;
  }

  #offset(time: number): number {
    const known = this.#offsets.get(time);
    if (known !== undefined) return known;
    const name = this.#format.formatToParts(time).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign = "+", hours = "0", minutes = "0", seconds = "0"] = /([+\u2212-])(\d+)(?::(\d+))?(?::(\d+))?/.exec(name) ?? [];
    const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 * (sign === "+" ? 1 : -1);
    this.#offsets.set(time, offset);
    return offset;
  }
}
