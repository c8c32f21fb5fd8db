import { trialInFolder, type TrialRun } from "../trial.ts";
import { tryPaths } from "./paths.ts";

/**
 * `npm run trial:hands`: nothing outside of the boundary is touched. 100,000 generated paths and links against the file tools.
 */
await trialInFolder("hands", runHands);

async function runHands(run: TrialRun, folder: string): Promise<string> {
  return tryPaths(run, folder);
}
