import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createAgent, interrupt, send, type TrialAgent } from "../agents.ts";
import { measureLatency } from "../latency.ts";
import { lastPosition, startPostgres } from "../postgres.ts";
import { ask, SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { startProxy, throughProxy, type Proxy } from "../proxy.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { keepBusy } from "../turns.ts";
import { floodDues } from "./dues.ts";
import { median } from "../../tests/support/median.ts";

/**
 * `npm run trial:neighbours`: 100 agents work without end on two servers, and beside them, one after the other, a chatty
 * tool, a reader with 20 statistics over many calls, some locked rows, a database that stalls for 3 s as they are let go,
 * a tenant with 10,000 waits that are due at once (dues.ts), and a stranger with documents of 4 MB (stranger.ts). No agent is resumed, no call sealed, no ERROR written, and an event
 * takes at most three times as long to a subscriber of the other server as it took alone, save in the stall. What it takes
 * alone is measured before each of them. A neighbour beside which it takes longer is measured in two more rounds, and the
 * medians count. Waits of the agents' tenant end at most 1 s after their time beside those of the other one. With --planted
 * locked rows are everybody's, and tenants do not take turns: both must be detected.
 */
const AGENTS = 100;
/** The most that a wait may end late beside those of another tenant, in ms. */
const MOST_LATE_MS = 1_000;

/** A neighbour that disturbs: it begins at once, and ends with the signal. */
type Neighbour = {
  readonly name: string;
  /** At least so long, in s, whatever the length of the trial. */
  readonly seconds: number;
  /** False if the time that events take says nothing. */
  readonly isMeasured: boolean;
  disturb(signal: AbortSignal): Promise<void>;
};

await trialInFolder("neighbours", runNeighbours);

async function runNeighbours({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const proxy = await startProxy(Number(new URL(postgres.url).port));
  const env = {
    DATABASE_URL: throughProxy(postgres.url, proxy),
    TRIPLANE_CONFIG: fileURLToPath(new URL("neighbours.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    ...(isPlanted ? { TRIAL_FAULT: "forgets others" } : {}),
  };
  const newServer = (): Promise<TrialProcess> => start("trials/neighbours/server.ts", SERVER_READY, env);
  const [one, two] = await Promise.all([newServer(), newServer()]);
  const database = new pg.Client({ connectionString: postgres.url });
  // A trial that breaks off ends the database first.
  database.on("error", () => {});
  await database.connect();
  const agents: TrialAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) agents.push(await createAgent((index % 2 === 0 ? one : two).said));
  await insertCalls(database, agents, isShort ? 100_000 : 3_000_000);
  // Half of them are asked for long answers.
  const turns = keepBusy(
    one.said,
    agents.map((agent, index) => ({ agent, url: index % 2 === 0 ? one.said : two.said, text: index % 4 < 2 ? "go" : "long" })),
    0,
  );
  const held = "SELECT count(*)::int AS n FROM agent WHERE lease_owner IS NOT NULL";
  await until("all agents work", async () => (await database.query<{ n: number }>(held)).rows[0]?.n === AGENTS, 20_000);
  const seconds = isShort ? 6 : 60;
  // It is measured before each neighbour, and the median of all counts: a hiccup in one of them does not.
  const secondsAlone = isShort ? 3 : 60;
  const lateMs: number[] = [];
  const dues: Neighbour = {
    name: "waits of another tenant",
    seconds: 10,
    isMeasured: false,
    disturb: async (signal) => void lateMs.push(await floodDues(postgres.url, one.said, signal)),
  };
  const neighbours: readonly Neighbour[] = [
    { name: "a chatty tool", seconds: 0, isMeasured: true, disturb: (signal) => chat(two.said, signal) },
    {
      name: "a reader",
      seconds: 0,
      isMeasured: true,
      disturb: (signal) => readStatistics(two.said, signal),
    },
    {
      name: "locked rows",
      seconds: isShort ? 16 : 30,
      isMeasured: true,
      disturb: (signal) => lockRows(postgres.url, signal),
    },
    { name: "a stall", seconds: 0, isMeasured: false, disturb: (signal) => stall(proxy, signal) },
    dues,
    { name: "a stranger", seconds: 0, isMeasured: true, disturb: (signal) => sendDocuments([one.said, two.said], signal) },
  ];
  const alone: number[] = [];
  const beside = new Map<string, number[]>();
  /** One round: what an event takes alone and beside the neighbour, and what went wrong meanwhile. */
  const measure = async (neighbour: Neighbour): Promise<void> => {
    if (neighbour.isMeasured && !isPlanted) alone.push((await measureLatency(postgres.url, one.said, secondsAlone)).p99);
    const since = await lastPosition(database);
    const ending = new AbortController();
    const disturbed = neighbour.disturb(ending.signal);
    const length = Math.max(seconds, neighbour.seconds);
    if (neighbour.isMeasured) {
      const { p99 } = await measureLatency(postgres.url, one.said, length);
      beside.set(neighbour.name, [...(beside.get(neighbour.name) ?? []), p99]);
    } else await delay(length * 1_000);
    ending.abort();
    await disturbed;
    const problems = await whatWentWrong(database, agents, since);
    if (problems !== "") fail(`beside ${neighbour.name}: ${problems}`);
  };
  const isTooLong = ({ name }: Neighbour): boolean => median(beside.get(name) ?? []) > 3 * median(alone);
  const met = isPlanted ? neighbours.filter(({ name }) => name === "locked rows") : neighbours;
  // The fault that is seen next ends the trial.
  if (isPlanted && (await floodDues(postgres.url, one.said, AbortSignal.timeout(dues.seconds * 1_000))) <= MOST_LATE_MS)
    return "tenants that do not take turns were not detected";
  for (const neighbour of met) await measure(neighbour);
  // The machine has other neighbours, for seconds: who took too long is measured in two more rounds, and the median counts.
  for (const neighbour of met.filter((one) => (one === dues ? median(lateMs) > MOST_LATE_MS : one.isMeasured && isTooLong(one))))
    for (let round = 0; round < 2; round += 1) await measure(neighbour);
  for (const neighbour of met.filter((one) => one.isMeasured && isTooLong(one)))
    fail(
      `beside ${neighbour.name} p99 is ${inMs(beside.get(neighbour.name) ?? [])} in three rounds, and ${(3 * median(alone)).toFixed(0)} ms, three times what it is alone, is the most`,
    );
  if (!isPlanted && median(lateMs) > MOST_LATE_MS)
    fail(`beside ${dues.name} waits ended ${inMs(lateMs)} after their time in three rounds, and ${MOST_LATE_MS} ms is the most`);
  turns.stop();
  await database.end();
  const said = [["alone", alone] as const, ...beside].map(([name, p99s]) => `${name} ${inMs(p99s)}`);
  return `${turns.ended} turns of ${AGENTS} agents; p99 of commit to the other server's subscriber: ${said.join("; ")}; beside ${dues.name} waits ended at most ${inMs(lateMs)} late`;
}

/** Times in words. */
function inMs(times: readonly number[]): string {
  return `${times.map((time) => time.toFixed(0)).join(", ")} ms`;
}

/** The events since then that nobody beside an agent should have caused, in words; empty if there are none. */
async function whatWentWrong(database: pg.Client, agents: readonly TrialAgent[], since: number): Promise<string> {
  const { rows } = await database.query<{ kind: string; n: number; example: string }>(
    `SELECT kind, count(*)::int AS n, min(payload::text) AS example FROM event
     WHERE position > $1 AND agent_id = ANY ($2) AND (kind = 'AGENT_RESUMED' OR (kind = 'ERROR' AND payload ->> 'severity' <> 'WARN') OR (kind = 'TOOL_END' AND payload #>> '{call,state}' = 'SEALED'))
     GROUP BY kind`,
    [since, agents.map(({ row }) => row)],
  );
  return rows.map(({ kind, n, example }) => `${n} ${kind}, such as ${example.slice(0, 200)}`).join("; ");
}

/** An agent whose tool emits 16,000 events a second, and waits for none. */
async function chat(url: string, signal: AbortSignal): Promise<void> {
  const agent = await createAgent(url);
  await send(url, agent, "chat");
  await ended(signal);
  await interrupt(url, agent);
}

/** Many narrow calls of the tenant; their ids are in order, and nothing is looked up for each, so that it takes a minute and not ten. */
async function insertCalls(database: pg.Client, [agent]: readonly TrialAgent[], calls: number): Promise<void> {
  await database.query("SET session_replication_role = replica");
  await database.query(
    `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, is_error, stages, audit_trail, duration_ms, created_at, updated_at)
     SELECT lpad(n::text, 12, '0'), 'local', $1, 0, -1, n, 'x', 'tool' || n % 50, 'COMPLETED', 1, '{}', false, '{}', '[]', n % 1000, now(), now() FROM generate_series(1, $2::int) n`,
    [agent?.row, calls],
  );
  await database.query("SET session_replication_role = DEFAULT");
  await database.query("VACUUM ANALYZE tool_call");
  // Otherwise it is written to disk while the neighbours are measured.
  await database.query("CHECKPOINT");
}

/** Twenty statistics at a time over all calls of the tenant. */
async function readStatistics(url: string, signal: AbortSignal): Promise<void> {
  const read = async (): Promise<void> => {
    while (!signal.aborted)
      await ask(url, "{ toolCallStats { tools { tool calls meanMs slowestMs } slowest(first: 10) { name durationMs } } }").catch(
        () => delay(100),
      );
  };
  await Promise.all(Array.from({ length: 20 }, read));
}

/** The rows of some agents, held by a transaction of somebody else. */
async function lockRows(url: string, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM agent WHERE lease_owner IS NOT NULL ORDER BY id LIMIT 20 FOR UPDATE");
  await ended(signal);
  await client.query("COMMIT");
  await client.end();
}

/** Nothing comes from the database, or goes to it, for 3 s. */
async function stall(proxy: Proxy, signal: AbortSignal): Promise<void> {
  proxy.stall(3_000);
  await ended(signal);
}

/** Somebody without a token sends large documents to all servers. */
async function sendDocuments(urls: readonly string[], signal: AbortSignal): Promise<void> {
  let refused = 0;
  let closed = 0;
  const stranger = await start("trials/neighbours/stranger.ts", /sends/, { TRIAL_URLS: urls.join(" ") }, (line) => {
    if (line === "refused with 401") refused += 1;
    else if (line === "its socket was closed") closed += 1;
  });
  await ended(signal);
  await stranger.kill();
  if (refused === 0 || closed === 0) throw new Error(`the stranger was refused ${refused} times, and cut ${closed} times`);
}

/** Resolves when the signal aborts. */
async function ended(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
