import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../lib/json.ts";
import { readMessagesEvents, type BlockDelta, type StartedBlock } from "./messages-event.ts";
import { ModelError, NO_TOKENS, type ModelEvent, type StopReason } from "./model.ts";
import { countedSince, mostOf } from "./odd-values.ts";
import { streamError } from "./provider-error.ts";
import type { ServerSentEvent } from "./provider-requests.ts";

const STOP_REASON_BY_NAME: ReadonlyMap<string, StopReason> = new Map([
  ["end_turn", "end_turn"],
  ["tool_use", "tool_use"],
  ["max_tokens", "max_tokens"],
  ["stop_sequence", "stop_sequence"],
  ["refusal", "refusal"],
  ["pause_turn", "pause_turn"],
]);

const WINDOW_FULL = "model_context_window_exceeded";

type OpenBlock =
  | { readonly type: "text" }
  | { readonly type: "thinking"; signature: string; readonly fields: JsonObject }
  | (Extract<StartedBlock, { type: "tool_use" }> & { arguments: string })
  | Extract<StartedBlock, { type: "redacted_thinking" | "other" }>;

/**
 * The answer of a Messages stream. `ids` are the call ids of the conversation. Throws ModelError for an error in the
 * stream, and `broken` for one that violates the protocol or does not end.
 */
export async function* messagesAnswer(
  events: AsyncIterable<ServerSentEvent>,
  { ids, apiKey }: { readonly ids: Set<string>; readonly apiKey: string | null },
): AsyncGenerator<ModelEvent> {
  // Blocks are numbered here: an index may be missing or repeated.
  const open = new Map<number, { readonly place: number; readonly block: OpenBlock }>();
  let stopReason: StopReason | null = null;
  let usage = NO_TOKENS;
  // Servers without indexes send blocks one after another.
  let newest = -1;
  let blocks = 0;
  for await (const came of events) {
    for (const event of readMessagesEvents(came)) {
      switch (event.type) {
        case "start":
          usage = countedSince(usage, event.counted);
          yield { type: "counted", usage };
          break;
        case "block start": {
          const index = event.index ?? newest + 1;
          if (open.has(index)) throw malformed(`block ${index} began twice`);
          newest = Math.max(newest, index);
          const place = blocks;
          blocks += 1;
          open.set(index, { place, block: openBlock(event.block, ids) });
          yield* begin(place, event.block);
          break;
        }
        case "block delta": {
          const index = event.index ?? newest;
          const extended = open.get(index);
          if (extended === undefined) throw malformed(`block ${index} continues and never began`);
          yield* extend(extended.place, extended.block, event.delta);
          break;
        }
        case "block end": {
          const index = event.index ?? newest;
          const ended = open.get(index);
          if (ended === undefined) throw malformed(`block ${index} ended and never began`);
          open.delete(index);
          yield* end(ended.place, ended.block);
          break;
        }
        case "message delta":
          usage = mostOf(usage, countedSince(usage, event.counted));
          yield { type: "counted", usage };
          if (event.stopReason === WINDOW_FULL)
            throw new ModelError("too_long", "the model's context window is full: it stopped in the middle of its answer");
          if (event.stopReason !== null) stopReason = STOP_REASON_BY_NAME.get(event.stopReason) ?? "end_turn";
          break;
        case "error":
          // The answer was complete before.
          if (stopReason === null) throw streamError(event.body, apiKey);
          break;
        case "other":
      }
    }
  }
  if (stopReason === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  for (const { place, block } of open.values()) yield* end(place, block);
  yield { type: "end", stopReason, usage };
}

function openBlock(block: StartedBlock, ids: Set<string>): OpenBlock {
  switch (block.type) {
    case "thinking":
      return { type: "thinking", signature: block.signature, fields: block.fields };
    case "tool_use":
      return { ...block, id: taken(ids, block.id), arguments: "" };
    case "text":
      return { type: "text" };
    case "redacted_thinking":
    case "other":
      return block;
  }
}

/** Reserves an id for a call: a new one if the provider would reject the given one. */
function taken(ids: Set<string>, given: string): string {
  const id = /^[a-zA-Z0-9_-]+$/.test(given) && !ids.has(given) ? given : `toolu_${randomUUID().replaceAll("-", "")}`;
  ids.add(id);
  return id;
}

/** Claude begins with empty blocks. Other servers may send a complete block. */
function* begin(index: number, block: StartedBlock): Generator<ModelEvent> {
  if (block.type === "text") {
    yield { type: "text_start", block: index };
    if (block.text !== "") yield { type: "text_delta", block: index, text: block.text };
  }
  if (block.type === "thinking" || block.type === "redacted_thinking") yield { type: "thinking_start", block: index };
  if (block.type === "thinking" && block.thinking !== "") yield { type: "thinking_delta", block: index, text: block.thinking };
}

function* extend(index: number, block: OpenBlock, delta: BlockDelta): Generator<ModelEvent> {
  if (block.type === "other") return;
  switch (delta.type) {
    case "text":
      if (block.type !== "text") throw malformed(`block ${index} is ${block.type} and has text`);
      if (delta.text !== "") yield { type: "text_delta", block: index, text: delta.text };
      return;
    case "thinking":
      if (block.type !== "thinking") throw malformed(`block ${index} is ${block.type} and has thinking`);
      if (delta.thinking !== "") yield { type: "thinking_delta", block: index, text: delta.thinking };
      return;
    case "signature":
      if (block.type !== "thinking") throw malformed(`block ${index} is ${block.type} and has a signature`);
      block.signature += delta.signature;
      return;
    case "input":
      if (block.type !== "tool_use") return;
      block.arguments += delta.json;
      yield { type: "arguments_delta", characters: delta.json.length };
      return;
    case "other":
  }
}

function* end(index: number, block: OpenBlock): Generator<ModelEvent> {
  switch (block.type) {
    case "thinking": {
      const { signature, fields } = block;
      yield { type: "thinking_end", block: index, signature: signature || null, redacted: null, fields };
      return;
    }
    case "redacted_thinking":
      yield { type: "thinking_end", block: index, signature: null, redacted: block.data };
      return;
    case "tool_use": {
      // A call without arguments, or with complete ones at its start, has no fragments.
      const args = [block.arguments, block.input].find((text) => text.trim() !== "") ?? "{}";
      yield { type: "tool_use", block: index, id: block.id, name: block.name, arguments: args, fields: block.fields };
      return;
    }
    case "text":
    case "other":
  }
}

function malformed(what: string): ModelError {
  return new ModelError("broken", `the model's stream is malformed: ${what}`);
}
