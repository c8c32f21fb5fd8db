import { setTimeout as delay } from "node:timers/promises";
import { start } from "../processes.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";

/**
 * `npm run trial:embedded`: a process that writes to the embedded database is killed, 50 times. It opens each time, and
 * has every acknowledged event, once and without a gap. This is about processes that die; what the death of the machine
 * takes is docs/operations.md's. With --planted events are acknowledged before they are written.
 */
await trialInFolder("embedded", runEmbedded);

async function runEmbedded({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const acked: string[] = [];
  let slowestMs = 0;
  const kills = isShort ? 5 : 50;
  let found: readonly string[] = [];
  for (let round = 0; round <= kills; round += 1) {
    const has: string[] = [];
    const began = performance.now();
    const writer = await start(
      "trials/embedded/writer.ts",
      /^ready$/,
      {
        TRIAL_FOLDER: folder,
        TRIAL_NAME: String(round),
        ...(isPlanted ? { TRIAL_FAULT: "early" } : {}),
      },
      (line) => {
        if (line.startsWith("has ")) has.push(line.slice(4));
        if (line.startsWith("acked ")) acked.push(line.slice(6));
      },
    );
    slowestMs = Math.max(slowestMs, performance.now() - began);
    check(has, acked, round, fail);
    found = has;
    if (round < kills) await delay(100 + Math.random() * 500);
    await writer.kill();
  }
  if (acked.length < kills) fail(`only ${acked.length} events were acknowledged in ${kills} rounds`);
  // What the last process has written nobody reads again.
  const checked = acked.filter((mark) => !mark.startsWith(`${kills}.`)).length;
  return `${kills} kills, ${found.length} events, ${checked} acknowledged; it opened in ${(slowestMs / 1_000).toFixed(1)} s at most`;
}

function check(has: readonly string[], acked: readonly string[], round: number, fail: TrialRun["fail"]): void {
  const marks = has.map((line) => line.split(" ")[1] ?? "");
  const known = new Set(marks);
  // What this process has acknowledged is not among what it found.
  const before = acked.filter((mark) => !mark.startsWith(`${round}.`));
  const lost = before.filter((mark) => !known.has(mark));
  if (lost.length > 0) fail(`after kill ${round}: ${lost.length} acknowledged events are lost, the first ${lost[0]}`);
  if (known.size !== marks.length) fail(`after kill ${round}: ${marks.length - known.size} events are there twice`);
  const gap = has.findIndex((line, index) => Number.parseInt(line) !== index + 1);
  if (gap >= 0) fail(`after kill ${round}: the log has a gap before ${has[gap]}`);
}
