import { fileURLToPath } from "node:url";
import { createAgent, send, stateOf, timelineOf, type TrialAgent } from "../agents.ts";
import { startBalancer } from "../balancer.ts";
import { startPostgres } from "../postgres.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { countRuns } from "../run-once.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { watchAll } from "../watchers.ts";

/**
 * `npm run trial:drain`: a server with 200 subscriptions and 20 running tools is told to close, and another stands
 * ready, 20 times. It ends by itself within 15 s, its tools have ended and none is sealed, the other goes on with its
 * agents, and every subscriber, through a load balancer, gets every event once and in order. With --planted the server
 * is killed instead.
 */
const SUBSCRIPTIONS = 200;
const TOOLS = 20;
const CLOSED_MS = 15_000;

await trialInFolder("drain", runDrain);

async function runDrain({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const env = {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("../working.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: folder,
    TRIAL_FOLDER: folder,
  };
  const newServer = (): Promise<TrialProcess> => start("trials/server.ts", SERVER_READY, env);
  const balancer = await startBalancer();
  let owner = await newServer();
  balancer.serve([owner.said]);
  const watchers = watchAll(balancer.url, SUBSCRIPTIONS, fail);
  const agents: TrialAgent[] = [];
  for (let index = 0; index < TOOLS; index += 1) agents.push(await createAgent(owner.said));
  const rounds = isShort ? 2 : 20;
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await Promise.all(agents.map((agent) => send(owner.said, agent, "go")));
    const runs = async (): Promise<number> => (await countRuns(folder)).runs;
    await until("all tools run", async () => (await runs()) === TOOLS * round, 15_000);
    const next = await newServer();
    balancer.serve([next.said]);
    const began = performance.now();
    owner.child.kill(isPlanted ? "SIGKILL" : "SIGTERM");
    const code = await owner.exited;
    const tookMs = performance.now() - began;
    slowestMs = Math.max(slowestMs, tookMs);
    if (code !== 0) fail(`round ${round}: the server ended with ${code}`);
    if (tookMs > CLOSED_MS) fail(`round ${round}: closing took ${(tookMs / 1_000).toFixed(1)} s`);
    owner = next;
    const url = owner.said;
    for (const agent of agents)
      await until(
        "the turn ends",
        async () => (await stateOf(url, agent)).state === "READY" && (await stateOf(url, agent)).turn === round,
        20_000,
      );
  }
  const counts: Record<string, number> = {};
  for (const agent of agents)
    for (const { kind, call } of await timelineOf(owner.said, agent))
      if (kind === "TOOL_END" && call !== undefined) counts[call.state] = (counts[call.state] ?? 0) + 1;
  if (counts["COMPLETED"] !== TOOLS * rounds) fail(`the calls are ${JSON.stringify(counts)}`);
  if ((await countRuns(folder)).again > 0) fail("calls ran again");
  const { events, resumptions } = await watchers.check(owner.said);
  watchers.end();
  balancer.close();
  return `${rounds} servers closed, the slowest in ${(slowestMs / 1_000).toFixed(1)} s, with ${SUBSCRIPTIONS} subscriptions and ${TOOLS} running tools each: ${JSON.stringify(counts)}; ${events} events to each subscriber, ${resumptions} resumptions`;
}
