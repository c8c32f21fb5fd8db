import { expect, it } from "vitest";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import {
  ApprovalGroupsDocument,
  ForkAgentDocument,
  StepGroupsDocument,
  ToolCallGroupsDocument,
  TurnGroupsDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { foldAll } from "../support/audit.ts";
import { connect, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { deleteArchived } from "../support/erasure.ts";
import { ACTORS, inbox, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, worker } from "../support/team.ts";
import { viewsReader } from "../support/views-reader.ts";

/** Names of deleted agents are gone, and sums are added in another order. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (key, each: unknown) => {
    if (key === "agent" || key === "rootAgent") return null;
    return typeof each === "number" ? Number(each.toPrecision(9)) : each;
  });
}

async function groupsOf(client: TestClient, id: string): Promise<readonly unknown[]> {
  const read = [];
  for (const by of [["AGENT"], ["ROOT_AGENT"], ["REQUESTER"], ["TEMPLATE"]] as const)
    for (const filter of [{}, { agentIds: [id] }]) {
      const asked = { by: [...by], filter };
      read.push(
        (await client.get(ApprovalGroupsDocument, asked)).approvalGroups,
        (await client.get(ToolCallGroupsDocument, asked)).toolCallGroups,
        (await client.get(StepGroupsDocument, asked)).stepGroups,
        (await client.get(TurnGroupsDocument, asked)).turnGroups,
      );
    }
  return read.map(({ groups, total }) => [groups.map(comparable).toSorted(), comparable(total)]);
}

it("groups and views keep a deleted tree whose grandchildren asked, and that was forked", { timeout: 60_000 }, async () => {
  const write = ["fs_write", { path: "a.txt", content: "a" }] as const;
  const model = teamModel({
    lead: [first(task({ agentTemplateId: "middle" }))],
    middle: [first(task())],
    worker: [first(write)],
  });
  const templates: Record<string, TemplateConfig> = {
    assistant: { ...lead, systemPrompt: "lead", model: "test", subagents: { templates: ["middle"], depth: 2 } },
    middle: { ...lead, systemPrompt: "middle", model: "test", subagents: { templates: ["worker"] } },
    worker: { ...worker, systemPrompt: "worker", model: "test", selfApproval: true, permission: { mode: "approval" } },
  };
  const url = await testDatabaseUrl();
  const database = { kind: "postgres", url, connections: 4 } as const;
  const app = await startTestApp({ model, config: { ...ACTORS, templates }, database });
  const { sql } = app.database;
  const [pia, ada] = [connect(app.url, PEOPLE.pia.token), connect(app.url, PEOPLE.ada.token)];
  const reader = await viewsReader(url, "acme");
  const { id } = await pia.createAgent();
  for (const decision of ["DENY", "ALLOW"] as const) {
    const { cursor } = await pia.agent(id);
    await pia.send(id, "go");
    const pending = () => inbox(pia, { states: ["PENDING"] });
    await expect.poll(async () => (await pending()).length, { timeout: 10_000 }).toBe(1);
    const [asked] = await pending();
    await pia.decide({ approvalId: asked?.id ?? "", inputHash: asked?.inputHash ?? "", decision });
    await pia.until(id, "DONE", cursor);
  }
  const atWork = "SELECT FROM agent WHERE state <> 'READY' OR lease_owner IS NOT NULL OR runnable_at IS NOT NULL";
  const rest = () => expect.poll(() => sql.query({ name: "", text: atWork }, []), { timeout: 10_000 }).toEqual([]);
  await rest();
  expect((await ada.get(ForkAgentDocument, { input: { agentId: id } })).forkAgent.agent).not.toBeNull();
  await rest();
  await foldAll(sql);
  const read = async () => ({
    all: await groupsOf(ada, id),
    own: await groupsOf(pia, id),
    approvals: (await reader.query("SELECT to_jsonb(v) - 'erased_at' AS row FROM bi.approval v ORDER BY 1")).rows,
    decisions: (await reader.query("SELECT to_jsonb(v) - 'erased_at' AS row FROM bi.decision v ORDER BY 1")).rows,
  });
  const before = await read();
  expect([before.approvals.length, before.decisions.length]).toEqual([2, 2]);
  await deleteArchived(sql, ada, id);
  expect(await read()).toEqual(before);
  await DELETED_AGENTS.remove(sql, () => true);
  expect(await read()).toEqual(before);
});
