import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import { blockText, type EventView } from "../../resolvers/timeline.ts";
import { builder } from "../builder.ts";
import { eventType, TimelineEvent } from "./event.ts";

type BlockKind = Extract<Kind, `${"TEXT" | "THINK"}_CHUNK${string}`>;

const BlockEvent = builder.interfaceRef<EventView<BodyOf<BlockKind>>>("BlockEvent").implement({
  description: "Something that happened to a block of what the model says.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "The model call.", resolve: ({ body }) => body.step }),
    block: t.int({ description: "Number of the block in the step.", resolve: ({ body }) => body.block }),
  }),
});

const ChunkEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK" | "THINK_CHUNK">>>("ChunkEvent").implement({
  description: "This much more of a block.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({ delta: t.string({ description: "What comes now.", resolve: ({ body }) => body.delta }) }),
});

const BlockEndEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK_END" | "THINK_CHUNK_END">>>("BlockEndEvent").implement({
  description: "A block is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: "The whole text of the block; null where it was erased.",
      resolve: (view, _args, context) => blockText(context, view),
    }),
    aborted: t.boolean({ description: "Whether it is no part of the conversation.", resolve: ({ body }) => body.aborted }),
  }),
});

eventType("TEXT_CHUNK_START").implement({
  description: "A block of the agent's text begins.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("TEXT_CHUNK").implement({
  description: "The agent wrote this much more of a block.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("TEXT_CHUNK_END").implement({
  description: "A block of text is complete, or was aborted: then no model reads it.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});

eventType("THINK_CHUNK_START").implement({
  description: "The model begins to think. Only if the template exposes thinking, as the two kinds after it.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("THINK_CHUNK").implement({
  description: "The model thought this much more.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("THINK_CHUNK_END").implement({
  description: "A block of thinking is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});
