import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import { runServer } from "../run-server.ts";
import { startProfile } from "./profile.ts";
import { SWEEPS } from "./sweeps.ts";

/** The exactness with which lateness is measured, in ms. */
const RESOLUTION_MS = 10;

/** The load of a server while it was looked at: shares of its time, ms, and MB. */
export type ServerLoad = { readonly sweeps: number; readonly cpu: number; readonly lateMs: number; readonly residentMb: number };

/** A server of trial:scale, with the leases of production. Says what it did between the lines `profile` and `profiled`. */
await runServer({
  leaseTimes: process.env["TRIAL_FAULT"] === "renews all the time" ? { ...LEASE_TIMES, renewMs: 5 } : LEASE_TIMES,
});
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
while ((await lines.next()).value === "profile") {
  const late = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  late.enable();
  const [stop, before, began] = [await startProfile(SWEEPS), process.cpuUsage(), performance.now()];
  console.log("profiles");
  await lines.next();
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1_000 / (performance.now() - began);
  const load: ServerLoad = {
    sweeps: await stop(),
    cpu,
    lateMs: late.percentile(99) / 1e6 - RESOLUTION_MS,
    residentMb: process.memoryUsage.rss() / 1e6,
  };
  late.disable();
  console.log(`profiled ${JSON.stringify(load)}`);
}
