import { setTimeout as delay } from "node:timers/promises";
import type WebSocket from "ws";
import { openDatabase } from "../src/db/database.ts";
import { postgresBell } from "../src/events/bell.ts";
import type { EventDraft } from "../src/events/event.ts";
import { EventLog } from "../src/events/log.ts";
import { globalId } from "../src/lib/global-id.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { insertAgent } from "../tests/support/log.ts";
import type { Figure } from "./figure.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";
import { open, subscribe } from "./client.ts";

const SUBSCRIBERS = 200;
const APPENDS = 200;
/** The bell of other processes is heard each 20 ms: so each append is a page of its own. */
const EVERY_MS = 25;
const QUERY = `subscription ($agentId: ID!) { progress(agentId: $agentId) {
  cursor caughtUp events { cursor seq timestamp kind ... on TextChunk { step block delta } } } }`;

/** Server CPU a delivered message, against raw sends of the same pages to as many sockets. */
export async function fanOut(url: string): Promise<Figure> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const log = new EventLog(database.sql);
  const bell = postgresBell(url, database.version, "bench", silentLogger);
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const agent = await insertAgent(log, "local", "local");
  const ours = await startServerProcess("triplane-server.ts", url);
  const pages: string[] = [];
  const sockets = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, () => subscribe(ours.port, QUERY, { agentId: globalId("Agent", agent.agentId) })),
  );
  sockets[0]?.on("message", (message: Buffer) => pages.push(message.toString()));
  const append = async (index: number): Promise<void> => {
    const draft: EventDraft = { at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `a few words ${index} ` } };
    await log.append("local", [{ ...agent, events: [draft] }]);
    await delay(EVERY_MS);
  };
  for (let warm = 0; warm < 40; warm += 1) await append(warm);
  await delay(500);
  const counts = count(sockets);
  pages.length = 0;
  const cpu = await used(ours, async () => {
    for (let index = 0; index < APPENDS; index += 1) await append(index);
    await delay(500);
  });
  if (counts.some((delivered) => delivered !== pages.length) || pages.length < APPENDS / 2)
    throw new Error(`subscribers got ${Math.min(...counts)} to ${Math.max(...counts)} pages`);
  sockets.forEach((socket) => socket.terminate());
  await ours.stop();
  await bell.close();
  await database.close();

  const raw = await startServerProcess("raw-server.ts");
  const plain = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => open(raw.port)));
  await raw.request({ ask: "send", pages: pages.slice(0, 40), everyMs: EVERY_MS });
  const rawCpu = await used(raw, () => raw.request({ ask: "send", pages, everyMs: EVERY_MS }));
  plain.forEach((socket) => socket.terminate());
  await raw.stop();
  const messages = pages.length * SUBSCRIBERS;
  return {
    name: "fan-out",
    value: (cpu / messages) * 1_000,
    unit: "µs CPU a message",
    baseline: (rawCpu / messages) * 1_000,
    ratio: cpu / rawCpu,
  };
}

async function used(server: ServerProcess, work: () => Promise<void>): Promise<number> {
  const before = await server.cpuMs();
  await work();
  return (await server.cpuMs()) - before;
}

/** Messages that have come on each socket, counted from now on. */
function count(sockets: readonly WebSocket[]): number[] {
  const counts = sockets.map(() => 0);
  sockets.forEach((socket, index) => socket.on("message", () => (counts[index] = (counts[index] ?? 0) + 1)));
  return counts;
}
