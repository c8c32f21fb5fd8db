import type { CacheMiss as Miss, CacheMissCause as Cause, CacheMissReason as Reason } from "../../events/cache-miss.ts";
import { builder, described } from "../builder.ts";
import { eventType, TimelineEvent } from "./event.ts";

const CacheMissReason = builder.enumType("CacheMissReason", {
  description: "Provider's reason why its prompt cache did not serve a request.",
  values: described<Reason>({
    MODEL_CHANGED: "Another model or speed than in the request before.",
    SYSTEM_CHANGED: "Another system prompt.",
    TOOLS_CHANGED: "Other tools, or another order of them.",
    MESSAGES_CHANGED: "Earlier messages differ.",
    PREVIOUS_NOT_FOUND: "The provider no longer knows the request before. Nothing need have changed.",
    UNAVAILABLE: "The provider cannot tell.",
    OTHER: "A reason that this version does not know.",
  }),
});

const CacheMissCause = builder.enumType("CacheMissCause", {
  description: "Cause of a cache miss that the server knows itself.",
  values: described<Cause>({
    MODEL: "Another model answered than before, such as a fallback.",
    FRAME: "The system prompt, the tools or the settings of the request changed.",
    COMPACTION: "The context was compacted.",
    COLD: "More than five minutes passed since the last answer.",
  }),
});

const CacheMiss = builder.objectRef<Miss>("CacheMiss").implement({
  description: "A miss of the provider's prompt cache.",
  fields: (t) => ({
    reason: t.field({
      type: CacheMissReason,
      nullable: true,
      description: "Reason, as given by the provider. Null if it gave none.",
      resolve: ({ reason }) => reason,
    }),
    tokens: t.int({
      nullable: true,
      description: "Input tokens that the cache would have served, about. Null if unknown.",
      resolve: ({ tokens }) => tokens,
    }),
    expected: t.field({
      type: CacheMissCause,
      nullable: true,
      description: "Cause that explains the miss. Null if the server knows none.",
      resolve: ({ expected }) => expected,
    }),
  }),
});

eventType("STEP_COMPLETE").implement({
  description: "A model call is complete.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "Number of the step.", resolve: ({ body }) => body.step }),
    durationMs: t.float({ description: "Duration in ms.", resolve: ({ body }) => body.durationMs }),
    firstTokenMs: t.float({
      nullable: true,
      description: "Time in ms from the request to the first piece of text, thought or call. Null if there was none.",
      resolve: ({ body }) => body.firstTokenMs ?? null,
    }),
    stopReason: t.string({
      description: "Reason why the model stopped, as given by its provider.",
      resolve: ({ body }) => body.stopReason,
    }),
    contextTokens: t.int({
      nullable: true,
      description: "Tokens of the context with this answer. Null if the provider did not count.",
      resolve: ({ body }) => body.contextTokens ?? null,
    }),
    contextWindow: t.int({
      nullable: true,
      description:
        "Tokens of the model's context window, or `context.maxTokens` of the template if that is smaller. Null if unknown.",
      resolve: ({ body }) => body.contextWindow ?? null,
    }),
    cachedShare: t.float({
      nullable: true,
      description: "Share of input tokens that came from the provider's cache, from 0 to 1. Null if the provider did not count.",
      resolve: ({ body }) => body.cachedShare ?? null,
    }),
    cacheMiss: t.field({
      type: CacheMiss,
      nullable: true,
      description: "Miss of the provider's prompt cache. Null if there was none, or none is known.",
      resolve: ({ body }) => body.cacheMiss ?? null,
    }),
  }),
});

eventType("TOKEN_USAGE").implement({
  description: "Tokens and cost of a model call.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "Number of the step.", resolve: ({ body }) => body.step }),
    inputTokens: t.int({
      description: "Input tokens that were neither read from nor written to the provider's cache.",
      resolve: ({ body }) => body.inputTokens,
    }),
    outputTokens: t.int({ description: "Output tokens.", resolve: ({ body }) => body.outputTokens }),
    cacheReadTokens: t.int({
      description: "Input tokens read from the provider's cache.",
      resolve: ({ body }) => body.cacheReadTokens,
    }),
    cacheWriteTokens: t.int({
      description: "Input tokens written to the provider's cache.",
      resolve: ({ body }) => body.cacheWriteTokens,
    }),
    totalTokens: t.int({
      description: "Sum of input, output, cache read and cache write tokens.",
      resolve: ({ body }) => body.totalTokens,
    }),
    costUsd: t.float({
      nullable: true,
      description: "Cost in US dollars, by the price in the configuration. Null if the model has no price.",
      resolve: ({ body }) => body.costUsd,
    }),
    isEstimated: t.boolean({
      description: "True if the output was estimated because a model call of the step was aborted.",
      resolve: ({ body }) => body.isEstimated,
    }),
  }),
});
