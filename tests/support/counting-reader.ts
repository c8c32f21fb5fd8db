import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import WebSocket from "ws";

const QUERY = `subscription ($ids: [ID!], $since: Cursor) { timeline(agentIds: $ids, since: $since) { cursor caughtUp events { seq ... on TextChunk { delta } } } }`;

type Page = { readonly cursor: string; readonly events: readonly { readonly seq: number }[] };

/** A subscriber over a real socket, which keeps the seqs that it was told, and may stop reading for a while. */
export type CountingReader = {
  readonly transport: "WebSocket" | "SSE";
  readonly seqs: readonly number[];
  /** Reads nothing from now on: the kernel's buffers fill up. */
  pause(): void;
  resume(): void;
  close(): void;
};

/** Subscribes to an agent since the beginning. The first page has come. */
export async function countingReader(
  url: string,
  transport: CountingReader["transport"],
  agentId: string,
): Promise<CountingReader> {
  return transport === "WebSocket" ? overSocket(url, agentId) : overStream(url, agentId);
}

const variablesOf = (agentId: string): object => ({ ids: [agentId], since: "0" });

async function overSocket(url: string, agentId: string): Promise<CountingReader> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), "graphql-transport-ws", { perMessageDeflate: false });
  socket.on("error", () => {});
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init" }));
  await once(socket, "message");
  const seqs: number[] = [];
  const first = Promise.withResolvers<void>();
  socket.on("message", (message: Buffer) => {
    const { payload } = JSON.parse(message.toString()) as { payload?: { data?: { timeline: Page } } };
    seqs.push(...(payload?.data?.timeline.events ?? []).map(({ seq }) => seq));
    first.resolve();
  });
  socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY, variables: variablesOf(agentId) } }));
  await first.promise;
  return {
    transport: "WebSocket",
    seqs,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}

async function overStream(url: string, agentId: string): Promise<CountingReader> {
  const sent = request(url, { method: "POST", headers: { "content-type": "application/json", accept: "text/event-stream" } });
  sent.on("error", () => {});
  sent.end(JSON.stringify({ query: QUERY, variables: variablesOf(agentId) }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {});
  const seqs: number[] = [];
  const first = Promise.withResolvers<void>();
  let text = "";
  response.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (data === undefined || data === "") continue;
      const { data: answer } = JSON.parse(data) as { data: { timeline: Page } };
      seqs.push(...answer.timeline.events.map(({ seq }) => seq));
      first.resolve();
    }
  });
  await first.promise;
  return { transport: "SSE", seqs, pause: () => response.pause(), resume: () => response.resume(), close: () => sent.destroy() };
}
