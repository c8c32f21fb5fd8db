import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { OwnerChange } from "../src/db/commit/change.ts";
import { openDatabase } from "../src/db/database.ts";
import type { Sql } from "../src/db/sql.ts";
import { EventLog } from "../src/events/log.ts";
import type { FencedEvents } from "../src/events/write.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";
import { insertTimes } from "./insertion.ts";
import { newAgent, run, start } from "./turn-server.ts";

const CALLS = 400;
/** Enough for half a minute: the machine's speed changes within seconds. */
const ROUNDS = 15;
/** Rounds before those that are counted, until V8 has compiled what runs once in a commit. */
const WARM_ROUNDS = 5;
/**
 * So many commits and so many INSERTs are made in turn: both meet the same moments of a machine whose speed changes within seconds.
 * The first of each meet what the other has left in the caches, and are not counted.
 */
const BLOCK = 50;
const WARM_IN_BLOCK = 10;
const TENANT = "local";
/** The tables that a turn writes, those that others refer to first. */
const TABLES = ["tenant_log", "agent", "message", "step", "tool_call", "event"];

/** A commit of the recorded turn. */
type Recorded = { readonly part: FencedEvents; readonly change: OwnerChange };

/**
 * The two commits of a tool call, in ms: the model's answer with EXECUTING, and the result with the next step. Those of one
 * recorded turn are replayed on one connection, in turns with INSERTs of one row on another one.
 */
export async function commits(url: string): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { recorded, rows } = await record(url, client);
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const rounds: (Times & { readonly bytes: number })[] = [];
  try {
    for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
      await lay(client, rows);
      const empty = await logBytes(client);
      const times = await replay(database.commits, recorded, () => insertTimes(client, BLOCK, null));
      if (round >= 0) rounds.push({ ...times, bytes: (await logBytes(client)) - empty });
    }
  } finally {
    await client.end();
    await database.close();
  }
  const insert = median(rounds.map((round) => round.insert));
  const both = median(rounds.map((round) => (round.answers + round.results) / round.insert));
  const bytes = median(rounds.map((round) => round.bytes));
  return [
    { name: "commits", value: both * insert, unit: "ms, the two of a tool call", baseline: insert, ratio: both },
    {
      name: "log of a call",
      value: bytes / CALLS / 1_024,
      unit: "KB of events and their indexes",
      baseline: null,
      ratio: null,
    },
  ];
}

/** Runs a turn, and keeps what its owner committed, and the rows before the first of that. */
async function record(url: string, client: pg.Client): Promise<{ recorded: Recorded[]; rows: Map<string, string> }> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-bench-"));
  const app = await start(url, folder);
  try {
    const { log } = app.services;
    const recorded: Recorded[] = [];
    const rows = new Map<string, string>();
    const commitHeld = log.commitHeld.bind(log);
    log.commitHeld = async (tenant, part, change) => {
      if (recorded.length === 0) for (const [table, text] of await rowsOf(client)) rows.set(table, text);
      recorded.push({ part, change });
      return commitHeld(tenant, part, change);
    };
    await run(app, await newAgent(app), String(CALLS));
    return { recorded, rows };
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
}

async function rowsOf(client: pg.Client): Promise<[table: string, rows: string][]> {
  const all: [string, string][] = [];
  for (const table of TABLES) {
    const { rows } = await client.query<{ text: string }>(`SELECT coalesce(json_agg(t), '[]')::text AS text FROM ${table} t`);
    all.push([table, rows[0]?.text ?? "[]"]);
  }
  return all;
}

async function lay(client: pg.Client, rows: ReadonlyMap<string, string>): Promise<void> {
  await client.query(`TRUNCATE ${TABLES.join(", ")} CASCADE`);
  for (const [table, text] of rows)
    await client.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(null::${table}, $1)`, [text]);
}

type Times = { readonly answers: number; readonly results: number; readonly insert: number };

async function replay(sql: Sql, recorded: readonly Recorded[], inserted: () => Promise<number[]>): Promise<Times> {
  const log = new EventLog(sql);
  const answers: number[] = [];
  const results: number[] = [];
  const inserts: number[] = [];
  for (let begin = 0; begin < recorded.length; begin += BLOCK) {
    for (const [index, { part, change }] of recorded.slice(begin, begin + BLOCK).entries()) {
      const began = performance.now();
      const { outcome } = await log.commitHeld(TENANT, part, change);
      const took = performance.now() - began;
      if (outcome !== "COMMITTED") throw new Error(`a recorded commit was ${outcome}`);
      if (index < WARM_IN_BLOCK) continue;
      if ((change.toolCalls ?? []).length > 0) answers.push(took);
      else if (change.stepStart !== undefined && (change.transitions ?? []).length > 0) results.push(took);
    }
    // The few commits of the last block are not counted.
    if (begin + BLOCK <= recorded.length) inserts.push(...(await inserted()).slice(WARM_IN_BLOCK));
  }
  return { answers: median(answers), results: median(results), insert: median(inserts) };
}

/** The bytes of the events, of their indexes and of what PostgreSQL keeps beside both. */
async function logBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>("SELECT pg_total_relation_size('event') AS bytes");
  return Number(rows[0]?.bytes);
}
