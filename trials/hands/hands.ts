import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../postgres.ts";
import { start } from "../processes.ts";
import { SERVER_READY } from "../run-server.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";
import { printMuch } from "./output.ts";
import { tryPaths } from "./paths.ts";

/**
 * `npm run trial:hands`: what agents do with files and programs stays inside of their boundary. 100,000 generated paths and links
 * against the file tools; a build that prints 1 GB.
 */
await trialInFolder("hands", runHands);

async function runHands(run: TrialRun, folder: string): Promise<string> {
  const paths = await tryPaths(run, join(folder, "paths"));
  const workspaces = join(folder, "workspaces");
  await mkdir(workspaces);
  const postgres = await startPostgres();
  const server = await start("trials/hands/server.ts", SERVER_READY, {
    DATABASE_URL: postgres.url,
    TRIPLANE_CONFIG: fileURLToPath(new URL("hands.config.ts", import.meta.url)),
    TRIPLANE_DATA_DIR: join(folder, "data"),
    TRIAL_WORKSPACES: workspaces,
  });
  const output = await printMuch(server, run);
  return [paths, output].join("; ");
}
