import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxAvailable } from "../../src/triplane.ts";
import { startPostgres } from "../postgres.ts";
import { SERVER_READY, start } from "../processes.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";
import type { HandsTemplate } from "./agents.ts";
import { canary, configurationIn, findCanaries, layOutCanaries } from "./canaries.ts";
import { plantLinks, swapLinks } from "./links.ts";
import { askForNames, startNamed } from "./names.ts";
import { printMuch } from "./output.ts";
import { tryPaths } from "./paths.ts";
import { killBeside } from "./shells.ts";

/**
 * `npm run trial:hands`: what agents do with files and programs stays inside of their boundary. 100,000 generated paths and links
 * against the file tools; canaries that a program in a box looks for; links at protected paths, planted and swapped in by a
 * background shell; names that lead into the machine's own network; a build that prints 1 GB; a server that is killed while 50
 * background shells of 20 agents run. With --planted a tool opens what a path says, programs run without a box, and the
 * proxy connects to what a name stands for at the last moment: each of these faults must be seen.
 */
await trialInFolder("hands", runHands);

async function runHands(run: TrialRun, folder: string): Promise<string> {
  const workspaces = join(folder, "workspaces");
  await mkdir(workspaces);
  await layOutCanaries(folder, fileURLToPath(new URL("hands.config.ts", import.meta.url)));
  const postgres = await startPostgres();
  const named = await startNamed();
  const server = await start("trials/hands/server.ts", SERVER_READY, {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: configurationIn(folder),
    TRIPLANE_DATA_DIR: join(folder, "data"),
    TRIAL_WORKSPACES: workspaces,
    TRIAL_PORT: String(named.privatePort),
    TRIAL_PUBLIC_PORT: String(named.publicPort),
    TRIAL_FAULT: run.isPlanted ? "network" : "none",
    HOME: join(folder, "home"),
    TRIAL_SECRET: canary("environment"),
  });
  const url = server.said;
  const hasBoxes = sandboxAvailable();
  const template: HandsTemplate = hasBoxes && !run.isPlanted ? "boxed" : "unboxed";
  // Without a box there is no boundary that programs could be held to.
  const hasBoundary = template === "boxed" || run.isPlanted;
  const parts: readonly ((part: TrialRun) => Promise<string>)[] = [
    (part) => tryPaths(part, join(folder, "paths")),
    ...(hasBoundary
      ? [
          (part: TrialRun) => findCanaries(url, template, folder, part),
          (part: TrialRun) => plantLinks(url, template, folder, part),
          (part: TrialRun) => swapLinks(url, template, folder, part),
        ]
      : []),
    ...(hasBoxes ? [(part: TrialRun) => askForNames(url, folder, named, part)] : []),
    ...(run.isPlanted ? [] : [(part: TrialRun) => printMuch(server, workspaces, part)]),
    (part) => killBeside(server, template, workspaces, part),
  ];
  const counts: string[] = [];
  for (const part of parts) {
    const began = performance.now();
    const count = run.isPlanted ? await seen(part, run) : await part(run);
    counts.push(`${count} (${((performance.now() - began) / 1_000).toFixed(1)} s)`);
  }
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
