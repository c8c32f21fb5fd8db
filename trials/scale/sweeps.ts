import { partOf, type Part } from "./profile.ts";

/** The functions that look for agents, and keep their leases; a loop that begins there is work, which nothing here names. */
export const SWEEPS: readonly Part[] = [
  partOf(new URL("../../src/agent/loop/runner.ts", import.meta.url), [
    "#hear",
    "#sweepAll",
    "#sweep",
    "#sweepOnce",
    "#claimable",
    "#want",
    "#claimFree",
    "#closeLost",
    "#renew",
  ]),
  ...["loop/lease.ts", "loop/renewals.ts", "calls/shells/lost.ts", "waits/due.ts", "waits/due-sleeper.ts"].map((file) =>
    partOf(new URL(`../../src/agent/${file}`, import.meta.url), "all"),
  ),
];
