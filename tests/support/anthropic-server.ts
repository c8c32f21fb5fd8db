import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One event of the Messages API's stream. */
export type WireEvent = { readonly type: string; readonly [field: string]: unknown };

/** What one request is answered with. */
export type WireAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly events?: readonly WireEvent[];
  readonly body?: unknown;
  readonly cut?: boolean;
};

/** A request as the server got it. */
export type WireRequest = {
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly [field: string]: unknown; readonly messages: readonly { role: string; content: unknown }[] };
};

/** A local server that speaks the Messages API's streaming protocol, one answer a request, the last for all further ones. */
export async function anthropicServer(
  answers: readonly WireAnswer[],
): Promise<{ readonly url: string; readonly requests: WireRequest[] }> {
  const requests: WireRequest[] = [];
  const server = createServer((request, response) => void respond(request, response));

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as WireRequest["body"] });
    const answer = answers[Math.min(requests.length, answers.length) - 1] ?? {};
    if (answer.events === undefined) {
      response
        .writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
        .end(JSON.stringify(answer.body));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
    for (const event of answer.events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    if (answer.cut === true) setImmediate(() => response.destroy());
    else response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** The stream of a whole message: its blocks, each as the deltas in which it comes. */
export function messageStream(
  blocks: readonly (
    { readonly text: readonly string[] } | { readonly tool: string; readonly id: string; readonly json: readonly string[] }
  )[],
  stopReason: string,
): WireEvent[] {
  const usage = { input_tokens: 11, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-test",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
    { type: "ping" },
    ...blocks.flatMap((block, index): WireEvent[] => {
      const isText = "text" in block;
      const start = isText ? { type: "text", text: "" } : { type: "tool_use", id: block.id, name: block.tool, input: {} };
      const deltas = isText
        ? block.text.map((text) => ({ type: "text_delta", text }))
        : block.json.map((json) => ({ type: "input_json_delta", partial_json: json }));
      return [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    }),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { input_tokens: 11, output_tokens: 7 },
    },
    { type: "message_stop" },
  ];
}
