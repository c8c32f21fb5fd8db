import { Type } from "typebox";
import { COUNT, milliseconds, TEXT, withDefault, type Complete } from "../../lib/setting.ts";
import type { ModelHooks } from "./model-hooks.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The settings of a template about its agents' model calls. */
export const CONVERSATION_SETTINGS = {
  /** The instructions that the model reads before every conversation. Must be given. */
  systemPrompt: TEXT,
  /** The number of messages that the model is given, the newest ones; at least 4. 200 if omitted. */
  contextMessages: withDefault(Type.Integer({ minimum: 4 }), 200),
  /** The number of times that a model call that failed is made again, up to 20. 3 if omitted. */
  modelRetries: withDefault(Type.Integer({ minimum: 0, maximum: 20 }), 3),
  /**
   * The wait before a model call is made again for the first time, in ms, up to a minute; doubled each time, up to a
   * minute. A provider may ask for another. 1,000 if omitted.
   */
  modelRetryMs: withDefault(milliseconds(MINUTE_MS), 1_000),
  /**
   * After so long without a word from the provider a model call is given up, in ms, up to an hour. 60,000 if omitted. Node's
   * fetch gives up by itself after five minutes in which the provider's answer does not begin, or does not go on.
   */
  modelIdleMs: withDefault(milliseconds(HOUR_MS), 60_000),
  /** True if people see what the model thinks, as THINK_CHUNK events and in messages. False if omitted. */
  exposeThinking: withDefault(Type.Boolean(), false),
  /** True if what the model thinks stays in the conversation: without it, it does not think on after tool calls. False if omitted. */
  retainThinking: withDefault(Type.Boolean(), false),
  /** A model call that takes longer, in ms, is reported as an ERROR of severity WARN. 60,000 if omitted. */
  slowStepMs: withDefault(COUNT, 60_000),
};

/** The part of a template about its agents' model calls. */
export type ConversationTemplate = Complete<typeof CONVERSATION_SETTINGS> & { readonly hooks: ModelHooks };
