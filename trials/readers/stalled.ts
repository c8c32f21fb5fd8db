import { once } from "node:events";
import { request } from "node:http";
import WebSocket from "ws";

const QUERY = `subscription { timeline { cursor events { seq ... on TextChunk { delta } } } }`;

/** A process that opens so many WebSockets and SSE streams at a server, subscribes by each, and reads nothing. */
const { TRIAL_URL: url = "", TRIAL_COUNT = "0" } = process.env;
const count = Number(TRIAL_COUNT);
await Promise.all([...Array.from({ length: count }, stalledSocket), ...Array.from({ length: count }, stalledStream)]);
console.log("stalled");
// A socket of which nothing is read does not keep a process alive.
setInterval(() => {}, 60_000);

async function stalledSocket(): Promise<void> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), "graphql-transport-ws");
  socket.on("error", () => {});
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init" }));
  await once(socket, "message");
  socket.pause();
  socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY } }));
}

async function stalledStream(): Promise<void> {
  const sent = request(url, { method: "POST", headers: { "content-type": "application/json", accept: "text/event-stream" } });
  sent.on("error", () => {});
  sent.end(JSON.stringify({ query: QUERY }));
  await once(sent, "response");
}
