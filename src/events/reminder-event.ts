import type { ActorRef, ReminderCategory, ReminderPriority, ScheduleChange, TriggerKind } from "./snapshots.ts";

/** The bodies of the events of reminders and schedules. */
export type ReminderEventBody = SentEvent | TriggeredEvent | ScheduleEvent;

type SentEvent = {
  readonly kind: "REMINDER_SENT";
  readonly messageId: string;
  readonly category: ReminderCategory;
  readonly priority: ReminderPriority;
  readonly content: string | null;
  readonly startsTurn: boolean;
  readonly sentBy: ActorRef;
};

/** Times in ISO 8601. `dueAt` is the planned one; null if a step triggered it. */
type TriggeredEvent = {
  readonly kind: "SCHEDULER_TRIGGERED";
  readonly taskId: string;
  readonly spec: string;
  readonly trigger: TriggerKind;
  readonly triggeredAt: string;
  readonly dueAt: string | null;
  /** The times since it last triggered that have no reminder. */
  readonly missed: number;
  readonly messageId: string;
};

type ScheduleEvent = {
  readonly kind: "SCHEDULE_CHANGED";
  readonly taskId: string;
  readonly spec: string;
  readonly scheduleChange: ScheduleChange;
  readonly changedBy: ActorRef;
};
