import type { CompactionMethod as Method } from "../../db/commit/compaction-rows.ts";
import type { CompressionPhase as Phase } from "../../events/compression-event.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { globalId } from "../../lib/global-id.ts";
import { eventType, TimelineEvent } from "./event.ts";

export const CompactionMethod = builder.enumType("CompactionMethod", {
  description: "Way of making room in a context window.",
  values: described<Method>({
    CLEARED: "Old outputs of tool calls are replaced by a short text.",
    SUMMARY: "Old messages are replaced by a summary of a model.",
    SHORTENED: "Old messages are left out.",
  }),
});

const CompressionPhase = builder.enumType("CompressionPhase", {
  description: "Phase of a compaction.",
  values: described<Phase>({ START: "It has started.", END: "It was applied, or has failed." }),
});

eventType("CONTEXT_COMPRESSION").implement({
  description: "A compaction of the agent's context window starts or ends. The conversation itself stays as it is.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    compressionPhase: t.field({ type: CompressionPhase, description: "Phase.", resolve: ({ body }) => body.compressionPhase }),
    compactionId: t.id({ description: "Id that START and END share.", resolve: ({ body }) => body.compactionId }),
    method: t.field({ type: CompactionMethod, description: "Method.", resolve: ({ body }) => body.method }),
    fromMessageId: t.id({
      nullable: true,
      description: "First message that it covers. Null if its server was lost.",
      resolve: ({ body }) => messageId(body.fromMessageId),
    }),
    toMessageId: t.id({
      nullable: true,
      description: "Last message that it covers. Null if its server was lost.",
      resolve: ({ body }) => messageId(body.toMessageId),
    }),
    summaryModel: t.string({
      nullable: true,
      description: "Provider's name of the model that makes the summary. Null for other methods.",
      resolve: ({ body }) => body.summaryModel,
    }),
    tokensBefore: t.int({
      nullable: true,
      description: "Tokens of the window before, about.",
      resolve: ({ body }) => body.tokensBefore,
    }),
    tokensAfter: t.int({
      nullable: true,
      description: "Tokens of the window after, about. Null at START, and if it failed.",
      resolve: ({ body }) => body.tokensAfter,
    }),
    ratio: t.float({
      nullable: true,
      description: "`tokensAfter` divided by `tokensBefore`, for example 0.3.",
      resolve: ({ body: { tokensBefore, tokensAfter } }) =>
        tokensBefore === null || tokensAfter === null || tokensBefore === 0 ? null : tokensAfter / tokensBefore,
    }),
    contentHash: t.string({
      nullable: true,
      description: "SHA-256 of the covered messages, in hex.",
      resolve: ({ body }) => body.contentHash,
    }),
    summary: t.string({
      nullable: true,
      description: "Text that the model reads in their place. Null at START, and for other methods.",
      resolve: ({ body }) => body.summary,
    }),
    instruction: t.string({
      nullable: true,
      description: "Wish of the actor that asked for it. Null if there is none.",
      resolve: ({ body }) => body.instruction,
    }),
    askedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that asked for it. Null if the server began it.",
      resolve: ({ body }) => body.askedBy,
    }),
    failureReason: t.string({
      nullable: true,
      description: "Reason of the failure: the window is as it was. Null otherwise.",
      resolve: ({ body }) => body.failure,
    }),
  }),
});

function messageId(id: string | null): string | null {
  return id === null ? null : globalId("Message", id);
}
