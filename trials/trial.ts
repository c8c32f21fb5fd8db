import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAll } from "./processes.ts";

/** How a trial is run: shortened for CI, or with the fault that it must see. */
export type TrialRun = {
  readonly isShort: boolean;
  readonly isPlanted: boolean;
  /** Notes that something did not hold. */
  fail(problem: string): void;
};

/** The most failures that are shown. */
const SHOWN = 20;

/**
 * Runs a trial: prints what it counted and whether it passed, and exits with 1 if anything did not hold, with 2 if the
 * trial itself broke. `--short` shortens it, `--planted` puts the fault in that it must see, and ends at the first failure.
 * Ends all processes that it started.
 */
export async function trial(name: string, body: (run: TrialRun) => Promise<string>): Promise<void> {
  const failures: string[] = [];
  const started = performance.now();
  const seen = Promise.withResolvers<string>();
  let isBroken = false;
  try {
    const isShort = process.argv.includes("--short");
    const isPlanted = process.argv.includes("--planted");
    const fail = (problem: string): void => {
      failures.push(problem);
      if (isPlanted) seen.resolve("the planted fault was seen");
    };
    const counts = await Promise.race([body({ isShort, isPlanted, fail }), seen.promise]);
    console.log(`${counts}; ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  } catch (error) {
    isBroken = true;
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await endAll();
  }
  for (const failure of failures.slice(0, SHOWN)) console.error(failure);
  const [first] = failures;
  // A stack is long, and CI shows the last lines only.
  console.log(
    first === undefined
      ? `trial:${name} passed`
      : `trial:${name} failed: ${failures.length} failures: ${first.split("\n", 1)[0]}`,
  );
  // What a planted run had still under way keeps nobody waiting.
  if (failures.length > 0) process.exit(isBroken ? 2 : 1);
}

/** The same, with a folder that is removed afterwards. */
export async function trialInFolder(name: string, body: (run: TrialRun, folder: string) => Promise<string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-trial-"));
  try {
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    await trial(name, (run) => body(run, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when `holds` does, asked each `everyMs`; rejects after `timeoutMs`. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs: number,
  everyMs = 20,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
