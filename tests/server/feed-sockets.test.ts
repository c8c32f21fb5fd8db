import { expect, it, onTestFinished } from "vitest";
import { globalId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { countingReader, type CountingReader } from "../support/counting-reader.ts";
import { insertAgent } from "../support/log.ts";
import { metric } from "../support/metric.ts";

/** So much at once fills the buffers of a socket that is not read soon. */
const LARGE = "x".repeat(50_000);
/** The kernel's buffers of both ends of a socket hold less: 8 MB were seen. */
const PAGES = 80;

it(
  "subscribers over sockets that stop reading until the kernel's buffers are full, beside others that read, leave, and come, get every event once, in order (invariants 2 and 10)",
  { timeout: 60_000 },
  async () => {
    // No reader is closed for having stopped: a slow machine takes longer to fill the buffers than readers may stop.
    const app = await startTestApp({ overrides: { readerTimes: { stallMs: 60_000, graceMs: 4_000 } } });
    const agent = await insertAgent(app.services.log, "local", "local");
    let appended = 0;
    const append = async (delta: string, count: number): Promise<void> => {
      const events = Array.from({ length: count }, () => ({
        at: new Date(),
        body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } as const,
      }));
      await app.services.log.append("local", [{ ...agent, events }]);
      appended += count;
    };
    const readers: CountingReader[] = [];
    onTestFinished(() => readers.forEach((reader) => reader.close()));
    const come = async (transport: CountingReader["transport"]): Promise<CountingReader> => {
      const reader = await countingReader(app.url, transport, globalId("Agent", agent.agentId));
      readers.push(reader);
      return reader;
    };
    const healthy = [await come("WebSocket"), await come("WebSocket"), await come("SSE"), await come("SSE")];
    const pausing = [await come("WebSocket"), await come("SSE")];
    const leaving = await come("WebSocket");
    await append("small", 1);
    await expect.poll(() => metric(app, "triplane_feeds")).toBe(1);
    expect(await metric(app, "triplane_subscriptions")).toBe(7);
    pausing.forEach((reader) => reader.pause());
    for (let page = 0; page < PAGES; page += 1) {
      await append(LARGE, 4);
      if (page === 20) leaving.close();
      if (page === 40) await come("WebSocket");
      if (page === 50) await come("SSE");
    }
    // Those that read nothing go on alone, and hold nobody up.
    for (const reader of healthy) await expect.poll(() => reader.seqs.length).toBe(appended);
    await expect.poll(() => metric(app, "triplane_feeds")).toBe(3);
    pausing.forEach((reader) => reader.resume());
    await append("after", 3);
    const all = Array.from({ length: appended }, (_, index) => index + 1);
    for (const reader of readers) {
      if (reader === leaving) continue;
      // Before the next ping of a stream, which would push on what waits behind it.
      await expect.poll(() => reader.seqs.length, { timeout: 8_000 }).toBe(appended);
      expect(reader.seqs, reader.transport).toEqual(all);
    }
    // They come back.
    await expect.poll(() => metric(app, "triplane_feeds")).toBe(1);
    expect(await metric(app, "triplane_subscriptions")).toBe(8);
    expect(leaving.seqs).toEqual(all.slice(0, leaving.seqs.length));
  },
);

it("subscribers who name a kind or a channel twice are of one feed with those who name it once", async () => {
  const app = await startTestApp();
  const client = connect(app.url);
  const query = `subscription ($kinds: [EventKind!], $channels: [Channel!]) {
    timeline(kinds: $kinds, channels: $channels) { cursor caughtUp events { seq } }
  }`;
  const subscribers = [
    { kinds: ["DONE"], channels: ["PROGRESS"] },
    { kinds: ["DONE", "DONE"], channels: ["PROGRESS", "PROGRESS"] },
  ].map((variables) => client.iteratePayload({ query, variables }));
  for (const subscriber of subscribers) await subscriber.next();
  const waiting = subscribers.map((subscriber) => subscriber.next());
  await expect.poll(() => metric(app, "triplane_feeds")).toBe(1);
  expect(await metric(app, "triplane_subscriptions")).toBe(2);
  await client.turn((await client.createAgent()).id, "hi");
  await Promise.all(waiting);
});
