import { createInterface } from "node:readline";
import { retrying } from "../../src/db/sql.ts";
import { openPools } from "../../src/db/connections/pool.ts";
import { EventLog } from "../../src/events/log.ts";
import { TRIAL_VERSION } from "../postgres.ts";

/**
 * A writer of trial:log. It waits for `go`, then appends to its agents from six connections at once, each event with a
 * mark of its own, and says `acked MARK …` for what was acknowledged. What failed is never written again: it may be in
 * the log. TRIAL_AGENTS are its agents; TRIAL_HELD writes as the holder of their leases, which waits for the database.
 */
const { DATABASE_URL: url = "", TRIAL_AGENTS = "", TRIAL_NAME = "", TRIAL_HELD, TRIAL_SINGLE } = process.env;
const agents = TRIAL_AGENTS.split(",");
const { commits: sql } = openPools({ url, connections: 6, version: TRIAL_VERSION });
const log = new EventLog(sql);
// The connections are made before the word to go.
await Promise.all(agents.map(() => retrying(sql).query({ name: "warm", text: "SELECT 1" }, [])));
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) if (line === "go") break;
await Promise.all(agents.map(write));

async function write(agentId: string): Promise<void> {
  for (let count = 0; ; count += 1) {
    const size = TRIAL_SINGLE === undefined ? 1 + (count % 3) : 1;
    const marks = Array.from({ length: size }, (_, index) => `${TRIAL_NAME}.${agentId.slice(0, 8)}.${count}.${index}`);
    const events = marks.map((delta) => ({ at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } as const }));
    try {
      const fence = TRIAL_HELD === undefined ? {} : { fence: { owner: "trial", epoch: 0 } };
      const [outcome] = await log.append("trial", [{ agentId, createdBy: "trial", ...fence, events }]);
      if (outcome?.outcome === "COMMITTED") console.log(`acked ${marks.join(" ")}`);
    } catch {
      await sql.outages.over();
    }
    if (Math.random() < 0.5) await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
  }
}
