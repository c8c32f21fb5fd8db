/** The source of the time; tests give their own. Leases do not use it: only the database's clock counts there. */
export type Clock = {
  /** The time of day, for what people see, and for what is written. */
  now(): Date;
  /** Ms of a clock that only runs on, whoever sets the time of day: for how long something took, or may take. */
  monotonicMs(): number;
};

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };

/** A day, in ms. */
export const DAY_MS = 24 * 60 * 60 * 1_000;

/** The ms since a moment of `performance.now()`, to the µs: more digits say nothing, and would be stored. */
export function msSince(moment: number): number {
  return Math.round((performance.now() - moment) * 1_000) / 1_000;
}
