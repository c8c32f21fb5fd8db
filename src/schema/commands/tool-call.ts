import { cancelToolCall, toolCallByRow } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { payloadType } from "../payload.ts";
import { ToolCall } from "../tool-call.ts";

const CancelToolCallInput = builder.inputType("CancelToolCallInput", {
  description: "Which call to end.",
  fields: (t) => ({
    callId: t.id({ required: true, description: "The call's `callId`." }),
    note: t.string({ description: "Why; the model reads it." }),
  }),
});

const CancelToolCallPayload = payloadType("CancelToolCallPayload", (t) => ({
  toolCall: t.prismaField({
    type: ToolCall,
    nullable: true,
    description: "The call, if its end was asked for; its server may not have ended it yet.",
    resolve: (query, { rowId }, _args, context) => (rowId === null ? null : toolCallByRow(context, rowId, query)),
  }),
}));

builder.mutationField("cancelToolCall", (t) =>
  t.field({
    type: CancelToolCallPayload,
    description:
      "Ends one tool call: it is FAILED with `aborted`, and the turn goes on. One that was cancelled before stays so; one that has ended otherwise is refused.",
    args: { input: t.arg({ type: CancelToolCallInput, required: true, description: "Which, and why." }) },
    resolve: (_root, { input }, context) => cancelToolCall(context, input.callId, input.note ?? null),
  }),
);
