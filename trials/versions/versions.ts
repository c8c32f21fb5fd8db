import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { checkSeqs, createAgent, send, turnOf, timelineOf, unpaired, type TrialAgent } from "../agents.ts";
import { checkGapless, query, startPostgres } from "../postgres.ts";
import { ask, SERVER_READY, start, startPath, type TrialProcess } from "../processes.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { watchAll } from "../watchers.ts";
import { layOutNext, layOutStop } from "./lay-out.ts";

/**
 * `npm run trial:versions`: two upgrades under load, to versions that are laid out from this one.
 *
 * The first is to a version with a kind of event, a state, an approval kind, an error code and a need of its agents more.
 * Both serve the same agents; subscribers of each are given everything that their server knows, once, in order; when a
 * server of the next is killed, this version leaves the agents alone that need more than it knows.
 *
 * The second has a migration beside which no older server may run: while one is connected it does not start, and names it;
 * afterwards it starts and continues with the agents; this version, started anew, refuses the newer schema.
 *
 * With --planted a migration takes a column away that this version writes.
 */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const AGENTS = 6;
const SUBSCRIPTIONS = 10;

await trialInFolder("versions", runVersions);

async function runVersions({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const env = {
    PORT: "0",
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("versions.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    // What Node keeps of copies in folders that are removed is never used again.
    NODE_DISABLE_COMPILE_CACHE: "1",
  };
  const ours = await start("trials/server.ts", SERVER_READY, env);
  const agents: TrialAgent[] = [];
  while (agents.length < AGENTS) agents.push(await createAgent(ours.said));
  const turns = { ended: 0 };
  const loading = load([ours.said], agents, turns, fail);
  const watchers = [watchAll(ours.said, SUBSCRIPTIONS, fail, "leaves kinds out")];
  const next = join(folder, "next");
  await layOutNext(next);
  const theirs = await startPath(join(next, "trials/server.ts"), SERVER_READY, env, () => {}, next);
  if (isPlanted) await query(postgres.url, "ALTER TABLE agent RENAME COLUMN signal TO signals");
  loading.urls.push(theirs.said);
  watchers.push(watchAll(theirs.said, SUBSCRIPTIONS, fail));
  await delay(isPlanted ? 2_000 : isShort ? 8_000 : 300_000);
  await loading.stop();
  const [left, all] = await Promise.all(watchers.map((watched) => watched.check(theirs.said)));
  await checkLeftOut(postgres.url, left?.events, all?.events, fail);
  const { resumed, another } = await checkNeeds(
    postgres.url,
    ours,
    theirs,
    () => startPath(join(next, "trials/server.ts"), SERVER_READY, env, () => {}, next),
    agents,
    fail,
  );
  await checkUnknownRows(postgres.url, ours.said, agents, fail);

  const events = await checkGapless(postgres.url, fail);
  for (const watched of watchers) watched.end();
  const migration = await checkStop(next, [ours, another], agents.slice(1), env, fail);
  return `beside a next version ${turns.ended} turns, ${events} events, ${resumed} agents left to the next version when its server was killed; ${migration} refused while older servers were connected, and applied after them`;
}

/** While an older server is connected a version with a migration that says so does not start, and names it; afterwards it does. */
async function checkStop(
  next: string,
  older: readonly TrialProcess[],
  agents: readonly TrialAgent[],
  env: Readonly<Record<string, string>>,
  fail: TrialRun["fail"],
): Promise<string> {
  const migration = await layOutStop(next);
  const said = await refusalOf(next, env);
  if (!/servers of the version before are connected \(triplane/.test(said)) fail(`beside older servers the newest said: ${said}`);
  for (const { child, exited } of older) {
    child.kill("SIGTERM");
    await exited;
  }
  const newest = await startPath(join(next, "trials/server.ts"), SERVER_READY, env, () => {}, next);
  for (const agent of agents) {
    const { turn } = await turnOf(newest.said, agent);
    await send(newest.said, agent, "go");
    await ended(newest.said, agent, turn + 1, 20_000).catch((error: unknown) => fail(String(error)));
  }
  const refused = await refusalOf(ROOT, env);
  if (!refused.includes("start a newer version of the server")) fail(`this version, started anew, said: ${refused}`);
  return migration;
}

/** Starts a server of the version in `folder` that must not start, and gives what it says. */
function refusalOf(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...process.env, ...env }, timeout: 20_000 };
    execFile(process.execPath, [join(folder, "src/main.ts")], options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
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
      const begun = (await turnOf(all[0] ?? "", agent)).turn;
      for (let count = 1; !stopping.signal.aborted; count += 1) {
        await send(all[(count + index) % all.length] ?? "", agent, "go");
        await ended(all[(count + index + 1) % all.length] ?? "", agent, begun + count, 15_000);
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

/** Waits until the agent has ended this turn. */
async function ended(url: string, agent: TrialAgent, turn: number, timeoutMs: number): Promise<void> {
  await until(
    `turn ${turn} of agent ${agent.row} ends`,
    async () => {
      const now = await turnOf(url, agent);
      return now.state === "READY" && now.turn === turn;
    },
    timeoutMs,
  );
}

/** Subscribers of this version were given all but the events of the next one's kind. */
async function checkLeftOut(url: string, left = 0, all = 0, fail: TrialRun["fail"]): Promise<void> {
  const [row] = await query(url, "SELECT count(*)::int AS unknown FROM event WHERE kind = 'NEXT_HAPPENED'");
  const { unknown } = row as { unknown: number };
  if (unknown === 0) fail("the next version wrote no event of its own kind");
  if (left !== all - unknown)
    fail(`subscribers of this version were given ${left} events, of ${all} with ${unknown} of a kind that it does not know`);
}

/** When the server of the next version is killed, its agents wait for another of it: this one does not know what they need. */
async function checkNeeds(
  url: string,
  ours: TrialProcess,
  theirs: TrialProcess,
  startAnother: () => Promise<TrialProcess>,
  agents: readonly TrialAgent[],
  fail: TrialRun["fail"],
): Promise<{ readonly resumed: number; readonly another: TrialProcess }> {
  const before = await Promise.all(agents.map(async (agent) => (await turnOf(ours.said, agent)).turn));
  await Promise.all(agents.map((agent) => send(theirs.said, agent, "long")));
  const needing = "SELECT id FROM agent WHERE needs > 2 AND state = 'WORKING'";
  await until("the next version works for an agent", async () => (await query(url, needing)).length > 0, 20_000);
  await theirs.kill();
  // Twice the time of a lease: whoever may take them has done so by then.
  await delay(3_000);
  const rows = await query(url, `${needing} AND lease_until < clock_timestamp()`);
  if (rows.length === 0) fail("no agent was left that needs more than this version knows");
  const another = await startAnother();
  for (const [index, agent] of agents.entries())
    await ended(another.said, agent, (before[index] ?? 0) + 1, 20_000).catch((error: unknown) => fail(String(error)));
  for (const agent of agents) await checkAgent(another.said, agent, fail);
  return { resumed: rows.length, another };
}

/** An agent in a state that this version does not know is null by its id and left out of lists; others are read as ever. */
async function checkUnknownRows(
  url: string,
  server: string,
  agents: readonly TrialAgent[],
  fail: TrialRun["fail"],
): Promise<void> {
  const [agent] = agents;
  if (agent === undefined) throw new Error("there are agents");
  await query(url, `UPDATE agent SET state = 'DREAMING' WHERE id = '${agent.row}'`);
  const { agent: one, agents: list } = await ask<{ agent: object | null; agents: { nodes: readonly { id: string }[] } }>(
    server,
    `query($id: ID!) { agent(id: $id) { id } agents(first: 50) { nodes { id state } } }`,
    { id: agent.id },
  );
  if (one !== null || list.nodes.length !== agents.length - 1)
    fail(`an agent in an unknown state was answered: ${JSON.stringify(one)}, and ${list.nodes.length} in the list`);
}

async function checkAgent(url: string, agent: TrialAgent, fail: TrialRun["fail"]): Promise<void> {
  checkSeqs(agent, await timelineOf(url, agent), fail);
  const problem = await unpaired(url, agent);
  if (problem !== null) fail(problem);
}
