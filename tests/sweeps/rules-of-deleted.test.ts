import { expect, it } from "vitest";
import { rowId } from "../../src/lib/global-id.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { AllowAlwaysDocument, AllowRulesDocument } from "../generated/documents.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { deleteArchived, eraseOld, HOUR, idle, SECRET, tablesWith } from "../support/erasure.ts";
import { askHosts, reachingOffice } from "../support/hosts.ts";
import { ask, office } from "../support/office.ts";
import { viewsReader } from "../support/views-reader.ts";

/** An agent with a rule of its own, which a decision about a host stored with its note. */
async function withRule() {
  const url = await testDatabaseUrl();
  const { as, app } = await reachingOffice({}, { database: { kind: "postgres", url, connections: 6 } });
  const { agent, question } = await askHosts(as("anna"), "reach a.example:8443");
  await as("paul").decide({ ...question, decision: "ALLOW", note: `since ${SECRET}` });
  await as("anna").until(agent, "DONE");
  const { sql } = app.database;
  await idle(sql);
  return { as, agent, sql, url };
}

it("a decision about a host loses its note in the rule, too", async () => {
  const { sql } = await withRule();
  expect(await tablesWith(sql, SECRET)).toContain("allow_rule");
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  await eraseOld(sql);
  expect(await tablesWith(sql, SECRET)).toEqual([]);
});

it("a deleted agent leaves no rule of its own", async () => {
  const { as, agent, sql, url } = await withRule();
  const reader = await viewsReader(url, "acme");
  await deleteArchived(sql, as("ada"), agent);
  const rules = async () => [
    ...(await as("ada").get(AllowRulesDocument, { filter: { isActive: true } })).allowRules.nodes,
    ...(await reader.query("SELECT FROM bi.rule WHERE agent_id = $1", [rowId("Agent", agent)])).rows,
    ...(await sql.query({ name: "", text: "SELECT FROM rule_version WHERE agent_id <> ''" }, [])),
  ];
  expect(await rules()).toEqual([]);
  await DELETED_AGENTS.remove(sql, () => true);
  expect(await rules()).toEqual([]);
  expect(await tablesWith(sql, SECRET)).toEqual([]);
});

// The model was told of a refusal: its note is in the result, which goes with calls and messages.
it.each([
  ["ALLOW", { approvalsMs: HOUR }],
  ["DENY", { approvalsMs: HOUR, toolCallsMs: HOUR, messagesMs: HOUR }],
] as const)("the note of %s is erased with %j", async (decision, policy) => {
  const { app, as } = await office({ permission: { mode: "approval" } });
  const { sql } = app.database;
  const { agent, approvalId, inputHash } = await ask(as("anna"));
  await as("paul").decide({ approvalId, inputHash, decision, note: `since ${SECRET}` });
  await as("anna").until(agent, "DONE");
  await idle(sql);
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  await eraseOld(sql, policy);
  expect(await tablesWith(sql, SECRET)).toEqual([]);
});

it("a rule of a template keeps its note, and a trail the notes of no person", async () => {
  const { app, as } = await office({ permission: { mode: "approval" } });
  const { sql } = app.database;
  const { agent, approvalId, inputHash } = await ask(as("anna"), "write docs/a.txt");
  const input = { approvalId, rule: "fs_write(path:/docs)", note: "docs are harmless" };
  expect((await as("paul").get(AllowAlwaysDocument, { input })).allowAlways.userErrors).toEqual([]);
  await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
  await as("anna").until(agent, "DONE");
  await idle(sql);
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  const [erasure] = await eraseOld(sql, { approvalsMs: HOUR });
  expect(erasure).toMatchObject({ content: "APPROVALS" });
  const kept =
    "SELECT r.note, (SELECT array_agg(x ->> 'note') FROM tool_call t, jsonb_array_elements(t.audit_trail) x WHERE x ? 'note') AS notes FROM allow_rule r";
  expect(await sql.query({ name: "", text: kept }, [])).toEqual([
    { note: "docs are harmless", notes: ["mode approval asks for fs_write"] },
  ]);
});
