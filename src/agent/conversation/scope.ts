import { Type } from "typebox";
import type { Breakpoint } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { JsonObject } from "../../lib/json.ts";
import { closed, COUNT, milliseconds, TEXT, withDefault, type Complete } from "../../lib/setting.ts";
import { TEMPLATE_MODEL_SETTINGS } from "../models/model-settings.ts";
import type { ModelHooks } from "./model-hooks.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const CONTEXT_SETTINGS = {
  /** The tokens by which room is made, at least 1,000. The model's context window if omitted, or if that is smaller. */
  maxTokens: withDefault(Type.Integer({ minimum: 1_000 }), null),
  /** The share of it at which room is made, 0.1 to 0.95. 0.75 if omitted. */
  compressAt: withDefault(Type.Number({ minimum: 0.1, maximum: 0.95 }), 0.75),
  /** The share of it that a compaction must reach, 0.05 to 0.9, less than `compressAt`. 0.35 if omitted. */
  target: withDefault(Type.Number({ minimum: 0.05, maximum: 0.9 }), 0.35),
  /** The newest messages that stay as they are, in tokens, up to half of the target. 20,000 if omitted. */
  keepRecentTokens: withDefault(Type.Integer({ minimum: 0 }), 20_000),
  /** The name of the model that summarises. The agent's own if omitted. */
  model: withDefault(TEXT, null),
  /** The instructions for the model that summarises. Those of the server if omitted. */
  prompt: withDefault(TEXT, null),
};

export type ContextSettings = Complete<typeof CONTEXT_SETTINGS>;

export const CONVERSATION_SETTINGS = {
  /** The instructions that the model reads before every conversation. Must be given. */
  systemPrompt: TEXT,
  /** The most messages that the model is given, the newest ones; at least 4. Any number if omitted: `context` bounds tokens. */
  contextMessages: withDefault(Type.Integer({ minimum: 4 }), null),
  /** The context window, and when room is made in it (docs/context.md). By the model's window if omitted. */
  context: withDefault(closed(CONTEXT_SETTINGS), {}),
  /** The settings of model calls in the place of the model's: docs/models.md. None if omitted. */
  modelSettings: withDefault(closed(TEMPLATE_MODEL_SETTINGS), {}),
  /** The JSON Schema of the answer that ends each turn, with `type: "object"`: docs/shapes.md. Any text if omitted. */
  outputSchema: withDefault(Type.Unsafe<JsonObject>({ type: "object" }), null),
  /** The number of times a turn that an answer is asked for again which does not have its shape, up to 10. 2 if omitted. */
  corrections: withDefault(Type.Integer({ minimum: 0, maximum: 10 }), 2),
  /** The number of times that a model call that failed is made again, up to 20. 3 if omitted. */
  modelRetries: withDefault(Type.Integer({ minimum: 0, maximum: 20 }), 3),
  /**
   * The wait before the first retry of a model call, in ms, up to a minute; doubled each time, up to a minute. A
   * provider may ask for another. 1,000 if omitted.
   */
  modelRetryMs: withDefault(milliseconds(MINUTE_MS), 1_000),
  /**
   * A model call is aborted after this time without an event from the provider, in ms, up to an hour. 60,000 if
   * omitted. Node's fetch aborts by itself if the answer does not begin or continue within five minutes.
   */
  modelIdleMs: withDefault(milliseconds(HOUR_MS), 60_000),
  /** True if people see the model's thoughts, as THINK_CHUNK events and in messages. False if omitted. */
  exposeThinking: withDefault(Type.Boolean(), false),
  /**
   * True if the model's thoughts stay in the conversation: otherwise it cannot continue them after tool calls. False if
   * omitted.
   */
  retainThinking: withDefault(Type.Boolean(), false),
  /** A model call that takes longer, in ms, is reported as an ERROR of severity WARN. 60,000 if omitted. */
  slowStepMs: withDefault(COUNT, 60_000),
};

export type ConversationTemplate = Omit<Complete<typeof CONVERSATION_SETTINGS>, "context"> & {
  readonly context: ContextSettings;
  readonly hooks: ModelHooks;
};

export type ConversationOwner = {
  readonly lease: { readonly agentId: string; readonly tenant: string; readonly createdBy: string };
  readonly lost: AbortSignal;
  readonly breakpoint: Breakpoint | null;
  sendMove(breakpoint: Breakpoint): void;
  send(body: AgentEventBody): void;
  room(signal: AbortSignal): Promise<void>;
};
