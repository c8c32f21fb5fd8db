import { readFile } from "node:fs/promises";
import type { TrialProcess } from "../processes.ts";
import type { TrialRun } from "../trial.ts";
import { createHands, work } from "./agents.ts";

/** The most memory that a server takes on while a program prints, in MB: what it shows and what it is about to write. */
const GROWTH_MB = 150;

/** A build that prints 1 GB: the server's memory is bounded, and the beginning and the end of the output are kept. */
export async function printMuch(server: TrialProcess, workspaces: string, { isShort, fail }: TrialRun): Promise<string> {
  const megabytes = isShort ? 200 : 1_024;
  const agent = await createHands(server.said, "unboxed", workspaces, "build");
  const before = await residentMegabytes(server);
  let most = before;
  const watch = setInterval(() => void residentMegabytes(server).then((now) => (most = Math.max(most, now))), 50);
  const line = "the compiler says much about little".padEnd(99, ".");
  const command = `echo first; yes '${line}' | head -c ${megabytes}M; echo; echo last`;
  const call = await work(server.said, agent, `run ${command}`, 300_000);
  clearInterval(watch);
  if (call.state !== "COMPLETED") fail(`the build is ${call.state}: ${call.output?.slice(0, 200)}`);
  else if (!call.output?.startsWith("first\n") || !call.output.includes("\nlast\n"))
    fail("the model does not read both ends of the build");
  else if ((call.keptOutput?.bytes ?? 0) < 64_000_000) fail(`only ${call.keptOutput?.bytes} bytes of the build are kept`);
  const grown = most - before;
  if (grown > GROWTH_MB)
    fail(`a build that prints ${megabytes} MB made the server grow by ${grown.toFixed(0)} MB, and ${GROWTH_MB} is the most`);
  return `${megabytes} MB printed, +${grown.toFixed(0)} MB`;
}

/** The memory that a process holds, in MB. */
async function residentMegabytes({ child }: TrialProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
