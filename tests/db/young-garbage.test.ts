import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { readFor } from "../../src/db/reader-limits.ts";
import type { Sql } from "../../src/db/sql.ts";
import { testDatabase } from "../support/database.ts";

type CollectGarbage = (options?: { readonly type: "minor" }) => void;

const TIMES = 400;
/** So many times between two collections of what is young. */
const BETWEEN = 20;
/** What a statement may leave behind in memory of what is old, in bytes: it left more than 1,000, with all its rows. */
const FEW = 500;

const STATEMENT = { name: "young", text: "SELECT 1 AS one" };

it("what a statement leaves in memory is collected while it is young, and its rows with it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as CollectGarbage;
  const { sql, leases, reads } = await testDatabase();
  const asked = async (from: Sql): Promise<void> => void (await from.query(STATEMENT, []));
  const left = async (work: () => Promise<void>): Promise<number> => {
    for (let time = 0; time < TIMES; time += 1) {
      // The first ones meet a process that is cold, and what they leave is not counted.
      if (time === BETWEEN * 2) collect();
      await work();
      if (time % BETWEEN === 0) collect({ type: "minor" });
    }
    collect({ type: "minor" });
    collect({ type: "minor" });
    const before = process.memoryUsage().heapUsed;
    collect();
    return (before - process.memoryUsage().heapUsed) / (TIMES - BETWEEN * 2);
  };
  expect(await left(() => asked(sql)), "commits").toBeLessThan(FEW);
  expect(await left(() => asked(leases)), "leases").toBeLessThan(FEW);
  expect(await left(() => asked(reads)), "reads").toBeLessThan(FEW);
  const reader = { tenant: "one", signal: null };
  expect(await left(() => readFor(reader, () => asked(reads))), "reads of somebody").toBeLessThan(FEW);
});
