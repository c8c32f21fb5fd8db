import { messageByRow, messageContent, messageText, sendMessage, withdrawMessage } from "../resolvers/message.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { ImageType, MessageKind } from "./enums.ts";
import { payloadType } from "./payload.ts";

export const Message = builder.prismaNode("Message", {
  id: { field: "id", description: "The message's id." },
  description: "A message of an agent's conversation.",
  fields: (t) => ({
    kind: t.expose("kind", { type: MessageKind, description: "Whose message it is." }),
    text: t.string({
      nullable: true,
      description: "The text of its text blocks; null where it was erased.",
      select: { content: true },
      resolve: messageText,
    }),
    content: t.field({
      type: "JSON",
      nullable: true,
      description:
        'Its content blocks, in Anthropic\'s form: text, images, tool calls and results, and what the model thought if the template exposes that. Null where it was erased. An answer carries 15 MB of images at most; the `source` of others is `{ type: "left_out", media_type, bytes }`: ask for their messages by `node`.',
      select: { content: true, tenant: true, agent: { select: { templateId: true } } },
      resolve: (row, _args, context) => messageContent(context, row),
    }),
    turn: t.exposeInt("turn", {
      nullable: true,
      description: "The turn that it belongs to; null while it waits to join. A retry takes it along.",
    }),
    step: t.exposeInt("step", { nullable: true, description: "The step with which it joined, or that wrote it." }),
    sentBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "The person or service that sent it; null for the agent's own.",
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) =>
        createdBy === null || createdByKind === null ? null : { id: createdBy, kind: createdByKind },
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it came." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "When its text was erased; null for one that has it.",
    }),
    withdrawnAt: t.expose("withdrawnAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was taken back before it joined; null for one that was not.",
    }),
    agent: t.relation("agent", { description: "The agent of the conversation." }),
  }),
});

export const MessageConnection = connectionOf("Message", Message);

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
