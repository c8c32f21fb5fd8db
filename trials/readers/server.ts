import { createInterface } from "node:readline";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Feeds } from "../../src/events/reading/feed.ts";
import { runServer } from "../run-server.ts";

/**
 * A server of trial:readers, with the times of production, or a quarter of them. Asked for its `memory` it says what it holds
 * once garbage is collected, in bytes. The faults: readers may stall for as long as they like, and whoever goes on
 * alone does so one position too far.
 */
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
createInterface({ input: process.stdin }).on("line", () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  console.log(`holds ${heapUsed + external}`);
});
class FeedsTooFar extends Feeds {
  override begin(...[selection, start, reader, mayJoin]: Parameters<Feeds["begin"]>): void {
    if (reader.told === null) return super.begin(selection, start, reader, mayJoin);
    const covered = reader.told.covered + 1;
    reader.told = { ...reader.told, covered };
    super.begin(selection, { kind: "after", position: covered, head: covered }, reader, mayJoin);
  }
}

const { TRIAL_FAULT, TRIAL_STALL_MS, TRIAL_GRACE_MS } = process.env;
const isFaulty = TRIAL_FAULT === "waits for stalled readers, and goes on too far";
await runServer({
  readerTimes: isFaulty
    ? { stallMs: 3_600_000, graceMs: 3_600_000 }
    : { stallMs: Number(TRIAL_STALL_MS), graceMs: Number(TRIAL_GRACE_MS) },
  ...(isFaulty ? { feeds: (tails) => new FeedsTooFar(tails) } : {}),
});
