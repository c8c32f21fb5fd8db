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

/** A clock that stands still where no test moves it on: 20 s after a full minute. */
export function stillClock(): Clock & { passMs(ms: number): void } {
  let time = Date.UTC(2031, 0, 1, 12, 0, 20);
  return {
    now: () => new Date(time),
    passMs: (ms) => {
      time += ms;
    },
  };
}
