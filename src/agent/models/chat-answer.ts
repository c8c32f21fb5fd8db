import { randomUUID } from "node:crypto";
import type { Json, JsonObject } from "../../lib/json.ts";
import { readChatChunk, type CallFragment, type ChatChunk, type SaidPiece, ThinkTag } from "./chat-chunk.ts";
import { ModelError, NO_TOKENS, type ModelErrorKind, type ModelEvent, type StopReason, type ThoughtField } from "./model.ts";
import { joinedFields, joinFields, mostOf } from "./odd-values.ts";
import { streamError } from "./provider-error.ts";
import { STREAM_END, type ServerSentEvent } from "./provider-requests.ts";

type OpenCall = {
  readonly index: number | null;
  givenId: string | null;
  name: string;
  arguments: string;
  mayBeClosed: boolean;
  fields: JsonObject;
};

type Speaking = { readonly kind: "text" } | { readonly kind: "thinking"; readonly field: ThoughtField };

type AnswerReading = {
  readonly thinkTags: boolean | "open";
  readonly apiKey: string | null;
  /** True if a format was asked for: then words of a refusal are no answer, whatever the stream ends with. False if omitted. */
  readonly hasFormat?: boolean;
};

/**
 * The answer of a chat completions stream. Throws ModelError for an error in the stream, and `broken` for an answer
 * that does not end, or announces calls and has none.
 */
export async function* chatAnswer(
  events: AsyncIterable<ServerSentEvent>,
  { thinkTags, apiKey, hasFormat = false }: AnswerReading,
): AsyncGenerator<ModelEvent> {
  const calls: OpenCall[] = [];
  let tag = thinkTags === false ? null : new ThinkTag(thinkTags === "open");
  let speaking: Speaking | null = null;
  let block = 0;
  let finish: string | null = null;
  let usage = NO_TOKENS;
  const fields = new Map<string, Json>();
  let hasDeltas = false;
  let isSaidWhole = false;
  let isRefused = false;

  function* said(pieces: readonly SaidPiece[]): Generator<ModelEvent> {
    for (const piece of pieces) {
      if (speaking?.kind !== piece.kind) {
        yield* endOfThought(speaking, block);
        if (speaking !== null) block += 1;
        speaking = piece;
        yield { type: `${piece.kind}_start`, block };
      }
      yield { type: `${piece.kind}_delta`, block, text: piece.text };
    }
  }

  for await (const event of events) {
    if (event === STREAM_END) {
      isSaidWhole = true;
      continue;
    }
    const chunk: ChatChunk = readChatChunk(event.data, event.event);
    if (chunk.error !== null) {
      // The answer was complete before.
      if (finish !== null) break;
      throw streamError(chunk.error.body, apiKey);
    }
    if (chunk.usage !== null) {
      usage = mostOf(usage, chunk.usage);
      yield { type: "counted", usage };
    }
    finish = chunk.finish ?? finish;
    isRefused ||= chunk.isRefusal;
    // Some servers repeat the complete message at the end.
    if (chunk.isMessage && hasDeltas) continue;
    hasDeltas ||= !chunk.isMessage && (chunk.pieces.length > 0 || chunk.fragments.length > 0);
    // A server that separates thoughts itself omits the closing tag.
    if (thinkTags === "open" && speaking === null && chunk.pieces[0]?.kind === "thinking") tag = null;
    const split = tag;
    yield* said(
      split === null ? chunk.pieces : chunk.pieces.flatMap((piece) => (piece.kind === "text" ? split.take(piece.text) : [piece])),
    );
    joinFields(fields, chunk.fields);
    for (const fragment of chunk.fragments) {
      addFragment(calls, fragment);
      yield { type: "arguments_delta", characters: fragment.arguments.length };
    }
  }
  // Some servers begin a call that they do not make.
  const made = calls.filter(({ name, arguments: args }) => name !== "" || args.trim() !== "");
  if (isSaidWhole) finish ??= finishOf(made, speaking);
  if (finish === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  const gaveUp = /malformed|unexpected_tool/i.test(finish) ? "broken" : KIND_BY_FAILED_FINISH.get(finish);
  if (gaveUp !== undefined) throw new ModelError(gaveUp, `the model's server gave the answer up (${finish})`);
  if (tag !== null) yield* said(tag.end());
  yield* endOfThought(speaking, block);
  if (fields.size > 0) yield { type: "provider_fields", fields: Object.fromEntries(fields) };
  for (const [place, call] of made.entries()) {
    const args = call.arguments.trim() === "" ? "{}" : call.arguments;
    // Our own ids: those of servers may repeat, and other providers reject their form.
    const id = `call_${randomUUID().replaceAll("-", "")}`;
    yield { type: "tool_use", block: block + 1 + place, id, name: call.name, arguments: args, fields: call.fields };
  }
  const stopReason = hasFormat && isRefused ? "refusal" : stopReasonOf(finish, made.length > 0);
  yield { type: "end", stopReason, usage };
}

function finishOf(calls: readonly OpenCall[], speaking: Speaking | null): string | null {
  if (calls.length > 0)
    return calls.every((call) => call.arguments.trim() === "" || isObject(call.arguments)) ? "tool_calls" : null;
  return speaking?.kind === "text" ? "stop" : null;
}

function* endOfThought(speaking: Speaking | null, block: number): Generator<ModelEvent> {
  if (speaking?.kind === "thinking")
    yield { type: "thinking_end", block, signature: null, redacted: null, field: speaking.field, fields: {} };
}

/**
 * Adds a fragment to its call. Servers differ: the id may come once, in each fragment, never, or twice. Name and id may
 * come in two fragments. Calls may differ by index or by id, or be equal in both and come complete.
 */
function addFragment(calls: OpenCall[], { index, id, name, arguments: args, isWhole, fields }: CallFragment): void {
  const mayBeClosed = args.trimEnd().endsWith("}");
  const current = currentCall(calls, { index, id, name });
  if (current === undefined || (name !== "" && begins(current, { id, name, arguments: args }))) {
    calls.push({ index, givenId: id, name, arguments: args, mayBeClosed, fields });
    return;
  }
  current.name ||= name;
  current.givenId ??= id;
  // Some servers send the initial empty object before the arguments.
  const isEmpty = current.arguments === "{}" && args.trimStart().startsWith("{");
  current.arguments = isWhole || isEmpty ? args : current.arguments + args;
  if (args !== "") current.mayBeClosed = mayBeClosed;
  current.fields = joinedFields(current.fields, fields);
}

function currentCall(
  calls: readonly OpenCall[],
  { index, id, name }: Pick<CallFragment, "index" | "id" | "name">,
): OpenCall | undefined {
  const sameIndex = index === null ? calls.at(-1) : calls.findLast((call) => call.index === index);
  if (sameIndex === undefined) return name === "" && calls.at(-1)?.index === null ? calls.at(-1) : undefined;
  if (id === null || sameIndex.givenId === id) return sameIndex;
  const sameId = calls.findLast((call) => call.index === index && call.givenId === id);
  if (sameId !== undefined) return sameId;
  // A new id after a complete call begins another call, even if its name follows later; some servers give each fragment
  // an id.
  const isWhole = sameIndex.name !== "" && sameIndex.givenId !== null && sameIndex.mayBeClosed && isObject(sameIndex.arguments);
  return name === "" && isWhole ? undefined : sameIndex;
}

function begins(current: OpenCall, { id, name, arguments: args }: Pick<CallFragment, "id" | "name" | "arguments">): boolean {
  // A call has a name, so fragments before its name belong to it.
  if (current.name === "" && (id === null || current.givenId === null || current.givenId === id)) return false;
  const isUntold = current.arguments === "" && (current.name === "" || current.name === name);
  if (isUntold && (id === null ? current.name === "" : current.givenId === null || current.givenId === id)) return false;
  if (id === null ? current.name !== name : current.givenId !== id) return true;
  return (id === null || args !== "") && current.mayBeClosed && isObject(current.arguments);
}

function isObject(args: string): boolean {
  try {
    return typeof JSON.parse(args) === "object";
  } catch {
    return false;
  }
}

/** Finish reasons of answers that the server gave up: Mistral, vLLM and OpenRouter; vLLM and SGLang; DeepSeek. */
const KIND_BY_FAILED_FINISH: ReadonlyMap<string, ModelErrorKind> = new Map([
  ["error", "broken"],
  ["abort", "broken"],
  ["insufficient_system_resource", "overloaded"],
]);

/** The servers' finish reasons, in any case: some send `stop` after calls, and many have their own names for the others. */
function stopReasonOf(finish: string, hasCalls: boolean): StopReason {
  if (/length|max|limit/i.test(finish)) return "max_tokens";
  if (/filter|safety|refus|recitation|blocked/i.test(finish)) return "refusal";
  if (/^(?:tool|function)_?(?:calls?|use)$/i.test(finish) || hasCalls) return "tool_use";
  return "end_turn";
}
