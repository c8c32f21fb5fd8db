import { runServer } from "../../trials/run-server.ts";

/** A server whose leases last two seconds: a test waits for one to run out. */
await runServer({ leaseTimes: { ttlMs: 2_000, renewMs: 400, startMs: 1_300 } });
