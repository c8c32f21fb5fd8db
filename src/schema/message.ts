import { messageBlocks, messageText } from "../resolvers/message.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { MessageKind } from "./enums.ts";
import { MessageBlock } from "./message-block.ts";

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
    blocks: t.field({
      type: [MessageBlock],
      nullable: true,
      description: "What it consists of, in order; at most some hundreds. Null where it was erased.",
      select: { content: true, tenant: true, agentId: true, step: true, agent: { select: { templateId: true } } },
      resolve: (row, _args, context) => messageBlocks(context, row),
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
