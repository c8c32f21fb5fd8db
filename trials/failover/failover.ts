import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { checkSeqs, createAgent, send, stateOf, timelineOf, unpaired, type TrialAgent } from "../agents.ts";
import { query, startPostgres, type TrialPostgres } from "../postgres.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { startProxy, throughProxy, type Proxy } from "../proxy.ts";
import { countRuns } from "../run-once.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { watchAll, type Watchers } from "../watchers.ts";

/**
 * `npm run trial:failover`: while agents run tools on two servers, the database becomes read-only and takes writes again;
 * a dump holds a snapshot and a lock of every table while another server starts and migrates; a synchronous standby is
 * promoted, which loses nothing, and nobody says a word; then one that had not received the newest commits is promoted:
 * both servers refuse to serve the tenant until `npm run restored`. Nothing is lost, doubled, sealed or run twice if the
 * database kept what it acknowledged. With --planted nobody looks whether commits were lost.
 */
const AGENTS = 10;

/** The tables that a dump reads. */
const TABLES = [
  "agent",
  "message",
  "image",
  "tool_call",
  "approval",
  "decision",
  "event",
  "tenant_log",
  "step",
  "todo",
  "consumer",
];

await trialInFolder("failover", runFailovers);

/** The parts that the phases of the trial work with. */
type World = {
  readonly postgres: TrialPostgres;
  readonly proxy: Proxy;
  readonly servers: readonly [TrialProcess, TrialProcess];
  readonly newServer: (version?: "next") => Promise<TrialProcess>;
  readonly agents: readonly TrialAgent[];
  readonly folder: string;
  readonly fail: TrialRun["fail"];
  /** The database that has the data now, without the proxy. */
  url: string;
  round: number;
};

async function runFailovers({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const proxy = await startProxy(Number(new URL(postgres.url).port));
  const env = {
    DATABASE_URL: throughProxy(postgres.url, proxy),
    TRIPLANE_CONFIG: fileURLToPath(new URL("../working.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    TRIAL_FOLDER: folder,
    TRIAL_TOOL_SECONDS: "1",
    ...(isPlanted ? { TRIAL_FAULT: "overlooks" } : {}),
  };
  const newServer = (version?: "next"): Promise<TrialProcess> =>
    start("trials/failover/server.ts", SERVER_READY, version === undefined ? env : { ...env, TRIAL_VERSION: version });
  const servers = await Promise.all([newServer(), newServer()]);
  const [{ said }] = servers;
  const agents: TrialAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) agents.push(await createAgent(said));
  const world: World = { postgres, proxy, servers, newServer, agents, folder, fail, url: postgres.url, round: 0 };
  const times = isShort ? 1 : 5;
  if (!isPlanted) {
    const watchers = watchAll(said, 20, fail);
    await watchers.check(said);
    for (let index = 0; index < times; index += 1) {
      await duringTurns(world, () => becomeReadOnly(world));
      await duringTurns(world, () => migrateBesideDump(world));
      await failOver(world, true);
    }
    await checkAll(world, watchers);
    watchers.end();
  }
  await failOver(world, false);
  await checkLost(world);
  const { runs } = await countRuns(folder);
  return `${isPlanted ? 0 : times} times read-only, beside a dump, and a standby promoted without loss; once with loss; ${runs} calls`;
}

/** Does something while every agent's tool runs, and waits until every turn has ended. */
async function duringTurns(world: World, happens: () => Promise<void>): Promise<void> {
  const { agents, servers, folder } = world;
  for (const server of servers)
    await until(
      "the server knows that its database is there",
      async () => (await metricsOf(server)).includes("triplane_storage_outage 0"),
      20_000,
    );
  world.round += 1;
  for (const [index, agent] of agents.entries()) await send((servers[index % 2] ?? servers[0]).said, agent, "go");
  await until("all tools run", async () => (await countRuns(folder)).runs === AGENTS * world.round, 15_000);
  await happens();
}

async function metricsOf({ said }: TrialProcess): Promise<string> {
  return (await fetch(said.replace("/graphql", "/metrics"))).text();
}

async function allEnded({ agents, servers, round, fail }: World): Promise<void> {
  const isEnded = async (agent: TrialAgent): Promise<boolean> => {
    const { state, turn } = await stateOf(servers[0].said, agent).catch(() => ({ state: "WORKING", turn: 0 }));
    return state === "READY" && turn === round;
  };
  for (const agent of agents)
    await until("the turn ends", () => isEnded(agent), 30_000).catch((error: unknown) =>
      fail(`round ${round}: ${String(error)}`),
    );
}

/** As a primary that is demoted answers: every statement that writes is refused. */
async function becomeReadOnly(world: World): Promise<void> {
  const set = async (value: "on" | "off"): Promise<void> => {
    await query(world.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await query(world.url, "SELECT pg_reload_conf()");
  };
  await set("on");
  await delay(3_000);
  await set("off");
  await allEnded(world);
}

/** A dump is under way: a server of the next version waits with its migration, and nobody else waits for either. */
async function migrateBesideDump(world: World): Promise<void> {
  const { url, newServer } = world;
  const dump = query(
    url,
    `BEGIN ISOLATION LEVEL REPEATABLE READ; ${TABLES.map((table) => `LOCK TABLE ${table} IN ACCESS SHARE MODE`).join("; ")}; SELECT pg_sleep(6); COMMIT`,
  );
  const starting = newServer("next");
  await allEnded(world);
  await dump;
  await (await starting).kill();
  // This version starts again later.
  await query(url, "ALTER TABLE consumer DROP COLUMN next_at");
  await query(url, "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_next'");
}

/**
 * The primary dies while tools run, and a standby takes its place: a synchronous one, or one that has not received the
 * newest commits.
 */
async function failOver(world: World, isSynchronous: boolean): Promise<void> {
  const { postgres, proxy } = world;
  const standby = await postgres.standby();
  const streams = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'";
  await until("the standby follows", async () => (await query(world.url, streams)).length > 0, 20_000);
  const [url, setting] = isSynchronous ? [world.url, "synchronous_standby_names = '*'"] : [standby, "primary_conninfo = ''"];
  await query(url, `ALTER SYSTEM SET ${setting}`);
  await query(url, "SELECT pg_reload_conf()");
  if (!isSynchronous) await until("the standby is cut off", async () => (await query(world.url, streams)).length === 0, 20_000);
  await duringTurns(world, () => postgres.halt());
  await query(standby, "SELECT pg_promote()");
  await query(standby, "ALTER SYSTEM RESET synchronous_standby_names");
  await query(standby, "SELECT pg_reload_conf()");
  await postgres.switch();
  world.url = standby;
  proxy.turnTo(Number(new URL(standby).port));
  if (isSynchronous) await allEnded(world);
}

/** Nothing is sealed, doubled or out of order, and every subscriber was given everything. */
async function checkAll({ agents, servers, folder, url, round, fail }: World, watchers: Watchers): Promise<void> {
  const { said } = servers[0];
  for (const agent of agents) {
    const events = await timelineOf(said, agent);
    checkSeqs(agent, events, fail);
    const ends = events.filter(({ kind }) => kind === "TOOL_END");
    if (ends.length !== round) fail(`agent ${agent.row} has ${ends.length} TOOL_END for ${round} calls`);
    if (ends.some(({ call }) => call?.state !== "COMPLETED")) fail(`agent ${agent.row}: a call did not complete`);
    const errors = events.filter(({ kind }) => kind === "ERROR" || kind === "AGENT_RESUMED");
    if (errors.length > 0) fail(`agent ${agent.row} has ${errors.length} ERROR or AGENT_RESUMED`);
    const problem = await unpaired(said, agent);
    if (problem !== null) fail(problem);
  }
  if ((await countRuns(folder)).again > 0) fail("calls ran again");
  if ((await query(url, "SELECT 1 FROM tenant_log WHERE lost_at IS NOT NULL")).length > 0)
    fail("commits count as lost that were not");
  await watchers.check(said);
}

/** Both servers refuse, one that is started anew, too; `npm run restored` lets them go on, and old cursors are refused. */
async function checkLost({ servers, newServer, url, proxy, fail }: World): Promise<void> {
  const readiness = async ({ said }: TrialProcess): Promise<string> =>
    (await (await fetch(said.replace("/graphql", "/readyz"))).text()).trim();
  for (const server of servers)
    await until("the loss is said", async () => (await readiness(server)).includes("npm run restored"), 15_000).catch(() =>
      fail("a server did not notice that commits were lost"),
    );
  for (const server of servers) await server.kill();
  const anew = await newServer();
  if (!(await readiness(anew)).includes("npm run restored"))
    fail("a server that was started anew serves a log that lost commits");
  await anew.kill();
  const restored = await start("scripts/restored.ts", /./, { DATABASE_URL: throughProxy(url, proxy) });
  if ((await restored.exited) !== 0) fail("npm run restored failed");
  const last = await newServer();
  await until("the server is ready", async () => (await readiness(last)) === "ready", 10_000).catch(async (error: unknown) =>
    fail(`${String(error)}: ${await readiness(last)}`),
  );
  const agent = await createAgent(last.said);
  await send(last.said, agent, "go");
  await until("an agent works again", async () => (await stateOf(last.said, agent)).turn === 1, 20_000).catch((error: unknown) =>
    fail(String(error)),
  );
}
