import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../src/db/database.ts";
import type { Sql } from "../src/db/sql.ts";
import type { Figure } from "./figure.ts";
import { startServerProcess } from "./server-process.ts";
import { createAgent, sendMessage, subscribe } from "./client.ts";

const SUBSCRIPTIONS = 2_000;
const AGENTS = 10_000;
const WARM = 200;
const WARM_AGENTS = 500;
const QUERY = "subscription { monitor { cursor events { kind } } }";

/** Server memory for one idle subscription on a socket of its own, and for one parked agent. */
export async function idle(url: string): Promise<Figure[]> {
  const server = await startServerProcess("triplane-server.ts", url);
  const memory = (): Promise<number> => memoryOf(server);
  const open = async (count: number) => {
    const sockets = [];
    for (let index = 0; index < count; index += 1) sockets.push(await subscribe(server.port, QUERY, {}));
    return sockets;
  };
  const warm = await open(WARM);
  const before = await memory();
  const sockets = await open(SUBSCRIPTIONS);
  const subscription = (await memory()) - before;
  for (const socket of [...warm, ...sockets]) socket.terminate();
  await settled(memory);
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  await park(server.port, database.sql, "asks", WARM_AGENTS);
  const unparked = await memory();
  await park(server.port, database.sql, "asks", WARM_AGENTS + AGENTS);
  const parked = (await memory()) - unparked;
  await server.stop();
  await database.close();
  return [
    { name: "idle subscription", value: subscription / SUBSCRIPTIONS / 1_024, unit: "KB", baseline: null, ratio: null },
    { name: "parked agent", value: Math.max(0, parked) / AGENTS / 1_024, unit: "KB", baseline: null, ratio: null },
  ];
}

/** Waits until what the sockets held is given back: the server frees it piece by piece. */
async function settled(memory: () => Promise<number>): Promise<void> {
  for (let before = await memory(); ;) {
    const now = await memory();
    if (now > before * 0.99) return;
    before = now;
  }
}

/** Sends messages to new agents until so many agents are parked. A message parks `each` of them. */
async function park(port: number, sql: Sql, template: "asks" | "leads", agents: number, each = 1): Promise<void> {
  const parked = async (): Promise<number> => {
    const [row] = await sql.query<{ parked: number }>(
      { name: "parked", text: "SELECT count(*)::int AS parked FROM agent WHERE state = 'PAUSED' AND lease_owner IS NULL" },
      [],
    );
    return row?.parked ?? 0;
  };
  let next = await parked();
  const work = async (): Promise<void> => {
    while (next < agents) {
      next += each;
      await sendMessage(port, await createAgent(port, template));
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  while ((await parked()) < agents) await delay(100);
}

/** Server memory for one agent that waits: half of them for a child, and each child for time. */
export async function waiting(url: string): Promise<Figure> {
  const server = await startServerProcess("triplane-server.ts", url);
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  await park(server.port, database.sql, "leads", WARM_AGENTS, 2);
  await settled(() => memoryOf(server));
  const before = await memoryOf(server);
  await park(server.port, database.sql, "leads", WARM_AGENTS + AGENTS, 2);
  await settled(() => memoryOf(server));
  const taken = (await memoryOf(server)) - before;
  await server.stop();
  await database.close();
  return { name: "waiting agent", value: Math.max(0, taken) / AGENTS / 1_024, unit: "KB", baseline: null, ratio: null };
}

async function memoryOf(server: Awaited<ReturnType<typeof startServerProcess>>): Promise<number> {
  await delay(1_000);
  return server.memory();
}
