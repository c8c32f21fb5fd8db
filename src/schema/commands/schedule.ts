import { changeSchedule, createSchedule, scheduleByRow } from "../../resolvers/schedule.ts";
import { builder } from "../builder.ts";
import { payloadType } from "../payload.ts";
import { MissedPolicy, Schedule } from "../schedule.ts";

const ScheduleTriggerInput = builder.inputType("ScheduleTriggerInput", {
  description:
    "Condition under which a schedule sends its reminder: exactly one of `everySteps`, `at`, `everyMs`, `cron` and `files`.",
  fields: (t) => ({
    everySteps: t.int({ description: "Number of steps (model calls) of the agent, from 1 to 1,000,000. It begins no turn." }),
    at: t.field({ type: "DateTime", description: "A time in the future. The schedule is over then." }),
    everyMs: t.float({
      description: "Elapsed time in ms, from 60,000 (a minute) to 31,622,400,000 (366 days). Clocks that change do not matter.",
    }),
    cron: t.string({
      description: "Times of a wall clock as five fields: minute, hour, day, month and weekday, for example `0 9 * * 1-5`.",
    }),
    files: t.string({
      description:
        "Glob pattern of files in the workspace, for example `src/**/*.ts`. Changes count while the agent is idle, at most one reminder a minute.",
    }),
    timeZone: t.string({ description: "IANA zone of `cron`, for example `Europe/Berlin`. Required with `cron` only." }),
  }),
});

const CreateScheduleInput = builder.inputType("CreateScheduleInput", {
  description: "Input of `createSchedule`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    text: t.string({
      required: true,
      description: "Text of the reminders, at most 8 KB. The model reads it between `<system-reminder>` marks.",
    }),
    trigger: t.field({ type: ScheduleTriggerInput, required: true, description: "Condition under which it sends a reminder." }),
    missed: t.field({
      type: MissedPolicy,
      required: true,
      defaultValue: "ONCE",
      description: "Policy for missed times.",
    }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same schedule. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

function schedulePayload(name: string) {
  return payloadType(name, (t) => ({
    schedule: t.prismaField({
      type: Schedule,
      nullable: true,
      description: "The schedule. Null if the mutation failed, or if the schedule is over.",
      resolve: (query, { rowId }, _args, context) => scheduleByRow(context, rowId, query),
    }),
  }));
}

builder.mutationField("createSchedule", (t) =>
  t.field({
    type: schedulePayload("CreateSchedulePayload"),
    description:
      "Makes a schedule that sends reminders to an agent. By time, a reminder begins a turn or joins the running one; by steps it joins the step. The viewer counts as a requester of the turns that read them. INVALID for a wrong trigger. TOO_LARGE if the agent has 20 schedules. ARCHIVED if the agent is archived.",
    args: { input: t.arg({ type: CreateScheduleInput, required: true, description: "Agent, text and trigger." }) },
    resolve: (_root, { input }, context) => createSchedule(context, { ...input, idempotencyKey: input.idempotencyKey ?? null }),
  }),
);

function changed(change: "pause" | "resume" | "remove", name: string, description: string, of: string): void {
  const input = builder.inputType(`${name}Input`, {
    description: `Input of \`${of}\`.`,
    fields: (t) => ({ scheduleId: t.id({ required: true, description: "`id` of the schedule." }) }),
  });
  builder.mutationField(of, (t) =>
    t.field({
      type: schedulePayload(`${name}Payload`),
      description,
      args: { input: t.arg({ type: input, required: true, description: "Schedule." }) },
      resolve: (_root, args, context) => changeSchedule(context, change, args.input.scheduleId),
    }),
  );
}

changed(
  "pause",
  "PauseSchedule",
  "Pauses a schedule: it sends nothing until it is resumed. A reminder that waits already stays. Pausing it again changes nothing.",
  "pauseSchedule",
);
changed(
  "resume",
  "ResumeSchedule",
  "Resumes a paused schedule at its next time. Times that have passed meanwhile do not count, and an interval begins anew. INVALID if its only time has passed.",
  "resumeSchedule",
);
changed("remove", "DeleteSchedule", "Deletes a schedule. A reminder that waits already stays.", "deleteSchedule");
