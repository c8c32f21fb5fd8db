import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { postgresBell } from "../../src/events/bell.ts";
import { openPools } from "../../src/db/pool.ts";
import { EventLog } from "../../src/events/log.ts";
import { insertAgent, type RowAgent } from "../../tests/support/log.ts";
import { READER_TIMES } from "../../src/server/slow-readers.ts";
import { NODE_READY } from "../node.ts";
import { startPostgres, TRIAL_VERSION } from "../postgres.ts";
import { start } from "../processes.ts";
import { trial, until, type TrialRun } from "../trial.ts";

/**
 * `npm run trial:readers`: 100 WebSockets and 100 SSE streams that read nothing, at 500 events a second. All are closed
 * within 30 s of stalling, the server's memory stays bounded, and readers that read keep their pace. With --planted the
 * server lets readers stall.
 */
const RATE = 500;
/** So many at once: what an agent says while an append is in flight goes together with the next. */
const BATCH = 25;
const EVENT_BYTES = 1_000;
const HEALTHY = 5;
/** Until the system's buffers of both ends are full, in ms: some megabytes, at half a megabyte a second. */
const FILLED_MS = 15_000;
/** What a stalled reader may hold: a page of 256 KB as text, and as the bytes to send. */
const STALLED_BYTES = 2 * 256 * 1024;

await trial("readers", runReaders);

async function runReaders({ isShort, isPlanted, fail }: TrialRun): Promise<string> {
  const count = isShort ? 25 : 100;
  const seconds = isShort ? 5 : 20;
  const times = isShort ? { stallMs: 3_000, graceMs: 1_000 } : READER_TIMES;
  const postgres = await startPostgres();
  const server = await start("trials/readers/node.ts", NODE_READY, {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("readers.config.ts", import.meta.url)),
    TRIAL_STALL_MS: String(times.stallMs),
    TRIAL_GRACE_MS: String(times.graceMs),
    ...(isPlanted ? { TRIAL_FAULT: "patient" } : {}),
  });
  const url = server.said;
  const pools = openPools({ url: postgres.url, connections: 2, version: TRIAL_VERSION });
  const log = new EventLog(pools.commits);
  const bell = postgresBell(postgres.url, TRIAL_VERSION, "writer", { warn: () => {}, error: () => {} });
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const agent = await insertAgent(log, "local", "local");
  const healthy = watch(url, HEALTHY);
  const writing = keepWriting(log, agent, healthy.committed);
  await delay(seconds * 1_000);
  const baseline = healthy.p99();

  const stalled = await start("trials/readers/stalled.ts", /^stalled$/, { TRIAL_URL: url, TRIAL_COUNT: String(count) });
  await until("all have subscribed", async () => (await metric(url, "triplane_subscriptions")) > 2 * count, 20_000);
  await delay(1_000);
  const began = performance.now();
  const memory = await metric(url, "process_resident_memory_bytes");
  healthy.p99();
  let peak = memory;
  let open = 2 * count;
  while (open > HEALTHY && performance.now() - began < 2 * times.stallMs + times.graceMs + FILLED_MS) {
    await delay(250);
    open = await metric(url, "triplane_subscriptions");
    peak = Math.max(peak, await metric(url, "process_resident_memory_bytes"));
  }
  const closedMs = performance.now() - began;
  const loaded = healthy.p99();
  const closed = await metric(url, "triplane_slow_readers_closed_total");
  await writing.stop();
  healthy.stop();
  await bell.close();
  await pools.end();
  await stalled.kill();

  const grown = peak - memory;
  if (open > HEALTHY) fail(`${open - HEALTHY} stalled readers are still open after ${(closedMs / 1_000).toFixed(0)} s`);
  if (closed < 2 * count && open <= HEALTHY) fail(`${closed} of ${2 * count} readers were told why`);
  if (grown > Math.max(100e6, 2 * count * STALLED_BYTES)) fail(`the server grew by ${(grown / 1e6).toFixed(0)} MB`);
  if (loaded > 2 * Math.max(baseline, 25))
    fail(`p99 of healthy readers was ${baseline.toFixed(0)} ms and is ${loaded.toFixed(0)} ms`);
  return `${2 * count} stalled readers at ${RATE} events/s, ${closed} told and closed after ${(closedMs / 1_000).toFixed(1)} s; memory + ${(grown / 1e6).toFixed(0)} MB; p99 of healthy readers ${baseline.toFixed(0)} ms before and ${loaded.toFixed(0)} ms with them`;
}

async function write(log: EventLog, agent: RowAgent, count: number, first: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    at: new Date(),
    body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `${first}.${index} `.padEnd(EVENT_BYTES, "x") } as const,
  }));
  await log.append("local", [{ ...agent, fence: null, events }]);
}

/** Writes RATE events a second, a batch at a time, and notes when each batch was committed. */
function keepWriting(log: EventLog, agent: RowAgent, committed: Map<string, number>): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const writing = (async () => {
    const began = performance.now();
    for (let index = 1_000; !stopping.signal.aborted; index += 1) {
      const wait = began + ((index - 1_000) * BATCH * 1_000) / RATE - performance.now();
      if (wait > 0) await delay(wait);
      await write(log, agent, BATCH, index);
      committed.set(String(index), performance.now());
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await writing;
    },
  };
}

/** Readers that read. `p99` is of the events since it was asked last, in ms. */
function watch(url: string, count: number): { committed: Map<string, number>; p99(): number; stop(): void } {
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
    p99: () => {
      const sorted = took.toSorted((left, right) => left - right);
      took = [];
      return sorted[Math.floor(sorted.length * 0.99)] ?? Infinity;
    },
    stop: () => clients.forEach((client) => void client.dispose()),
  };
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(url.replace("/graphql", "/metrics"))).text();
  return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
}
