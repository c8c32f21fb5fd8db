import { messageByRow, remindAgent } from "../../resolvers/message.ts";
import { builder } from "../builder.ts";
import { ReminderCategory, ReminderPriority } from "../enums.ts";
import { Message } from "../message.ts";
import { payloadType } from "../payload.ts";

const RemindAgentInput = builder.inputType("RemindAgentInput", {
  description: "Input of `remindAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    text: t.string({
      required: true,
      description: "Text of the reminder, at most 8 KB. The model reads it between `<system-reminder>` marks.",
    }),
    category: t.field({
      type: ReminderCategory,
      required: true,
      defaultValue: "GENERAL",
      description: "Subject of the reminder, for people and programs: the model does not read it.",
    }),
    priority: t.field({
      type: ReminderPriority,
      required: true,
      defaultValue: "MEDIUM",
      description: "Importance of the reminder, for people and programs: the model does not read it.",
    }),
    startsTurn: t.boolean({
      required: true,
      defaultValue: false,
      description: "True if an idle agent begins a turn for it. Otherwise it waits for the next turn.",
    }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same message. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

const RemindAgentPayload = payloadType("RemindAgentPayload", (t) => ({
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: "The reminder, a message of kind REMINDER. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => messageByRow(context, rowId, query),
  }),
}));

builder.mutationField("remindAgent", (t) =>
  t.field({
    type: RemindAgentPayload,
    description:
      "Sends a reminder to an agent. It joins the conversation at the next step, and needs no answer: no DONE lists it. Its sender counts as a requester of the turn that reads it. ARCHIVED if the agent is archived. QUEUE_FULL if 50 reminders are queued for it, or 40 and this one begins no turn.",
    args: { input: t.arg({ type: RemindAgentInput, required: true, description: "Agent and reminder." }) },
    resolve: (_root, { input }, context) => remindAgent(context, { ...input, idempotencyKey: input.idempotencyKey ?? null }),
  }),
);
