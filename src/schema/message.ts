import { messageBlocks, messageText } from "../resolvers/message.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { MessageKind } from "./enums.ts";
import { MessageBlock } from "./message-block.ts";

export const Message = builder.prismaNode("Message", {
  id: { field: "id", description: "Relay id of the message." },
  description: "A message in the conversation of an agent.",
  fields: (t) => ({
    kind: t.expose("kind", { type: MessageKind, description: "Author of the message." }),
    text: t.string({
      nullable: true,
      description: "Text of all its text blocks, joined by line breaks. Null if it was erased.",
      select: { content: true },
      resolve: messageText,
    }),
    blocks: t.field({
      type: [MessageBlock],
      nullable: true,
      description: "Content in order, at most some hundreds of blocks. Null if it was erased.",
      select: { content: true, tenant: true, agentId: true, step: true, agent: { select: { templateId: true } } },
      resolve: (row, _args, context) => messageBlocks(context, row),
    }),
    turn: t.exposeInt("turn", {
      nullable: true,
      description: "Turn of the message. Null while it is queued. A retry moves the message to its new turn.",
    }),
    step: t.exposeInt("step", {
      nullable: true,
      description: "Step with which the message joined, or that wrote it. Null while it is queued.",
    }),
    sentBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that sent the message. Null for messages of the agent and notes of the server.",
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) =>
        createdBy === null || createdByKind === null ? null : { id: createdBy, kind: createdByKind },
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Creation time." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the content was erased. Null if it was not erased.",
    }),
    withdrawnAt: t.expose("withdrawnAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it was withdrawn from the queue. Null if it was not withdrawn.",
    }),
    agent: t.relation("agent", { description: "Agent of the conversation." }),
  }),
});

export const MessageConnection = connectionOf("Message", Message);
