import type { Clock } from "../../src/lib/clock.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** A clock that runs, and that a test may move on. */
export function movableClock(): Clock & { passHours(hours: number): void } {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    passHours: (hours) => {
      ahead += hours * HOUR_MS;
    },
  };
}
