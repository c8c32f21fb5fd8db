import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import { blockText, type EventView } from "../../resolvers/timeline.ts";
import { builder } from "../builder.ts";
import { eventType, TimelineEvent } from "./event.ts";

type BlockKind = Extract<Kind, `${"TEXT" | "THINK"}_CHUNK${string}`>;

const BlockEvent = builder.interfaceRef<EventView<BodyOf<BlockKind>>>("BlockEvent").implement({
  description: "An event about a block of model output.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "Step (model call) that writes the block.", resolve: ({ body }) => body.step }),
    block: t.int({ description: "Number of the block within the step.", resolve: ({ body }) => body.block }),
  }),
});

const ChunkEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK" | "THINK_CHUNK">>>("ChunkEvent").implement({
  description: "A piece of a block.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({
    delta: t.string({ description: "Text to append to the block. Empty if it was erased.", resolve: ({ body }) => body.delta }),
  }),
});

const BlockEndEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK_END" | "THINK_CHUNK_END">>>("BlockEndEvent").implement({
  description: "The end of a block.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({
    text: t.string({
      nullable: true,
      description: "The whole text of the block. Null if it was erased.",
      resolve: (view, _args, context) => blockText(context, view),
    }),
    aborted: t.boolean({
      description: "True if the block was aborted: it is not part of the conversation, and no model reads it.",
      resolve: ({ body }) => body.aborted,
    }),
  }),
});

eventType("TEXT_CHUNK_START").implement({
  description: "A block of text starts.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("TEXT_CHUNK").implement({
  description: "A piece of a block of text.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("TEXT_CHUNK_END").implement({
  description: "A block of text is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});

eventType("THINK_CHUNK_START").implement({
  description: "A block of thinking starts. THINK_CHUNK events exist only if the template exposes thinking.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("THINK_CHUNK").implement({
  description: "A piece of a block of thinking.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("THINK_CHUNK_END").implement({
  description: "A block of thinking is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});
