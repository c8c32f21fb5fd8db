import { cancelToolCall, toolCallByRow } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { payloadType } from "../payload.ts";
import { ToolCall } from "../tool-call.ts";

const CancelToolCallInput = builder.inputType("CancelToolCallInput", {
  description: "Input of `cancelToolCall`.",
  fields: (t) => ({
    callId: t.id({ required: true, description: "`callId` of the call." }),
    note: t.string({ description: "Reason, at most 4,000 characters. The model reads it." }),
  }),
});

const CancelToolCallPayload = payloadType("CancelToolCallPayload", (t) => ({
  toolCall: t.prismaField({
    type: ToolCall,
    nullable: true,
    description: "The call. Null if the mutation failed. It may not have ended yet: its server cancels it shortly after.",
    resolve: (query, { rowId }, _args, context) => (rowId === null ? null : toolCallByRow(context, rowId, query)),
  }),
}));

builder.mutationField("cancelToolCall", (t) =>
  t.field({
    type: CancelToolCallPayload,
    description:
      "Cancels one tool call: it ends as FAILED with error type ABORTED, and the turn continues. ALREADY_ENDED if the call has ended otherwise. Cancelling it again changes nothing.",
    args: { input: t.arg({ type: CancelToolCallInput, required: true, description: "Call and reason." }) },
    resolve: (_root, { input }, context) => cancelToolCall(context, input.callId, input.note ?? null),
  }),
);
