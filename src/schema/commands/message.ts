import { messageByRow, sendMessage, withdrawMessage } from "../../resolvers/message.ts";
import { builder } from "../builder.ts";
import { ImageType } from "../enums.ts";
import { Message } from "../message.ts";
import { payloadType } from "../payload.ts";

const ImageInput = builder.inputType("ImageInput", {
  description: "An image for the model to see.",
  fields: (t) => ({
    mediaType: t.field({ type: ImageType, required: true, description: "What it is." }),
    data: t.string({ required: true, description: "The file in base64, at most 3.75 MB of it." }),
  }),
});

const SendMessageInput = builder.inputType("SendMessageInput", {
  description: "A message, and to whom.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "The agent." }),
    text: t.string({ required: true, description: "At most 1 MB. It may be empty if there are images." }),
    images: t.field({ type: [ImageInput], description: "At most 20, of 5 MB together. They come before the text." }),
    idempotencyKey: t.string({ description: "The same key with the same input sends once and answers the same message." }),
  }),
});

const SendMessagePayload = payloadType("SendMessagePayload", (t) => ({
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: "The message, if it was sent.",
    resolve: (query, { rowId }, _args, context) => messageByRow(context, rowId, query),
  }),
}));

builder.mutationField("sendMessage", (t) =>
  t.field({
    type: SendMessagePayload,
    description: "Sends a message to an agent. It starts a turn, or joins the one under way at its next step.",
    args: { input: t.arg({ type: SendMessageInput, required: true, description: "What, and to whom." }) },
    resolve: (_root, { input }, context) =>
      sendMessage(context, { ...input, images: input.images ?? [], idempotencyKey: input.idempotencyKey ?? null }),
  }),
);

const WithdrawMessageInput = builder.inputType("WithdrawMessageInput", {
  description: "Which message to take back.",
  fields: (t) => ({ messageId: t.id({ required: true, description: "The message." }) }),
});

const WithdrawMessagePayload = payloadType("WithdrawMessagePayload", (t) => ({
  message: t.prismaField({
    type: Message,
    nullable: true,
    description: "The message, if it was taken back.",
    resolve: (query, { rowId }, _args, context) => messageByRow(context, rowId, query),
  }),
}));

builder.mutationField("withdrawMessage", (t) =>
  t.field({
    type: WithdrawMessagePayload,
    description:
      "Takes back a message that waits: the model never reads it, and the conversation is without it. One that has joined is refused; one that was withdrawn stays so.",
    args: { input: t.arg({ type: WithdrawMessageInput, required: true, description: "Which message." }) },
    resolve: (_root, { input }, context) => withdrawMessage(context, input.messageId),
  }),
);
