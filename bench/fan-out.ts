import { setTimeout as delay } from "node:timers/promises";
import type WebSocket from "ws";
import { openDatabase } from "../src/db/database.ts";
import { PostgresBell } from "../src/events/bell/postgres-bell.ts";
import type { EventDraft } from "../src/events/event.ts";
import { EventLog } from "../src/events/log.ts";
import { globalId } from "../src/lib/global-id.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { insertAgent } from "../tests/support/log.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";
import { withDatabase } from "./postgres.ts";
import { createAgent, open, sendMessage, subscribe } from "./client.ts";

const ROUNDS = 5;
const PAGES = 80;
/** Pages before the first round: a server that works for days is warm, and V8 compiles what runs 40 times a second for so long. */
const WARM = 500;
/** The pieces that the model of the server's own agent says a message. */
const PIECES = 40;
/** The bell of other processes is heard each 20 ms: so each append is a page of its own. */
const EVERY_MS = 25;
/** Sockets that are opened at once. */
const AT_ONCE = 50;
export const QUERY = `subscription ($agentId: ID!) { progress(agentId: $agentId) {
  cursor caughtUp events { cursor seq timestamp kind ... on TextChunk { step block delta } } } }`;

/**
 * A round: CPU of the server in ms, that of what the source of its pages costs the server with nobody there, that of raw sends of
 * the same pages, and how many pages there were.
 */
type Round = { readonly ours: number; readonly source: number; readonly raw: number; readonly pages: number };

/** The source of pages: it speaks for one agent, so many pieces, one after the other. */
type Speaker = {
  readonly agentId: string;
  speak(pieces: number): Promise<void>;
  /** What so many pieces cost a server that nobody listens to, in ms of CPU, beyond what it uses when it is idle. */
  unheard(pieces: number): Promise<number>;
  close(): Promise<void>;
};

/** Server CPU a delivered message, against raw sends of the same pages to as many sockets, in turns. */
export async function fanOut(url: string): Promise<Figure[]> {
  const few = await fanOutTo(url, 200, otherServer);
  const some = await fanOutTo(url, 800, otherServer);
  const many = await fanOutTo(url, 1_000, otherServer);
  const own = await withDatabase(url, (unheardUrl) => fanOutTo(url, 200, ownAgent(unheardUrl)));
  // What each further subscriber costs: what all have in common, reading and answering the page, stands on both sides.
  const further = some.map((round, index) => beyond(few[index], round));
  return [
    figure(
      "fan-out",
      few.map((round) => perMessage(round, 200)),
    ),
    figure(
      "fan-out, own agent",
      own.map((round) => perMessage(round, 200)),
    ),
    figure(
      "fan-out, own agent, pages alone",
      own.map((round) => perMessage({ ...round, ours: round.ours - round.source }, 200)),
    ),
    figure(
      "fan-out, 1,000 subscribers",
      many.map((round) => perMessage(round, 1_000)),
    ),
    figure("fan-out, one more subscriber", further),
  ];
}

/** CPU a message in µs: ours, and that of a raw send. */
type Compared = { readonly ours: number; readonly raw: number };

function figure(name: string, rounds: readonly Compared[]): Figure {
  return {
    name,
    value: median(rounds.map(({ ours }) => ours)),
    unit: "µs CPU a message",
    baseline: median(rounds.map(({ raw }) => raw)),
    ratio: median(rounds.map(({ ours, raw }) => ours / raw)),
  };
}

function perMessage({ ours, raw, pages }: Omit<Round, "source">, subscribers: number): Compared {
  return { ours: (ours / pages / subscribers) * 1_000, raw: (raw / pages / subscribers) * 1_000 };
}

/** CPU of each of 600 further subscribers, a page. */
function beyond(few: Round | undefined, some: Round): Compared {
  if (few === undefined) throw new Error("there are as many rounds of few as of some");
  const more = (one: "ours" | "raw"): number => ((some[one] / some.pages - few[one] / few.pages) / 600) * 1_000;
  return { ours: more("ours"), raw: more("raw") };
}

async function fanOutTo(
  url: string,
  subscribers: number,
  makeSpeaker: (url: string, port: number) => Promise<Speaker>,
): Promise<Round[]> {
  const ours = await startServerProcess("triplane-server.ts", url);
  const raw = await startServerProcess("raw-server.ts");
  const speaker = await makeSpeaker(url, ours.port);
  const variables = { agentId: speaker.agentId };
  const sockets = await inBatches(subscribers, () => subscribe(ours.port, QUERY, variables));
  const rawSockets = await inBatches(subscribers, () => open(raw.port));
  const pages: string[] = [];
  sockets[0]?.on("message", (message: Buffer) => pages.push(message.toString()));
  const sendRaw = (texts: readonly string[]): Promise<void> => raw.request({ ask: "send", pages: texts, everyMs: EVERY_MS });
  await speaker.speak(WARM);
  await delay(500);
  await sendRaw(pages);
  // What setting up has left is not a page's: V8 would collect it within a round, which takes as long as 40 pages.
  await Promise.all([ours.memory(), raw.memory()]);
  const counts = count(sockets);
  const rounds: Round[] = [];
  // The first round follows a pause, and is not counted.
  for (let round = -1; round < ROUNDS; round += 1) {
    counts.fill(0);
    pages.length = 0;
    const cpuMs = await used(ours, async () => {
      await speaker.speak(PAGES);
      await delay(500);
    });
    if (counts.some((delivered) => delivered !== pages.length) || pages.length < PAGES / 2)
      throw new Error(`subscribers got ${Math.min(...counts)} to ${Math.max(...counts)} pages, the first ${pages.length}`);
    const source = await speaker.unheard(PAGES);
    const all = { ours: cpuMs, source, raw: await used(raw, () => sendRaw(pages)), pages: pages.length };
    if (round >= 0) rounds.push(all);
  }
  [...sockets, ...rawSockets].forEach((socket) => socket.terminate());
  await speaker.close();
  await ours.stop();
  await raw.stop();
  return rounds;
}

/** An agent of another server: what it says comes from the log. */
async function otherServer(url: string): Promise<Speaker> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const log = new EventLog(database.commits);
  const bell = new PostgresBell(url, database.version, "bench", silentLogger);
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
    unheard: () => Promise.resolve(0),
    close: async () => {
      await bell.close();
      await database.close();
    },
  };
}

/**
 * An agent of the server itself, whose model says a piece each EVERY_MS. Its turns and their commits are the server's, too: what
 * they cost is measured on another server, with that database, to which nobody listens.
 */
function ownAgent(unheardUrl: string): (url: string, port: number) => Promise<Speaker> {
  return async (_url, port) => {
    const unheard = await startServerProcess("triplane-server.ts", unheardUrl);
    const [agentId, unheardId] = await Promise.all([port, unheard.port].map((one) => createAgent(one, "speaks")));
    if (agentId === undefined || unheardId === undefined) throw new Error("each server has an agent");
    await sayPieces(unheard.port, unheardId, WARM);
    await unheard.memory();
    return {
      agentId,
      speak: (pieces) => sayPieces(port, agentId, pieces),
      unheard: async (pieces) => {
        const began = performance.now();
        const busy = await used(unheard, () => sayPieces(unheard.port, unheardId, pieces));
        const tookMs = performance.now() - began;
        return busy - (await used(unheard, () => delay(tookMs)));
      },
      close: () => unheard.stop(),
    };
  };
}

async function sayPieces(port: number, agentId: string, pieces: number): Promise<void> {
  for (let said = 0; said < pieces; said += PIECES) {
    await sendMessage(port, agentId);
    await delay(PIECES * EVERY_MS + 200);
  }
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
