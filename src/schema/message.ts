import {
  answeredValue,
  askedSchema,
  messageBlocks,
  messageText,
  reminderDetails,
  type ReminderDetails as Details,
  type BlockOf,
  type MessageBlock as Block,
} from "../resolvers/message.ts";
import { toolCallOfBlock } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { builder, connectionOf } from "./builder.ts";
import { MessageKind, ReminderCategory, ReminderPriority } from "./enums.ts";
import { ImageBlock } from "./output.ts";
import { ToolCall } from "./tool-call.ts";

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
      select: {
        content: true,
        tenant: true,
        agentId: true,
        step: true,
        agent: { select: { templateId: true, templateVersion: true } },
      },
      resolve: (row, _args, context) => messageBlocks(context, row),
    }),
    reminder: t.field({
      type: ReminderDetails,
      nullable: true,
      description: "Details of a reminder. Null for messages of other kinds.",
      select: { reminder: true },
      resolve: ({ reminder }) => reminderDetails(reminder),
    }),
    outputSchema: t.field({
      type: "JSON",
      nullable: true,
      description: "JSON Schema of the answer that the message asks for. Null if it asks for none.",
      select: { shape: true },
      resolve: ({ shape }) => askedSchema(shape),
    }),
    value: t.field({
      type: "JSON",
      nullable: true,
      description: "Value of an answer with an `outputSchema`. Null for other messages, and if it was erased.",
      select: { shape: true, content: true },
      resolve: (row) => answeredValue(row),
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
      description: "Time at which the content was erased, or inputs and results of calls in it. Null if all is there.",
    }),
    withdrawnAt: t.expose("withdrawnAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it was withdrawn from the queue. Null if it was not withdrawn.",
    }),
    agent: t.relation("agent", { description: "Agent of the conversation." }),
  }),
});

const ReminderDetails = builder.objectRef<Details>("ReminderDetails").implement({
  description: "Details of a reminder.",
  fields: (t) => ({
    category: t.expose("category", { type: ReminderCategory, description: "Subject of the reminder." }),
    priority: t.expose("priority", { type: ReminderPriority, description: "Importance of the reminder." }),
    startsTurn: t.exposeBoolean("startsTurn", { description: "True if an idle agent begins a turn for it." }),
  }),
});

export const MessageConnection = connectionOf("Message", Message);

const TextBlock = builder.objectRef<BlockOf<"text">>("TextBlock").implement({
  description: "A block of text.",
  fields: (t) => ({ text: t.exposeString("text", { description: "The text." }) }),
});

const ThinkingBlock = builder.objectRef<BlockOf<"thinking">>("ThinkingBlock").implement({
  description: "Thinking of the model before its answer. Exists only if the template exposes thinking.",
  fields: (t) => ({
    text: t.exposeString("text", { description: "Summary of the thinking from the provider. Empty if it gives none." }),
  }),
});

const ToolCallBlock = builder.objectRef<BlockOf<"tool_use">>("ToolCallBlock").implement({
  description: "A tool call requested by the model.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name of the tool." }),
    input: t.expose("input", { type: "JSON", description: "Input given by the model." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call as it is now. Null if the call is not stored.",
      resolve: (query, { call }, _args, context) => toolCallOfBlock(context, call, query),
    }),
  }),
});

const ToolResultBlock = builder.objectRef<BlockOf<"tool_result">>("ToolResultBlock").implement({
  description: "The result of a tool call, as the model reads it.",
  fields: (t) => ({
    output: t.exposeString("output", { description: "Text of the result." }),
    isError: t.exposeBoolean("isError", { description: "True if the call ended with an error." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call as it is now. Null if the call is not stored.",
      resolve: (query, { call }, _args, context) => toolCallOfBlock(context, call, query),
    }),
  }),
});

const TYPES = {
  text: TextBlock,
  image: ImageBlock,
  thinking: ThinkingBlock,
  tool_use: ToolCallBlock,
  tool_result: ToolResultBlock,
} as const;

const MessageBlock = builder.unionType("MessageBlock", {
  description: "A part of a message. Clients must ignore unknown types.",
  types: Object.values(TYPES),
  resolveType: ({ type }: Block) => TYPES[type],
});
