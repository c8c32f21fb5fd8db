import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../src/db/database.ts";
import { PostgresBell } from "../src/events/bell/postgres-bell.ts";
import { EventLog } from "../src/events/log.ts";
import { globalId } from "../src/lib/global-id.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { insertAgent, type RowAgent } from "../tests/support/log.ts";
import { subscribe } from "./client.ts";
import { inBatches, QUERY, used } from "./fan-out.ts";
import type { Figure } from "./figure.ts";
import { startServerProcess } from "./server-process.ts";

const SUBSCRIBERS = 10_000;
const WARM_SECONDS = 5;
const SECONDS = 20;
/** The text of a piece: the time at which it was committed, by which its way is measured. */
const SAID_AT = /at (\d+\.\d+) /;

/** 10,000 subscribers, whose agents each say something once a second: a core's share, and how long a piece is on its way. */
export async function fanOutMany(url: string): Promise<Figure[]> {
  return [
    ...(await fanOutOf(url, 100, "fan-out 10,000")),
    ...(await fanOutOf(url, 1, "fan-out 10,000, one agent")),
    ...(await fanOutOf(url, 1_000, "fan-out 10,000, 1,000 agents")),
  ];
}

async function fanOutOf(url: string, agents: number, name: string): Promise<Figure[]> {
  const server = await startServerProcess("triplane-server.ts", url);
  const database = await openDatabase({ kind: "postgres", url, connections: 2 });
  const log = new EventLog(database.commits);
  const bell = new PostgresBell(url, database.version, "bench", silentLogger);
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const speaking = await Promise.all(Array.from({ length: agents }, () => insertAgent(log, "local", "local")));
  const emptyBytes = await server.memory();
  let opened = 0;
  const sockets = await inBatches(SUBSCRIBERS, () => {
    const agent = speaking[opened % agents];
    opened += 1;
    return subscribe(server.port, QUERY, { agentId: globalId("Agent", agent?.agentId ?? "") });
  });
  let times: number[] = [];
  for (const socket of sockets)
    socket.on("message", (message: Buffer) => {
      const [, said] = SAID_AT.exec(message.toString()) ?? [];
      if (said !== undefined) times.push(performance.now() - Number(said));
    });
  await speak(log, speaking, WARM_SECONDS);
  await delay(500);
  const bytes = (await server.memory()) - emptyBytes;
  times = [];
  const began = performance.now();
  const cpuMs = await used(server, () => speak(log, speaking, SECONDS));
  const share = (cpuMs / (performance.now() - began)) * 100;
  await delay(500);
  if (times.length !== SUBSCRIBERS * SECONDS) throw new Error(`${times.length} of ${SUBSCRIBERS * SECONDS} messages came`);
  sockets.forEach((socket) => socket.terminate());
  await bell.close();
  await database.close();
  await server.stop();
  times.sort((one, other) => one - other);
  const percentile = (part: number): number => times[Math.floor(times.length * part)] ?? 0;
  return [
    { name, value: share, unit: "% of a core", baseline: null, ratio: null },
    { name: `${name}, p50`, value: percentile(0.5), unit: "ms", baseline: null, ratio: null },
    { name: `${name}, p99`, value: percentile(0.99), unit: "ms", baseline: null, ratio: null },
    { name: `${name}, subscriber`, value: bytes / SUBSCRIBERS / 1_024, unit: "KB of heap", baseline: null, ratio: null },
  ];
}

/** Each agent says something once a second, all of them spread over it. */
async function speak(log: EventLog, agents: readonly RowAgent[], seconds: number): Promise<void> {
  const began = performance.now();
  for (let turn = 0; turn < seconds; turn += 1)
    for (const [index, agent] of agents.entries()) {
      const wait = began + (turn + index / agents.length) * 1_000 - performance.now();
      if (wait > 0) await delay(wait);
      const delta = `at ${performance.now().toFixed(3)} `;
      await log.append("local", [
        { ...agent, events: [{ at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } }] },
      ]);
    }
}
