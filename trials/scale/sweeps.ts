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
    "#endOverdue",
    "#renew",
  ]),
  ...["loop/lease.ts", "loop/renewals.ts", "loop/overdue.ts", "approvals/expire.ts"].map((file) =>
    partOf(new URL(`../../src/agent/${file}`, import.meta.url), "all"),
  ),
];
