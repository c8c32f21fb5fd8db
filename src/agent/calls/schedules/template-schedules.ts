import { Type } from "typebox";
import { closed, TEXT, withDefault, type Written } from "../../../lib/setting.ts";
import { refused, accepted, type Result } from "../../../lib/result.ts";
import { reminderProblem } from "../reminder.ts";
import { MISSED_POLICIES } from "./look.ts";
import type { WantedSchedule } from "./schedule.ts";
import { readTrigger } from "./trigger.ts";

const TRIGGER_SETTINGS = {
  /** A number of steps of the agent; they begin no turn. None if omitted. */
  everySteps: Type.Optional(Type.Integer()),
  /** Elapsed time in ms, from 60,000 to 366 days. None if omitted. */
  everyMs: Type.Optional(Type.Integer()),
  /** Times of a wall clock, as five fields. None if omitted. */
  cron: Type.Optional(TEXT),
  /** A glob pattern of files in the workspace. None if omitted. */
  files: Type.Optional(TEXT),
  /** The IANA zone of `cron`, which requires it. None if omitted. */
  timeZone: Type.Optional(TEXT),
};

export const SCHEDULE_SETTINGS = {
  /** The text of the reminders, up to 8 KB. Must be given. */
  text: TEXT,
  /** The condition under which it sends a reminder: one of `everySteps`, `everyMs`, `cron` and `files`. Must be given. */
  trigger: closed(TRIGGER_SETTINGS),
  /** The policy for missed times: `SKIP`, `ONCE` or `ALL` (docs/schedules.md). `ONCE` if omitted. */
  missed: withDefault(Type.Enum([...MISSED_POLICIES]), "ONCE"),
};

/** A schedule of a template, or the field that is wrong and why. */
export function readSchedule(
  { text, trigger, missed = "ONCE" }: Written<typeof SCHEDULE_SETTINGS>,
  now: Date,
): Result<WantedSchedule, { readonly field: readonly string[]; readonly message: string }> {
  const problem = reminderProblem(text);
  if (problem !== null) return refused({ field: ["text"], message: problem.message });
  const read = readTrigger(trigger, now);
  if (read.ok) return accepted({ text, trigger: read.value, missed });
  const { field, message } = read.refusal;
  return refused({ field: ["trigger", ...(field === null ? [] : [field])], message });
}
