import type { BucketUnit } from "../../generated/documents.ts";
import { days, type AuditSearch } from "../filters.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The units of buckets. `atLeast` is the shortest bucket of a unit, `upTo` the longest range for which it is chosen; ms. */
const UNITS = [
  { unit: "HOUR", atLeast: HOUR_MS, upTo: 3 * DAY_MS },
  { unit: "DAY", atLeast: 22 * HOUR_MS, upTo: 92 * DAY_MS },
  { unit: "WEEK", atLeast: 166 * HOUR_MS, upTo: 730 * DAY_MS },
  { unit: "MONTH", atLeast: 28 * DAY_MS - 2 * HOUR_MS, upTo: Infinity },
] as const satisfies readonly { readonly unit: BucketUnit; readonly atLeast: number; readonly upTo: number }[];

/** The most buckets of an answer. */
const MOST_BUCKETS = 1_000;

/** Buckets that the ends of a range, and changes of the clocks, may add. */
const SPARE_BUCKETS = 10;

/** The days of a range that the address leaves out, the present one included. */
const USUAL_DAYS = 30;

export type ChartRange = {
  readonly from: string;
  /** Null is the present. */
  readonly to: string | null;
  readonly unit: BucketUnit;
  /** Units whose buckets fit an answer. */
  readonly units: readonly BucketUnit[];
};

/** The range and the buckets of the address. A unit that does not fit is replaced. */
export function chartRange(search: AuditSearch, now: Date): ChartRange {
  const given = days(search);
  const to = given?.to ?? null;
  const end = to === null ? now : new Date(Date.parse(to) - 1);
  const from = given?.from ?? new Date(end.getFullYear(), end.getMonth(), end.getDate() - USUAL_DAYS + 1, 0, 0, 0).toISOString();
  const length = end.getTime() - Date.parse(from);
  const fitting = UNITS.filter(({ atLeast }) => length <= (MOST_BUCKETS - SPARE_BUCKETS) * atLeast);
  const units = fitting.map(({ unit }) => unit);
  const usual = UNITS.find(({ upTo }) => length <= upTo)?.unit ?? "MONTH";
  return { from, to, unit: units.find((unit) => unit === search.bucket) ?? usual, units };
}

/** The zone of the browser, in which the days of the address begin. */
export function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
