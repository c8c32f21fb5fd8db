import { once } from "node:events";
import WebSocket from "ws";

/** A WebSocket to a server of this machine. */
export async function open(port: number, protocol?: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, protocol, { perMessageDeflate: false });
  await once(socket, "open");
  return socket;
}

/** A subscriber that reads no more of the protocol than it must. Its first page has come. */
export async function subscribe(port: number, query: string, variables: object): Promise<WebSocket> {
  const socket = await open(port, "graphql-transport-ws");
  await answered(socket, { type: "connection_init" });
  await answered(socket, { id: "1", type: "subscribe", payload: { query, variables } });
  return socket;
}

async function answered(socket: WebSocket, message: object): Promise<void> {
  const answer = once(socket, "message");
  socket.send(JSON.stringify(message));
  await answer;
}
