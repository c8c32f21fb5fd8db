import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject } from "../../src/lib/json.ts";
import { messageStream, streamed } from "../../tests/support/providers/anthropic-stream.ts";
import { conversationRefusal, objects } from "../../tests/support/providers/strict-conversation.ts";
import { serveBench } from "../server-process.ts";
import { beginningsOf, PromptCache, tokensOf, type Cached } from "./prompt-cache.ts";
import { answerTo, summaryOf, type Summariser } from "./script.ts";

/** The counts of the provider over the conversation. */
export type Seen = {
  readonly requests: number;
  readonly summaries: number;
  /** The reasons of refused requests; those that were too long apart. */
  readonly refusals: readonly string[];
  readonly tooLong: number;
  /** Requests that did not begin with the whole of the one before. */
  readonly breaks: number;
  /** Tokens of all requests, and those of them that came from the cache. */
  readonly tokens: number;
  readonly cached: number;
  readonly longest: number;
};

const [summariser, window] = process.argv.slice(2);
const WINDOW = Number(window);
const SUMMARISER: Summariser = summariser === "keeps" ? "keeps" : "forgets";

const cache = new PromptCache();
const seen = { requests: 0, summaries: 0, refusals: [] as string[], tooLong: 0, breaks: 0, tokens: 0, cached: 0, longest: 0 };
/** The newest request of the conversation, and the tokens that it left in the cache. */
let newest: { readonly body: JsonObject; readonly kept: number } | null = null;

const server = createServer((request, response) => void respond(request, response));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const json = (status: number, body: object): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.method === "GET") {
    if (request.url === "/seen") return json(200, seen);
    if (request.url === "/newest") return json(200, newest?.body ?? {});
    return json(200, { id: "bench", type: "model", max_input_tokens: WINDOW });
  }
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body: unknown = JSON.parse(Buffer.concat(pieces).toString());
  if (!isJsonObject(body)) return json(400, invalid("the body is no object"));
  const beginnings = beginningsOf(body);
  const tokens = tokensOf(beginnings);
  if (request.url?.includes("count_tokens") === true) return json(200, { input_tokens: tokens });
  const refusal = conversationRefusal(body);
  if (refusal !== null) {
    seen.refusals.push(refusal);
    return json(400, invalid(refusal));
  }
  if (tokens > WINDOW) {
    seen.tooLong += 1;
    return json(400, invalid(`prompt is too long: ${tokens} tokens > ${WINDOW} maximum`));
  }
  const cached = cache.takes(beginnings);
  const usage = {
    input_tokens: cached.fresh,
    cache_read_input_tokens: cached.read,
    cache_creation_input_tokens: cached.written,
  };
  const block = answerOf(body, cached);
  const { frames = [] } = streamed(messageStream([block], "tool" in block ? "tool_use" : "end_turn", usage));
  response.writeHead(200, { "content-type": "text/event-stream" }).end(frames.join(""));
}

/** The answer; a request without tools asks for a summary. */
function answerOf(body: JsonObject, cached: Cached) {
  if (objects(body["tools"]).length === 0) {
    seen.summaries += 1;
    return { text: [summaryOf(body, SUMMARISER)] };
  }
  const { turn, block } = answerTo(body, seen.requests);
  seen.requests += 1;
  if (turn > 0) look(body, cached);
  return block;
}

function look(body: JsonObject, { read, written, fresh }: Cached): void {
  if (newest !== null && read < newest.kept) seen.breaks += 1;
  newest = { body, kept: read + written };
  seen.tokens += read + written + fresh;
  seen.cached += read;
  seen.longest = Math.max(seen.longest, read + written + fresh);
}

function invalid(message: string): object {
  return { type: "error", error: { type: "invalid_request_error", message } };
}

await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
serveBench(
  (server.address() as AddressInfo).port,
  () => Promise.reject(new Error("only the raw server sends pages")),
  async () => {
    server.closeAllConnections();
    server.close();
  },
);
