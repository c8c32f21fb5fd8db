import type { Json, JsonObject } from "../../lib/json.ts";

/** A piece of a message, in Anthropic's form. Adapters of other providers translate. */
export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: "tool_result"; readonly tool_use_id: string; readonly content: string; readonly is_error: boolean };

/** A message of the conversation as a model reads it. */
export type ModelMessage = { readonly role: "user" | "assistant"; readonly content: readonly ContentBlock[] };

/** A tool as a model is told of it. */
export type ToolDescription = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** What one model call is given. */
export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
};

/** Why a model stopped. Only after `tool_use` may its tool calls run. */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "refusal" | "pause_turn";

/** Tokens of one model call. */
export type TokenUsage = { readonly inputTokens: number; readonly outputTokens: number };

/**
 * What a model says, as it says it. Blocks come one after the other, numbered from 0; a tool_use comes whole, with its
 * arguments as the text that the model wrote. `end` is the last.
 */
export type ModelEvent =
  | { readonly type: "text_start"; readonly block: number }
  | { readonly type: "text_delta"; readonly block: number; readonly text: string }
  | { readonly type: "text_end"; readonly block: number }
  | { readonly type: "tool_use"; readonly block: number; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: "end"; readonly stopReason: StopReason; readonly usage: TokenUsage };

/**
 * A language model. `stream` makes one call. It must end at once when `signal` aborts, and throws where the call
 * fails; what it has yielded by then is discarded by the loop.
 */
export type Model = {
  /** How the model is named to people: provider and model. */
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
};

/**
 * Why a model call failed. All but `rejected` may go well when they are tried again: the provider limits or is
 * overloaded, does not answer, falls silent, or its stream breaks off.
 */
export type ModelErrorKind = "rate_limited" | "overloaded" | "unavailable" | "silent" | "broken" | "rejected";

/** A model call failed. The message is shown to people and holds no secret. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  /** How long the provider asks to wait, in ms; null where it does not say. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: { readonly retryAfterMs?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  /** Whether the same call may go well later. */
  get isRetryable(): boolean {
    return this.kind !== "rejected";
  }
}
