import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import type { CallTokens } from "../agent/calls/call-tokens.ts";
import { COPIES_PATH } from "../db/copies/obtain-copy.ts";
import type { ServedCopies } from "../db/copies/served-copies.ts";
import type { Logger } from "../telemetry/log.ts";
import { type Access, mayReadMetrics, originProblem, logRejection } from "./access.ts";
import { type ConsoleState, noConsole } from "./console/build.ts";
import { CONSOLE_PATH, ConsoleFiles, leadToConsole } from "./console/files.ts";
import { FailedSignIns } from "./console/failed-sign-ins.ts";
import { answerSession, SESSION_PATH } from "./console/session-routes.ts";
import type { SharedContext } from "./context.ts";
import { answerCopy } from "./database-copies.ts";
import { httpStatus, maskError } from "./errors.ts";
import { answerExport } from "./exports/download.ts";
import { Downloads } from "./exports/downloads.ts";
import { EXPORTS_PATH, type ExportLinks } from "./exports/links.ts";
import { IMAGES_PATH, type ImageLinks, answerImage } from "./image-links.ts";
import { TokenGuesses } from "./token-guesses.ts";
import { answerToolResult, TOOL_RESULTS_PATH } from "./tool-results.ts";
import { readiness } from "./readiness.ts";
import type { Meters } from "../telemetry/meters.ts";
import type { Feeds } from "../events/reading/feed.ts";
import type { Readers } from "../events/reading/reader.ts";
import type { SlowReaders } from "./slow-readers.ts";
import { subscribeTo } from "./subscriptions/subscribe.ts";
import { serveWebSocket } from "./websocket.ts";
import { BODY_BYTES, makeYoga } from "./yoga.ts";
import { urlOf } from "../lib/addresses.ts";
import { errorCode } from "../lib/text.ts";
import { versionText, type Version } from "../telemetry/version.ts";

export type ServerOptions = Access & {
  readonly port: number;
  readonly host: string;
  readonly slowReaders: SlowReaders;
  readonly feeds: Feeds;
  readonly readers: Readers;
  readonly meters: Meters;
  readonly imageLinks: ImageLinks;
  readonly exportLinks: ExportLinks;
  readonly callTokens: Pick<CallTokens, "read">;
  /** The SHA-256 of the token for /metrics, in hex; null for none. */
  readonly metricsTokenHash: string | null;
  readonly console?: (() => ConsoleState) | undefined;
};

/** The time for requests under way and closing sockets when the server closes, in ms. */
const CLOSING_MS = 3_000;

/**
 * The time that an idle connection stays open, in ms: longer than proxies keep theirs, which would otherwise send a
 * request into a closing connection.
 */
const IDLE_MS = 75_000;

export type Probes = {
  readonly version: Version;
  readonly ready: () => Promise<unknown>;
  readonly metrics: () => Promise<string>;
  /** The copies of the embedded database; null on PostgreSQL. */
  readonly copies: ServedCopies | null;
};

export type RunningServer = { readonly port: number; close(): Promise<void> };

/** The server cannot listen; the message has advice. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** HTTP, SSE and WebSocket on one port. */
export async function startServer(
  options: ServerOptions,
  shared: SharedContext,
  probes: Probes,
  logger: Logger,
): Promise<RunningServer> {
  const mask = maskError(logger);
  const subscribe = subscribeTo({ ...options, mask });
  const guesses = new TokenGuesses(options.authentication, shared.services.clock);
  const yoga = makeYoga({ ...options, guesses }, shared, mask, subscribe);
  const downloads = new Downloads();
  const failedSignIns = new FailedSignIns(options.signIns, shared.services.clock);
  const streams = new Set<ServerResponse>();
  const whyNotReady = readiness(probes.ready, mask);
  const consoleFiles = new ConsoleFiles(options.console ?? noConsole);
  const orUnavailable = (answering: Promise<void>, response: ServerResponse): void =>
    void answering.catch((error: unknown) => {
      const masked = mask(error);
      answer(response, httpStatus(masked) ?? 503, masked.message);
    });
  const server = createServer(
    { shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket" },
    (request, response) => {
      const [path = "/"] = (request.url ?? "/").split("?", 1);
      count(path, response, options.meters);
      const problem = originProblem(request, options);
      if (problem !== null) {
        logRejection(logger, request, problem);
        if (path === "/graphql")
          return refuseRequest(request, response, { ...problem, code: problem.status === 400 ? "BAD_REQUEST" : "FORBIDDEN" });
        return answer(response, problem.status, problem.message);
      }
      switch (path) {
        case "/healthz":
          return answer(response, 200, `ok, Triplane ${versionText(probes.version)}`);
        case "/readyz":
          return void whyNotReady().then((reason) => answer(response, reason === null ? 200 : 503, reason ?? "ready"));
        case "/metrics":
          return orUnavailable(answerMetrics(request, response, { ...options, guesses }, probes.metrics), response);
        case "/graphql": {
          const refusal = bodyProblem(request);
          if (refusal !== null) return refuseRequest(request, response, refusal);
          options.slowReaders.watchResponse(response);
          response.once("pipe", (stream: Readable) => {
            streams.add(response);
            endWith(stream, response);
          });
          response.once("close", () => streams.delete(response));
          return void yoga(request, response);
        }
        case SESSION_PATH:
          return orUnavailable(
            answerSession(request, response, { ...shared, ...options, failedSignIns, guesses, logger }),
            response,
          );
        case TOOL_RESULTS_PATH:
          return orUnavailable(answerToolResult(request, response, { ...shared, ...options }), response);
        case COPIES_PATH:
          return orUnavailable(answerCopy(request, response, options, probes.copies), response);
        default:
          if (isConsole(path)) return orUnavailable(consoleFiles.answer(request, response, path), response);
          if (path === "/" && leadToConsole(request, response)) return;
          if (path.startsWith(IMAGES_PATH)) {
            options.slowReaders.watchResponse(response);
            return orUnavailable(answerImage(request, response, options.imageLinks, shared.services), response);
          }
          if (path.startsWith(EXPORTS_PATH)) {
            options.slowReaders.watchResponse(response);
            return orUnavailable(answerExport(request, response, { ...shared, ...options, downloads }), response);
          }
          return answer(
            response,
            404,
            "GraphQL is at /graphql, the console at /console; /healthz, /readyz and /metrics are for operators",
          );
      }
    },
  );
  server.keepAliveTimeout = IDLE_MS;
  const closeSockets = serveWebSocket(
    server,
    yoga,
    subscribe,
    { ...options, admissions: shared.admissions, guesses },
    mask,
    logger,
  );
  await listen(server, options.port, options.host);
  const { port } = server.address() as AddressInfo;
  await probes.copies?.tell(urlOf(options.host, port));
  return {
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      // A stream that ends without `complete` is resumed by its client, at another server.
      streams.forEach((stream) => stream.destroy());
      const timer = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
      await Promise.all([closeSockets(CLOSING_MS), closed]);
      clearTimeout(timer);
      await yoga.dispose();
    },
  };
}

function isConsole(path: string): boolean {
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`);
}

const ROUTES: ReadonlySet<string> = new Set([
  "/graphql",
  SESSION_PATH,
  TOOL_RESULTS_PATH,
  COPIES_PATH,
  "/healthz",
  "/readyz",
  "/metrics",
]);

function routeOf(path: string): string {
  if (ROUTES.has(path)) return path;
  if (isConsole(path)) return CONSOLE_PATH;
  return [IMAGES_PATH, EXPORTS_PATH].find((folder) => path.startsWith(folder)) ?? "other";
}

/** Counts an ended answer. If its client left before its head was sent, the status is 499, as proxies log it. */
function count(path: string, response: ServerResponse, meters: Meters): void {
  const began = performance.now();
  const route = routeOf(path);
  // Finite answers are sent immediately: only streams are piped.
  let isStream = false;
  if (path === "/graphql") response.once("pipe", () => (isStream = true));
  response.once("close", () => {
    const seconds = isStream ? null : (performance.now() - began) / 1_000;
    meters.requestAnswered(route, response.headersSent ? response.statusCode : 499, seconds);
  });
}

/** The metrics name no tenant, but are not public. */
async function answerMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  options: ServerOptions & { readonly guesses: TokenGuesses },
  metrics: Probes["metrics"],
): Promise<void> {
  if (await mayReadMetrics(request, options)) return answer(response, 200, await metrics());
  answer(
    response,
    401,
    "metrics need the token of `metricsTokenHash` or that of an administrator; without `metricsTokenHash`, requests from this machine need none",
  );
}

type RequestRefusal = { readonly status: number; readonly message: string; readonly code: "BAD_REQUEST" | "FORBIDDEN" };

/** Only JSON of bounded size is read, so that no web form can post here. */
function bodyProblem({ method, headers }: IncomingMessage): RequestRefusal | null {
  if (method !== "POST") return null;
  const type = (headers["content-type"] ?? "").toLowerCase();
  // Later comparisons of types are in lower case as well.
  headers["content-type"] = type;
  if (!/^application\/(graphql-response\+)?json\b/.test(type))
    return { status: 415, message: "send a body of type application/json", code: "BAD_REQUEST" };
  if (Number(headers["content-length"] ?? 0) > BODY_BYTES)
    return { status: 413, message: `a request may have at most ${BODY_BYTES} bytes`, code: "BAD_REQUEST" };
  return null;
}

/** Clients read the errors of an answer with such a status if its type is that of GraphQL, which they accept explicitly. */
function refuseRequest({ headers }: IncomingMessage, response: ServerResponse, { status, message, code }: RequestRefusal): void {
  const type = headers.accept?.includes(GRAPHQL_TYPE) === true ? GRAPHQL_TYPE : "application/json";
  response
    .writeHead(status, { "content-type": `${type}; charset=utf-8` })
    .end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

/** GraphQL over HTTP, 6.4. */
const GRAPHQL_TYPE = "application/graphql-response+json";

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

/** Breaks off the answer of a stream that is destroyed before its end: a pipe alone would leave it open, and silent. */
function endWith(stream: Readable, response: ServerResponse): void {
  stream.once("close", () => {
    if (!stream.readableEnded) response.destroy();
  });
}

/** Rejects with ListenError if the port is unavailable. */
export async function checkPort(port: number, host: string): Promise<void> {
  const server = createServer();
  await listen(server, port, host);
  await new Promise((resolve) => server.close(resolve));
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const what =
        errorCode(error) === "EADDRINUSE"
          ? `port ${port} is in use: stop what listens there, or set PORT to another one`
          : `cannot listen on ${host}:${port} (${error.message})`;
      reject(new ListenError(what, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}
