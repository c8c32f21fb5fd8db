import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createAgent, send, turnOf, timelineOf, unpaired, type TrialAgent } from "../agents.ts";
import { NODE_READY } from "../node.ts";
import { checkGapless, query, startPostgres } from "../postgres.ts";
import { start, startPath, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { watchAll } from "../watchers.ts";
import { layOutPrevious } from "./previous.ts";

/**
 * `npm run trial:versions`: a server of the version before the newest migration runs under load while one of this version
 * starts, migrates, and shares the database; then the older is killed, and its agents go on at the newer. The counts of
 * trial:log hold for subscribers of both, every turn ends, and the older version, started anew, refuses the newer schema
 * and says why. With --planted the migration takes a column away that the older server writes.
 */
const AGENTS = 6;
const SUBSCRIPTIONS = 10;

await trialInFolder("versions", runVersions);

async function runVersions({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const previous = join(folder, "previous");
  const migration = await layOutPrevious(previous);
  const postgres = await startPostgres();
  const env = {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("versions.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
  };
  const older = await startPath(join(previous, "trial-server.ts"), NODE_READY, env, () => {}, previous);
  const agents: TrialAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) agents.push(await createAgent(older.said));
  const watchers = [watchAll(older.said, SUBSCRIPTIONS, fail)];
  const turns = { ended: 0 };
  const loading = load([older.said], agents, turns, fail);
  await delay(2_000);

  const newer = await start("trials/server.ts", NODE_READY, env);
  if (isPlanted) await query(postgres.url, "ALTER TABLE agent RENAME COLUMN signal TO signals");
  loading.urls.push(newer.said);
  watchers.push(watchAll(newer.said, SUBSCRIPTIONS, fail));
  await delay(isShort ? 8_000 : 300_000);
  await loading.stop();
  await checkRefused(previous, env, fail);
  const both = await Promise.all(watchers.map((all) => all.check(newer.said)));
  if (new Set(both.map(({ events }) => events)).size !== 1) fail("the subscribers of both were not given the same");
  const resumed = await checkTakeover(older, newer, agents, fail);

  for (const agent of agents) await checkAgent(newer.said, agent, fail);
  const events = await checkGapless(postgres.url, fail);
  const given = (await watchers[1]?.check(newer.said))?.events;
  if (given !== events) fail(`subscribers were given ${given} of ${events} events`);
  for (const all of watchers) all.end();
  return `${migration} applied under load: ${turns.ended} turns, ${events} events, ${resumed} agents went on at the newer server when the older was killed`;
}

/** Keeps every agent busy, by all servers in turn. */
function load(
  urls: readonly string[],
  agents: readonly TrialAgent[],
  turns: { ended: number },
  fail: TrialRun["fail"],
): { readonly urls: string[]; stop(): Promise<void> } {
  const all = [...urls];
  const stopping = new AbortController();
  const working = Promise.all(
    agents.map(async (agent, index) => {
      for (let turn = 1; !stopping.signal.aborted; turn += 1) {
        const url = all[(turn + index) % all.length] ?? "";
        await send(url, agent, "go");
        const other = all[(turn + index + 1) % all.length] ?? "";
        await until(
          "a turn ends",
          async () => {
            const { state, turn: begun } = await turnOf(other, agent);
            return state === "READY" && begun === turn;
          },
          15_000,
        );
        turns.ended += 1;
      }
    }),
  ).catch((error: unknown) => fail(`under load: ${String(error)}`));
  return {
    urls: all,
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}

/** The older version does not start on the newer schema, and says what to do. */
async function checkRefused(previous: string, env: Readonly<Record<string, string>>, fail: TrialRun["fail"]): Promise<void> {
  const again = await startPath(join(previous, "trial-server.ts"), /^(refused|listens).*/, env, () => {}, previous);
  if (!again.said.includes("start a newer version of the server")) fail(`the older version, started anew, said: ${again.said}`);
  await again.exited;
}

/** What the older server had begun goes on at the newer one. */
async function checkTakeover(
  older: TrialProcess,
  newer: TrialProcess,
  agents: readonly TrialAgent[],
  fail: TrialRun["fail"],
): Promise<number> {
  const before = await Promise.all(agents.map(async (agent) => (await turnOf(newer.said, agent)).turn));
  await Promise.all(agents.map((agent) => send(older.said, agent, "go")));
  await older.kill();
  for (const [index, agent] of agents.entries())
    await until(
      "the turn ends",
      async () => {
        const { state, turn } = await turnOf(newer.said, agent);
        return state === "READY" && turn === (before[index] ?? 0) + 1;
      },
      15_000,
    ).catch((error: unknown) => fail(String(error)));
  return agents.length;
}

async function checkAgent(url: string, agent: TrialAgent, fail: TrialRun["fail"]): Promise<void> {
  const events = await timelineOf(url, agent);
  events.forEach(({ seq }, index) => {
    if (seq !== index + 1) fail(`agent ${agent.row}: seq ${seq} is where ${index + 1} should be`);
  });
  const problem = await unpaired(url, agent);
  if (problem !== null) fail(problem);
}
