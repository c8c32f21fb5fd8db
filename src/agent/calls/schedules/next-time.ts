import { cronOf, type TimeTrigger } from "./trigger.ts";

/** The most times that passed and are counted one by one. */
export const MOST_COUNTED = 100;

/**
 * The first time of a trigger after `after`; null if there is none. An interval is counted from `from`, so that it does
 * not drift; a wall clock is read in its zone.
 */
export function timeAfter(trigger: TimeTrigger, from: Date, after: Date): Date | null {
  switch (trigger.kind) {
    case "TIME":
      return Date.parse(trigger.at) > after.getTime() ? new Date(trigger.at) : null;
    case "INTERVAL": {
      const passed = Math.floor((after.getTime() - from.getTime()) / trigger.everyMs);
      return new Date(from.getTime() + Math.max(0, passed + 1) * trigger.everyMs);
    }
    case "CRON":
      return cronOf(trigger).nextRun(after);
  }
}

/** The times that passed: their number up to MOST_COUNTED, and the newest ones, oldest first. */
export type Passed = { readonly count: number; readonly newest: readonly Date[] };

/** The times of a trigger from `first`, which is one of them, up to `now`; at most `most` of the newest. */
export function timesPassed(trigger: TimeTrigger, first: Date, now: Date, most: number): Passed {
  switch (trigger.kind) {
    case "TIME":
      return { count: 1, newest: [first] };
    case "INTERVAL": {
      const all = Math.floor((now.getTime() - first.getTime()) / trigger.everyMs) + 1;
      const kept = Math.min(all, most);
      const newest = Array.from({ length: kept }, (_, n) => new Date(first.getTime() + (all - kept + n) * trigger.everyMs));
      return { count: Math.min(all, MOST_COUNTED), newest };
    }
    case "CRON": {
      const cron = cronOf(trigger);
      const times = [first];
      for (let next = cron.nextRun(first); next !== null && next <= now; next = cron.nextRun(next)) {
        times.push(next);
        if (times.length > MOST_COUNTED) return { count: MOST_COUNTED, newest: newestOf(trigger, now, most) };
      }
      return { count: Math.min(times.length, MOST_COUNTED), newest: times.slice(-most) };
    }
  }
}

/** The newest times of an expression up to `now`. */
function newestOf(trigger: Extract<TimeTrigger, { kind: "CRON" }>, now: Date, most: number): Date[] {
  return cronOf(trigger)
    .previousRuns(most, new Date(now.getTime() + 1))
    .toReversed();
}
