import { readFile } from "node:fs/promises";
import { createAgent, send, stateOf, type AgentState } from "../agents.ts";
import { ask, type TrialProcess } from "../processes.ts";
import { until, type TrialRun } from "../trial.ts";

/** The most memory that a server takes on while a program prints, in MB: what it shows and what it is about to write. */
const GROWTH_MB = 150;

/** A build that prints 1 GB: the server's memory is bounded, and the beginning and the end of the output are kept. */
export async function printMuch(server: TrialProcess, { isShort, fail }: TrialRun): Promise<string> {
  const megabytes = isShort ? 200 : 1_024;
  const agent = await createAgent(server.said);
  const before = await residentMegabytes(server);
  let most = before;
  const watch = setInterval(() => void residentMegabytes(server).then((now) => (most = Math.max(most, now))), 50);
  const line = "the compiler says much about little".padEnd(99, ".");
  await send(server.said, agent, `run echo first; yes '${line}' | head -c ${megabytes}M; echo; echo last`);
  await until("the build has ended", async () => isDone(await stateOf(server.said, agent)), 300_000);
  clearInterval(watch);
  const { agent: found } = await ask<{ agent: { toolCalls: { nodes: readonly BuildCall[] } } }>(
    server.said,
    `query($id: ID!) { agent(id: $id) { toolCalls(first: 1) { nodes { state output keptOutput { bytes } } } } }`,
    { id: agent.id },
  );
  const [call] = found.toolCalls.nodes;
  if (call?.state !== "COMPLETED") fail(`the build is ${call?.state}: ${call?.output?.slice(0, 200)}`);
  else if (!call.output?.startsWith("first\n") || !call.output.includes("\nlast\n"))
    fail("the model does not read both ends of the build");
  else if ((call.keptOutput?.bytes ?? 0) < 64_000_000) fail(`only ${call.keptOutput?.bytes} bytes of the build are kept`);
  const grown = most - before;
  if (grown > GROWTH_MB)
    fail(`a build that prints ${megabytes} MB made the server grow by ${grown.toFixed(0)} MB, and ${GROWTH_MB} is the most`);
  return `${megabytes} MB printed, +${grown.toFixed(0)} MB`;
}

/** True if an agent has come to the end of its first turn. */
function isDone({ state, turn }: AgentState): boolean {
  return state === "READY" && turn > 0;
}

type BuildCall = {
  readonly state: string;
  readonly output: string | null;
  readonly keptOutput: { readonly bytes: number } | null;
};

/** What a process holds in memory, in MB. */
async function residentMegabytes({ child }: TrialProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
