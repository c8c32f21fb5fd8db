import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../tests/support/alive.ts";
import {
  allow,
  checkSeqs,
  createAgent,
  send,
  stateOf,
  timelineOf,
  unpaired,
  type OpenApproval,
  type TrialAgent,
} from "../agents.ts";
import { checkGapless, startPostgres } from "../postgres.ts";
import { ask, SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { countRuns } from "../run-once.ts";
import { trialInFolder, until, type TrialRun } from "../trial.ts";
import { POINTS, type Point } from "./points.ts";

/**
 * `npm run trial:crash`: an agent a point, each held at another one of its turn, and their server killed; a second one
 * goes on. 25 rounds. Every tool_use has one result, no tool without idempotence ran twice, no child lives on, every turn
 * ends, and the log is contiguous. Then 100 approvals are open while all servers are killed and started again: all are
 * listed, decided on either server, and each tool runs once. With --planted the tool says that it may run twice.
 */
const MESSAGE: Readonly<Record<Point, string>> = {
  "reply received": "auto",
  "tool_use stored": "hooked",
  "permission judged": "ask",
  "approval inserted": "ask",
  waiting: "ask",
  decided: "ask",
  "executing committed": "auto",
  "child running": "auto",
  "child ended": "auto",
  "result stored": "auto",
  "called before its commit": "auto",
  "committed, not announced": "auto",
  "in mid-stream": "stream",
};

await trialInFolder("crash", runCrash);

async function runCrash({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const postgres = await startPostgres();
  const env = {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("crash.config.ts", import.meta.url)),
    TRIAL_FOLDER: folder,
    TRIPLANE_DATA_DIR: folder,
    ...(isPlanted ? { TRIAL_FAULT: "repeats" } : {}),
  };
  const newServer = (): Promise<TrialProcess> => start("trials/crash/server.ts", SERVER_READY, env);
  let owner = await newServer();
  const rounds = isShort ? 3 : 25;
  const counts: Record<string, number> = {};
  let ran = { runs: 0, again: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const agents = await holdAll(owner);
    // Only now is there somebody else who could go on.
    const other = await newServer();
    await owner.kill();
    await until("no child lives on", async () => (await pids(folder)).every((pid) => !isAlive(pid)), 15_000).catch(() =>
      fail(`round ${round}: children live on`),
    );
    for (const [agent, point] of agents) {
      await settle(other.said, agent, point, fail);
      await checkAgent(other.said, agent, point, counts, fail);
    }
    ran = await countRuns(folder);
    if (ran.again > 0) fail(`round ${round}: ${ran.again} calls ran again`);
    owner = other;
  }
  const approvals = await killAll([owner, await newServer()], newServer, isShort ? 2 : 10, folder, fail);
  await checkGapless(postgres.url, fail);
  return `${rounds} rounds at ${POINTS.length} points: ${JSON.stringify(counts)}; ${ran.runs} runs, ${ran.again} repeated; ${approvals} approvals survived all servers`;
}

/** Lets one agent come to each point, and stop there. */
async function holdAll(owner: TrialProcess): Promise<readonly (readonly [TrialAgent, Point])[]> {
  const url = owner.said;
  const held = new Set<string>();
  owner.onLine((line) => void (line.startsWith("held ") && held.add(line.slice(5))));
  const agents: [TrialAgent, Point][] = [];
  for (const point of POINTS) {
    const agent = await createAgent(url);
    const known = owner.says(new RegExp(`will hold ${agent.row}`));
    owner.tell(`hold ${agent.row} ${point}`);
    await known;
    agents.push([agent, point]);
  }
  await Promise.all(agents.map(([agent, point]) => send(url, agent, MESSAGE[point])));
  const decided = agents.find(([, point]) => point === "decided")?.[0];
  if (decided !== undefined) await allowAll(url, decided);
  const missing = (): string[] => agents.flatMap(([{ row }, point]) => (held.has(row) ? [] : [point]));
  await until("every agent is held", () => missing().length === 0, 15_000).catch((error: unknown) => {
    throw new Error(`${String(error)}: not at ${missing().join(", ")}`);
  });
  return agents;
}

/** Allows what the agent asks for, once it waits. */
async function allowAll(url: string, agent: TrialAgent): Promise<void> {
  await until("the agent waits", async () => (await stateOf(url, agent)).state === "PAUSED", 15_000);
  for (const approval of (await stateOf(url, agent)).pendingApprovals) await allow(url, approval);
}

/** Lets the turn end on the other server, where it waits for a person by allowing what it asks. */
async function settle(url: string, agent: TrialAgent, point: Point, fail: TrialRun["fail"]): Promise<void> {
  const ends = async (): Promise<boolean> => {
    const { state, turn, pendingApprovals } = await stateOf(url, agent);
    if (state === "PAUSED") for (const approval of pendingApprovals) await allow(url, approval);
    return state === "READY" && turn === 1;
  };
  await until(`the turn that was broken off at "${point}" ends`, ends, 15_000).catch(async (error: unknown) => {
    fail(`${String(error)}: ${JSON.stringify(await stateOf(url, agent))}`);
  });
}

async function checkAgent(
  url: string,
  agent: TrialAgent,
  point: Point,
  counts: Record<string, number>,
  fail: TrialRun["fail"],
): Promise<void> {
  const events = await timelineOf(url, agent);
  checkSeqs(agent, events, fail);
  const done = events.filter(({ kind }) => kind === "DONE");
  if (done.length !== 1 || done[0]?.reason !== "COMPLETED") fail(`${point}: the turn has ${JSON.stringify(done)}`);
  const starts = events.filter(({ kind }) => kind === "TOOL_START");
  const ends = events.filter(({ kind }) => kind === "TOOL_END");
  const isSpoken = MESSAGE[point] === "stream";
  // Nothing is seen of a model call whose step was never committed: the text is that of one call.
  const text = events.map(({ delta }) => delta ?? "").join("");
  if (!isSpoken && text !== "Done.") fail(`${point}: the agent said ${JSON.stringify(text)}`);
  const expected = isSpoken ? 0 : 1;
  if (starts.length !== expected || ends.length !== expected)
    fail(`${point}: ${starts.length} TOOL_START and ${ends.length} TOOL_END`);
  const problem = await unpaired(url, agent);
  if (problem !== null) fail(`${point}: ${problem}`);
  for (const { call } of ends) counts[call?.state ?? ""] = (counts[call?.state ?? ""] ?? 0) + 1;
}

/** While approvals are open, kills all servers and starts new ones. */
async function killAll(
  servers: readonly TrialProcess[],
  newServer: () => Promise<TrialProcess>,
  count: number,
  folder: string,
  fail: TrialRun["fail"],
): Promise<number> {
  const agents: TrialAgent[] = [];
  for (let index = 0; index < count; index += 1) {
    const agent = await createAgent(servers[0]?.said ?? "");
    await send(servers[index % 2]?.said ?? "", agent, "many");
    agents.push(agent);
  }
  for (const agent of agents)
    await until(
      "the agent waits",
      async () => (await stateOf(servers[0]?.said ?? "", agent)).pendingApprovals.length === 10,
      15_000,
    );
  const { runs: runsBefore } = await countRuns(folder);
  await Promise.all(servers.map((server) => server.kill()));
  const [one, two] = await Promise.all([newServer(), newServer()]);
  const { approvals } = await ask<{ approvals: { nodes: readonly OpenApproval[] } }>(
    one.said,
    `{ approvals(filter: { states: [PENDING] }, first: 100) { nodes { id inputHash } } }`,
  );
  if (approvals.nodes.length !== count * 10)
    fail(`${approvals.nodes.length} of ${count * 10} approvals are listed after all servers were killed`);
  for (const [index, approval] of approvals.nodes.entries()) {
    const codes = await allow(index % 2 === 0 ? one.said : two.said, approval);
    if (codes.length > 0) fail(`an approval was refused with ${codes.join(", ")}`);
  }
  for (const agent of agents)
    await until("the turn ends", async () => (await stateOf(two.said, agent)).state === "READY", 30_000);
  const runs = (await countRuns(folder)).runs - runsBefore;
  if (runs !== count * 10) fail(`${runs} of ${count * 10} allowed calls ran`);
  return approvals.nodes.length;
}

async function pids(folder: string): Promise<number[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".pid"));
  return Promise.all(files.map(async (name) => Number(await readFile(join(folder, name), "utf8"))));
}
