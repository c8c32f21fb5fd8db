import { randomUUIDv7 } from "node:crypto";
import type { OutsideChange } from "../../db/commit/change.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { ActorRef, ReminderCategory, ReminderPriority } from "../../events/snapshots.ts";
import { byteLength, storable } from "../../lib/text.ts";
import type { CommandRefusal } from "../actors/actor.ts";

/** A text that the model reads in the marks of a reminder. `startsTurn`: it begins a turn of an idle agent. */
export type Reminder = {
  readonly text: string;
  readonly category: ReminderCategory;
  readonly priority: ReminderPriority;
  readonly startsTurn: boolean;
  /** The schedule that sends it, if one does. */
  readonly scheduleId?: string;
};

/** The largest text of a reminder, in bytes of UTF-8: it fits into its event. */
export const REMINDER_BYTES = 8 * 1024;

/** The most reminders that may wait for an agent. They do not count among its messages. */
export const WAITING_REMINDERS = 50;

/** The same of reminders that begin no turn: they leave room for those that do. */
export const PASSIVE_REMINDERS = 40;

export function reminderProblem(text: string): CommandRefusal | null {
  if (text.trim() === "") return { code: "INVALID", field: ["text"], message: "the text is empty: say something" };
  if (byteLength(text) <= REMINDER_BYTES) return null;
  return {
    code: "TOO_LARGE",
    field: ["text"],
    message: `the text has ${byteLength(text)} bytes, and ${REMINDER_BYTES} is the most of a reminder: send a message, or name a file`,
  };
}

export type SentReminder = {
  readonly id: string;
  readonly change: Required<Pick<OutsideChange, "wake" | "queueLimit" | "received">>;
  readonly event: AgentEventBody;
};

/** The parts of the commit by which a reminder waits for an agent: it joins at the next step, or starts the next turn. */
export function reminderSent(
  agent: { readonly id: string; readonly tenant: string },
  { text, category, priority, startsTurn, scheduleId }: Reminder,
  sentBy: ActorRef,
  at: Date,
): SentReminder {
  const id = randomUUIDv7();
  const content = [{ type: "text", text: storable(text) }] as const;
  const bytes = byteLength(JSON.stringify(content));
  return {
    id,
    change: {
      wake: true,
      queueLimit: {
        messages: startsTurn ? WAITING_REMINDERS : PASSIVE_REMINDERS,
        bytes: WAITING_REMINDERS * REMINDER_BYTES * 8,
        added: bytes,
      },
      received: {
        id,
        tenant: agent.tenant,
        agentId: agent.id,
        kind: "REMINDER",
        content: [...content],
        bytes,
        ordinal: null,
        turn: null,
        step: null,
        createdBy: sentBy.id,
        createdByKind: sentBy.kind,
        createdAt: at,
        erasedAt: null,
        withdrawnAt: null,
        reminder: { category, priority, startsTurn, ...(scheduleId === undefined ? {} : { scheduleId }) },
      },
    },
    event: { kind: "REMINDER_SENT", messageId: id, category, priority, content: text, startsTurn, sentBy },
  };
}
