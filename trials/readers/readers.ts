import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { PostgresBell } from "../../src/events/bell/postgres-bell.ts";
import { openPools } from "../../src/db/connections/pool.ts";
import { EventLog } from "../../src/events/log.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { countingReader } from "../../tests/support/counting-reader.ts";
import { insertAgent, type RowAgent } from "../../tests/support/log.ts";
import { READER_TIMES } from "../../src/server/slow-readers.ts";
import { startPostgres, TRIAL_VERSION } from "../postgres.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { trial, until, type TrialRun } from "../trial.ts";

/**
 * `npm run trial:readers`: 100 WebSockets and 100 SSE streams that read nothing, at 500 events a second. All are closed
 * within 30 s of stalling, the server's memory stays bounded, and readers that read keep their pace. Readers that stop until
 * the kernel's buffers are full, and read on, get every event once. With --planted the server lets readers stall, and goes on
 * one position too far when a reader goes on alone: both must be seen.
 */
const RATE = 500;
/** So many at once: what an agent says while an append is in flight goes together with the next. */
const BATCH = 25;
const HEALTHY = 5;
/** The most bytes that the system's buffers of both ends take, and the server's own page: 8 MB were seen. */
const BUFFERS_BYTES = 16e6;
/** What a stalled reader may hold: a page of 256 KB as text, and as the bytes to send. */
const STALLED_BYTES = 2 * 256 * 1024;

/** The readers that stop for a while. */
const PAUSING = ["WebSocket", "WebSocket", "SSE", "SSE"] as const;
/** Pages of 200 KB, of which more than the kernel's buffers hold comes while nothing is read. */
const WHILE_PAUSED = 80;

await trial("readers", runReaders);

async function runReaders({ isShort, isPlanted, fail }: TrialRun): Promise<string> {
  const count = isShort ? 10 : 100;
  const seconds = isPlanted ? 1 : isShort ? 5 : 20;
  const eventBytes = isShort ? 4_000 : 1_000;
  // A short run has some 500 deliveries: one pause of a loop is more than a hundredth of them.
  const part = isShort ? 0.95 : 0.99;
  const times = isShort ? { stallMs: 3_000, graceMs: 1_000 } : READER_TIMES;
  const postgres = await startPostgres();
  const server = await start("trials/readers/server.ts", SERVER_READY, {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("readers.config.ts", import.meta.url)),
    TRIAL_STALL_MS: String(times.stallMs),
    TRIAL_GRACE_MS: String(times.graceMs),
    ...(isPlanted ? { TRIAL_FAULT: "waits for stalled readers, and goes on too far" } : {}),
  });
  const url = server.said;
  const pools = openPools({ url: postgres.url, connections: 2, version: TRIAL_VERSION });
  const log = new EventLog(pools.commits);
  const bell = new PostgresBell(postgres.url, TRIAL_VERSION, "writer", { tell: () => {}, warn: () => {}, error: () => {} });
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const agent = await insertAgent(log, "local", "local");
  const wrong = await pausingReaders(url, log);
  const healthy = watch(url, HEALTHY, part);
  const writing = keepWriting(log, agent, eventBytes, healthy.committed);
  await delay(seconds * 1_000);
  const baseline = healthy.percentile();

  const stalled = await start("trials/readers/stalled.ts", /^stalled$/, { TRIAL_URL: url, TRIAL_COUNT: String(count) });
  await until("all have subscribed", async () => (await metric(url, "triplane_subscriptions")) > 2 * count, 20_000);
  await delay(1_000);
  const began = performance.now();
  const memory = await heldBytes(server);
  healthy.percentile();
  const written = writing.bytes();
  let stallingFrom = Infinity;
  let held: number | null = null;
  let open = 2 * count + HEALTHY;
  while (open > HEALTHY && performance.now() - stallingFrom < 2 * times.stallMs + times.graceMs) {
    await delay(250);
    if (stallingFrom === Infinity && writing.bytes() - written > BUFFERS_BYTES) stallingFrom = performance.now();
    open = await metric(url, "triplane_subscriptions");
    // Once the first is closed all of them are backed up. Asked only then: to collect garbage holds the healthy readers up.
    if (held === null && open < 2 * count + HEALTHY) held = await heldBytes(server);
  }
  const closedMs = performance.now() - began;
  const loaded = healthy.percentile();
  const closed = await metric(url, "triplane_slow_readers_closed_total");
  await writing.stop();
  healthy.stop();
  await bell.close();
  await pools.end();
  await stalled.kill();

  const grown = (held ?? (await heldBytes(server))) - memory;
  const isStalling = open > HEALTHY;
  // A planted fault that is not seen beside another one would not be noticed.
  if (isPlanted && (!isStalling || wrong === 0)) return "the planted faults were not both seen";
  if (wrong > 0) fail(`${wrong} of ${PAUSING.length} readers that stopped for a while lost or repeated events`);
  if (isStalling) fail(`${open - HEALTHY} stalled readers are still open after ${(closedMs / 1_000).toFixed(0)} s`);
  if (closed < 2 * count && open <= HEALTHY) fail(`${closed} of ${2 * count} readers were told why`);
  if (grown > Math.max(100e6, 2 * count * STALLED_BYTES)) fail(`the server grew by ${(grown / 1e6).toFixed(0)} MB`);
  if (loaded > 2 * Math.max(baseline, 25))
    fail(`p${part * 100} of healthy readers was ${baseline.toFixed(0)} ms and is ${loaded.toFixed(0)} ms`);
  return `${2 * count} stalled readers at ${RATE} events/s, ${closed} told and closed after ${(closedMs / 1_000).toFixed(1)} s; memory + ${(grown / 1e6).toFixed(0)} MB; p${part * 100} of healthy readers ${baseline.toFixed(0)} ms before and ${loaded.toFixed(0)} ms with them`;
}

/** What the server holds, garbage left out. */
async function heldBytes(server: TrialProcess): Promise<number> {
  const said = server.says(/holds \d+/);
  server.tell("memory");
  return Number((await said).replace("holds ", ""));
}

async function write(log: EventLog, agent: RowAgent, batch: number, eventBytes: number): Promise<void> {
  const events = Array.from({ length: BATCH }, (_, index) => ({
    at: new Date(),
    body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `${batch}.${index} `.padEnd(eventBytes, "x") } as const,
  }));
  await log.append("local", [{ ...agent, events }]);
}

/** Writes RATE events a second, a batch at a time, and notes when each batch was committed. */
function keepWriting(
  log: EventLog,
  agent: RowAgent,
  eventBytes: number,
  committed: Map<string, number>,
): { bytes(): number; stop(): Promise<void> } {
  let bytes = 0;
  const stopping = new AbortController();
  const writing = (async () => {
    const began = performance.now();
    for (let index = 1_000; !stopping.signal.aborted; index += 1) {
      const wait = began + ((index - 1_000) * BATCH * 1_000) / RATE - performance.now();
      if (wait > 0) await delay(wait);
      await write(log, agent, index, eventBytes);
      committed.set(String(index), performance.now());
      bytes += BATCH * eventBytes;
    }
  })();
  return {
    bytes: () => bytes,
    stop: async () => {
      stopping.abort();
      await writing;
    },
  };
}

/** The number of readers that do not get every event once, in order, of those that read nothing until the kernel's buffers are full. */
async function pausingReaders(url: string, log: EventLog): Promise<number> {
  const agent = await insertAgent(log, "local", "local");
  const before = await metric(url, "triplane_feeds");
  const readers = await Promise.all(PAUSING.map((transport) => countingReader(url, transport, globalId("Agent", agent.agentId))));
  const areOfFeeds = async (feeds: number): Promise<boolean> => (await metric(url, "triplane_feeds")) === before + feeds;
  let appended = 0;
  const append = async (events: number, bytes: number): Promise<void> => {
    const body = { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "x".repeat(bytes) } as const;
    await log.append("local", [{ ...agent, events: Array.from({ length: events }, () => ({ at: new Date(), body })) }]);
    appended += events;
  };
  await append(1, 10);
  await until("readers are of one feed", () => areOfFeeds(1), 10_000);
  readers.forEach((reader) => reader.pause());
  for (let page = 0; page < WHILE_PAUSED; page += 1) await append(4, 50_000);
  await until("readers are backed up, each in a feed of its own", () => areOfFeeds(readers.length), 10_000);
  readers.forEach((reader) => reader.resume());
  await append(4, 10);
  await until("readers have read on", async () => readers.every(({ seqs }) => (seqs.at(-1) ?? 0) >= appended), 20_000);
  const all = String(Array.from({ length: appended }, (_, index) => index + 1));
  readers.forEach((reader) => reader.close());
  return readers.filter(({ seqs }) => String(seqs) !== all).length;
}

/** Readers that read. `percentile` is of the deliveries since it was asked last, in ms; `part` says which. */
function watch(url: string, count: number, part: number): { committed: Map<string, number>; percentile(): number; stop(): void } {
  const committed = new Map<string, number>();
  let took: number[] = [];
  const clients = Array.from({ length: count }, () => createClient({ url: url.replace("http", "ws"), webSocketImpl: WebSocket }));
  for (const client of clients) {
    const pages = client.iterate<{ timeline: { events: readonly { delta: string }[] } }>({
      query: "subscription { timeline { events { ... on TextChunk { delta } } } }",
    });
    void (async () => {
      for await (const { data } of pages) {
        const now = performance.now();
        for (const { delta } of data?.timeline.events ?? []) {
          const [batch = "", place = ""] = delta.trimEnd().split(/[. ]/);
          // One of each batch, by the time at which they were acknowledged to the writer.
          if (place === String(BATCH - 1)) took.push(Math.max(0, now - (committed.get(batch) ?? now)));
        }
      }
    })();
  }
  return {
    committed,
    percentile: () => {
      const sorted = took.toSorted((left, right) => left - right);
      took = [];
      return sorted[Math.floor(sorted.length * part)] ?? Infinity;
    },
    stop: () => clients.forEach((client) => void client.dispose()),
  };
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(url.replace("/graphql", "/metrics"))).text();
  return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
}
