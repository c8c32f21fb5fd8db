import { readdir, readFile } from "node:fs/promises";
import { ask, type TrialProcess } from "../processes.ts";
import type { TrialAgent } from "../agents.ts";
import { until, type TrialRun } from "../trial.ts";
import { createHands, work, type HandsTemplate } from "./agents.ts";

const AGENTS = 20;
const SHELLS = 50;

/** By what a shell is told from all other programs of the machine: the argument of its sleep. */
const MARK = 86_400;
const sleeps = (index: number): string => `sleep ${MARK}.${String(index).padStart(3, "0")}`;

/**
 * The server is killed while 50 background shells of 20 agents run: none is left, and no agent saw the shell of another one. What
 * leaves its process group ends, too, in a box; without one (the fault) it stays. Gives how many ran.
 */
export async function killBeside(
  server: TrialProcess,
  template: HandsTemplate,
  workspaces: string,
  { isPlanted, fail }: TrialRun,
): Promise<string> {
  const leaves = template === "boxed" || isPlanted;
  const agents: TrialAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1)
    agents.push(await createHands(server.said, template, workspaces, `shells-${index}`));
  for (let index = 0; index < SHELLS; index += 1) {
    const agent = agents[index % AGENTS];
    if (agent === undefined) throw new Error("there is no agent");
    const call = await work(server.said, agent, `start ${leaves ? `setsid ${sleeps(index)} & ` : ""}exec ${sleeps(index)}`);
    if (call.state !== "COMPLETED") throw new Error(`shell ${index} did not start: ${call.output}`);
  }
  const expected = leaves ? 2 * SHELLS : SHELLS;
  await until("all shells run", async () => (await running()) >= expected, 30_000);
  await lookAtOthers(server.said, agents, template, fail);
  await server.kill();
  let left = await running();
  const deadline = performance.now() + 5_000;
  while (left > 0 && performance.now() < deadline) left = await running();
  if (left > 0) fail(`${left} programs of ${SHELLS} background shells go on after their server was killed`);
  if (isPlanted) await end();
  return `${SHELLS} shells of ${AGENTS} agents died with their server`;
}

/** No agent reads the shell of another one; in a box it does not even see that there are others. */
async function lookAtOthers(
  url: string,
  [one, other]: readonly TrialAgent[],
  template: HandsTemplate,
  fail: TrialRun["fail"],
): Promise<void> {
  if (one === undefined || other === undefined) throw new Error("there are no two agents");
  const { agent } = await ask<{ agent: { shells: readonly { shellId: string }[] } }>(
    url,
    "query($id: ID!) { agent(id: $id) { shells { shellId } } }",
    { id: other.id },
  );
  const [shell] = agent.shells;
  if (shell === undefined) throw new Error("an agent has no shell");
  const read = await work(url, one, `logs ${shell.shellId}`);
  if (read.state !== "FAILED") fail(`an agent read the shell of another one: ${read.output}`);
  if (template !== "boxed") return;
  const listed = await work(url, one, "run cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
  if (listed.output?.includes(String(MARK)) !== false) fail(`programs of others are seen in a box: ${listed.output}`);
}

/** The programs of shells that run on this machine, by their ids. */
async function programs(): Promise<readonly number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return ids.filter((_id, index) => lines[index]?.startsWith(`sleep\0${MARK}.`)).map(Number);
}

async function running(): Promise<number> {
  return (await programs()).length;
}

/** Ends what the fault has left. */
async function end(): Promise<void> {
  for (const id of await programs()) process.kill(id, "SIGKILL");
}
