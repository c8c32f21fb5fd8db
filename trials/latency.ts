import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { openPools } from "../src/db/connections/pool.ts";
import { PostgresBell } from "../src/events/bell/postgres-bell.ts";
import { EventLog } from "../src/events/log.ts";
import { insertAgent } from "../tests/support/log.ts";
import { TRIAL_VERSION } from "./postgres.ts";
import { TRIAL_TOKEN } from "./processes.ts";

/** Events a second. */
const RATE = 200;

/** How long events took, in ms. */
export type Latency = { readonly count: number; readonly p50: number; readonly p99: number };

/**
 * How long events take from their commit here to a WebSocket subscriber of the server at `url`, for so many seconds.
 * The writer rings the bell as a server does, from a connection of its own.
 */
export async function measureLatency(databaseUrl: string, url: string, seconds: number): Promise<Latency> {
  const pools = openPools({ url: databaseUrl, connections: 2, version: TRIAL_VERSION });
  const log = new EventLog(pools.commits);
  const bell = new PostgresBell(databaseUrl, TRIAL_VERSION, `writer ${Math.random()}`, {
    tell: () => {},
    warn: () => {},
    error: () => {},
  });
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const agent = await insertAgent(log, "local", "local");
  const client = createClient({
    url: url.replace("http", "ws"),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${TRIAL_TOKEN}` },
  });
  const committed = new Map<string, number>();
  const took: number[] = [];
  const all = Promise.withResolvers<void>();
  const query = `subscription($id: ID!) { timeline(agentIds: [$id]) { events { ... on TextChunk { delta } } } }`;
  const variables = { id: Buffer.from(`Agent:${agent.agentId}`).toString("base64") };
  const pages = client.iterate<{ timeline: { events: readonly { delta: string }[] } }>({ query, variables });
  const ready = Promise.withResolvers<void>();
  void (async () => {
    for await (const { data } of pages) {
      const now = performance.now();
      ready.resolve();
      for (const { delta } of data?.timeline.events ?? []) took.push(now - (committed.get(delta) ?? now));
      if (took.length >= seconds * RATE) break;
    }
    all.resolve();
  })();
  await ready.promise;
  const began = performance.now();
  for (let index = 0; index < seconds * RATE; index += 1) {
    const wait = began + (index * 1_000) / RATE - performance.now();
    if (wait > 0) await delay(wait);
    const delta = String(index);
    const events = [{ at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } as const }];
    // The subscriber may be told before the writer: then it took no time.
    await log.append("local", [{ ...agent, events }]);
    if (!committed.has(delta)) committed.set(delta, performance.now());
  }
  const gaveUp = await Promise.race([all.promise, delay(10_000).then(() => "gave up" as const)]);
  await client.dispose();
  await bell.close();
  await pools.end();
  if (gaveUp !== undefined) throw new Error(`${took.length} of ${seconds * RATE} events came`);
  took.sort((left, right) => left - right);
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Infinity;
  return { count: took.length, p50: at(0.5), p99: at(0.99) };
}
