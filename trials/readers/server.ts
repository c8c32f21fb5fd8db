import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { runServer } from "../run-server.ts";

/**
 * A server of trial:readers, with the times of production, or a quarter of them. Asked for its `memory` it says what it holds
 * once garbage is collected, in bytes. The faults: readers may stall for as long as they like, and whoever leaves a broadcast
 * goes on one position too far.
 */
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
createInterface({ input: process.stdin }).on("line", () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  console.log(`holds ${heapUsed + external}`);
});
const { TRIAL_FAULT, TRIAL_STALL_MS, TRIAL_GRACE_MS } = process.env;
const isFaulty = TRIAL_FAULT === "waits for stalled readers, and goes on too far";
await runServer({
  readerTimes: isFaulty
    ? { stallMs: 3_600_000, graceMs: 3_600_000 }
    : { stallMs: Number(TRIAL_STALL_MS), graceMs: Number(TRIAL_GRACE_MS) },
  ...(isFaulty ? { broadcasts: (own) => ({ join: async (...asked) => (await own.join(...asked)) + 1 }) } : {}),
});
