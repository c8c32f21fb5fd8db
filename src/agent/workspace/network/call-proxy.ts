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
import { errorCode } from "../../../lib/error-code.ts";
import { INTERNET, reach, shown, targetOf, type HostDecision, type Network, type Target } from "./reach.ts";

/** The bounds of one call's proxy. Times are in ms. */
const CONNECTIONS = 64;
const HEADER_BYTES = 16 * 1024;
const HEADERS_MS = 30_000;
const CONNECT_MS = 15_000;
const IDLE_MS = 300_000;
/** The most refused hosts that are named, and the most that did not answer. */
const MOST_NAMED = 20;

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
 * The only way of one call's programs to the network: a proxy for HTTP and CONNECT (RFC 9110) at a socket of the call's own,
 * so that no call uses what another one may reach. Each connection is decided about before anything is sent; what is refused
 * is answered at once with 403 and the reason, what cannot be reached with 502 and the reason.
 */
export class CallProxy {
  readonly #decide: HostDecision;
  readonly #network: Network;
  readonly #http: HttpServer;
  readonly #listener: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #refused = new Map<string, string>();
  /** The targets that were allowed and did not answer when they were last tried. */
  readonly #silent = new Map<string, string>();
  #connections = 0;

  /** `listener` is a listening socket in the network of the call's box. */
  constructor(listener: Server, decide: HostDecision, network: Network = INTERNET) {
    this.#decide = decide;
    this.#network = network;
    this.#listener = listener;
    this.#http = createServer({
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: 0,
      keepAliveTimeout: HEADERS_MS,
    });
    this.#http.on("request", (asked, answer) => void this.#forward(asked, answer));
    this.#http.on("connect", (asked: IncomingMessage, socket: Duplex, head: Buffer) => void this.#tunnel(asked, socket, head));
    this.#http.on("clientError", (_error, socket) => socket.destroy());
    listener.on("connection", (socket) => this.#accept(socket));
    listener.on("error", () => {});
  }

  /** The refusals, and what was allowed and did not answer, in words for the model: each host and port once. */
  get notes(): readonly string[] {
    return [...this.#refused.values(), ...this.#silent.values()];
  }

  /** Ends all connections, and takes no more. */
  close(): void {
    this.#listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    if (this.#connections >= CONNECTIONS) {
      socket.on("error", () => {});
      socket.end(answerHead(503, `one call has at most ${CONNECTIONS} connections`));
      return;
    }
    this.#connections += 1;
    socket.once("close", () => (this.#connections -= 1));
    this.#keep(socket);
    this.#http.emit("connection", socket);
  }

  /** Passes a request on, as in `GET http://example.org/`. */
  async #forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    asked.on("error", () => {});
    answer.on("error", () => {});
    const url = URL.canParse(asked.url ?? "") ? new URL(asked.url ?? "") : null;
    const target = url?.protocol === "http:" ? targetOf(url.host, 80) : null;
    if (url === null || target === null)
      return end(answer, 400, "this is a proxy: ask for http://HOST/…, or CONNECT HOST:PORT for https");
    const address = await this.#address(target);
    if (typeof address !== "string") return end(answer, address.status, address.reason);
    const passed = request({
      createConnection: () => this.#connect(address, target.port),
      method: asked.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...passedOn(asked.headers), host: url.host },
      setHost: false,
    });
    let isAwaited = true;
    passed.on("error", (error) => {
      if (isAwaited && !answer.headersSent) end(answer, 502, this.#noAnswer(target, error));
      else answer.destroy();
    });
    passed.on("response", (response) => {
      this.#silent.delete(shown(target));
      answer.writeHead(response.statusCode ?? 502, passedOn(response.headers));
      response.on("error", () => answer.destroy());
      response.pipe(answer);
    });
    answer.on("close", () => {
      isAwaited = false;
      passed.destroy();
    });
    asked.pipe(passed);
  }

  /** Joins two connections, as for https. */
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

  /** The address for a target, or the answer that there is none. What is refused is remembered. */
  async #address(target: Target): Promise<string | { readonly status: number; readonly reason: string }> {
    const reached = await reach(target, this.#decide, this.#network);
    if (reached.kind === "address") return reached.address;
    if (reached.isRefused) remember(this.#refused, target, reached.reason);
    else remember(this.#silent, target, `allowed, but ${reached.reason}`);
    return { status: reached.isRefused ? 403 : 502, reason: reached.reason };
  }

  /** The words on a target that was allowed and did not answer, which are remembered. */
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

/** Remembers the words on a target, of MOST_NAMED at most. */
function remember(named: Map<string, string>, target: Target, reason: string): void {
  if (named.size < MOST_NAMED || named.has(shown(target))) named.set(shown(target), reason);
}

/** The headers that a proxy passes on: not those of the connection, nor those that `connection` names. */
function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set((headers.connection ?? "").toLowerCase().split(/\s*,\s*/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name)));
}

function end(answer: ServerResponse, status: number, reason: string): void {
  answer.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  answer.end(`${reason}\n`);
}

/** An answer to CONNECT: programs show its first line, if they show anything of it. */
function answerHead(status: number, reason: string): string {
  const line = reason.replaceAll(/[^\x20-\x7e]/g, "?");
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}: ${line}\r\ncontent-type: text/plain\r\ncontent-length: ${line.length + 1}\r\nconnection: close\r\n\r\n${line}\n`;
}
