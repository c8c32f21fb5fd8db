import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect as tcp } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { MessageImagesDocument, SendMessageDocument } from "../generated/documents.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { png } from "../support/images.ts";
import { chunk, insertAgent } from "../support/log.ts";
import { metric } from "../support/metric.ts";

const READER_TIMES = { stallMs: 300, graceMs: 200 };
/** More than the system's buffers take on their own. */
const EVENTS = 400;
const QUERY = `subscription($since: Cursor) { timeline(since: $since) { cursor events { seq ... on TextChunk { delta } } } }`;

const subscriptions = (app: TestApp): Promise<number> => metric(app, "triplane_subscriptions");

/** An agent whose timeline is larger than what waits in buffers, of texts that no database makes smaller. */
async function longTimeline({ services: { log } }: TestApp): Promise<void> {
  const agent = await insertAgent(log, "local", "local");
  for (let index = 0; index < EVENTS; index += 50)
    await log.append("local", [
      { ...agent, events: Array.from({ length: 50 }, () => chunk(randomBytes(30_000).toString("hex"))) },
    ]);
}

/** A WebSocket that subscribes from the beginning and then reads nothing. */
async function stalledWebSocket(app: TestApp): Promise<WebSocket> {
  const socket = new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws");
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "connection_init" }));
  await once(socket, "message");
  socket.pause();
  socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY, variables: { since: "0" } } }));
  return socket;
}

/** An SSE stream of which nothing is read: from the beginning, or, for null, from now on. */
async function stalledStream(app: TestApp, since: string | null = "0"): Promise<IncomingMessage> {
  const sent = request(app.url, { method: "POST", headers: { "content-type": "application/json", accept: "text/event-stream" } });
  onTestFinished(() => void sent.destroy());
  sent.end(JSON.stringify({ query: QUERY, variables: { since } }));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

/** Reads a stream until it says the text. */
async function hears(response: IncomingMessage, text: string): Promise<void> {
  let heard = "";
  for await (const chunk of response) {
    // The end of what came before is kept, since a chunk may end within the text.
    heard = heard.slice(-text.length) + String(chunk);
    if (heard.includes(text)) return;
  }
  throw new Error(`the stream ended without saying ${text}`);
}

describe("a slow reader harms only itself (invariant 10)", () => {
  it("a WebSocket that takes nothing is closed, and lets its subscription go", async () => {
    const app = await startTestApp({ overrides: { readerTimes: READER_TIMES } });
    await longTimeline(app);
    const socket = await stalledWebSocket(app);
    await expect.poll(() => subscriptions(app)).toBe(1);
    await expect.poll(() => subscriptions(app)).toBe(0);
    const closed = once(socket, "close") as Promise<[number]>;
    socket.resume();
    // Its end waits behind what it had not read, if it reads again.
    expect([1006, 1013]).toContain((await closed)[0]);
  });

  it("a WebSocket that takes nothing is closed, though it sends pongs that nobody asked for", async () => {
    const app = await startTestApp({ overrides: { readerTimes: READER_TIMES } });
    await longTimeline(app);
    const socket = await stalledWebSocket(app);
    await expect.poll(() => subscriptions(app)).toBe(1);
    const sending = setInterval(() => socket.pong(), READER_TIMES.stallMs / 10);
    onTestFinished(() => clearInterval(sending));
    await expect.poll(() => subscriptions(app)).toBe(0);
  });

  it("a WebSocket that takes nothing is closed, though its client answers with what its other sockets are asked", async () => {
    const app = await startTestApp({ overrides: { readerTimes: READER_TIMES } });
    await longTimeline(app);
    let stalled: WebSocket | null = null;
    // As many that one of them is asked together with the one that stalls.
    for (let count = 0; count < 20; count += 1) {
      const socket = new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws");
      onTestFinished(() => socket.terminate());
      socket.on("ping", (asked: Buffer) => stalled?.pong(asked));
      await once(socket, "open");
      socket.send(JSON.stringify({ type: "connection_init" }));
    }
    stalled = await stalledWebSocket(app);
    await expect.poll(() => metric(app, "triplane_slow_readers_closed_total")).toBe(1);
  });

  it("an SSE stream that takes nothing ends without `complete`, and lets its subscription go", async () => {
    const app = await startTestApp({ overrides: { readerTimes: READER_TIMES } });
    await longTimeline(app);
    const response = await stalledStream(app);
    await expect.poll(() => subscriptions(app)).toBe(1);
    await expect.poll(() => subscriptions(app)).toBe(0);
    let text = "";
    response.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const [error] = (await once(response, "error")) as [Error];
    expect(error.message).toContain("aborted");
    expect(text).toContain("event: next");
    expect(text).not.toContain("event: complete");
  });

  it("a connection that takes nothing of the images that it asks for is closed", async () => {
    const app = await startTestApp({ overrides: { readerTimes: { stallMs: 300, graceMs: 1 } } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const images = [{ mediaType: "PNG", data: png(3_000_000) } as const];
    await client.get(SendMessageDocument, { input: { agentId: id, text: "look", images } });
    const { agent } = await client.get(MessageImagesDocument, { id });
    const blocks = agent?.messages.nodes.flatMap((message) => message.blocks ?? []) ?? [];
    const [path] = blocks.flatMap((block) => ("viewerUrl" in block ? [block.viewerUrl] : []));
    const { host, hostname, port } = new URL(app.url);
    const socket = tcp(Number(port), hostname).pause();
    onTestFinished(() => void socket.destroy());
    // More than the system's buffers take on their own.
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(5));
    await expect.poll(() => metric(app, "triplane_slow_readers_closed_total")).toBe(1);
    let bytes = 0;
    socket.on("data", (chunk) => (bytes += chunk.length)).on("error", () => {});
    socket.resume();
    await once(socket, "close");
    expect(bytes).toBeLessThan(5 * 3_000_000);
  });

  it("a reader that comes back in time hears why, and one that has nothing to take stays", async () => {
    const app = await startTestApp({ overrides: { readerTimes: { stallMs: 300, graceMs: 60_000 } } });
    await longTimeline(app);
    const idle = await stalledStream(app, null);
    await expect.poll(() => subscriptions(app)).toBe(1);
    const [socket, response] = [await stalledWebSocket(app), await stalledStream(app)];
    const closed = once(socket, "close") as Promise<[number, Buffer]>;
    await expect.poll(() => metric(app, "triplane_slow_readers_closed_total")).toBe(2);
    socket.resume();
    expect((await closed)[0]).toBe(1013);
    expect((await closed)[1].toString()).toContain("resume since your last cursor");
    await hears(response, "resume since your last cursor");
    const agent = await insertAgent(app.services.log, "local", "local");
    await app.services.log.append("local", [{ ...agent, events: [chunk("for the idle reader")] }]);
    await hears(idle, "for the idle reader");
  });

  it("every WebSocket is asked, however many there are, and again after all had gone; who answers stays", async () => {
    const app = await startTestApp({ overrides: { readerTimes: READER_TIMES } });
    const asked = async (count: number): Promise<WebSocket[]> => {
      const sockets = Array.from({ length: count }, () => new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws"));
      onTestFinished(() => sockets.forEach((socket) => socket.terminate()));
      // Its second ping comes only to a socket whose first one was answered.
      await Promise.all(sockets.map((socket) => once(socket, "ping").then(() => once(socket, "ping"))));
      return sockets;
    };
    const sockets = await asked(45);
    expect(await metric(app, "triplane_slow_readers_closed_total")).toBe(0);
    await Promise.all(
      sockets.map((socket) => {
        const closed = once(socket, "close");
        socket.close();
        return closed;
      }),
    );
    await asked(1);
  });
});
