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
import { createAgent, open, sendMessage, subscribe } from "./client.ts";

const PAGES = 200;
const WARM = 40;
/** The bell of other processes is heard each 20 ms: so each append is a page of its own. */
const EVERY_MS = 25;
/** Sockets that are opened at once. */
const AT_ONCE = 50;
export const QUERY = `subscription ($agentId: ID!) { progress(agentId: $agentId) {
  cursor caughtUp events { cursor seq timestamp kind ... on TextChunk { step block delta } } } }`;

/** What so many subscribers cost: CPU of the server in ms, and the pages that each of them was sent. */
type Cost = { readonly cpuMs: number; readonly pages: readonly string[] };

/** The source of pages: it speaks for one agent, so many pieces, one after the other. */
type Speaker = { readonly agentId: string; speak(pieces: number): Promise<void>; close(): Promise<void> };

/** Server CPU a delivered message, against raw sends of the same pages to as many sockets. */
export async function fanOut(url: string): Promise<Figure[]> {
  const few = await fanOutTo(url, 200, otherServer);
  const some = await fanOutTo(url, 800, otherServer);
  const many = await fanOutTo(url, 1_000, otherServer);
  const own = await fanOutTo(url, 200, ownAgent);
  // What each further subscriber costs: what all have in common, reading and answering the page, stands on both sides.
  const [value, baseline] = [further(few.ours, some.ours), further(few.raw, some.raw)];
  return [
    figure("fan-out", few, 200),
    figure("fan-out, own agent", own, 200),
    figure("fan-out, 1,000 subscribers", many, 1_000),
    { name: "fan-out, one more subscriber", value, unit: "µs CPU a message", baseline, ratio: value / baseline },
  ];
}

type Compared = { readonly ours: Cost; readonly raw: Cost };

function figure(name: string, { ours, raw }: Compared, subscribers: number): Figure {
  const micros = ({ cpuMs, pages }: Cost): number => (cpuMs / pages.length / subscribers) * 1_000;
  const [value, baseline] = [micros(ours), micros(raw)];
  return { name, value, unit: "µs CPU a message", baseline, ratio: value / baseline };
}

/** CPU of each of 600 further subscribers, a page, in µs. */
function further(few: Cost, some: Cost): number {
  return ((some.cpuMs / some.pages.length - few.cpuMs / few.pages.length) / 600) * 1_000;
}

async function fanOutTo(
  url: string,
  subscribers: number,
  makeSpeaker: (url: string, port: number) => Promise<Speaker>,
): Promise<Compared> {
  const ours = await startServerProcess("triplane-server.ts", url);
  const speaker = await makeSpeaker(url, ours.port);
  const variables = { agentId: speaker.agentId };
  const sockets = await inBatches(subscribers, () => subscribe(ours.port, QUERY, variables));
  const pages: string[] = [];
  sockets[0]?.on("message", (message: Buffer) => pages.push(message.toString()));
  await speaker.speak(WARM);
  await delay(500);
  const counts = count(sockets);
  pages.length = 0;
  const cpuMs = await used(ours, async () => {
    await speaker.speak(PAGES);
    await delay(500);
  });
  if (counts.some((delivered) => delivered !== pages.length) || pages.length < PAGES / 2)
    throw new Error(`subscribers got ${Math.min(...counts)} to ${Math.max(...counts)} pages, the first ${pages.length}`);
  sockets.forEach((socket) => socket.terminate());
  await speaker.close();
  await ours.stop();
  return { ours: { cpuMs, pages }, raw: { cpuMs: await rawCpu(pages, subscribers), pages } };
}

/** What sending the same pages to as many sockets costs a server that does nothing else. */
async function rawCpu(pages: readonly string[], subscribers: number): Promise<number> {
  const raw = await startServerProcess("raw-server.ts");
  const sockets = await inBatches(subscribers, () => open(raw.port));
  await raw.request({ ask: "send", pages: pages.slice(0, WARM), everyMs: EVERY_MS });
  const cpuMs = await used(raw, () => raw.request({ ask: "send", pages, everyMs: EVERY_MS }));
  sockets.forEach((socket) => socket.terminate());
  await raw.stop();
  return cpuMs;
}

/** An agent of another server: what it says comes from the log. */
async function otherServer(url: string): Promise<Speaker> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const log = new EventLog(database.sql);
  const bell = postgresBell(url, database.version, "bench", silentLogger);
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const agent = await insertAgent(log, "local", "local");
  return {
    agentId: globalId("Agent", agent.agentId),
    speak: async (pieces) => {
      for (let index = 0; index < pieces; index += 1) {
        const body = { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `a few words ${index} ` } as const;
        const draft: EventDraft = { at: new Date(), body };
        await log.append("local", [{ ...agent, events: [draft] }]);
        await delay(EVERY_MS);
      }
    },
    close: async () => {
      await bell.close();
      await database.close();
    },
  };
}

/** An agent of the server itself, whose model says a piece each EVERY_MS: what the agent costs counts as the pages' cost, too. */
async function ownAgent(_url: string, port: number): Promise<Speaker> {
  const agentId = await createAgent(port, "speaks");
  return {
    agentId,
    speak: async (pieces) => {
      // The script says so many pieces a message.
      for (let said = 0; said < pieces; said += WARM) {
        await sendMessage(port, agentId);
        await delay(WARM * EVERY_MS + 200);
      }
    },
    close: async () => {},
  };
}

export async function inBatches(count: number, openOne: () => Promise<WebSocket>): Promise<WebSocket[]> {
  const opened: WebSocket[] = [];
  while (opened.length < count)
    opened.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened.length) }, openOne))));
  return opened;
}

export async function used(server: ServerProcess, work: () => Promise<void>): Promise<number> {
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
