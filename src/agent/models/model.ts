import type { Json, JsonObject } from "../../lib/json.ts";

/** The image types that every provider reads, and browsers show. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** A piece of a message, in Anthropic's form. Adapters of other providers translate. */
export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly type: "base64"; readonly media_type: ImageType; readonly data: string };
    }
  | ThinkingBlock
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      /** What else the provider said of the call, such as a signature. It goes back to the model `by` alone. Absent for nothing. */
      readonly provider?: { readonly by: string; readonly fields: JsonObject };
    }
  | { readonly type: "tool_result"; readonly tool_use_id: string; readonly content: string; readonly is_error: boolean };

/** The field of an answer in which a thought came, and goes back: one of its own, or a part of the content. */
export type ThoughtField = "reasoning_content" | "reasoning" | "content part" | "think tag";

/**
 * A thought of a model before it answered, with what its provider needs to take it back: a signature, all of it encrypted
 * (`redacted`), or the field in which it came. Only the model `by` which it was thought can read it again.
 */
export type ThinkingBlock = {
  readonly type: "thinking";
  readonly by: string;
  readonly thinking: string;
  readonly signature: string | null;
  readonly redacted: string | null;
  /** Absent for Claude's, and for a thought without words. */
  readonly field?: ThoughtField;
  /** What else the provider said of the answer, as it came. Absent for nothing. */
  readonly fields?: JsonObject;
  /** False for what people never see: it stands here since its provider wants it back with the calls that followed it. */
  readonly isRetained?: false;
};

/** A message of the conversation as a model reads it. */
export type ModelMessage = { readonly role: "user" | "assistant"; readonly content: readonly ContentBlock[] };

/** A tool as a model is told of it. */
export type ToolDescription = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

/** The request of one model call. */
export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  /** True if people will see what the model thinks: a model that only summarises on demand is asked to. */
  readonly exposeThinking: boolean;
};

/** Why a model stopped. Only after `tool_use` may its tool calls run. */
export const STOP_REASONS = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Tokens of one model call. Input that came from the provider's cache, or was written into it, is counted apart. */
export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
};

/** A call whose provider counted nothing. */
export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The price of a model's tokens, in US dollars per million. */
export type TokenPrice = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
};

/**
 * The words of a model, as it says them. Blocks are numbered from 0, in order; a tool_use comes whole, with its arguments as
 * the text that the model wrote, and a thought ends with what its provider needs to take it back. `fields` and `provider_fields` are
 * what else the provider said of a call, a thought or the answer, which belongs to the provider and goes back to it. What comes is
 * paid for even if the call breaks off: `counted` tells, as often as the provider does, how many tokens were used so far, and
 * `arguments_delta` that so much of a tool_use has come. `end` is the last.
 */
export type ModelEvent =
  | { readonly type: "text_start"; readonly block: number }
  | { readonly type: "text_delta"; readonly block: number; readonly text: string }
  | { readonly type: "thinking_start"; readonly block: number }
  | { readonly type: "thinking_delta"; readonly block: number; readonly text: string }
  | {
      readonly type: "thinking_end";
      readonly block: number;
      readonly signature: string | null;
      readonly redacted: string | null;
      readonly field?: ThoughtField;
      readonly fields?: JsonObject;
    }
  | {
      readonly type: "tool_use";
      readonly block: number;
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly fields?: JsonObject;
    }
  | { readonly type: "provider_fields"; readonly fields: JsonObject }
  | { readonly type: "arguments_delta"; readonly characters: number }
  | { readonly type: "counted"; readonly usage: TokenUsage }
  | { readonly type: "end"; readonly stopReason: StopReason; readonly usage: TokenUsage };

/**
 * A language model. `stream` makes one call. It must end at once when `signal` aborts, and throws if the call
 * fails; what it has yielded by then is discarded by the loop. It calls `heard` for whatever comes from the provider,
 * even if that says nothing yet: a stream that is not heard of for long is given up.
 */
export type Model = {
  /** The model's name for people: provider and model. */
  readonly name: string;
  /** Null if nobody said what it costs. */
  readonly price: TokenPrice | null;
  stream(request: ModelRequest, signal: AbortSignal, heard: () => void): AsyncIterable<ModelEvent>;
};

/** All tokens of a call. */
export function totalTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

/** The cost of the tokens in US dollars; null if the model's price is not known. */
export function costOf(usage: TokenUsage, price: TokenPrice | null): number | null {
  if (price === null) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const millionths =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * price.cacheWrite;
  return millionths / 1_000_000;
}

/**
 * Why a model call failed. Some may go well when they are tried again: the provider limits or is overloaded, does not
 * answer, falls silent, its stream breaks off, or its answer has nothing in it. A request that is longer than the model reads, that the provider rejects, or
 * to which the model refuses an answer, fails again.
 */
export type ModelErrorKind =
  "rate_limited" | "overloaded" | "unavailable" | "silent" | "broken" | "empty" | "too_long" | "rejected" | "refused";

/** A model call failed. The message is shown to people and holds no secret. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
  /** The wait that the provider asks for, in ms; null if it does not say. */
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

  /** True if the same call may go well later. */
  get isRetryable(): boolean {
    return this.kind !== "too_long" && this.kind !== "rejected" && this.kind !== "refused";
  }
}
