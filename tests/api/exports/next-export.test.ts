import { describe, expect, it } from "vitest";
import {
  DecideApprovalDocument,
  ExportDocument,
  PollTimelineDocument,
  type CreateExportInput,
} from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { exported, rowsOf } from "../../support/exports.ts";

const script = {
  replies: [
    {
      when: { user: "go" },
      call: [
        { tool: "fs_read", input: { path: "missing.txt" } },
        { tool: "fs_write", input: { path: "a.txt", content: "a" } },
      ],
    },
    { when: {}, say: ["Done."] },
  ],
};

describe("an export since another one", () => {
  it("continues from its position: together they have each row once, whatever ended in between", async () => {
    const app = await startTestApp({ script });
    const client = connect(app.url);
    const ids = async (input: Partial<CreateExportInput>, id: string) => {
      const done = await exported(client, input);
      expect(done.state).toBe("DONE");
      return { asOf: done.asOf, ids: (await rowsOf(app, done)).map((row) => String(row[id])) };
    };
    const [one, other] = [await client.createAgent(), await client.createAgent()];
    // The read call of each ends; its write waits for a person.
    for (const { id } of [one, other]) {
      await client.send(id, "go");
      await client.until(id, "PERMISSION_REQUIRED");
      await expect.poll(async () => (await client.agent(id)).state).toBe("PAUSED");
    }
    const first = await ids({}, "call_id");
    const firstApprovals = await ids({ what: "APPROVALS" }, "approval_id");
    expect([first.ids.length, firstApprovals.ids.length]).toEqual([2, 0]);
    const decide = async (id: string) => {
      const { timeline } = await client.get(PollTimelineDocument, { agentIds: [id], kinds: ["PERMISSION_REQUIRED"] });
      const [asked] = timeline.events;
      if (asked?.__typename !== "PermissionRequired") throw new Error("no question");
      const { approvalId, inputHash } = asked.request;
      await client.get(DecideApprovalDocument, { input: { approvalId, decision: "ALLOW", inputHash } });
      await client.until(id, "DONE");
    };
    await decide(one.id);
    const second = await ids({ since: first.asOf }, "call_id");
    const secondApprovals = await ids({ what: "APPROVALS", since: firstApprovals.asOf }, "approval_id");
    expect([second.ids.length, secondApprovals.ids.length]).toEqual([1, 1]);
    await decide(other.id);
    const third = await ids({ since: second.asOf }, "call_id");
    const all = await ids({}, "call_id");
    expect([...first.ids, ...second.ids, ...third.ids].toSorted()).toEqual(all.ids.toSorted());
    expect(new Set(all.ids).size).toBe(4);
    // What ended after a position is not in an export as of it, though it has ended by now.
    expect((await ids({ asOf: first.asOf }, "call_id")).ids.toSorted()).toEqual(first.ids.toSorted());
    expect((await ids({ what: "APPROVALS", asOf: firstApprovals.asOf }, "approval_id")).ids).toEqual([]);
    const events = await ids({ what: "EVENTS", asOf: first.asOf }, "position");
    const rest = await ids({ what: "EVENTS", since: first.asOf }, "position");
    expect([...events.ids, ...rest.ids]).toEqual([...events.ids, ...rest.ids].map((_position, index) => String(index + 1)));
  });

  it("is gone seven days after its end, with its file", async () => {
    const clock = movableClock();
    const app = await startTestApp({ script, overrides: { clock } });
    const client = connect(app.url);
    const done = await exported(client, { format: "CSV" });
    await clock.passHours(7 * 24 - 1, [app.database]);
    expect((await client.get(ExportDocument, { id: done.id })).export?.state).toBe("DONE");
    await clock.passHours(2, [app.database]);
    await expect.poll(async () => (await client.get(ExportDocument, { id: done.id })).export, { timeout: 10_000 }).toBeNull();
    const rows = "SELECT id FROM export UNION ALL SELECT export_id FROM export_part UNION ALL SELECT ref FROM wait";
    expect(await app.database.sql.query({ name: "", text: rows }, [])).toEqual([]);
  });

  it("has no file from that time on, also before it is removed", async () => {
    const app = await startTestApp({ script });
    const client = connect(app.url);
    const { id, viewerUrl } = await exported(client, { format: "CSV" });
    const url = new URL(viewerUrl ?? "", app.url);
    expect((await fetch(url)).status).toBe(200);
    await app.database.sql.query({ name: "", text: "UPDATE export SET ended_at = ended_at - interval '8 days'" }, []);
    expect((await fetch(url)).status).toBe(404);
    expect((await client.get(ExportDocument, { id })).export?.viewerUrl).toBeNull();
  });

  it("fails once the tenant's files take all their room", async () => {
    const app = await startTestApp({ script, config: { exportBytes: 1 } });
    const client = connect(app.url);
    expect(await exported(client, { format: "CSV" })).toMatchObject({ state: "DONE" });
    const full = await exported(client, { format: "CSV" });
    expect(full).toMatchObject({ state: "FAILED", viewerUrl: null, keptBytes: 0 });
    expect(full.problem).toContain("cancel some");
  });
});
