import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../src/db/database.ts";
import { EventLog } from "../../src/events/log.ts";
import { insertAgent } from "../../tests/support/log.ts";
import { query, startPostgres, type TrialPostgres } from "../postgres.ts";
import { start, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { NAIVE_APPEND } from "./naive-append.ts";

/**
 * `npm run trial:log`: two writers of six connections and a reader with its cursor on disk, on one PostgreSQL, which
 * are killed: a writer each 150 to 400 ms, the reader at each fourth of these, and PostgreSQL, restarted in immediate
 * mode, at each fifteenth. Every acknowledged event is in the log, once; positions and seqs have no gap; the reader was
 * given the log, in order. With --planted the append takes positions from a sequence, which must fail.
 */
const WRITERS = 2;
const SPARES = 3;
const AGENTS = 6;

await trialInFolder("log", (run, folder) => runLog(run, join(folder, "reader.log")));

async function runLog({ isShort, isPlanted, fail }: TrialRun, file: string): Promise<string> {
  const postgres = await startPostgres();
  const agents = await prepare(postgres, isPlanted);
  const acked: string[] = [];
  let started = 0;
  const newWriter = async (): Promise<TrialProcess> => {
    started += 1;
    const env = {
      DATABASE_URL: postgres.url,
      TRIAL_NAME: String(started),
      TRIAL_AGENTS: agents[started % WRITERS]?.join(",") ?? "",
      ...(started % 2 === 0 ? { TRIAL_HELD: "1" } : {}),
      ...(isPlanted ? { TRIAL_SINGLE: "1" } : {}),
    };
    const writer = await start("trials/log/writer.ts", /^ready$/, env);
    writer.onLine((line) => void acked.push(...line.split(" ").slice(1)));
    return writer;
  };
  const newReader = (): Promise<TrialProcess> =>
    start("trials/log/reader.ts", /^ready$/, { DATABASE_URL: postgres.url, TRIAL_FILE: file });

  const spares = Array.from({ length: SPARES }, newWriter);
  const writers = await Promise.all(Array.from({ length: WRITERS }, newWriter));
  writers.forEach((writer) => writer.tell("go"));
  let reader = await newReader();
  const kills = { writers: 0, readers: 0, crashes: 0 };
  const deadline = performance.now() + (isPlanted ? 6_000 : isShort ? 12_000 : 120_000);
  while (performance.now() < deadline) {
    await delay(150 + Math.random() * 250);
    await writers.shift()?.kill();
    kills.writers += 1;
    const next = await spares.shift();
    next?.tell("go");
    if (next !== undefined) writers.push(next);
    if (kills.writers % 4 === 0) {
      await reader.kill();
      kills.readers += 1;
      reader = await newReader();
    }
    if (kills.writers % 15 === 0) {
      await postgres.halt();
      await postgres.start();
      kills.crashes += 1;
    }
    spares.push(newWriter());
  }
  await Promise.all([...writers, ...(await Promise.all(spares))].map((writer) => writer.kill()));
  const events = await readLog(postgres.url);
  await until(
    "the reader has come to the end",
    async () => (await linesOf(file)).length >= events.length,
    isPlanted ? 3_000 : 15_000,
  ).catch(() => {});
  await reader.kill();
  check(events, acked, await linesOf(file), fail);
  return `${events.length} events, ${acked.length} acknowledged, ${kills.writers} writers and ${kills.readers} readers killed, ${kills.crashes} crashes of PostgreSQL`;
}

/** The agents of each writer, on a migrated database. */
async function prepare({ url }: TrialPostgres, isPlanted: boolean): Promise<string[][]> {
  const database = await openDatabase({ kind: "postgres", url, connections: 2 });
  const log = new EventLog(database.commits);
  const agents: string[][] = [];
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const own: string[] = [];
    for (let index = 0; index < AGENTS; index += 1) own.push((await insertAgent(log, "trial", "trial")).agentId);
    agents.push(own);
  }
  await query(url, "UPDATE agent SET lease_owner = 'trial'");
  await database.close();
  if (isPlanted) await query(url, NAIVE_APPEND);
  return agents;
}

type LogEvent = { readonly position: number; readonly agent: string; readonly seq: number; readonly mark: string };

async function readLog(url: string): Promise<readonly LogEvent[]> {
  const rows = await query(
    url,
    `SELECT position::int, agent_id AS agent, seq, payload ->> 'delta' AS mark FROM event ORDER BY position`,
  );
  return rows as LogEvent[];
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1);
}

function check(
  events: readonly LogEvent[],
  acked: readonly string[],
  delivered: readonly string[],
  fail: TrialRun["fail"],
): void {
  if (acked.length === 0) fail("nothing was acknowledged");
  const marks = new Set(events.map(({ mark }) => mark));
  const lost = acked.filter((mark) => !marks.has(mark));
  if (lost.length > 0) fail(`${lost.length} acknowledged events are not in the log: ${lost.slice(0, 3).join(", ")}`);
  if (marks.size !== events.length) fail(`${events.length - marks.size} events are in the log twice`);
  const gaps = events.filter(({ position }, index) => position !== index + 1);
  if (gaps.length > 0) fail(`the log has a gap before position ${gaps[0]?.position}`);
  const seqs = new Map<string, number>();
  for (const { agent, seq } of events) {
    if (seq !== (seqs.get(agent) ?? 0) + 1) fail(`agent ${agent} has seq ${seq} after ${seqs.get(agent) ?? 0}`);
    seqs.set(agent, seq);
  }
  const expected = events.map(({ position, mark }) => `${position} ${mark}`);
  const given = new Set(delivered);
  const missing = expected.filter((line) => !given.has(line));
  if (missing.length > 0)
    fail(
      `the reader was not given ${missing.length} of ${expected.length} events (${((100 * missing.length) / expected.length).toFixed(1)} %): ${missing[0]}`,
    );
  if (given.size !== delivered.length) fail(`the reader was given ${delivered.length - given.size} events twice`);
  const inverted = delivered.findIndex(
    (line, index) => index > 0 && Number.parseInt(line) <= Number.parseInt(delivered[index - 1] ?? ""),
  );
  if (inverted >= 0) fail(`the reader was given ${delivered[inverted]} after ${delivered[inverted - 1]}`);
}
