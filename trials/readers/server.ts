import { runServer } from "../run-server.ts";

/**
 * A server of trial:readers, with the times of production, or a quarter of them. The fault: readers may stall for as
 * long as they like.
 */
const { TRIAL_FAULT, TRIAL_STALL_MS, TRIAL_GRACE_MS } = process.env;
await runServer({
  readerTimes:
    TRIAL_FAULT === "waits for stalled readers"
      ? { stallMs: 3_600_000, graceMs: 3_600_000 }
      : { stallMs: Number(TRIAL_STALL_MS), graceMs: Number(TRIAL_GRACE_MS) },
});
