import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createAgent, type TrialAgent } from "../agents.ts";
import { lastPosition, startPostgres } from "../postgres.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { keepBusy, type Turns } from "../turns.ts";
import type { ServerLoad } from "./server.ts";

/**
 * `npm run trial:scale`: 1,000 agents on one server and one PostgreSQL, each a turn after the other for 10 minutes: 20
 * deltas over 4 s, one call that reads for 3.6 s, an answer. No agent is resumed, no call fails or is refused for want of
 * room, no ERROR is written; what looks for agents and keeps their leases takes at most 5 % of PostgreSQL's time and of
 * the server's. Prints what the machine held. With --planted leases are renewed all the time.
 */
const MOST_SHARE = 0.05;

/** The time of a turn that waits for nothing, in ms: agents begin as they would if they had been at work for long. */
const TURN_MS = 8_000;

/** The number of agents that work, the turns that end before anything is measured, and the seconds for which it is. */
type Size = { readonly agents: number; readonly before: number; readonly seconds: number };
const FULL: Size = { agents: 1_000, before: 1_000, seconds: 600 };
const SHORT: Size = { agents: 200, before: 200, seconds: 15 };
const PLANTED: Size = { agents: 50, before: 1, seconds: 3 };

/** The statements of src/agent/loop/lease.ts, waits/due.ts and calls/shells/lost.ts, by how they begin or what only they ask. */
const SWEEPS = String.raw`^(UPDATE agent (a )?SET lease|SELECT id FROM agent WHERE|WITH held AS \(\s*SELECT|SELECT a\.id FROM agent a JOIN|SELECT id, lease_epoch)|AS found, id, signal FROM agent|FROM wait WHERE settled_at IS NULL|FROM shell s JOIN agent a`;
const STATEMENTS = `
  SELECT (coalesce(sum(total_exec_time) FILTER (WHERE query ~ '${SWEEPS}'), 0) / sum(total_exec_time))::float8 AS sweeps,
         coalesce(sum(calls) FILTER (WHERE query ~ 'FROM (commit_change|append_events)|place_events'), 0)::float8 AS commits
  FROM pg_stat_statements`;

await trialInFolder("scale", runScale);

async function runScale({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const size = isPlanted ? PLANTED : isShort ? SHORT : FULL;
  const url = await startCounting();
  const database = new pg.Client({ connectionString: url });
  // A trial that breaks off ends the database first.
  database.on("error", () => {});
  await database.connect();
  await database.query("CREATE EXTENSION pg_stat_statements");
  const server = await start("trials/scale/server.ts", SERVER_READY, {
    DATABASE_URL: url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("scale.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    ...(isPlanted ? { TRIAL_FAULT: "renews all the time" } : {}),
  });
  const agents: TrialAgent[] = [];
  for (let index = 0; index < size.agents; index += 1) agents.push(await createAgent(server.said));
  const turns = keepBusy(
    server.said,
    agents.map((agent) => ({ agent, url: server.said, text: "go" })),
    TURN_MS,
  );
  await until(`${size.before} turns have ended`, () => turns.ended >= size.before, 120_000);
  const figures = await measure(database, server, turns, size.seconds);
  const { load, sweeps } = figures;
  if (sweeps > MOST_SHARE) fail(`sweeps take ${percent(sweeps)} of PostgreSQL's time`);
  if (load.sweeps > MOST_SHARE) fail(`sweeps take ${percent(load.sweeps)} of the server's time`);
  for (const problem of await whatWentWrong(database)) fail(problem);
  turns.stop();
  await database.end();
  const { seconds } = figures;
  return (
    `${size.agents} agents: ${(figures.turnsMs.length / seconds).toFixed(1)} turns, ${(figures.events / seconds).toFixed(0)} events, ` +
    `${(figures.commits / seconds).toFixed(0)} commits a second; a turn takes ${inSeconds(figures.turnsMs, 0.5)} s, ${inSeconds(figures.turnsMs, 0.99)} s at the 99th percentile; ` +
    `the server used ${percent(load.cpu)} of a core and ${load.residentMb.toFixed(0)} MB, its event loop was ${load.lateMs.toFixed(0)} ms late at the 99th percentile, ` +
    `the machine's cores were ${percent(figures.busy)} busy; sweeps: ${percent(sweeps)} of PostgreSQL's time, ${percent(load.sweeps)} of the server's`
  );
}

/** A PostgreSQL that counts the time of its statements. */
async function startCounting(): Promise<string> {
  const postgres = await startPostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query("ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'");
  await client.end();
  await postgres.halt();
  await postgres.start();
  return postgres.url;
}

type Figures = {
  readonly seconds: number;
  /** The time that each turn took that ended meanwhile. */
  readonly turnsMs: readonly number[];
  readonly events: number;
  readonly commits: number;
  /** The share of its cores that the machine used. */
  readonly busy: number;
  /** The share of sweeps in PostgreSQL's time. */
  readonly sweeps: number;
  readonly load: ServerLoad;
};

async function measure(database: pg.Client, server: TrialProcess, turns: Turns, lengthS: number): Promise<Figures> {
  const profiles = server.says(/^profiles$/);
  server.tell("profile");
  await profiles;
  await database.query("SELECT pg_stat_statements_reset()");
  const [ended, first, cores, began] = [turns.tookMs.length, await lastPosition(database), coreTimes(), performance.now()];
  await delay(lengthS * 1_000);
  const seconds = (performance.now() - began) / 1_000;
  const [events, turnsMs, after] = [(await lastPosition(database)) - first, turns.tookMs.slice(ended), coreTimes()];
  const profiled = server.says(/^profiled .*$/);
  server.tell("profiled");
  const load = JSON.parse((await profiled).replace("profiled ", "")) as ServerLoad;
  const [row] = (await database.query<{ sweeps: number; commits: number }>(STATEMENTS)).rows;
  if (row === undefined) throw new Error("no statements were counted");
  const busy = 1 - (after.idle - cores.idle) / (after.all - cores.all);
  return { seconds, turnsMs, events, commits: row.commits, busy, sweeps: row.sweeps, load };
}

/** The work of the machine's cores so far, in ms. */
function coreTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((core) => core.times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all };
}

/** The problems that nobody should have met, in words. */
async function whatWentWrong(database: pg.Client): Promise<readonly string[]> {
  const { rows } = await database.query<{ kind: string; n: number; example: string }>(
    `SELECT kind, count(*)::int AS n, min(payload::text) AS example FROM event
     WHERE kind IN ('AGENT_RESUMED', 'ERROR') OR (kind = 'TOOL_END' AND payload #>> '{call,state}' <> 'COMPLETED') GROUP BY kind`,
  );
  return rows.map(({ kind, n, example }) => `${n} ${kind}, such as ${example.slice(0, 300)}`);
}

function inSeconds(times: readonly number[], share: number): string {
  const sorted = times.toSorted((left, right) => left - right);
  return ((sorted[Math.floor(sorted.length * share)] ?? NaN) / 1_000).toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
