import { expect, it } from "vitest";
import { RememberedHostRules } from "../../../../src/agent/policy/hosts/remembered-host-rules.ts";
import type { Sql, Statement } from "../../../../src/db/sql.ts";
import { testDatabase } from "../../../support/database.ts";
import { aroundStatements } from "../../../support/statements.ts";

const agent = (id: string, tenant = "acme") => ({ id, tenant, templateId: "assistant", permission: null });

/** Rules that are counted when they are asked for, with a clock that the test moves. */
async function rulesOf(fails: () => boolean = () => false) {
  const { sql } = await testDatabase();
  const state = { asked: 0, ms: 0 };
  const counting: Sql = aroundStatements(sql, async <Row>({ name }: Statement<Row>, run: () => Promise<Row[]>) => {
    if (name === "find_host_rules") state.asked += 1;
    if (fails()) throw new Error("gone");
    return run();
  });
  return { state, rules: new RememberedHostRules(counting, { now: () => new Date(0), monotonicMs: () => state.ms }) };
}

it("however many connections an agent's programs try, its rules are asked for once a second (invariant 13)", async () => {
  const { state, rules } = await rulesOf();
  await Promise.all(Array.from({ length: 512 }, () => rules.of(agent("ada"))));
  expect(state.asked).toBe(1);
  state.ms = 999;
  await rules.of(agent("ada"));
  expect(state.asked).toBe(1);
  // Others have rules of their own.
  await Promise.all([rules.of(agent("ben")), rules.of({ ...agent("ada"), permission: { scope: "REPLACE" } })]);
  expect(state.asked).toBe(3);
  state.ms = 1_000;
  await rules.of(agent("ada"));
  expect(state.asked).toBe(4);
});

it("are asked for anew as soon as one of the tenant changes, also while they are being asked for", async () => {
  const { state, rules } = await rulesOf();
  const before = rules.of(agent("ada"));
  void rules.of(agent("eve", "other"));
  rules.forget("acme");
  await Promise.all([before, rules.of(agent("ada")), rules.of(agent("eve", "other"))]);
  expect(state.asked).toBe(3);
  rules.forget(null);
  await Promise.all([rules.of(agent("ada")), rules.of(agent("eve", "other"))]);
  expect(state.asked).toBe(5);
});

it("are asked for again after the database did not answer", async () => {
  let isAway = true;
  const { state, rules } = await rulesOf(() => isAway);
  await expect(rules.of(agent("ada"))).rejects.toThrow("gone");
  isAway = false;
  expect(await rules.of(agent("ada"))).toEqual([]);
  expect(state.asked).toBe(2);
});
