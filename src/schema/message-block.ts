import type { BlockOf, MessageBlock as Block } from "../resolvers/message.ts";
import { toolCallOfBlock } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { ImageType } from "./enums.ts";
import { ToolCall } from "./tool-call.ts";

const TextBlock = builder.objectRef<BlockOf<"text">>("TextBlock").implement({
  description: "A text.",
  fields: (t) => ({ text: t.exposeString("text", { description: "What it says." }) }),
});

const ImageBlock = builder.objectRef<BlockOf<"image">>("ImageBlock").implement({
  description: "An image.",
  fields: (t) => ({
    mediaType: t.expose("mediaType", { type: ImageType, description: "What it is." }),
    bytes: t.exposeInt("bytes", { description: "Its size." }),
    viewerUrl: t.string({
      description:
        "Where you find it for some minutes, relative to this server: for an <img>, without further credentials. Ask again afterwards, and keep it to yourself.",
      resolve: ({ url }, _args, context) => url(context),
    }),
  }),
});

const ThinkingBlock = builder.objectRef<BlockOf<"thinking">>("ThinkingBlock").implement({
  description: "What the model thought before it answered, if the template exposes that.",
  fields: (t) => ({
    text: t.exposeString("text", { description: "A summary of it, as the provider gives it; empty where it gives none." }),
  }),
});

const ToolCallBlock = builder.objectRef<BlockOf<"tool_use">>("ToolCallBlock").implement({
  description: "The model calls a tool.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "The tool." }),
    input: t.expose("input", { type: "JSON", description: "What the model asked for." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call, as it stands now; null in forks of before.",
      resolve: (query, { call }, _args, context) => toolCallOfBlock(context, call, query),
    }),
  }),
});

const ToolResultBlock = builder.objectRef<BlockOf<"tool_result">>("ToolResultBlock").implement({
  description: "The model reads the result of a call.",
  fields: (t) => ({
    output: t.exposeString("output", { description: "What it reads." }),
    isError: t.exposeBoolean("isError", { description: "Whether the call has no result of its own." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call, as it stands now; null in forks of before.",
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

export const MessageBlock = builder.unionType("MessageBlock", {
  description: "A piece of a message. Clients must ignore types that they do not know.",
  types: Object.values(TYPES),
  resolveType: ({ type }: Block) => TYPES[type],
});
