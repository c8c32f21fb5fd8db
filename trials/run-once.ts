import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Leaves a file in the trial's folder for the first run of a call, and another for each further one. */
export async function noteRun(callId: string): Promise<void> {
  const file = (name: string): string => join(process.env["TRIAL_FOLDER"] ?? "", name);
  await writeFile(file(`${callId}.run`), "", { flag: "wx" }).catch(() => writeFile(file(`${callId}.again.${process.pid}`), ""));
}

/** The number of calls that ran so far, and how often one ran again. */
export async function countRuns(folder: string): Promise<{ readonly runs: number; readonly again: number }> {
  const files = await readdir(folder);
  return {
    runs: files.filter((name) => name.endsWith(".run")).length,
    again: files.filter((name) => name.includes(".again.")).length,
  };
}
