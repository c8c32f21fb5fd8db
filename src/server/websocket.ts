import { STATUS_CODES, type IncomingHttpHeaders, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getOperationAST, GraphQLError, type ExecutionArgs, type ExecutionResult } from "graphql";
import { CloseCode, type Context as ServerContext, type SubscribePayload } from "graphql-ws";
import { useServer, type Extra } from "graphql-ws/use/ws";
import type { YogaServerInstance } from "graphql-yoga";
import { WebSocketServer, type WebSocket } from "ws";
import type { Logger } from "../telemetry/log.ts";
import { type Context, clientError } from "../resolvers/context.ts";
import { type Access, headersOf, originProblem, sourceOf, logRejection } from "./access.ts";
import type { Admissions } from "./subscriptions/admissions.ts";
import { askerOf, credentialsOf, whyClosed, type Asker, type Recognised } from "./authenticate.ts";
import { socketSecret } from "./console/session-cookie.ts";
import type { Meters } from "../telemetry/meters.ts";
import type { Readers } from "../events/reading/reader.ts";
import { type SlowReaders, CLOSE_CODES } from "./slow-readers.ts";
import { failureShownAs } from "./subscriptions/failure.ts";
import { SocketOperations } from "./subscriptions/socket-operations.ts";
import type { Subscribe } from "./subscriptions/subscribe.ts";
import type { TokenGuesses } from "./token-guesses.ts";
import { closeFor, WebSocketLine } from "./subscriptions/websocket-line.ts";
import type { TransportContext } from "./yoga.ts";
import { formatted } from "./errors.ts";

const MESSAGE_BYTES = 8 * 1024 * 1024;
/** The most bytes before authentication: a token is short. */
const STRANGER_BYTES = 64 * 1024;
const REFUSED_MS = 1_000;
const OPERATIONS = 100;
/** The most including completed ones that have not ended: a client's page may close as the next one opens. */
const ENDING_OPERATIONS = 2 * OPERATIONS;

type SocketExtra = { asker: Asker; operations: SocketOperations };

type OperationContext = ServerContext<Record<string, unknown>, Extra & Partial<SocketExtra>>;

function connected({ asker, operations }: Partial<SocketExtra>): SocketExtra {
  if (asker === undefined || operations === undefined)
    throw new Error("an operation came before the connection was acknowledged");
  return { asker, operations };
}

/**
 * GraphQL over WebSocket (graphql-transport-ws) at /graphql. Returns the function that ends it: sockets close with
 * 1001, and clients reconnect; sockets that do not close within the given ms are cut. `mask` decides how errors are
 * shown.
 */
export function serveWebSocket(
  server: Server,
  yoga: YogaServerInstance<TransportContext, Context>,
  subscribe: Subscribe,
  access: Access & {
    readonly slowReaders: SlowReaders;
    readonly readers: Readers;
    readonly meters: Meters;
    readonly admissions: Admissions;
    readonly guesses: TokenGuesses;
  },
  mask: (error: unknown) => GraphQLError,
  logger: Logger,
): (closingMs: number) => Promise<void> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES });
  const show = failureShownAs(mask);
  // Yoga's own parse, validate and execute, so that errors are masked alike on every transport.
  const envelopes = new WeakMap<object, ReturnType<typeof yoga.getEnveloped>>();
  // Such a socket closes so that its client connects again: sign-in may be unavailable for a while.
  const recognise = async (
    asker: Asker,
    webSocket: WebSocket,
    tried: (find: () => Promise<Recognised | null>) => Promise<Recognised | null> = (find) => find(),
  ): Promise<Recognised | null | GraphQLError> => {
    try {
      return await tried(() => access.admissions.recognise(asker));
    } catch (error) {
      closeFor(webSocket, "connect_again");
      return mask(error);
    }
  };
  const prepare = async (
    { extra, subscriptions }: OperationContext,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> => {
    const { operationName, variables } = payload;
    const { asker, operations } = connected(extra);
    const { socket: webSocket } = extra;
    if (operations.wanted >= OPERATIONS || operations.underway >= ENDING_OPERATIONS)
      return [
        clientError(
          "TOO_MANY_OPERATIONS",
          `a socket may have at most ${OPERATIONS} open operations: complete some, or open another socket`,
        ),
      ];
    const socketOperation = operations.begin(id, payload);
    if (socketOperation === null) {
      webSocket.close(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id} already exists`);
      return COMPLETED;
    }
    if (!(await operations.takeId(id, payload, socketOperation, subscriptions))) return COMPLETED;
    const recognised = await recognise(asker, webSocket);
    if (recognised instanceof GraphQLError) return [recognised];
    const socket = connections.get(webSocket);
    if (socket === undefined) throw new Error("a WebSocket has a connection below it");
    // A person who is no longer admitted is rejected by the context.
    const envelope = yoga.getEnveloped({
      asker,
      socketOperation,
      line: () => new WebSocketLine(webSocket, socket, id, show),
      ...(recognised === null ? {} : { recognised }),
    });
    const document = envelope.parse(access.documents.textOf(payload, recognised?.identified.roles ?? []) ?? payload.query);
    const errors: readonly GraphQLError[] = envelope.validate(envelope.schema, document);
    if (errors.length > 0) return errors;
    if (!getOperationAST(document, operationName))
      return [clientError("OPERATION_RESOLUTION_FAILURE", "Could not determine what operation to execute.")];
    const contextValue = await envelope.contextFactory();
    const args: ExecutionArgs = {
      schema: envelope.schema,
      document,
      operationName: operationName ?? null,
      variableValues: variables ?? null,
      contextValue,
    };
    envelopes.set(args, envelope);
    return args;
  };
  const disposable = useServer<Record<string, unknown>, SocketExtra>(
    {
      isProd: true,
      execute: (args) => orErrors(() => envelopes.get(args)?.execute(args), mask),
      subscribe: (args) => orErrors(() => subscribe(args), mask),
      onConnect: async ({ connectionParams, extra }) => {
        const incoming = upgradeHeaders.get(extra.socket) ?? {};
        const headers = headersOf(incoming);
        upgradeHeaders.delete(extra.socket);
        const authorization =
          connectionParams?.["authorization"] ?? connectionParams?.["Authorization"] ?? headers.get("authorization") ?? undefined;
        extra.operations = new SocketOperations(extra.socket);
        const credentials = credentialsOf(authorization, socketSecret(headers, connectionParams, access));
        extra.asker = askerOf(access, credentials, headers);
        const socket = connections.get(extra.socket);
        const recognised = await recognise(extra.asker, extra.socket, (find) =>
          socket === undefined ? find() : access.guesses.tried(credentials, { socket, headers: incoming }, find),
        );
        if (recognised instanceof GraphQLError) return false;
        const isAdmitted = recognised !== null;
        if (isAdmitted) admitted.add(extra.socket);
        else {
          const source = sourceOf(socket, headers.get("origin") ?? undefined);
          logger.tell("token_refused", `a WebSocket was refused: ${whyClosed(authorization)}`, source);
          extra.socket.close(CLOSE_CODES.NOT_ADMITTED, whyClosed(authorization));
        }
        return isAdmitted;
      },
      onSubscribe: async (context, id, payload) => {
        // An error ends the operation, not the socket.
        const prepared = await prepare(context, id, payload).catch((error: unknown) => [mask(error)]);
        // If the client has completed it meanwhile, its errors are dropped.
        if (Array.isArray(prepared)) connected(context.extra).operations.end(payload);
        return prepared;
      },
      onError: ({ extra }, _id, payload, errors) => {
        connected(extra).operations.end(payload);
        closeToNobody(extra.socket, errors);
        return errors.map((error) => formatted(mask(error)));
      },
      onComplete: ({ extra }, _id, payload) => connected(extra).operations.end(payload),
      onNext: ({ extra }, _id, _payload, _args, { data, errors }) => {
        if (errors === undefined) return;
        closeToNobody(extra.socket, errors);
        return { ...(data === undefined ? {} : { data }), errors: errors.map(formatted) };
      },
    },
    sockets,
    // Its own pings would cut silent sockets without a reason.
    0,
  );
  // Functions that stay with a socket are created here: elsewhere they would retain the request.
  const warn = ({ message }: Error): void => logger.warn(`a WebSocket client broke the protocol (${message})`);
  const closed = (code: number): void => {
    access.readers.sockets -= 1;
    access.meters.socketClosed(COUNTED_CODES.has(code) ? String(code) : "other");
  };
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on("error", destroy);
    const problem = originProblem(request, access);
    if (problem !== null) {
      logRejection(logger, request, problem);
      return refuse(socket, problem.status, problem.message);
    }
    if ((request.url ?? "/").split("?", 1)[0] !== "/graphql") return refuse(socket, 404, "WebSockets connect to /graphql");
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      connections.set(webSocket, socket);
      access.readers.sockets += 1;
      webSocket.once("close", closed);
      access.slowReaders.watchWebSocket(webSocket, socket);
      boundStranger(webSocket, socket);
      upgradeHeaders.set(webSocket, request.headers);
      sockets.emit("connection", webSocket, NO_REQUEST);
      // The socket is already closed with its code; graphql-ws would print a stack.
      webSocket.removeAllListeners("error");
      webSocket.on("error", warn);
    });
  });
  return async (closingMs) => {
    const timer = setTimeout(() => sockets.clients.forEach((webSocket) => webSocket.terminate()), closingMs);
    await disposable.dispose();
    clearTimeout(timer);
  };
}

/** The close codes with separate counts: those of RFC 6455, of graphql-transport-ws, and the server's. Clients may send any. */
const COUNTED_CODES: ReadonlySet<number> = new Set([
  1000, 1001, 1002, 1005, 1006, 1009, 1011, 1012, 1013, 4400, 4401, 4403, 4406, 4408, 4409, 4429, 4500,
]);

const COMPLETED = [new GraphQLError("the client has completed the operation")];

const upgradeHeaders = new WeakMap<WebSocket, IncomingHttpHeaders>();

/** graphql-ws keeps the request while the socket is open, without a need for it. */
const NO_REQUEST = {};

function destroy(this: Socket): void {
  this.destroy();
}

const connections = new WeakMap<WebSocket, Socket>();

const admitted = new WeakSet<object>();

/** Cuts a socket that sends more than a token before authentication, or stays open after a rejection. */
function boundStranger(webSocket: WebSocket, socket: Socket): void {
  const count = (): void => {
    if (admitted.has(webSocket)) socket.off("data", count);
    else if (socket.bytesRead > STRANGER_BYTES) socket.destroy();
  };
  socket.on("data", count);
  const cut = setInterval(() => {
    if (admitted.has(webSocket)) clearInterval(cut);
    else if (webSocket.readyState === webSocket.CLOSING) socket.destroy();
  }, REFUSED_MS).unref();
  webSocket.once("close", () => clearInterval(cut));
}

async function orErrors<Answer>(
  answer: () => Answer | Promise<Answer>,
  mask: (error: unknown) => GraphQLError,
): Promise<Answer | ExecutionResult> {
  try {
    return await answer();
  } catch (error) {
    return { errors: [mask(error)] };
  }
}

function closeToNobody(webSocket: WebSocket, errors: readonly GraphQLError[]): void {
  if (errors.some((error) => error.extensions["code"] === "UNAUTHENTICATED")) closeFor(webSocket, "not_admitted");
}

function refuse(socket: Duplex, status: number, message: string): void {
  socket.once("finish", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
  );
}
