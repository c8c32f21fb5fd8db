import type { ScheduleMove } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { reminderSent } from "../../calls/reminder.ts";
import { specOf } from "../../calls/schedules/trigger.ts";
import type { StepSchedule } from "../../calls/schedules/schedule.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import type { AgentView } from "../view.ts";
import type { Reducer } from "./commit.ts";

export type SchedulesTriggered = {
  /** Reminders that join with the step, from the place `ordinal` on. */
  readonly messages: AddedMessages;
  readonly moves: readonly ScheduleMove[];
  readonly events: readonly AgentEventBody[];
  readonly after: Reducer;
};

/** The schedules that the step which starts triggers: their reminders join with it. */
export function schedulesTriggered(view: AgentView, ordinal: number, at: Date): SchedulesTriggered {
  const step = view.stepCount + 1;
  const due = view.schedules.filter(({ nextStep }) => nextStep <= step);
  const sent = due.map((schedule, index) => ({ schedule, ...sentOf(view, schedule, { step, ordinal: ordinal + index, at }) }));
  const moved = new Map(due.map((schedule) => [schedule.id, movedTo(schedule, step)]));
  return {
    messages: sent.map(({ message }) => message),
    moves: due.map(({ id, moves, triggered, everySteps }) => ({
      id,
      moves,
      due: null,
      set: { nextStep: step + everySteps, triggered: triggered + 1, lastTriggeredAt: at },
    })),
    events: sent.flatMap(({ events }) => events),
    after: (now) => ({ ...now, schedules: now.schedules.map((schedule) => moved.get(schedule.id) ?? schedule) }),
  };
}

type Place = { readonly step: number; readonly ordinal: number; readonly at: Date };

function sentOf(
  { id, tenant, turn }: AgentView,
  schedule: StepSchedule,
  { step, ordinal, at }: Place,
): { readonly message: AddedMessages[number]; readonly events: readonly AgentEventBody[] } {
  const { text, everySteps, createdBy, createdByKind } = schedule;
  const sent = reminderSent(
    { id, tenant },
    { text, category: "GENERAL", priority: "MEDIUM", startsTurn: false, scheduleId: schedule.id },
    { id: createdBy, kind: createdByKind },
    at,
  );
  const triggered: AgentEventBody = {
    kind: "SCHEDULER_TRIGGERED",
    taskId: schedule.id,
    spec: specOf({ kind: "STEPS", everySteps }),
    trigger: "STEPS",
    triggeredAt: at.toISOString(),
    dueAt: null,
    missed: 0,
    messageId: sent.id,
  };
  return { message: { ...sent.change.received, arrival: null, ordinal, turn, step }, events: [triggered, sent.event] };
}

function movedTo(schedule: StepSchedule, step: number): StepSchedule {
  const { everySteps, triggered, moves } = schedule;
  return { ...schedule, nextStep: step + everySteps, triggered: triggered + 1, moves: moves + 1 };
}
