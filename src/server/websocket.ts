import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import type { YogaServerInstance } from "graphql-yoga";
import { WebSocketServer } from "ws";
import type { Actor } from "../agent/actor.ts";
import type { Context } from "../resolvers/context.ts";
import type { Settings } from "../settings.ts";
import { authenticate, bearerToken } from "./authenticate.ts";
import { originProblem } from "./origin.ts";
import type { TransportContext } from "./yoga.ts";

/** The largest message that a client may send, in bytes. */
const MESSAGE_BYTES = 8 * 1024 * 1024;
/** Operations under way on one socket at most. */
const OPERATIONS = 100;

type Execution = { readonly execute: (args: unknown) => unknown; readonly subscribe: (args: unknown) => unknown };
type SocketExtra = { actor: Actor };

/** GraphQL over WebSocket (graphql-transport-ws) at /graphql. Returns the end: sockets close with 1001, and clients connect anew. */
export function serveWebSocket(server: Server, yoga: YogaServerInstance<TransportContext, Context>, settings: Settings): () => Promise<void> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES, handleProtocols: (offered) => (offered.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) ? GRAPHQL_TRANSPORT_WS_PROTOCOL : false) });
  const disposable = useServer<Record<string, unknown>, SocketExtra>(
    {
      execute: (args) => (args.rootValue as Execution).execute(args) as never,
      subscribe: (args) => (args.rootValue as Execution).subscribe(args) as never,
      onConnect: async ({ connectionParams, extra }) => {
        const authorization = connectionParams?.["authorization"] ?? connectionParams?.["Authorization"] ?? extra.request.headers.authorization;
        const actor = await authenticate(settings.authentication, bearerToken(authorization), headersOf(extra.request));
        if (actor === null) return false;
        extra.actor = actor;
        return true;
      },
      onSubscribe: async ({ extra, subscriptions }, _id, { query, operationName, variables }) => {
        if (Object.keys(subscriptions).length > OPERATIONS) return extra.socket.close(4429, "too many operations on one socket"), [];
        const { schema, execute, subscribe, parse, validate, contextFactory } = yoga.getEnveloped({ socketActor: extra.actor, request: undefined });
        const document = parse(query);
        const errors = validate(schema, document) as ReturnType<typeof Array<never>>;
        if (errors.length > 0) return errors;
        return { schema, document, operationName: operationName ?? undefined, variableValues: variables ?? undefined, contextValue: await contextFactory(), rootValue: { execute, subscribe } } as never;
      },
    },
    sockets,
  );
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const problem = originProblem(request, settings);
    if (problem !== null) return refuse(socket, 403, problem);
    if (new URL(request.url ?? "/", "http://localhost").pathname !== "/graphql") return refuse(socket, 404, "WebSockets connect to /graphql");
    sockets.handleUpgrade(request, socket, head, (webSocket) => sockets.emit("connection", webSocket, request));
  });
  return async () => disposable.dispose();
}

function headersOf(request: IncomingMessage): Headers {
  return new Headers(Object.entries(request.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]])));
}

function refuse(socket: Duplex, status: number, message: string): void {
  socket.end(`HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Not Found"}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}
