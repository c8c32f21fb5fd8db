import { describe, expect, it } from "vitest";
import { storedRules } from "../../../src/agent/policy/stored-rules.ts";
import {
  AllowAlwaysDocument,
  AllowRuleMatchesDocument,
  AllowRulesDocument,
  PollTimelineDocument,
  RevokeAllowRuleDocument,
  ToolCallsDocument,
} from "../../generated/documents.ts";
import { DELETED_AGENTS } from "../../../src/sweeps/deleted-agents.ts";
import { foldAll } from "../../support/audit.ts";
import type { TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { deleteArchived, eraseOld, HOUR } from "../../support/erasure.ts";
import { ask, office } from "../../support/office.ts";

const RULE = "fs_write(path:/docs)";

async function rulesOf(client: TestClient, isActive?: boolean) {
  const filter = isActive === undefined ? {} : { isActive };
  return (await client.get(AllowRulesDocument, { filter })).allowRules.nodes;
}

async function changesOf(client: TestClient) {
  return (await client.get(PollTimelineDocument, { kinds: ["ALLOW_RULE_STORED", "ALLOW_RULE_REVOKED"] })).timeline.events;
}

/** An office with a clock, and an approval of a file in docs. */
async function asked() {
  const clock = movableClock();
  const { app, as } = await office({}, { overrides: { clock } });
  const { agent, approvalId } = await ask(as("anna"), "write docs/a.txt");
  const allow = async (more: object = {}) =>
    (await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule: RULE, ...more } })).allowAlways;
  return { app, as, agent, approvalId, allow, clock };
}

describe("an allow rule with an end", () => {
  it("allows until then, asks again from then on, and its end is an event of the tenant (invariants 14 and 15)", async () => {
    const { app, as, agent, approvalId, allow, clock } = await asked();
    const { allowRule } = await allow({ expiresInDays: 7 });
    const expiresAt = allowRule?.expiresAt ?? "";
    const days = (new Date(expiresAt).getTime() - clock.now().getTime()) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");

    await clock.passHours(7 * 24 - 1, [app.database]);
    await as("anna").turn(agent, "write docs/b.txt");
    expect((await as("anna").agent(agent)).toolCalls.nodes).toMatchObject([{ state: "DENIED" }, { state: "COMPLETED" }]);
    expect(await rulesOf(as("paul"), true)).toMatchObject([{ rule: RULE, isActive: true, expiresAt }]);

    await clock.passHours(2, [app.database]);
    await ask(as("anna"), "write docs/c.txt", agent);
    expect(await rulesOf(as("paul"), true)).toEqual([]);
    expect(await rulesOf(as("paul"), false)).toMatchObject([{ isActive: false, revokedAt: null }]);
    await expect
      .poll(async () => changesOf(as("vera")))
      .toMatchObject([
        { kind: "ALLOW_RULE_STORED", rule: { expiresAt }, changedBy: { actorId: "paul" } },
        { kind: "ALLOW_RULE_REVOKED", rule: { expiresAt }, changedBy: { kind: "SYSTEM" } },
      ]);
    // What has ended is not ended again, and leaves room for the same rule.
    const input = { allowRuleId: allowRule?.id ?? "" };
    expect((await as("paul").get(RevokeAllowRuleDocument, { input })).revokeAllowRule.userErrors).toEqual([]);
    expect(await changesOf(as("vera"))).toHaveLength(2);
  });

  it("has the recorded calls that it matches, also those that a person denied before it was stored", async () => {
    const { app, as, agent, approvalId, allow } = await asked();
    await allow();
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    await as("anna").turn(agent, "write docs/b.txt");
    await foldAll(app.database.sql);
    const matches = async (range: { from?: string; to?: string }) =>
      (await as("paul").get(AllowRuleMatchesDocument, range)).allowRules.nodes.map((rule) => rule.matches);
    expect(await matches({})).toEqual([{ examined: 2, erased: 0, isPartial: false, matched: 2, against: 1 }]);
    expect(await matches({ to: "2020-01-01T00:00:00Z" })).toMatchObject([{ examined: 0, matched: 0 }]);
  });

  it("says how many of the recorded calls it cannot be compared with, since they were erased", async () => {
    const { app, as, agent, approvalId, allow, clock } = await asked();
    const { sql } = app.database;
    await allow();
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    await clock.passHours(3, [app.database]);
    await as("anna").turn(agent, "write docs/b.txt");
    await foldAll(sql);
    await eraseOld(sql, { toolCallsMs: 2 * HOUR });
    const matches = async () => (await as("paul").get(AllowRuleMatchesDocument, {})).allowRules.nodes.map((rule) => rule.matches);
    expect(await matches()).toEqual([{ examined: 1, erased: 1, isPartial: false, matched: 1, against: 0 }]);
    await deleteArchived(sql, as("ada"), agent);
    await DELETED_AGENTS.remove(sql, () => true);
    expect(await matches()).toEqual([{ examined: 0, erased: 2, isPartial: false, matched: 0, against: 0 }]);
  });

  it("gives way to the same rule with a later end, and stays beside one with an earlier end", async () => {
    const { as, allow } = await asked();
    const short = (await allow({ expiresInDays: 1 })).allowRule;
    expect((await allow({ expiresInDays: 1, expiresAt: new Date().toISOString() })).userErrors).toMatchObject([
      { code: "INVALID", field: ["expiresAt"] },
    ]);
    const long = (await allow()).allowRule;
    expect(long).toMatchObject({ expiresAt: null });
    expect(long?.id).not.toBe(short?.id);
    expect((await allow({ expiresInDays: 30 })).allowRule).toEqual(long);
    expect(await rulesOf(as("paul"), true)).toMatchObject([{ id: long?.id }]);
    expect((await changesOf(as("vera"))).map(({ kind }) => kind)).toEqual([
      "ALLOW_RULE_STORED",
      "ALLOW_RULE_REVOKED",
      "ALLOW_RULE_STORED",
    ]);
  });

  it("holds by its later end when the former end comes", async () => {
    const { app, as, agent, approvalId, allow, clock } = await asked();
    await allow({ expiresInDays: 1 });
    await allow({ expiresInDays: 30 });
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    await clock.passHours(25, [app.database]);
    await as("anna").turn(agent, "write docs/b.txt");
    expect((await as("anna").agent(agent)).toolCalls.nodes).toMatchObject([{ state: "DENIED" }, { state: "COMPLETED" }]);
    expect((await changesOf(as("vera"))).map(({ kind }) => kind)).toEqual([
      "ALLOW_RULE_STORED",
      "ALLOW_RULE_REVOKED",
      "ALLOW_RULE_STORED",
    ]);
  });

  it("is over for readers at its end although no server has reported that", async () => {
    const { app, allow, clock } = await asked();
    await allow({ expiresInDays: 1 });
    const { sql } = app.database;
    await sql.query({ name: "", text: "UPDATE wait SET due = NULL WHERE kind = 'ALLOW_RULE'" }, []);
    const { tools } = app.services.of("acme");
    const stored = () => storedRules(sql, tools, { tenant: "acme", templateId: "assistant", id: null });
    expect((await stored()).rules).toHaveLength(1);
    await clock.passHours(25, [app.database]);
    expect(await stored()).toMatchObject({ rules: [], version: { until: null } });
  });

  it.each([
    [{ expiresAt: "2020-01-01T00:00:00Z" }, ["expiresAt"]],
    [{ expiresInDays: 0 }, ["expiresInDays"]],
    [{ expiresInDays: 3_651 }, ["expiresInDays"]],
  ])("is refused with %o", async (end, field) => {
    const { allow } = await asked();
    expect(await allow(end)).toMatchObject({ allowRule: null, userErrors: [{ code: "INVALID", field }] });
  });

  it("has an expired twin that is not reported yet ended in the same commit as it is stored", async () => {
    const { app, as, allow, clock } = await asked();
    await allow({ expiresInDays: 1 });
    // The sweep sees the end and the person stores the rule again: whoever is first, one of them ends it.
    await clock.passHours(25, [app.database]);
    expect((await allow({ expiresInDays: 1 })).userErrors).toEqual([]);
    expect((await changesOf(as("vera"))).map(({ kind }) => kind)).toEqual([
      "ALLOW_RULE_STORED",
      "ALLOW_RULE_REVOKED",
      "ALLOW_RULE_STORED",
    ]);
    expect(await rulesOf(as("paul"), true)).toHaveLength(1);
  });
});

describe("the uses of an allow rule", () => {
  it("are the calls that ran by it, each once, with the start of the last", async () => {
    const { as, agent, approvalId, allow } = await asked();
    await allow();
    expect(await rulesOf(as("paul"))).toMatchObject([{ useCount: 0, lastUsedAt: null }]);
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    for (const name of ["b", "c"]) await as("anna").turn(agent, `write docs/${name}.txt`);
    const { nodes } = (await as("anna").agent(agent)).toolCalls;
    await expect
      .poll(async () => rulesOf(as("paul")), { timeout: 10_000 })
      .toMatchObject([{ useCount: 2, lastUsedAt: nodes.at(-1)?.startedAt }]);
    // The place of the rule finds them.
    const [{ place } = { place: "" }] = await rulesOf(as("paul"));
    const found = await as("paul").get(ToolCallsDocument, { filter: { places: [place] } });
    expect(found.toolCalls.nodes.map(({ callId }) => callId).toSorted()).toEqual(
      nodes
        .slice(-2)
        .map(({ callId }) => callId)
        .toSorted(),
    );
  });
});
