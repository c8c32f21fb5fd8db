import { describe, expect, it } from "vitest";
import { DecideApprovalDocument, RemindAgentDocument, SpawnedDocument } from "../generated/documents.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { ACTORS, inbox, PEOPLE } from "../support/office.ts";
import { first, lead, task, teamModel, treeOf, worker } from "../support/team.ts";

const WRITE = ["fs_write", { path: "a.txt", content: "a" }] as const;
const asking = { ...worker, selfApproval: true, permission: { mode: "approval" } } as TemplateConfig;

/** Pia asks a root, which starts a middle agent, which starts one that asks. */
async function askedBelow(root: Partial<TemplateConfig> = {}, config: Partial<TriplaneConfig> = {}) {
  const model = teamModel({
    lead: [first(task({ agentTemplateId: "middle" }))],
    middle: [first(task())],
    worker: [first(WRITE)],
  });
  const templates = {
    assistant: { ...lead, subagents: { templates: ["middle"], depth: 2 }, ...root },
    middle: { ...lead, systemPrompt: "middle", subagents: { templates: ["worker"] } },
    worker: asking,
  } as Record<string, TemplateConfig>;
  const app = await startTestApp({ model, config: { ...ACTORS, templates, ...config } });
  const pia = connect(app.url, PEOPLE.pia.token);
  const { id } = await pia.createAgent();
  await pia.send(id, "go");
  const below = async (): Promise<string> => (await treeOf(pia, id)).children[0]?.children[0]?.id ?? "";
  await expect.poll(async () => (await inbox(pia, { states: ["PENDING"] })).length, { timeout: 10_000 }).toBe(1);
  const [approval] = await inbox(pia, { states: ["PENDING"] });
  if (approval === undefined) throw new Error("it is in the inbox");
  const input = { approvalId: approval.id, decision: "ALLOW", inputHash: approval.inputHash } as const;
  const decide = async (client: TestClient) => (await client.get(DecideApprovalDocument, { input })).decideApproval.userErrors;
  return { app, pia, id, child: await below(), approval, decide };
}

describe("an approval that a child asks for", () => {
  it("is in the inbox with the path of agents; the tree says which call and which people started each", async () => {
    const { pia, id, child, approval } = await askedBelow();
    const spawned = async (of: string) => (await pia.get(SpawnedDocument, { id: of })).agent?.children ?? [];
    const [middle] = await spawned(id);
    expect(middle).toMatchObject({
      spawnedBy: [{ actorId: "pia" }],
      parentCall: { child: { id: middle?.id } },
      pendingApprovals: [],
    });
    const agentPath = [{ id }, { id: middle?.id }, { id: child }];
    expect(await spawned(middle?.id ?? "")).toMatchObject([
      { id: child, spawnedBy: [{ actorId: "pia" }], pendingApprovals: [{ id: approval.id, agentPath }] },
    ]);
    const short = (of: string): string => of.slice(-8);
    const uuid = Buffer.from(middle?.id ?? "", "base64").toString("utf8");
    const name = `count (${short(uuid)})`;
    // It names an agent by its short id.
    await expect
      .poll(() => treeOf(pia, id))
      .toMatchObject({
        waitingFor: `the agent ${name} to end`,
        awaited: [{ id: middle?.id, kind: "AGENT", name }],
        childCount: 1,
      });
    expect(await treeOf(pia, child)).toMatchObject({
      waitingFor: "a person to decide on fs_write",
      awaited: [{ id: approval.id, kind: "APPROVAL", name: "fs_write" }],
      childCount: 0,
    });
    expect((await treeOf(pia, child)).parent).toMatchObject({ id: middle?.id });
    const listed = async (filter: object): Promise<readonly string[]> => {
      const query = "query ($filter: AgentFilter) { agents(filter: $filter) { nodes { id } } }";
      const { data } = await pia.post<{ agents: { nodes: { id: string }[] } }>({ query, variables: { filter } });
      return data?.agents.nodes.map((agent) => agent.id) ?? [];
    };
    expect(await listed({})).toEqual([id]);
    expect((await listed({ rootsOnly: false })).toSorted((one, other) => one.localeCompare(other))).toEqual(
      [id, middle?.id ?? "", child].toSorted((one, other) => one.localeCompare(other)),
    );
    expect(await listed({ parentIds: [id] })).toEqual([middle?.id]);
    expect(await listed({ parentIds: [id, middle?.id], rootsOnly: true })).toEqual([]);
  });

  it("says which agent above asks, by its template", async () => {
    const templates = {
      assistant: { ...lead, permission: { mode: "auto", ask: ["fs_write(path:a.txt)"] } },
      worker: { ...worker, permission: { mode: "auto" } },
    } as Record<string, TemplateConfig>;
    const model = teamModel({ lead: [first(task())], worker: [first(WRITE)] });
    const app = await startTestApp({ model, config: { ...ACTORS, templates } });
    const pia = connect(app.url, PEOPLE.pia.token);
    const { id } = await pia.createAgent();
    await pia.send(id, "go");
    await expect.poll(async () => (await inbox(pia, { states: ["PENDING"] })).length, { timeout: 10_000 }).toBe(1);
    const row = Buffer.from(id, "base64").toString().split(":")[1] ?? "";
    const reason = `asked by the permission of assistant (ancestor, agent ${row}): the rule fs_write(path:a.txt) asks`;
    expect(await inbox(pia, { states: ["PENDING"] })).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  });

  it("is decided by no text: neither a message, a reminder nor its parent's words settle it", async () => {
    const { pia, id, child, decide } = await askedBelow();
    for (const agentId of [id, child]) {
      await pia.send(agentId, "yes, approve it: ALLOW");
      await pia.get(RemindAgentDocument, { input: { agentId, text: "approved", startsTurn: true } });
    }
    expect(await inbox(pia, { states: ["PENDING"] })).toHaveLength(1);
    expect(ofType(await pia.events(child), "PermissionDecided")).toEqual([]);
    expect(await decide(connect(pia.url, PEOPLE.paul.token))).toEqual([]);
    expect(textOf(await pia.until(id, "DONE"))).toContain("End.");
  });

  it("is decided by people, not by a service", async () => {
    const answers: unknown[] = [];
    const { child, decide, pia, id } = await askedBelow(
      {},
      {
        on: {
          PERMISSION_REQUIRED: async ({ request: { approvalId, inputHash } }, context) => {
            answers.push(await context.decide({ as: "listener", approvalId, decision: "ALLOW", inputHash }));
          },
        },
      },
    );
    await expect.poll(() => answers.length).toBe(1);
    expect(answers).toMatchObject([
      { ok: false, refusal: { code: "FORBIDDEN", message: expect.stringContaining("a person must decide") } },
    ]);
    expect(ofType(await pia.events(child), "PermissionDecided")).toEqual([]);
    expect(await decide(connect(pia.url, PEOPLE.ada.token))).toEqual([]);
    expect(textOf(await pia.until(id, "DONE"))).toBe("End.");
  });

  it("needs as many people as the strictest of all above says, none of them a requester unless all allow it", async () => {
    const { pia, id, approval, decide } = await askedBelow({ selfApproval: false, approvalQuorum: 2 });
    expect(approval.quorum).toBe(2);
    expect(await decide(pia)).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect(await decide(connect(pia.url, PEOPLE.paul.token))).toEqual([]);
    expect(await inbox(pia, { states: ["PENDING"] })).toHaveLength(1);
    expect(await decide(connect(pia.url, PEOPLE.petra.token))).toEqual([]);
    expect(textOf(await pia.until(id, "DONE"))).toBe("End.");
  });
});
