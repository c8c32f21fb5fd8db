import { messageByRow, sendMessage, withdrawMessage } from "../../resolvers/message.ts";
import { cancelToolCall, toolCallByRow } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { ImageType } from "../enums.ts";
import { Message } from "../message.ts";
import { payloadType } from "../payload.ts";
import { ToolCall } from "../tool-call.ts";

const ImageInput = builder.inputType("ImageInput", {
  description: "An image for the model.",
  fields: (t) => ({
    mediaType: t.field({
      type: ImageType,
      required: true,
      description: "File type of the image. INVALID if the data has another type.",
    }),
    data: t.string({
      required: true,
      description:
        "The file in base64, with padding and without line breaks. At most 3.75 MB before encoding, and 8,000 pixels a side.",
    }),
  }),
});

const SendMessageInput = builder.inputType("SendMessageInput", {
  description: "Input of `sendMessage`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    text: t.string({ required: true, description: "Text of the message, at most 1 MB. May be empty if there are images." }),
    images: t.field({
      type: [ImageInput],
      description: "Images, at most 20 and 5 MB in total. The model reads them before the text.",
    }),
    outputSchema: t.field({
      type: "JSON",
      description:
        "JSON Schema of the answer that ends the turn, with `type: object`, at most 64 KB. INVALID names its first problem. The template's if omitted. Of several messages of a turn, the newest schema applies.",
    }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same message. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

const SendMessagePayload = payloadType("SendMessagePayload", (t) => ({
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: "The message. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => messageByRow(context, rowId, query),
  }),
}));

builder.mutationField("sendMessage", (t) =>
  t.field({
    type: SendMessagePayload,
    description:
      "Sends a message to an agent. It starts a turn, or joins the running turn at its next step. ARCHIVED if the agent is archived. QUEUE_FULL if 100 messages or 32 MB are queued for it.",
    args: { input: t.arg({ type: SendMessageInput, required: true, description: "Agent and message." }) },
    resolve: (_root, { input }, context) =>
      sendMessage(context, {
        ...input,
        images: input.images ?? [],
        outputSchema: input.outputSchema ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const WithdrawMessageInput = builder.inputType("WithdrawMessageInput", {
  description: "Input of `withdrawMessage`.",
  fields: (t) => ({ messageId: t.id({ required: true, description: "`id` of the message." }) }),
});

const WithdrawMessagePayload = payloadType("WithdrawMessagePayload", (t) => ({
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: "The message. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => messageByRow(context, rowId, query),
  }),
}));

builder.mutationField("withdrawMessage", (t) =>
  t.field({
    type: WithdrawMessagePayload,
    description:
      "Withdraws a queued message: the model never reads it, and `Agent.messages` leaves it out. ALREADY_JOINED if it has joined the conversation. Withdrawing it again changes nothing.",
    args: { input: t.arg({ type: WithdrawMessageInput, required: true, description: "Message to withdraw." }) },
    resolve: (_root, { input }, context) => withdrawMessage(context, input.messageId),
  }),
);

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
