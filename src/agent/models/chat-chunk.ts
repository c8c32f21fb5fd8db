import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import type { ThoughtField, TokenUsage } from "./model.ts";
import { countedSince, countIn, itemsIn, jsonTextIn, objectIn, otherFields, textIn, tokensIn } from "./odd-values.ts";

export type SaidPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string; readonly field: ThoughtField };

export type CallFragment = {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string;
  /** A piece of the text, or the complete JSON text if `isWhole`. */
  readonly arguments: string;
  readonly isWhole: boolean;
  readonly fields: JsonObject;
};

export type ChatChunk = {
  readonly error: { readonly body: unknown } | null;
  readonly usage: TokenUsage | null;
  readonly isMessage: boolean;
  readonly pieces: readonly SaidPiece[];
  readonly fragments: readonly CallFragment[];
  /** Other provider fields of the answer, which it may require later. */
  readonly fields: JsonObject;
  readonly finish: string | null;
  /** True if it has words of a refusal: OpenAI gives them a field of their own if a format is asked for. */
  readonly isRefusal: boolean;
};

const NOTHING: ChatChunk = {
  error: null,
  usage: null,
  isMessage: false,
  pieces: [],
  fragments: [],
  fields: {},
  finish: null,
  isRefusal: false,
};

const KNOWN_OF_DELTA: ReadonlySet<string> = new Set([
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "reasoning_content",
  "reasoning",
]);
const KNOWN_OF_CALL: ReadonlySet<string> = new Set(["index", "id", "type", "function"]);
const KNOWN_OF_FUNCTION: ReadonlySet<string> = new Set(["name", "arguments"]);

/**
 * Reads a server's chunk. Servers differ everywhere: missing, null or wrongly typed fields are ignored, and no error is
 * thrown.
 */
export function readChatChunk(data: unknown, event: string | null = null): ChatChunk {
  if (event === "error") return { ...NOTHING, error: { body: data } };
  if (!isJsonObject(data)) return NOTHING;
  const error = data["error"];
  if (textIn(error) !== "" || Object.values(objectIn(error)).some((each) => each !== null))
    return { ...NOTHING, error: { body: error } };
  // The error form of older servers.
  if (data["object"] === "error") return { ...NOTHING, error: { body: data } };
  const choice = objectIn(itemsIn(data["choices"])[0] ?? data["choices"]);
  const usage = usageIn(data["usage"]) ?? usageIn(choice["usage"]);
  // An answer without a stream has a message in place of a delta.
  const isMessage = (choice["delta"] ?? null) === null;
  const delta = objectIn(isMessage ? choice["message"] : choice["delta"]);
  return {
    error: null,
    usage,
    isMessage,
    pieces: piecesOf(delta),
    fragments: fragmentsOf(delta),
    fields: otherFields(delta, KNOWN_OF_DELTA),
    finish: textIn(choice["finish_reason"]) || null,
    isRefusal: textIn(delta["refusal"]) !== "",
  };
}

function piecesOf(delta: JsonObject): SaidPiece[] {
  // Some servers send one thought under both names.
  const field = textIn(delta["reasoning_content"]) === "" ? "reasoning" : "reasoning_content";
  const thought = textIn(delta[field]);
  return [
    ...(thought === "" ? [] : [{ kind: "thinking", text: thought, field } as const]),
    ...contentPieces(delta["content"]),
    ...(textIn(delta["refusal"]) === "" ? [] : [{ kind: "text", text: textIn(delta["refusal"]) } as const]),
  ];
}

function contentPieces(content: unknown): SaidPiece[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  return (isJsonObject(content) ? [content] : itemsIn(content)).flatMap((part): SaidPiece[] => {
    if (typeof part === "string") return part === "" ? [] : [{ kind: "text", text: part }];
    const { type, text, thinking, reasoning } = objectIn(part);
    const isThought = type === "thinking" || type === "reasoning";
    const said = isThought ? plainText(thinking ?? reasoning ?? text) : plainText(text);
    if (said === "") return [];
    return [isThought ? { kind: "thinking", text: said, field: "content part" } : { kind: "text", text: said }];
  });
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => textIn(part) || textIn(objectIn(part)["text"])).join("");
  return textIn(value);
}

function fragmentsOf(delta: JsonObject): CallFragment[] {
  const calls = delta["tool_calls"];
  const listed = (isJsonObject(calls) ? [calls] : itemsIn(calls)).filter(isJsonObject).map(fragmentOf);
  // The form of the protocol before tools.
  const single = delta["function_call"];
  return isJsonObject(single) ? [...listed, fragmentOf({ function: single })] : listed;
}

function fragmentOf(call: JsonObject): CallFragment {
  const { index, id } = call;
  const said = objectIn(call["function"]);
  const args = said["arguments"] ?? null;
  const ofFunction = otherFields(said, KNOWN_OF_FUNCTION);
  return {
    index: countIn(index),
    id: typeof id === "number" ? String(id) : textIn(id) || null,
    name: textIn(said["name"]),
    arguments: jsonTextIn(args),
    isWhole: typeof args === "object" && args !== null,
    fields: {
      ...otherFields(call, KNOWN_OF_CALL),
      ...(Object.keys(ofFunction).length === 0 ? {} : { function: ofFunction }),
    },
  };
}

/** Input tokens of the protocol include those from the cache. Null without counts. */
function usageIn(usage: unknown): TokenUsage | null {
  if (!isJsonObject(usage)) return null;
  const cached =
    tokensIn(objectIn(usage["prompt_tokens_details"])["cached_tokens"]) ?? tokensIn(usage["prompt_cache_hit_tokens"]);
  const cacheReadTokens = cached ?? 0;
  return countedSince(undefined, {
    inputTokens: Math.max(0, (tokensIn(usage["prompt_tokens"]) ?? 0) - cacheReadTokens),
    outputTokens: tokensIn(usage["completion_tokens"]),
    cacheReadTokens,
  });
}

const OPENING = "<think>";
const CLOSING = "</think>";

/** Parses a leading block `<think>…</think>` as a thought, for servers without a parser for it. Blocks elsewhere are text. */
export class ThinkTag {
  #state: "before" | "in" | "closing" | "past";
  /** Text that may be the beginning of a tag. */
  #held = "";

  constructor(isOpen: boolean) {
    this.#state = isOpen ? "in" : "before";
  }

  take(text: string): SaidPiece[] {
    this.#held += text;
    const pieces: SaidPiece[] = [];
    for (;;) {
      const before = { state: this.#state, length: this.#held.length };
      const piece = this.#next();
      if (piece !== null) pieces.push(piece);
      if (this.#state === before.state && this.#held.length === before.length) return pieces;
    }
  }

  end(): SaidPiece[] {
    const text = this.#held;
    this.#held = "";
    if (text === "" || this.#state === "closing") return [];
    return [this.#state === "in" ? thought(text) : { kind: "text", text }];
  }

  #next(): SaidPiece | null {
    switch (this.#state) {
      case "before": {
        const begun = this.#held.trimStart();
        if (begun.startsWith(OPENING)) {
          this.#state = "in";
          this.#held = begun.slice(OPENING.length);
          return null;
        }
        if (OPENING.startsWith(begun)) return null;
        this.#state = "past";
        return null;
      }
      case "in": {
        const end = this.#held.indexOf(CLOSING);
        if (end >= 0) {
          const text = this.#held.slice(0, end);
          this.#held = this.#held.slice(end + CLOSING.length);
          this.#state = "closing";
          return text === "" ? null : thought(text);
        }
        const certain = this.#held.length - partialEnd(this.#held, CLOSING);
        return certain === 0 ? null : thought(this.#taken(certain));
      }
      case "closing":
        this.#held = this.#held.trimStart();
        if (this.#held !== "") this.#state = "past";
        return null;
      case "past":
        return this.#held === "" ? null : { kind: "text", text: this.#taken(this.#held.length) };
    }
  }

  #taken(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

function thought(text: string): SaidPiece {
  return { kind: "thinking", text, field: "think tag" };
}

/** The length of the longest end of a text that may begin a tag. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}
