import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxAvailable } from "../../src/triplane.ts";
import { startPostgres } from "../postgres.ts";
import { start } from "../processes.ts";
import { SERVER_READY } from "../run-server.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";
import type { HandsTemplate } from "./agents.ts";
import { CANARY, findCanaries, layOutCanaries } from "./canaries.ts";
import { printMuch } from "./output.ts";
import { tryPaths } from "./paths.ts";
import { killBeside } from "./shells.ts";

/**
 * `npm run trial:hands`: what agents do with files and programs stays inside of their boundary. 100,000 generated paths and links
 * against the file tools; canaries that a program in a box looks for; a build that prints 1 GB; a server that is killed while 50
 * background shells of 20 agents run. With --planted a tool opens what a path says, and programs run without a box: each of these
 * faults must be seen.
 */
await trialInFolder("hands", runHands);

async function runHands(run: TrialRun, folder: string): Promise<string> {
  const workspaces = join(folder, "workspaces");
  await mkdir(workspaces);
  await layOutCanaries(folder);
  const postgres = await startPostgres();
  const server = await start("trials/hands/server.ts", SERVER_READY, {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("hands.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: join(folder, "data"),
    TRIAL_WORKSPACES: workspaces,
    HOME: join(folder, "home"),
    TRIAL_SECRET: CANARY,
  });
  const template: HandsTemplate = sandboxAvailable() && !run.isPlanted ? "boxed" : "unboxed";
  // Without a box there is no boundary that programs could be held to.
  const hasBoundary = template === "boxed" || run.isPlanted;
  const parts: readonly ((part: TrialRun) => Promise<string>)[] = [
    (part) => tryPaths(part, join(folder, "paths")),
    ...(hasBoundary ? [(part: TrialRun) => findCanaries(server.said, template, folder, part)] : []),
    ...(run.isPlanted ? [] : [(part: TrialRun) => printMuch(server, workspaces, part)]),
    (part) => killBeside(server, template, workspaces, part),
  ];
  const counts: string[] = [];
  for (const part of parts) counts.push(run.isPlanted ? await seen(part, run) : await part(run));
  if (run.isPlanted) run.fail(counts.join("; "));
  return counts.join("; ");
}

/** A part with its fault in: says what it saw. Throws if it saw nothing. */
async function seen(part: (run: TrialRun) => Promise<string>, run: TrialRun): Promise<string> {
  const problems: string[] = [];
  const counts = await part({ ...run, fail: (problem) => void problems.push(problem) });
  const [problem] = problems;
  if (problem === undefined) throw new Error(`a planted fault was not seen: ${counts}`);
  return problem.slice(0, 200);
}
