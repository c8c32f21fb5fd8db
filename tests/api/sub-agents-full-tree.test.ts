import { expect, it } from "vitest";
import type { Sql } from "../../src/db/sql.ts";
import { globalId, rowId } from "../../src/lib/global-id.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { callsWith, hangsAfter } from "../support/models.ts";
import { first, lead, task, teamModel, worker } from "../support/team.ts";
import { aroundWrites, goesTo } from "../support/writes.ts";

/** Agents of the tree that are at work: rows beside the two that the test starts, each with an open wait. */
async function fill(sql: Sql, rootId: string, agents: number): Promise<void> {
  const rows = `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, state, parent_id, root_id, ancestors, depth)
    SELECT 'filler-' || n, a.tenant, 'worker', 'test', a.workspace, a.created_by, a.created_by_kind, now(), now(), 'PAUSED', a.id, a.id, ARRAY[a.id], 1 FROM agent a, generate_series(1, ${agents}) n WHERE a.id = $1`;
  await sql.query({ name: "", text: rows }, [rootId]);
  const waits = `INSERT INTO wait (id, tenant, agent_id, call_id, kind, ref)
    SELECT 'filler-' || n, a.tenant, 'filler-1', NULL, 'BACKGROUND_CHILD', 'filler-' || n FROM agent a, generate_series(1, ${agents}) n WHERE a.id = $1`;
  await sql.query({ name: "", text: waits }, [rootId]);
}

it.each([
  ["foreground", false],
  ["background", true],
])(
  "a tree has at most 64 agents at work, also if two parents start the last one at the same time: %s",
  async (_where, background) => {
    const model = teamModel({
      lead: [first(task({ agentTemplateId: "middle" }), task({ agentTemplateId: "middle" }))],
      // A parent whose child is in the background is at work itself, so that both count.
      middle: [
        (request) =>
          JSON.stringify(request.messages).includes("tool_result") ? hangsAfter("…") : callsWith(task({ background })),
      ],
      worker: [() => hangsAfter("working")],
    });
    const templates = {
      assistant: { ...lead, subagents: { templates: ["middle"], depth: 2 } },
      middle: { ...lead, systemPrompt: "middle", subagents: { templates: ["worker"] } },
      worker,
    } as Record<string, TemplateConfig>;
    const both = Promise.withResolvers<void>();
    // The root's own children are in the foreground.
    const ofRoot = background ? 0 : 2;
    let starting = 0;
    const app = await startTestApp({
      model,
      config: { templates },
      overrides: {
        // Both calls have seen room for one more before either of them is in the database.
        sql: (sql) =>
          aroundWrites(sql, async ({ change, kinds }, write) => {
            const starts =
              change !== null && goesTo(background ? "COMPLETED" : "WAITING", change) && kinds.includes("AGENT_SPAWNED");
            if (starts) starting += 1;
            if (starting === 2 + ofRoot) both.resolve();
            if (starts && starting > ofRoot) await both.promise;
            return write();
          }),
      },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const root = rowId("Agent", id) ?? "";
    await fill(app.database.sql, root, 60);
    await client.send(id, "go");
    const parents =
      "SELECT id, (SELECT count(*)::int FROM agent c WHERE c.parent_id = p.id) AS children FROM agent p WHERE p.parent_id = $1 AND p.template_id = 'middle' ORDER BY children";
    type Parent = { readonly id: string; readonly children: number };
    const middles = async () => app.database.sql.query<Parent, [string]>({ name: "", text: parents }, [root]);
    await expect.poll(async () => (await middles()).map(({ children }) => children), { timeout: 10_000 }).toEqual([0, 1]);
    const refused = globalId("Agent", (await middles())[0]?.id ?? "");
    await expect.poll(async () => ofType(await client.events(refused), "AgentReturned").length, { timeout: 10_000 }).toBe(1);
    const events = await client.events(refused);
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "ERROR", answer: expect.stringContaining("64 agents") }]);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: background ? "COMPLETED" : "FAILED" } }]);
    const told = async (): Promise<boolean> => {
      const notices = await app.database.sql.query<{ text: string }>({ name: "", text: "SELECT text FROM notice" }, []);
      const read = model.calls.map(({ request }) => request.messages);
      return JSON.stringify([read, notices]).includes("64 agents of this task");
    };
    await expect.poll(told, { timeout: 10_000 }).toBe(true);
    expect((await middles()).map(({ children }) => children)).toEqual([0, 1]);
  },
);
