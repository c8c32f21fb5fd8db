import type { ActorRef, ReminderCategory, ReminderPriority } from "./snapshots.ts";

/** The bodies of the events of reminders, and of what sends them. */
export type ReminderEventBody = {
  readonly kind: "REMINDER_SENT";
  readonly messageId: string;
  readonly category: ReminderCategory;
  readonly priority: ReminderPriority;
  readonly content: string | null;
  readonly startsTurn: boolean;
  readonly sentBy: ActorRef;
};
