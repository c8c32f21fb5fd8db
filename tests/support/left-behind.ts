import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openDatabase } from "../../src/db/database.ts";
import { withReader } from "../../src/db/connections/reader-limits.ts";
import type { Sql } from "../../src/db/sql.ts";

/**
 * Says, as one line of JSON, how many bytes a statement leaves behind in memory that is old, by what it is asked. It is a process of
 * its own, since whatever else happens in one would be counted, too.
 */
const TIMES = 400;
/** So many times between two collections of what is young. */
const BETWEEN = 20;
const STATEMENT = { name: "young", text: "SELECT 1 AS one" };

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;
const database = await openDatabase({ kind: "postgres", url: process.argv[2] ?? "", connections: 2 });
const { sql, leases, reads } = database;

async function left(from: Sql): Promise<number> {
  for (let time = 0; time < TIMES; time += 1) {
    // The first ones meet a process that is cold, and what they leave is not counted.
    if (time === BETWEEN * 2) collect();
    await from.query(STATEMENT, []);
    if (time % BETWEEN === 0) collect({ type: "minor" });
  }
  collect({ type: "minor" });
  collect({ type: "minor" });
  const before = process.memoryUsage().heapUsed;
  collect();
  return (before - process.memoryUsage().heapUsed) / (TIMES - BETWEEN * 2);
}

const bytes = {
  commits: await left(sql),
  leases: await left(leases),
  reads: await left(reads),
  readsOfSomebody: await withReader({ tenant: "one", signal: null }, () => left(reads)),
};
await database.close();
console.log(JSON.stringify(bytes));
