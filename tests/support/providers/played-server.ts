import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";

/** A subscription as it reached a server that the test plays. */
export type PlayedSubscription = {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly socket: WebSocket;
  next(payload: object): void;
};

/** A server of graphql-transport-ws that leaves its answers to the test: `played` is called for each subscription. */
export async function playedServer(played: (subscription: PlayedSubscription, count: number) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "graphql-transport-ws" });
  let count = 0;
  server.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as {
        type: string;
        id: string;
        payload: { variables: Record<string, unknown> };
      };
      if (message.type === "connection_init") socket.send(JSON.stringify({ type: "connection_ack" }));
      if (message.type !== "subscribe") return;
      count += 1;
      const next = (payload: object): void => socket.send(JSON.stringify({ type: "next", id: message.id, payload }));
      played({ variables: message.payload.variables, socket, next }, count);
    });
  });
  await once(server, "listening");
  onTestFinished(() => {
    server.clients.forEach((socket) => socket.terminate());
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An HTTP server that answers with this status, and WebSockets not at all. */
export async function statusServer(status: number): Promise<{ readonly port: number; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(status).end("no");
  });
  server.on("upgrade", () => {
    requests += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}
