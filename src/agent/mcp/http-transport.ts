import type { FetchLike, Transport } from "@modelcontextprotocol/client";
import { Agent, fetch } from "undici";
import { isJsonObject } from "../../lib/json.ts";
import { retryAfterOf } from "../../lib/retry-after.ts";
import { withCause } from "../../lib/text.ts";
import { readableEvents, readableJson } from "./messages/readable-body.ts";
import { MESSAGE_BYTES, type McpWay } from "./server.ts";

type HttpWay = Extract<McpWay, { readonly kind: "http" | "sse" | "any" }>;

/** An answer of a server is too large: its connection is closed. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor() {
    super(`its message is larger than ${MESSAGE_BYTES} bytes`);
  }
}

const ANSWERS_NOT_TAKEN = "it asks, and does not take the answers";

/** A server asks, and does not take the answers: its connection is closed. */
class AnswersNotTaken extends Error {
  override readonly name = "AnswersNotTaken";

  constructor() {
    super(ANSWERS_NOT_TAKEN);
  }
}

/** The fault for which a connection is closed; null for others. The SDK wraps the errors of its transports. */
export function faultOf(error: Error): string | null {
  const said = withCause(error);
  if (/larger than \d+ bytes/.test(said)) return `its message was larger than ${MESSAGE_BYTES} bytes`;
  return said.includes(ANSWERS_NOT_TAKEN) ? ANSWERS_NOT_TAKEN : null;
}

/** True if a request did not reach its server, or a stream of it broke. The SDK says so in words. */
export function isLostConnection(error: Error): boolean {
  return /fetch failed|SSE stream disconnected|SSE error/.test(withCause(error));
}

/** The server takes a request later: `afterMs` is the time that it names (`Retry-After`). */
export class TakesLater extends Error {
  override readonly name = "TakesLater";
  /** The status of HTTP. */
  readonly code: number;
  readonly afterMs: number;

  constructor(code: number, afterMs: number) {
    super(`it takes the request after ${afterMs} ms`);
    this.code = code;
    this.afterMs = afterMs;
  }
}

const LATER_STATUSES: ReadonlySet<number> = new Set([429, 503]);

const CAUSES = 8;

/** The time after which a server takes the request that it refused, in ms; null if it names none. */
export function takesLaterMs(error: unknown): number | null {
  let each = error;
  for (let causes = 0; each instanceof Error && causes <= CAUSES; causes += 1) {
    if (each instanceof TakesLater) return each.afterMs;
    each = each.cause;
  }
  return null;
}

/** Calls may take an hour without a byte: their own time limit ends them. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The transport for a server's address. `kind` is the way that is tried. */
export async function httpTransport({ url, headers }: HttpWay, kind: "http" | "sse"): Promise<Transport> {
  const { SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const options = { requestInit: { headers }, fetch: boundedFetch(kind) };
  return kind === "sse"
    ? new SSEClientTransport(new URL(url), options)
    : new StreamableHTTPClientTransport(new URL(url), options);
}

/** The most answers to a server's own questions that it has not taken yet. */
const UNTAKEN_ANSWERS = 64;

/**
 * As `fetch`, for one connection. A message above MESSAGE_BYTES ends its answer with an error. Our answers to questions
 * of the server have no body to read: a server that sends one is not listened to. A server that takes no answers, and asks
 * on, is refused.
 */
function boundedFetch(kind: "http" | "sse"): FetchLike {
  let untaken = 0;
  return async (url, init) => {
    const request = { ...init, dispatcher: patient } as Parameters<typeof fetch>[1];
    const isAnswer = init?.method === "POST" && !asks(init.body);
    if (isAnswer && untaken >= UNTAKEN_ANSWERS) throw new AnswersNotTaken();
    if (isAnswer) untaken += 1;
    const response = (await fetch(url, request).finally(() => {
      if (isAnswer) untaken -= 1;
    })) as unknown as Response;
    const { status, statusText, headers, body } = response;
    const afterMs = LATER_STATUSES.has(status) ? retryAfterOf(headers) : null;
    if (afterMs !== null) {
      await body?.cancel().catch(() => {});
      throw new TakesLater(status, afterMs);
    }
    if (body === null) return response;
    const isUnread = isAnswer || (kind === "sse" && init?.method === "POST");
    if (isUnread) await body.cancel().catch(() => {});
    const type = status === 200 ? (headers.get("content-type") ?? "") : "";
    const readable = (): ReadableStream<Uint8Array> => {
      if (type.startsWith("text/event-stream")) return body.pipeThrough(bounded(true)).pipeThrough(readableEvents());
      const all = body.pipeThrough(bounded(false));
      return type.startsWith("application/json") ? all.pipeThrough(readableJson()) : all;
    };
    const plain = new Response(isUnread ? null : readable(), { status, statusText, headers });
    // The SDK resolves relative addresses, and checks redirects, by the address of the answer.
    return Object.defineProperty(plain, "url", { value: response.url });
  };
}

/** True for a body with a request, which has a method and an id. */
function asks(body: unknown): boolean {
  const message: unknown = typeof body === "string" ? JSON.parse(body) : null;
  return isJsonObject(message) && "method" in message && "id" in message;
}

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
