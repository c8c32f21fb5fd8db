import { describe, expect, it } from "vitest";
import { DecideApprovalsDocument } from "../../generated/documents.ts";
import type { TestClient } from "../../support/client.ts";
import { askHosts, reachingOffice } from "../../support/hosts.ts";
import { ask, office } from "../../support/office.ts";

type Waiting = { readonly id: string; readonly inputHash: string | null };

/** Stores a rule with the approval, and answers what else waits that the rule would answer. */
async function allowAlways(client: TestClient, approvalId: string, rule: string): Promise<readonly Waiting[]> {
  const { data, errors } = await client.post<{ allowAlways: { alsoAnswers: Waiting[]; userErrors: { message: string }[] } }>({
    query: `mutation ($input: AllowAlwaysInput!) { allowAlways(input: $input) { alsoAnswers { id inputHash } userErrors { message } } }`,
    variables: { input: { approvalId, rule } },
  });
  expect(errors).toEqual([]);
  expect(data?.allowAlways.userErrors).toEqual([]);
  return data?.allowAlways.alsoAnswers ?? [];
}

/** Allows all of them at once. */
async function allow(client: TestClient, waiting: readonly Waiting[]): Promise<void> {
  const decisions = waiting.map(({ id, inputHash }) => ({ approvalId: id, decision: "ALLOW" as const, inputHash }));
  const { decideApprovals } = await client.get(DecideApprovalsDocument, { input: { decisions } });
  expect(decideApprovals.outcomes.map(({ userErrors }) => userErrors)).toEqual(decisions.map(() => []));
}

describe("what a stored rule would also answer", () => {
  it("is listed with the answer, the oldest first, for who may decide on it, and decided at once", async () => {
    const { as } = await office();
    const first = await ask(as("anna"), "write notes/a.txt");
    const second = await ask(as("anna"), "write notes/b.txt");
    const outside = await ask(as("anna"), "write other.txt");
    const own = await ask(as("pia"), "write notes/c.txt");
    const third = await ask(as("ulf"), "write notes/d.txt");
    const rule = "fs_write(path:notes)";
    // Nobody decides on what they asked for.
    expect((await allowAlways(as("pia"), first.approvalId, rule)).map(({ id }) => id)).toEqual([
      second.approvalId,
      third.approvalId,
    ]);
    const waiting = await allowAlways(as("paul"), first.approvalId, rule);
    expect(waiting.map(({ id }) => id)).toEqual([second.approvalId, own.approvalId, third.approvalId]);
    await allow(as("paul"), waiting);
    for (const [person, { agent, cursorBefore }] of [
      ["anna", second],
      ["pia", own],
      ["ulf", third],
    ] as const)
      await as(person).until(agent, "DONE", cursorBefore);
    expect((await as("anna").agent(outside.agent)).state).toBe("PAUSED");
    expect(await allowAlways(as("paul"), outside.approvalId, "fs_write(path:other.txt)")).toEqual([]);
  });

  it("is what would run by it alone: what a deny rule closes by the agent's own permission, or another tool, is not", async () => {
    const { as } = await office();
    const first = await ask(as("anna"), "write notes/a.txt");
    const { id: bound } = await as("anna").createAgent({ permission: { deny: ["fs_write(path:notes/b.txt)"] } });
    const replaced = await as("ada").createAgent({ permission: { mode: "approval" }, permissionScope: "REPLACE" });
    const second = await ask(as("ada"), "write notes/c.txt", replaced.id);
    await as("anna").turn(bound, "write notes/b.txt");
    const other = await ask(as("anna"), "write notes/d.txt");
    const waiting = await allowAlways(as("paul"), first.approvalId, "fs_write(path:notes)");
    expect(waiting.map(({ id }) => id)).toEqual([other.approvalId]);
    expect((await as("ada").agent(second.agent)).state).toBe("PAUSED");
  });

  it("are hosts, for a rule about hosts", async () => {
    const { as } = await reachingOffice();
    const { question } = await askHosts(as("anna"), "reach a.example:443");
    const { question: other } = await askHosts(as("ulf"), "reach b.example:443");
    await askHosts(as("ulf"), "reach b.example:8443");
    const waiting = await allowAlways(as("paul"), question.approvalId, 'network(host:"*.example")');
    expect(waiting.map(({ id }) => id)).toEqual([other.approvalId]);
    await allow(as("paul"), waiting);
  });
});
