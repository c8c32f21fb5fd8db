import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { TOKEN_BEGIN } from "./fleet.ts";
import { NewerServer } from "./mcp/newer.ts";
import { OlderServer } from "./mcp/older.ts";
import { Tally, type Counts, type Message } from "./mcp/tally.ts";
import { Giving, type Attempt, type OpenCall } from "./giving.ts";

/**
 * The job queue of trial:company: takes orders over HTTP, remembers their tokens, and gives each result in the way of its
 * job. A GET answers a QueueReport. At `/older` and `/newer` it is an MCP server of that generation. The lines `servers URL …` and `release` come on its stdin.
 */
export type QueueReport = {
  readonly attempts: readonly Attempt[];
  readonly orders: number;
  readonly problems: readonly string[];
  readonly tokens: number;
  /** The calls whose results are still being given. */
  readonly open: number;
  /** What the MCP servers noted. */
  readonly counts: Counts;
};

/** The time that it takes to take an order, in ms: an early result is given meanwhile. */
const TAKES_MS = 150;

const giving = new Giving(Number(process.env["TRIAL_SEED"] ?? 1));
const tally = new Tally();
const older = new OlderServer(tally);
const newer = new NewerServer(tally);
const tokens = new Map<string, string>();
const problems: string[] = [];
let orders = 0;

async function take(call: OpenCall & { readonly token: string }): Promise<void> {
  orders += 1;
  if (!call.token.startsWith(TOKEN_BEGIN)) problems.push(`a token does not begin with ${TOKEN_BEGIN}`);
  const known = tokens.get(call.callId);
  if (known !== undefined && known !== call.token) problems.push(`the call ${call.callId} has two tokens`);
  if (known === undefined) {
    tokens.set(call.callId, call.token);
    void giving.give(call).catch((error: unknown) => problems.push(String(error)));
  }
  if (call.way === "early") await delay(TAKES_MS);
}

function report(): QueueReport {
  return { attempts: giving.attempts, orders, problems, tokens: tokens.size, open: giving.open, counts: tally.counts };
}

async function speak(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = JSON.parse(await text(request)) as Message;
  if (request.url === "/older") return older.answer(message, response);
  const answer = newer.answer(message);
  if (answer === null) response.writeHead(202).end();
  else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

const server = createServer((request, response) => {
  void (async () => {
    if (request.url !== "/") return speak(request, response);
    if (request.method === "POST") await take(JSON.parse(await text(request)) as OpenCall & { token: string });
    response.end(request.method === "POST" ? "{}" : JSON.stringify(report()));
  })().catch(() => response.destroy());
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, ...rest] = line.split(" ");
  if (word === "servers") giving.serve(rest);
  else giving.release();
});
console.log(`takes orders at http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
