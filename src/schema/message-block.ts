import type { BlockOf, MessageBlock as Block } from "../resolvers/message.ts";
import { toolCallOfBlock } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { ImageType } from "./enums.ts";
import { ToolCall } from "./tool-call.ts";

const TextBlock = builder.objectRef<BlockOf<"text">>("TextBlock").implement({
  description: "A block of text.",
  fields: (t) => ({ text: t.exposeString("text", { description: "The text." }) }),
});

const ImageBlock = builder.objectRef<BlockOf<"image">>("ImageBlock").implement({
  description: "A block with an image.",
  fields: (t) => ({
    mediaType: t.expose("mediaType", { type: ImageType, description: "File type of the image." }),
    bytes: t.exposeInt("bytes", { description: "Size in bytes." }),
    viewerUrl: t.string({
      description:
        "Path of the image on this server, for an `<img>`. It is signed for the viewer and valid for 4 to 5 minutes, without other credentials: keep it secret and query it again later.",
      resolve: ({ url }, _args, context) => url(context),
    }),
  }),
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

export const MessageBlock = builder.unionType("MessageBlock", {
  description: "A part of a message. Clients must ignore unknown types.",
  types: Object.values(TYPES),
  resolveType: ({ type }: Block) => TYPES[type],
});
