import { describe, expect, it } from "vitest";
import { InboxDocument, SnoozeApprovalDocument, WakeApprovalDocument } from "../../generated/documents.ts";
import type { TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { ask, office } from "../../support/office.ts";

async function ids(client: TestClient, viewerSnoozed?: boolean): Promise<readonly string[]> {
  const filter = { states: ["PENDING" as const], ...(viewerSnoozed === undefined ? {} : { viewerSnoozed }) };
  return (await client.get(InboxDocument, { filter })).approvals.nodes.map(({ id }) => id);
}

async function snooze(client: TestClient, approvalId: string, until?: string) {
  return (await client.get(SnoozeApprovalDocument, { input: { approvalId, ...(until === undefined ? {} : { until }) } }))
    .snoozeApproval;
}

describe("a snooze", () => {
  it("takes an approval out of one person's inbox until its time; it is no decision", async () => {
    const clock = movableClock();
    const { app, as } = await office({}, { overrides: { clock } });
    const { approvalId } = await ask(as("anna"));
    const { approvalId: other } = await ask(as("anna"), "write b.txt");
    const until = new Date(clock.now().getTime() + 3_600_000).toISOString();
    expect(await snooze(as("paul"), approvalId, until)).toMatchObject({
      approval: { id: approvalId, viewerSnooze: { until } },
      userErrors: [],
    });
    expect(await ids(as("paul"), false)).toEqual([other]);
    expect(await ids(as("paul"), true)).toEqual([approvalId]);
    expect(await ids(as("paul"))).toEqual([approvalId, other]);
    expect(await ids(as("petra"), false)).toEqual([approvalId, other]);
    const { nodes } = (await as("petra").get(InboxDocument, {})).approvals;
    expect(nodes).toMatchObject([{ state: "PENDING", viewerSnooze: null }, { viewerSnooze: null }]);
    await clock.passHours(1, [app.database]);
    expect(await ids(as("paul"), false)).toEqual([approvalId, other]);
    expect((await as("paul").get(InboxDocument, {})).approvals.nodes[0]).toMatchObject({ viewerSnooze: null });
  });

  it("ends with a decision of another, or by the person; the next one replaces it", async () => {
    const { app, as } = await office({ approvalQuorum: 2 });
    const { approvalId, inputHash } = await ask(as("anna"));
    expect((await snooze(as("paul"), approvalId)).approval).toMatchObject({ viewerSnooze: { until: null } });
    expect(await ids(as("paul"), false)).toEqual([]);
    await as("petra").decide({ approvalId, decision: "ALLOW", inputHash });
    expect(await ids(as("paul"), false)).toEqual([approvalId]);
    await snooze(as("paul"), approvalId);
    await snooze(as("paul"), approvalId, new Date(Date.now() + 60_000).toISOString());
    const input = { approvalId };
    expect((await as("paul").get(WakeApprovalDocument, { input })).wakeApproval).toMatchObject({
      approval: { viewerSnooze: null },
      userErrors: [],
    });
    await snooze(as("ada"), approvalId);
    await as("paul").decide({ approvalId, decision: "ALLOW", inputHash });
    // What is closed has no snoozes, and takes none.
    expect(await app.database.sql.query({ name: "", text: "SELECT * FROM approval_snooze" }, [])).toEqual([]);
    expect((await snooze(as("ada"), approvalId)).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
  });

  it("is for who may decide, and for times to come", async () => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"));
    for (const [person, code] of [
      ["vera", "FORBIDDEN"],
      ["anna", "FORBIDDEN"],
      ["ulf", "NOT_FOUND"],
    ] as const)
      expect((await snooze(as(person), approvalId)).userErrors, person).toMatchObject([{ code }]);
    for (const days of [-1, 91]) {
      const until = new Date(Date.now() + days * 86_400_000).toISOString();
      expect((await snooze(as("paul"), approvalId, until)).userErrors).toMatchObject([{ code: "INVALID", field: ["until"] }]);
    }
  });
});
