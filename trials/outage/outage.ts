import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../tests/support/alive.ts";
import { checkSeqs, createAgent, send, stateOf, timelineOf, unpaired, type TrialAgent } from "../agents.ts";
import { TRIAL_LEASES } from "../run-server.ts";
import { startPostgres } from "../postgres.ts";
import { ask, SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { countRuns } from "../run-once.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { watchAll } from "../watchers.ts";

/**
 * `npm run trial:outage`: PostgreSQL is stopped, as by a power cut, for half a lease, two and five, while two servers run
 * tools, 20 times. Each call has one result or is sealed, and none runs twice; subscribers are told of the outage and
 * miss nothing; each agent that was worked on has one STORAGE_FAILURE for each outage; new work is refused with a type;
 * no server ends and no child is left. With --planted nothing waits for the database, and what tools answered is lost.
 */
const TOOLS = 10;
const SUBSCRIPTIONS = 20;
const LEASES = [0.5, 2, 5] as const;

await trialInFolder("outage", runOutages);

async function runOutages({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const env = {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("../working.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    TRIAL_FOLDER: folder,
    TRIAL_TOOL_SECONDS: "1",
    ...(isPlanted ? { TRIAL_FAULT: "impatient" } : {}),
  };
  const newServer = (): Promise<TrialProcess> => start("trials/outage/server.ts", SERVER_READY, env);
  const servers = await Promise.all([newServer(), newServer()]);
  servers.forEach(({ exited }) => void exited.then((code) => code !== 0 && fail(`a server ended with ${code}`)));
  const [one, two] = servers.map(({ said }) => said);
  if (one === undefined || two === undefined) throw new Error("there are no servers");
  const watchers = watchAll(one, SUBSCRIPTIONS, fail);
  const agents: TrialAgent[] = [];
  for (let index = 0; index < TOOLS; index += 1) agents.push(await createAgent(one));
  // Everybody follows before anything is stopped: who only begins then is refused, and tries again.
  await watchers.check(one);
  const times = isShort ? 3 : 20;
  let counts: Record<string, number> = {};
  for (let round = 1; round <= times; round += 1) {
    // All at once: the last tool must run before the first one has ended.
    await Promise.all(agents.map((agent, index) => send(index % 2 === 0 ? one : two, agent, "go")));
    await until("all tools run", async () => (await countRuns(folder)).runs === TOOLS * round, 15_000);
    const told = watchers.outages;
    const leases = LEASES[round % LEASES.length] ?? 1;
    await postgres.halt();
    // As long as half a lease lasts, a server has noticed nothing if nothing was to be written.
    await delay(leases * TRIAL_LEASES.ttlMs);
    if (leases >= 2) {
      await checkAway(one, fail);
      if (watchers.outages <= told) fail(`round ${round}: not every subscriber was told`);
    }
    await postgres.start();
    for (const agent of agents)
      await until("the turn ends", async () => hasEnded(one, agent, round), 30_000).catch(async (error: unknown) =>
        fail(`round ${round}: ${String(error)}: ${JSON.stringify(await stateOf(one, agent))}`),
      );
    counts = await checkAgents(one, agents, round, fail);
    if ((await countRuns(folder)).again > 0) fail(`round ${round}: calls ran again`);
  }
  const files = await readdir(folder);
  const pids = await Promise.all(
    files.filter((name) => name.endsWith(".pid")).map(async (name) => Number(await readFile(join(folder, name), "utf8"))),
  );
  if (pids.some(isAlive)) fail("children are left");
  const { events, resumptions } = await watchers.check(one);
  watchers.end();
  return `${times} outages with ${TOOLS} running tools: ${JSON.stringify(counts)}; ${events} events to each of ${SUBSCRIPTIONS} subscribers, each told of the outage at least ${watchers.outages} times, ${resumptions} resumptions`;
}

/** New work gets a typed error, readiness is red, and the server lives. */
async function checkAway(url: string, fail: TrialRun["fail"]): Promise<void> {
  const problem = await ask(url, `mutation { createAgent(input: { templateId: "trial" }) { cursor } }`).then(
    () => "a mutation was answered",
    (error: unknown) => (String(error).includes("STORAGE_UNAVAILABLE") ? null : String(error)),
  );
  if (problem !== null) fail(`while the database was away: ${problem}`);
  const probe = async (path: string): Promise<number> => (await fetch(url.replace("/graphql", path))).status;
  const [ready, alive] = [await probe("/readyz"), await probe("/healthz")];
  if (ready !== 503 || alive !== 200) fail(`while the database was away /readyz was ${ready} and /healthz ${alive}`);
}

async function hasEnded(url: string, agent: TrialAgent, round: number): Promise<boolean> {
  try {
    const { state, turn } = await stateOf(url, agent);
    return state === "READY" && turn === round;
  } catch {
    return false;
  }
}

async function checkAgents(
  url: string,
  agents: readonly TrialAgent[],
  rounds: number,
  fail: TrialRun["fail"],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const agent of agents) {
    const events = await timelineOf(url, agent);
    const ends = events.filter(({ kind }) => kind === "TOOL_END");
    for (const { call } of ends) counts[call?.state ?? ""] = (counts[call?.state ?? ""] ?? 0) + 1;
    if (ends.length !== rounds) fail(`agent ${agent.row} has ${ends.length} TOOL_END for ${rounds} calls`);
    const failures = events.filter(({ kind }) => kind === "STORAGE_FAILURE").length;
    counts["STORAGE_FAILURE"] = (counts["STORAGE_FAILURE"] ?? 0) + failures;
    if (failures !== rounds) fail(`agent ${agent.row} has ${failures} STORAGE_FAILURE for ${rounds} outages`);
    const problem = await unpaired(url, agent);
    if (problem !== null) fail(problem);
    checkSeqs(agent, events, fail);
  }
  // The servers renew their own leases first: nobody takes an agent from another for the database's fault.
  if (counts["SEALED"] !== undefined) fail(`${counts["SEALED"]} calls were sealed although their servers lived`);
  return counts;
}
