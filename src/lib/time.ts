import { setTimeout as delay } from "node:timers/promises";

/** The source of the time; tests replace it. Leases do not use it: only the database's clock counts for them. */
export type Clock = {
  now(): Date;
  /** Ms of a monotonic clock, for durations. */
  monotonicMs(): number;
};

export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };

export const HOUR_MS = 60 * 60 * 1_000;
export const DAY_MS = 24 * HOUR_MS;

/** The ms since a moment of `performance.now()`, rounded to µs: further digits are noise. */
export function msSince(moment: number): number {
  return Math.round((performance.now() - moment) * 1_000) / 1_000;
}

/**
 * A time in the future that holds across sleep. The clock of `performance.now()` may stop while a machine is suspended
 * (CLOCK_MONOTONIC), and the time of day may be set back. It has passed when either clock says so.
 */
export class Deadline {
  readonly #monotonic: number;
  readonly #timeOfDay: number;

  constructor(ms: number) {
    this.#monotonic = performance.now() + ms;
    this.#timeOfDay = Date.now() + ms;
  }

  /** The remaining ms; 0 if it has passed. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.#monotonic - performance.now(), this.#timeOfDay - Date.now()));
  }

  get isOver(): boolean {
    return this.leftMs === 0;
  }
}

export type Rhythm = {
  readonly pauseMs: () => number;
  readonly firstMs?: number;
  readonly task: () => Promise<unknown>;
  /** Called if the task fails; it runs again after the next pause. */
  readonly onFailure: (error: unknown) => void;
};

/** Runs the task periodically until `signal` aborts. Resolves when the last run has ended; never rejects. */
export async function every({ pauseMs, firstMs, task, onFailure }: Rhythm, signal: AbortSignal): Promise<void> {
  for (let waitMs = firstMs ?? pauseMs(); !signal.aborted; waitMs = pauseMs()) {
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    try {
      await task();
    } catch (error) {
      onFailure(error);
    }
  }
}

/**
 * The wait after `tries` consecutive failures, in ms: `firstMs`, doubled each time, up to `lastMs`; randomised by a
 * fifth, so that clients that failed together retry apart.
 */
export function growingWait(tries: number, firstMs: number, lastMs: number): number {
  return Math.min(lastMs, firstMs * 2 ** (tries - 1)) * (0.8 + Math.random() * 0.4);
}

const WRITTEN = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

const YEAR_1 = Date.parse("0001-01-01T00:00:00Z");
const YEAR_10000 = Date.parse("9999-12-31T23:59:59.999Z") + 1;

/**
 * Parses RFC 3339 (seconds are optional) in the years 1 to 9999. Null for other texts, such as those without a zone, or
 * with an impossible date.
 */
export function readTime(text: string): Date | null {
  const day = WRITTEN.exec(text)?.[1];
  if (day === undefined) return null;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return null;
  const time = new Date(text.toUpperCase());
  return time.getTime() >= YEAR_1 && time.getTime() < YEAR_10000 ? time : null;
}

/** The time of a text exactly as `toISOString` writes it; null for others. */
export function exactTime(text: string): Date | null {
  const time = readTime(text);
  return time?.toISOString() === text ? time : null;
}

/** The time at which a UUID of version 7 was made (RFC 9562), in ms since 1970; null for other ids. */
export function idTime(id: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
}

/** True for the name of an IANA zone. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** PostgreSQL takes names such as CET and IST for abbreviations of fixed times. Names with a slash are zones to it, too. */
export function zoneInSql(zone: string): string {
  return zone.includes("/") ? zone : Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
}
