/** The source of the time; tests replace it. Leases do not use it: only the database's clock counts for them. */
export type Clock = {
  now(): Date;
  /** Ms of a monotonic clock, for durations. */
  monotonicMs(): number;
};

export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };

export const DAY_MS = 24 * 60 * 60 * 1_000;

/** The ms since a moment of `performance.now()`, rounded to µs: further digits are noise. */
export function msSince(moment: number): number {
  return Math.round((performance.now() - moment) * 1_000) / 1_000;
}
