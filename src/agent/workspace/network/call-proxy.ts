import {
  createServer,
  request,
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { errorCode } from "../../../lib/text.ts";
import { INTERNET, oneByOne, reach, shown, targetOf, type HostDecision, type Network, type Target } from "./reach.ts";

/** The bounds of one call's proxy. Times are in ms. */
const CONNECTIONS = 64;
const HELD = 2 * CONNECTIONS;
const HEADER_BYTES = 16 * 1024;
const KEPT_MS = 30_000;
const CONNECT_MS = 15_000;
const IDLE_MS = 300_000;
const MOST_NAMED = 20;
const TOO_MANY = `one call has at most ${CONNECTIONS} connections`;
const LEAST_STATUS = 100;

/** Headers of one connection, which a proxy does not pass on (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The only way of one call's programs to the network: a proxy for HTTP and CONNECT (RFC 9110). Its socket is this
 * call's, so that calls never share permissions. Each connection is judged before data is sent. Refused ones get 403,
 * unreachable ones 502, with the reason.
 */
export class CallProxy {
  readonly #decide: HostDecision;
  readonly #network: Network;
  readonly #http: HttpServer;
  readonly #listener: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #refused = new Map<string, string>();
  readonly #silent = new Map<string, string>();
  readonly #busy = new WeakSet<Duplex>();
  #connections = 0;
  #looking = 0;
  #isClosed = false;

  constructor(listener: Server, decide: HostDecision, network: Network = INTERNET) {
    this.#decide = decide;
    // One name at a time, so that a call delays the look-ups of others only briefly.
    const look = oneByOne(async (name) => {
      if (this.#isClosed) throw new Error("the call has ended");
      return network.lookup(name);
    });
    this.#network = { ...network, lookup: look };
    this.#listener = listener;
    this.#http = createServer({ maxHeaderSize: HEADER_BYTES, requestTimeout: 0, keepAliveTimeout: KEPT_MS });
    this.#http.timeout = IDLE_MS;
    this.#http.on("request", (asked, answer) => {
      if (this.#isOneAtATime(asked.socket, answer)) void this.#forward(asked, answer);
    });
    this.#http.on("connect", (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.#isOneAtATime(socket, socket)) void this.#tunnel(asked, socket, head);
    });
    this.#http.on("clientError", (_error, socket) => socket.destroy());
    listener.maxConnections = HELD;
    listener.on("connection", (socket) => this.#accept(socket));
    listener.on("error", () => {});
  }

  get notes(): readonly string[] {
    return [...this.#refused.values(), ...this.#silent.values()];
  }

  close(): void {
    this.#isClosed = true;
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#keep(socket);
    if (this.#connections >= CONNECTIONS) return void socket.end(answerHead(503, TOO_MANY));
    this.#connections += 1;
    socket.once("close", () => (this.#connections -= 1));
    this.#http.emit("connection", socket);
  }

  /**
   * True if a connection has one request at a time. Pipelined requests are closed (RFC 9112, 9.3.2, lets the client ask
   * again): each request opens a connection of the server.
   */
  #isOneAtATime(socket: Duplex, answer: ServerResponse | Duplex): boolean {
    if (this.#busy.has(socket)) {
      socket.destroy();
      return false;
    }
    this.#busy.add(socket);
    answer.once("close", () => this.#busy.delete(socket));
    return true;
  }

  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    asked.on("error", () => {});
    answer.on("error", () => {});
    const url = URL.canParse(asked.url ?? "") ? new URL(asked.url ?? "") : null;
    const target = url?.protocol === "http:" ? targetOf(url.host, 80) : null;
    if (url === null || target === null)
      return end(answer, 400, "this is a proxy: ask for http://HOST/…, or CONNECT HOST:PORT for https");
    const address = await this.#address(target);
    if (typeof address !== "string") return end(answer, address.status, address.reason);
    if (asked.socket.destroyed) return;
    // Without a length or chunks, a body would be read as a further request, which was not judged.
    const framing = asked.headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
    const passed = request({
      createConnection: () => this.#connect(address, target.port),
      method: asked.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...passedOn(asked.headers), ...framing, host: url.host },
      setHost: false,
    });
    let isAwaited = true;
    const fail = (problem: Error | null): void => {
      if (isAwaited && !answer.headersSent) end(answer, 502, this.#noAnswer(target, problem));
      else answer.destroy();
    };
    passed.on("error", fail);
    passed.on("close", () => {
      if (!answer.headersSent) fail(null);
    });
    passed.on("response", (response) => {
      const { statusCode = 0 } = response;
      if (statusCode < LEAST_STATUS) return void passed.destroy(new Error(`${statusCode} is no status of an answer`));
      this.#silent.delete(shown(target));
      answer.writeHead(statusCode, passedOn(response.headers));
      response.on("error", () => answer.destroy());
      response.pipe(answer);
    });
    answer.on("close", () => {
      isAwaited = false;
      passed.destroy();
    });
    asked.pipe(passed);
  }

  async #tunnel(asked: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {});
    const target = targetOf(asked.url ?? "");
    if (target === null) return void socket.end(answerHead(400, "CONNECT wants HOST:PORT"));
    const address = await this.#address(target);
    if (typeof address !== "string") return void socket.end(answerHead(address.status, address.reason));
    if (socket.destroyed) return;
    const outside = this.#connect(address, target.port);
    let isConnected = false;
    let problem: Error | null = null;
    outside.once("error", (error) => (problem = error));
    outside.once("connect", () => {
      isConnected = true;
      this.#silent.delete(shown(target));
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) outside.write(head);
      outside.pipe(socket);
      socket.pipe(outside);
    });
    outside.once("close", () => {
      if (isConnected || socket.destroyed) socket.destroy();
      else socket.end(answerHead(502, this.#noAnswer(target, problem)));
    });
    socket.once("close", () => outside.destroy());
  }

  async #address(target: Target): Promise<string | { readonly status: number; readonly reason: string }> {
    // Its look-up runs even after the client has left.
    if (this.#looking >= CONNECTIONS) return { status: 503, reason: TOO_MANY };
    this.#looking += 1;
    const reached = await reach(target, this.#decide, this.#network).finally(() => (this.#looking -= 1));
    if (reached.kind === "address") return reached.address;
    if (reached.isRefused) remember(this.#refused, target, reached.reason);
    else remember(this.#silent, target, `allowed, but ${reached.reason}`);
    return { status: reached.isRefused ? 403 : 502, reason: reached.reason };
  }

  #noAnswer(target: Target, problem: Error | null): string {
    const why = problem === null ? "" : ` (${errorCode(problem) ?? problem.message})`;
    const reason = `allowed, but nothing answered at ${shown(target)}${why}`;
    remember(this.#silent, target, reason);
    return reason;
  }

  #connect(address: string, port: number): Socket {
    const socket = this.#network.connect(address, port);
    this.#keep(socket);
    const late = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_MS / 1_000} s`)), CONNECT_MS);
    socket.once("connect", () => clearTimeout(late));
    socket.once("close", () => clearTimeout(late));
    return socket;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

function remember(named: Map<string, string>, target: Target, reason: string): void {
  if (named.size < MOST_NAMED || named.has(shown(target))) named.set(shown(target), reason);
}

/** The headers to forward: without those of the connection and those that `connection` names; a body's length is kept. */
function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  named.delete("content-length");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

function end(answer: ServerResponse, status: number, reason: string): void {
  answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  answer.end(`${reason}\n`);
}

function answerHead(status: number, reason: string): string {
  const line = reason.replaceAll(/[^\x20-\x7e]/g, "?");
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}: ${line}\r\ncontent-type: text/plain\r\ncontent-length: ${line.length + 1}\r\nconnection: close\r\n\r\n${line}\n`;
}
