import { timeAfter, timesPassed } from "./next-time.ts";
import type { TimeTrigger } from "./trigger.ts";

/** The policies for times at which a schedule could not trigger. */
export const MISSED_POLICIES = ["SKIP", "ONCE", "ALL"] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** The most reminders of one schedule that wait for its agent, by its policy: with ALL, that many times are made up. */
export const MOST_WAITING: Readonly<Record<MissedPolicy, number>> = { SKIP: 1, ONCE: 1, ALL: 10 };
/** The age in ms at which a time counts as missed. */
export const LATE_MS = 60_000;

/** A schedule as a look finds it. `waiting`: its reminders that have not joined. `owed`: its times without a reminder so far. */
export type FoundSchedule = {
  readonly trigger: TimeTrigger;
  readonly policy: MissedPolicy;
  readonly nextAt: Date;
  readonly countsAfter: Date | null;
  readonly owed: number;
  readonly waiting: number;
};

/** The outcome of a look: a reminder for one time or none, and the next time; null if there is none. */
export type Looked = {
  readonly reminder: { readonly dueAt: Date; readonly missed: number } | null;
  readonly nextAt: Date | null;
  readonly owed: number;
};

/** Looks at a schedule whose time has come. */
export function lookAt({ trigger, policy, nextAt, countsAfter, owed, waiting }: FoundSchedule, now: Date): Looked {
  const isPast = countsAfter !== null && nextAt <= countsAfter;
  const first = isPast ? timeAfter(trigger, nextAt, countsAfter) : nextAt;
  if (first === null || first > now) return { reminder: null, nextAt: first, owed };
  const room = MOST_WAITING[policy] - waiting;
  const { count, newest } = timesPassed(trigger, first, now, MOST_WAITING[policy]);
  const next = timeAfter(trigger, first, now);
  const last = newest.at(-1) ?? first;
  const isLate = now.getTime() - last.getTime() > LATE_MS;
  if (room <= 0 || (policy === "SKIP" && isLate)) return { reminder: null, nextAt: next, owed: owed + count };
  if (policy !== "ALL") return { reminder: { dueAt: last, missed: owed + count - 1 }, nextAt: next, owed: 0 };
  const kept = newest.slice(-room);
  const [dueAt = last, following = next] = kept;
  return { reminder: { dueAt, missed: owed + count - kept.length }, nextAt: following, owed: 0 };
}
