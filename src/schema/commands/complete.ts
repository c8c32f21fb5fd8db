import type { CannotComplete } from "../../agent/commands/complete-tool-call.ts";
import { completeToolCall, toolCallByRow, viewerCannotComplete } from "../../resolvers/tool-call.ts";
import { builder, described } from "../builder.ts";
import { payloadType } from "../payload.ts";
import { ToolCall } from "../tool-call.ts";

const CompleteToolCallInput = builder.inputType("CompleteToolCallInput", {
  description: "Input of `completeToolCall`: `result` or `error`.",
  fields: (t) => ({
    callId: t.id({ required: true, description: "`callId` of the call." }),
    result: t.field({
      type: "JSON",
      description: "Result, at most 1 MB of JSON. The model reads a text as it is, other JSON as its text.",
    }),
    error: t.string({ description: "Error message, in place of a result: the call ends as FAILED." }),
    idempotencyKey: t.string({ description: "Key that makes a repeated request safe, at most 200 characters." }),
  }),
});

const CompleteToolCallPayload = payloadType("CompleteToolCallPayload", (t) => ({
  toolCall: t.prismaField({
    type: ToolCall,
    nullable: true,
    description: "The call. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => (rowId === null ? null : toolCallByRow(context, rowId, query)),
  }),
}));

builder.mutationField("completeToolCall", (t) =>
  t.field({
    type: CompleteToolCallPayload,
    description:
      "Gives the result of a call in state WAITING. For the person who asked for it, an administrator, or a service that its tool names. CALL_ENDED if it has ended. INVALID names each wrong part of a result, and the call still waits.",
    args: { input: t.arg({ type: CompleteToolCallInput, required: true, description: "Call and result." }) },
    resolve: (_root, { input }, context) => completeToolCall(context, input),
  }),
);

const CannotCompleteReason = builder.enumType("CannotCompleteReason", {
  description: "Reason why the viewer may not give the result of a call now.",
  values: described<CannotComplete>({
    NOT_WAITING: "The call is not in state WAITING.",
    WAITS_FOR_CHILD: "The call waits for the agent that it started.",
    WAITS_FOR_TASK: "The call waits for a task of its MCP server.",
    NO_RIGHT: "The viewer did not ask for the call, is no administrator, and is no service that its tool names.",
  }),
});

builder.prismaObjectField(ToolCall, "viewerCannotCompleteReason", (t) =>
  t.field({
    type: CannotCompleteReason,
    nullable: true,
    complexity: 1,
    description: "Reason why the viewer may not give the result of the call now. Null if they may: see `completeToolCall`.",
    select: { id: true, state: true },
    resolve: ({ id, state }, _args, context) => viewerCannotComplete(context, id, state),
  }),
);
