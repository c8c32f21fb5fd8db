import type { JsonObject } from "../../lib/json.ts";
import { diagnosisIn } from "./cache-diagnosis.ts";
import type { CacheDiagnosis, TokenUsage } from "./model.ts";
import { countIn, itemsIn, jsonTextIn, objectIn, otherFields, textIn, tokensIn } from "./odd-values.ts";
import type { ServerSentEvent } from "./provider-requests.ts";

export type StartedBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string; readonly fields: JsonObject }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly fields: JsonObject;
    }
  | { readonly type: "other" };

export type BlockDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | { readonly type: "signature"; readonly signature: string }
  | { readonly type: "input"; readonly json: string }
  | { readonly type: "other" };

export type CountedTokens = { readonly [Name in keyof TokenUsage]: number | null };

/** The relevant parts of a Messages event. A block's index is null if it is missing. */
export type MessagesEvent =
  | { readonly type: "start"; readonly counted: CountedTokens; readonly cache: CacheDiagnosis }
  | { readonly type: "block start"; readonly index: number | null; readonly block: StartedBlock }
  | { readonly type: "block delta"; readonly index: number | null; readonly delta: BlockDelta }
  | { readonly type: "block end"; readonly index: number | null }
  | { readonly type: "message delta"; readonly counted: CountedTokens; readonly stopReason: string | null }
  | { readonly type: "error"; readonly body: unknown }
  | { readonly type: "other" };

const KNOWN_OF_CALL: ReadonlySet<string> = new Set(["type", "id", "name", "input"]);
const KNOWN_OF_THOUGHT: ReadonlySet<string> = new Set(["type", "thinking", "signature"]);

/** Reads an event of a Messages server. Missing, null or wrongly typed fields are ignored, and no error is thrown. */
function readEvent({ event, data }: ServerSentEvent): MessagesEvent {
  const body = objectIn(data);
  const type = textIn(body["type"]) || event;
  const index = countIn(body["index"]);
  switch (type) {
    case "error":
      return { type: "error", body: data };
    case "message_start":
      return { type: "start", counted: countedIn(objectIn(body["message"])["usage"]), cache: diagnosisIn(body["message"]) };
    case "content_block_start":
      return { type: "block start", index, block: blockIn(objectIn(body["content_block"])) };
    case "content_block_delta":
      return { type: "block delta", index, delta: deltaIn(objectIn(body["delta"])) };
    case "content_block_stop":
      return { type: "block end", index };
    case "message_delta": {
      const stopReason = textIn(objectIn(body["delta"])["stop_reason"]) || null;
      return { type: "message delta", counted: countedIn(body["usage"]), stopReason };
    }
    default:
      return { type: "other" };
  }
}

/** Reads the events. A server may send the complete message in place of a stream. */
export function readMessagesEvents(came: ServerSentEvent): readonly MessagesEvent[] {
  const message = objectIn(came.data);
  if (message["type"] !== "message") return [readEvent(came)];
  const counted = countedIn(message["usage"]);
  const blocks = itemsIn(message["content"]).flatMap((block, index): MessagesEvent[] => [
    { type: "block start", index, block: blockIn(objectIn(block)) },
    { type: "block end", index },
  ]);
  return [
    { type: "start", counted, cache: diagnosisIn(message) },
    ...blocks,
    { type: "message delta", counted, stopReason: textIn(message["stop_reason"]) || null },
  ];
}

function blockIn(block: JsonObject): StartedBlock {
  switch (block["type"]) {
    case "text":
      return { type: "text", text: textIn(block["text"]) };
    case "thinking": {
      const fields = otherFields(block, KNOWN_OF_THOUGHT);
      return { type: "thinking", thinking: textIn(block["thinking"]), signature: textIn(block["signature"]), fields };
    }
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textIn(block["data"]) };
    case "tool_use":
      return {
        type: "tool_use",
        id: textIn(block["id"]),
        name: textIn(block["name"]),
        input: jsonTextIn(block["input"]),
        fields: otherFields(block, KNOWN_OF_CALL),
      };
    default:
      return { type: "other" };
  }
}

function deltaIn(delta: JsonObject): BlockDelta {
  switch (delta["type"]) {
    case "text_delta":
      return { type: "text", text: textIn(delta["text"]) };
    case "thinking_delta":
      return { type: "thinking", thinking: textIn(delta["thinking"]) };
    case "signature_delta":
      return { type: "signature", signature: textIn(delta["signature"]) };
    case "input_json_delta":
      return { type: "input", json: jsonTextIn(delta["partial_json"]) };
    default:
      return { type: "other" };
  }
}

function countedIn(usage: unknown): CountedTokens {
  const counts = objectIn(usage);
  return {
    inputTokens: tokensIn(counts["input_tokens"]),
    outputTokens: tokensIn(counts["output_tokens"]),
    cacheReadTokens: tokensIn(counts["cache_read_input_tokens"]),
    cacheWriteTokens: tokensIn(counts["cache_creation_input_tokens"]),
  };
}
