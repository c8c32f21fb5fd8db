import type { Clock } from "../../src/lib/time.ts";
import type { Sql } from "../../src/db/sql.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** A clock by which it is the time of day that the test says, however often that goes back. */
export function clockOf(now: () => Date): Clock {
  return { now, monotonicMs: () => performance.now() };
}

/** A clock that only runs on as the test says, also for durations. */
export function runningClock(now: () => Date): Clock {
  return { now, monotonicMs: () => now().getTime() };
}

/** A clock that runs, and that a test may move on, with the time by which a database removes, denies and ends. */
export function movableClock(): Clock & {
  passHours(hours: number, databases?: readonly { readonly sql: Sql }[]): Promise<void>;
} {
  let aheadMs = 0;
  let passedMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    monotonicMs: () => performance.now() + passedMs,
    passHours: async (hours, databases = []) => {
      aheadMs += hours * HOUR_MS;
      passedMs += Math.max(0, hours) * HOUR_MS;
      for (const { sql } of databases) await setPolicyTime(sql, `statement_timestamp() + interval '${aheadMs} ms'`);
    },
  };
}

/** Lets a database of a test have another time by which it removes, denies and ends: an expression of SQL. */
export async function setPolicyTime(sql: Sql, time: string): Promise<void> {
  const text = `CREATE OR REPLACE FUNCTION policy_time() RETURNS timestamptz LANGUAGE sql STABLE AS $function$ SELECT ${time} $function$`;
  // Its text is another one each time.
  await sql.query({ name: "", text }, []);
}

/** A clock that stands still where no test moves it on: 20 s after a full minute. */
export function stillClock(): Clock & { passMs(ms: number): void } {
  let time = Date.UTC(2031, 0, 1, 12, 0, 20);
  return {
    ...runningClock(() => new Date(time)),
    passMs: (ms) => {
      time += ms;
    },
  };
}
