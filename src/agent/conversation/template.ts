import type { ModelHooks } from "./model-hooks.ts";

/** The part of a template about its agents' model calls. */
export type ConversationTemplate = {
  readonly systemPrompt: string;
  readonly hooks: ModelHooks;
  /** The number of times that a model call that failed is made again. */
  readonly modelRetries: number;
  /** The wait before a call is made again for the first time, in ms; doubled each time, up to a minute. A provider may ask for another. */
  readonly modelRetryMs: number;
  /** The time for which a model's stream may be silent, in ms. */
  readonly modelIdleMs: number;
  /** True if what the model thinks is shown, as THINK_CHUNK events and in messages. */
  readonly exposeThinking: boolean;
  /** True if what the model thinks is kept with the conversation, so that it can think on after tool calls. */
  readonly retainThinking: boolean;
  /** A model call that takes longer, in ms, is reported as an ERROR of severity WARN. */
  readonly slowStepMs: number;
  /** Size of the window of messages that the model is given. */
  readonly contextMessages: number;
};
