import type { ProviderAnswer } from "./provider-server.ts";

/** One event of the Messages API's stream. */
export type StreamEvent = { readonly type: string; readonly [field: string]: unknown };

/** The body of a request, as far as tests look at it. */
export type MessagesBody = {
  readonly [field: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly [field: string]: unknown }[] }[];
};

/** A block of a message, as the pieces in which it comes. */
export type StreamBlock =
  | { readonly text: readonly string[] }
  | { readonly thinking: readonly string[]; readonly signature: string }
  | { readonly redacted: string }
  | { readonly tool: string; readonly id: string; readonly json: readonly string[] };

/** The events as an answer of the provider. */
export function streamed(events: readonly StreamEvent[], ending?: ProviderAnswer["ending"]): ProviderAnswer {
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { frames, ...(ending === undefined ? {} : { ending }) };
}

/** The whole message as an answer of the provider. */
export function answers(blocks: readonly StreamBlock[], stopReason: string, usage: object = {}): ProviderAnswer {
  return streamed(messageStream(blocks, stopReason, usage));
}

/** The events of a whole message. */
export function messageStream(blocks: readonly StreamBlock[], stopReason: string, usage: object = {}): StreamEvent[] {
  const counted = { input_tokens: 11, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-test",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: counted,
  };
  return [
    { type: "message_start", message },
    { type: "ping" },
    ...blocks.flatMap((block, index): StreamEvent[] => [
      { type: "content_block_start", index, content_block: startOf(block) },
      ...deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
}

function startOf(block: StreamBlock): object {
  if ("text" in block) return { type: "text", text: "" };
  if ("thinking" in block) return { type: "thinking", thinking: "", signature: "" };
  if ("redacted" in block) return { type: "redacted_thinking", data: block.redacted };
  return { type: "tool_use", id: block.id, name: block.tool, input: {} };
}

function deltasOf(block: StreamBlock): object[] {
  if ("text" in block) return block.text.map((text) => ({ type: "text_delta", text }));
  if ("thinking" in block)
    return [
      ...block.thinking.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block.signature },
    ];
  if ("redacted" in block) return [];
  return block.json.map((json) => ({ type: "input_json_delta", partial_json: json }));
}
