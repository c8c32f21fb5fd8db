import type { Json, JsonObject } from "../../lib/json.ts";
import type { TemplateModelSettings } from "./model-settings.ts";

/** The image types that every provider reads, and browsers show. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

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
      /** Other provider fields of the call, such as a signature, for the model `by` alone. Absent if there are none. */
      readonly provider?: { readonly by: string; readonly fields: JsonObject };
    }
  | { readonly type: "tool_result"; readonly tool_use_id: string; readonly content: string; readonly is_error: boolean };

/** The field of an answer in which a thought came, and is sent back: a separate one, or a part of the content. */
export type ThoughtField = "reasoning_content" | "reasoning" | "content part" | "think tag";

/**
 * A thought of a model before its answer, with its provider's proof: a signature, an encrypted thought (`redacted`), or
 * its field. Only the model `by` can read it again.
 */
export type ThinkingBlock = {
  readonly type: "thinking";
  readonly by: string;
  readonly thinking: string;
  readonly signature: string | null;
  readonly redacted: string | null;
  /** Absent for Claude's thoughts, and for those without text. */
  readonly field?: ThoughtField;
  /** Other provider fields of the answer. Absent if there are none. */
  readonly fields?: JsonObject;
  /**
   * False for a thought that is hidden from people and kept only because the provider requires it with the calls that
   * followed.
   */
  readonly isRetained?: false;
};

export type ModelMessage = { readonly role: "user" | "assistant"; readonly content: readonly ContentBlock[] };

export type ToolDescription = { readonly name: string; readonly description: string; readonly inputSchema: JsonObject };

export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  /** True if people will see the model's thoughts: a model that summarises on demand is asked to. */
  readonly exposeThinking: boolean;
  /** Those of the template, in the place of the model's own. */
  readonly settings: TemplateModelSettings;
  /** True for the first call of a turn: only that can be made to call a tool. */
  readonly isFirstOfTurn: boolean;
  /** The JSON Schema of the answer that ends the turn; null for any text. An adapter asks for it as its provider can. */
  readonly shape: JsonObject | null;
};

/** Why a model stopped. Tool calls run only after `tool_use`. */
export const STOP_REASONS = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Tokens of one model call. Input read from or written to the provider's cache is counted separately. */
export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
};

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** US dollars per million tokens. */
export type TokenPrice = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
};

/**
 * The output of a model. Blocks are numbered from 0, in order. A tool_use comes complete, with its arguments as the
 * model's text; a thought ends with its provider's proof. `fields` and `provider_fields` are other provider fields,
 * which are sent back to that provider. Output is paid for even if the call breaks off: `counted` reports the tokens
 * used so far, `arguments_delta` the length of an unfinished tool_use. `end` is the last event.
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
 * A language model. `stream` makes one call. It must end immediately when `signal` aborts, and throws if the call
 * fails; the loop then discards its events. It calls `heard` for all data of the provider, even pings: a silent stream
 * is aborted.
 */
export type Model = {
  readonly name: string;
  /** Null if it has no configured price. */
  readonly price: TokenPrice | null;
  /**
   * The tokens of its context window; null if unknown. Its provider is asked in the background, once so many tokens are
   * in use that it matters. Absent: unknown.
   */
  readonly window?: (tokensInUse: number) => number | null;
  /** Counts the input tokens of a request, by the provider. Rejects if the provider does not answer. Absent: it cannot. */
  readonly count?: (request: ModelRequest, signal: AbortSignal) => Promise<number>;
  stream(request: ModelRequest, signal: AbortSignal, heard: () => void): AsyncIterable<ModelEvent>;
};

export function totalTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

/** In US dollars; null without a price. */
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
 * Why a model call failed. Retries may help if the provider limits requests or is overloaded, is unreachable or silent,
 * its stream breaks off, or its answer is empty. A request that is rejected or refused fails again. `too_long`: the
 * context window is full, by the request or by the answer.
 */
export const MODEL_ERROR_KINDS = [
  "rate_limited",
  "overloaded",
  "unavailable",
  "silent",
  "broken",
  "empty",
  "too_long",
  "rejected",
  "refused",
] as const;
export type ModelErrorKind = (typeof MODEL_ERROR_KINDS)[number];

/** A model call failed. The message is shown to people and holds no secret. */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly kind: ModelErrorKind;
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

  get isRetryable(): boolean {
    return this.kind !== "too_long" && this.kind !== "rejected" && this.kind !== "refused";
  }
}

export type Spending = {
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
};

export const NOTHING_SPENT: Spending = { usage: NO_TOKENS, isEstimated: false };

/** About as many characters are one token of English text (OpenAI, "What are tokens and how to count them?"). */
const TOKEN_CHARACTERS = 4;

export function spentOnBroken(counted: TokenUsage | null, characters: number): Spending {
  if (counted === null && characters === 0) return NOTHING_SPENT;
  const usage = counted ?? NO_TOKENS;
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(characters / TOKEN_CHARACTERS));
  return { usage: { ...usage, outputTokens }, isEstimated: true };
}

export function spentTogether(one: Spending, other: Spending): Spending {
  return {
    usage: {
      inputTokens: one.usage.inputTokens + other.usage.inputTokens,
      outputTokens: one.usage.outputTokens + other.usage.outputTokens,
      cacheReadTokens: one.usage.cacheReadTokens + other.usage.cacheReadTokens,
      cacheWriteTokens: one.usage.cacheWriteTokens + other.usage.cacheWriteTokens,
    },
    isEstimated: one.isEstimated || other.isEstimated,
  };
}
