import type { ShapeProblem as Problem } from "../../db/commit/change.ts";
import { globalId } from "../../lib/global-id.ts";
import { answeredMessages } from "../../resolvers/timeline.ts";
import { builder } from "../builder.ts";
import { DoneReason } from "./enums.ts";
import { eventType, TimelineEvent } from "./event.ts";

const ShapeProblem = builder.objectRef<Problem>("ShapeProblem").implement({
  description: "A part of an answer that does not fit its schema.",
  fields: (t) => ({
    path: t.exposeString("path", { description: "JSON Pointer of the part, for example `/items/0/price`; `/` for the whole." }),
    message: t.exposeString("message", { description: "The problem in words." }),
  }),
});

eventType("DONE").implement({
  description: "A turn ended. Every turn has exactly one such event.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "Last step of the turn.", resolve: ({ body }) => body.step }),
    turn: t.int({ description: "Number of the turn.", resolve: ({ body }) => body.turn }),
    reason: t.field({ type: DoneReason, description: "Reason why the turn ended.", resolve: ({ body }) => body.reason }),
    detail: t.string({
      nullable: true,
      description:
        "Machine-readable detail: `empty` if the last answer of the model was empty; for reason SHAPE `invalid`, `max_tokens` or `refusal`. Null otherwise.",
      resolve: ({ body }) => body.detail ?? null,
    }),
    problems: t.field({
      type: [ShapeProblem],
      description: "Parts of the last answer that do not fit its schema, at most 20. Empty for other reasons than SHAPE.",
      resolve: ({ body }) => body.problems ?? [],
    }),
    value: t.field({
      type: "JSON",
      nullable: true,
      description:
        "Value of an answer with an `outputSchema`. Null without one, and for a value of more than 48 KB: the message `valueMessageId` has it.",
      resolve: ({ body }) => body.value ?? null,
    }),
    valueMessageId: t.id({
      nullable: true,
      description: "Id of the message with the value of the answer. Null without an `outputSchema`.",
      resolve: ({ body }) => (body.valueMessageId === undefined ? null : globalId("Message", body.valueMessageId)),
    }),
    messageIds: t.idList({
      description: "Ids of the messages that the turn answers.",
      resolve: async (view, _args, context) => (await answeredMessages(context, view)).map((id) => globalId("Message", id)),
    }),
  }),
});
