import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import WebSocket from "ws";

const QUERY = `subscription ($ids: [ID!], $since: Cursor) { timeline(agentIds: $ids, since: $since) { cursor caughtUp events { seq ... on TextChunk { delta } } } }`;

type Page = { readonly cursor: string; readonly events: readonly { readonly seq: number }[] };

/** The last answer of a stream that is refused has no page. */
type Answer = { readonly timeline: Page } | null;

/** All that a reader was told. */
class Told {
  readonly seqs: number[] = [];
  cursor = "";
  readonly #first = Promise.withResolvers<void>();

  /** Resolves with the first answer. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  take(answer: Answer | undefined): void {
    if (answer !== null && answer !== undefined) {
      this.seqs.push(...answer.timeline.events.map(({ seq }) => seq));
      this.cursor = answer.timeline.cursor;
    }
    this.#first.resolve();
  }
}

/** The person who reads, by their token, and the cursor after which. */
export type ReadsAs = { readonly token?: string; readonly since?: string };

/** A subscriber over a real socket, which keeps the seqs that it was told, and may stop reading for a while. */
export type CountingReader = {
  readonly transport: "WebSocket" | "SSE";
  readonly seqs: readonly number[];
  /** The cursor of the newest page. */
  readonly cursor: string;
  /** Reads nothing from now on: the kernel's buffers fill up. */
  pause(): void;
  resume(): void;
  close(): void;
};

/** Subscribes to an agent, since the beginning if no cursor is given. The first page has come. */
export async function countingReader(
  url: string,
  transport: CountingReader["transport"],
  agentId: string,
  { token, since = "0" }: ReadsAs = {},
): Promise<CountingReader> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const operation = { query: QUERY, variables: { ids: [agentId], since } };
  return transport === "WebSocket" ? overSocket(url, operation, headers) : overStream(url, operation, headers);
}

async function overSocket(url: string, operation: object, headers: Record<string, string>): Promise<CountingReader> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), "graphql-transport-ws", { perMessageDeflate: false });
  socket.on("error", () => {});
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init", payload: headers }));
  await once(socket, "message");
  const told = new Told();
  socket.on("message", (message: Buffer) => {
    const { payload } = JSON.parse(message.toString()) as { payload?: { data?: Answer } };
    told.take(payload?.data);
  });
  socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: operation }));
  await told.first;
  return {
    transport: "WebSocket",
    seqs: told.seqs,
    get cursor() {
      return told.cursor;
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  };
}

async function overStream(url: string, operation: object, headers: Record<string, string>): Promise<CountingReader> {
  const asked = { ...headers, "content-type": "application/json", accept: "text/event-stream" };
  const sent = request(url, { method: "POST", headers: asked });
  sent.on("error", () => {});
  sent.end(JSON.stringify(operation));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {});
  const told = new Told();
  let text = "";
  response.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (data === undefined || data === "") continue;
      told.take((JSON.parse(data) as { data?: Answer }).data);
    }
  });
  await told.first;
  return {
    transport: "SSE",
    seqs: told.seqs,
    get cursor() {
      return told.cursor;
    },
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => sent.destroy(),
  };
}
