/** The source of the time; tests give their own. Leases do not use it: only the database's clock counts there. */
export type Clock = {
  /** The time of day, for what people see and policies compare. */
  now(): Date;
};

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() };

/** A day, in ms. */
export const DAY_MS = 24 * 60 * 60 * 1_000;
