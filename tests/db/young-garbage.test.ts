import { expect, it } from "vitest";
import { testDatabaseUrl } from "../support/database.ts";
import { runFile } from "../support/process.ts";

/** So little a statement may leave behind in memory that is old, in bytes: it left more than 1,000, with all its rows. */
const FEW = 500;

it("what a statement leaves in memory is collected while it is young, and its rows with it", async () => {
  const counting = runFile("tests/support/left-behind.ts", [await testDatabaseUrl()]);
  expect(await counting.exited, counting.output()).toBe(0);
  const left = JSON.parse(/^\{.*\}$/m.exec(counting.output())?.[0] ?? "{}") as Record<string, number>;
  expect(Object.keys(left)).toEqual(["commits", "leases", "reads", "readsOfSomebody"]);
  for (const [who, bytes] of Object.entries(left)) expect(bytes, who).toBeLessThan(FEW);
});
