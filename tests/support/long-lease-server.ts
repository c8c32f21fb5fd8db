import { runServer } from "../../trials/run-server.ts";

/** A server whose leases last ten minutes: whoever waits for one to run out waits longer than a test. */
await runServer({ leaseTimes: { ttlMs: 600_000, renewMs: 200_000, startMs: 400_000 } });
