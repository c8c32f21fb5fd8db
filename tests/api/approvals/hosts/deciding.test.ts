import { expect, it } from "vitest";
import { DelegateApprovalsDocument } from "../../../generated/documents.ts";
import { ofType } from "../../../support/client.ts";
import { askHosts, openHosts, reachingOffice, resultsOf } from "../../../support/hosts.ts";

it("a host is allowed or denied as it was asked for: bound to its hash, without another input, and not as an outcome", async () => {
  const { as } = await reachingOffice();
  const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
  const other = await askHosts(as("anna"), "reach b.example:443");
  const { approvalId, inputHash } = question;
  const codeOf = async (more: object): Promise<unknown> =>
    (await as("paul").decide({ approvalId, inputHash, decision: "ALLOW", ...more })).userErrors.map(({ code, field }) => [
      code,
      field,
    ]);
  expect(await codeOf({ inputHash: null })).toEqual([["INVALID", ["inputHash"]]]);
  expect(await codeOf({ inputHash: other.question.inputHash })).toEqual([["HASH_MISMATCH", ["inputHash"]]]);
  expect(await codeOf({ input: { host: "b.example", port: 443 } })).toEqual([["INVALID", ["input"]]]);
  for (const decision of ["DONE", "RETRY", "FAIL"]) expect(await codeOf({ decision })).toEqual([["INVALID", ["decision"]]]);
  expect(await openHosts(as("paul"))).toHaveLength(2);
  expect(await codeOf({})).toEqual([]);
  expect(await codeOf({})).toEqual([]);
  expect(await codeOf({ decision: "DENY" })).toEqual([["ALREADY_DECIDED", ["decision"]]]);
  await as("anna").until(agent, "DONE");
});

it("who asked for it does not decide on it, nor lets another do so in their name", async () => {
  const { as } = await reachingOffice();
  const { question } = await askHosts(as("pia"), "reach a.example:443");
  const { approvalId, inputHash } = question;
  const decide = async (person: "pia" | "ulf"): Promise<unknown> =>
    (await as(person).decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors.map(({ code }) => code);
  expect(await decide("pia")).toEqual(["SELF_APPROVAL"]);
  await as("pia").get(DelegateApprovalsDocument, {
    input: { toActorId: "ulf", until: new Date(Date.now() + 60_000).toISOString() },
  });
  expect(await decide("ulf")).toEqual(["SELF_APPROVAL"]);
});

it("who joins the question by a call of their own turn does not decide on it either", async () => {
  const { as, app } = await reachingOffice();
  const { question, rowId } = await askHosts(as("anna"), "reach a.example:443");
  const { approvalId } = question;
  const second = await askHosts(as("pia"), "reach b.example:443");
  // As if pia's call were one of the same agent: its turn asks with the same question.
  await app.database.sql.query(
    {
      name: "join",
      text: `INSERT INTO wait (id, tenant, agent_id, call_id, kind, ref) SELECT gen_random_uuid(), p.tenant, p.agent_id, t.id, 'HOST', p.id FROM approval p, tool_call t WHERE p.agent_id = $1 AND t.agent_id = $2`,
    },
    [rowId, second.rowId],
  );
  expect((await openHosts(as("pia"))).find(({ id }) => id === approvalId)?.requestedBy).toEqual([
    { actorId: "anna" },
    { actorId: "pia" },
  ]);
  expect((await as("pia").decide({ approvalId, decision: "DENY" })).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
});

it("as many people must allow it as a call, and the last of them keeps the rule", async () => {
  const { as } = await reachingOffice({ approvalQuorum: 2 });
  const { agent, question } = await askHosts(as("anna"), "reach a.example:443");
  const { approvalId, inputHash } = question;
  await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
  expect(await openHosts(as("petra"))).toMatchObject([{ state: "PENDING" }]);
  await as("petra").decide({ approvalId, inputHash, decision: "ALLOW" });
  const decided = ofType(await as("anna").until(agent, "DONE"), "PermissionDecided");
  expect(decided).toMatchObject([
    { approvalState: "PENDING", missingDecisions: 1, allowRuleId: null },
    { approvalState: "ALLOWED", missingDecisions: 0, allowRuleId: expect.any(String) as string },
  ]);
  expect((await resultsOf(as("anna"), agent))[0]).toContain("It is allowed now");
});
