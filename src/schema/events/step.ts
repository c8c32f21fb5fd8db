import { eventType, TimelineEvent } from "./event.ts";

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
      description: "Tokens of the model's context window. Null if unknown.",
      resolve: ({ body }) => body.contextWindow ?? null,
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
