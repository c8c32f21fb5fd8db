import type { FetchLike, Transport } from "@modelcontextprotocol/client";
import { Agent, fetch } from "undici";
import { MESSAGE_BYTES, type McpWay } from "./server.ts";

type HttpWay = Extract<McpWay, { readonly kind: "http" | "sse" | "any" }>;

/** An answer of a server is too large: its connection is closed. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor() {
    super(`its message is larger than ${MESSAGE_BYTES} bytes`);
  }
}

/** Calls may take an hour without a byte: their own time limit ends them. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The transport for a server's address. `kind` is the way that is tried. */
export async function httpTransport({ url, headers }: HttpWay, kind: "http" | "sse"): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const options = { requestInit: { headers }, fetch: boundedFetch };
  return kind === "sse"
    ? new SSEClientTransport(new URL(url), options)
    : new StreamableHTTPClientTransport(new URL(url), options);
}

/** As `fetch`, but a message above MESSAGE_BYTES ends its answer with an error. */
const boundedFetch: FetchLike = async (url, init) => {
  const request = { ...init, dispatcher: patient } as Parameters<typeof fetch>[1];
  const response = (await fetch(url, request)) as unknown as Response;
  if (response.body === null) return response;
  const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
  const { status, statusText } = response;
  const plain = new Response(response.body.pipeThrough(bounded(isStream)), { status, statusText, headers: response.headers });
  // The SDK resolves relative addresses, and checks redirects, by the address of the answer.
  return Object.defineProperty(plain, "url", { value: response.url });
};

/** Counts the bytes of each event of a stream of events, which ends at an empty line; of other answers all bytes. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).lastIndexOf("\n\n") : -1;
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
      if (bytes > MESSAGE_BYTES) throw new MessageTooLarge();
      controller.enqueue(chunk);
    },
  });
}
