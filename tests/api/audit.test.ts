import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../src/agent/policy/permission-source.ts";
import type { Json } from "../../src/lib/json.ts";
import { SimulatePolicyDocument, ToolCallStatsDocument, type SimulatePolicyQueryVariables } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";

const PERMISSION: PermissionSource = { mode: "auto", deny: ["fs_read(path:.private)"], denyTools: ["todo_write"] };
const CALLS: readonly { tool: string; input: Record<string, Json> }[] = [
  { tool: "fs_read", input: { path: ".private" } },
  { tool: "fs_read", input: { path: "missing.txt" } },
  { tool: "fs_read", input: { path: "docs/missing.txt" } },
  { tool: "fs_read", input: { pth: "a" } },
  { tool: "fs_read", input: { path: "../outside" } },
  { tool: "fs_write", input: { path: "docs/a.md", content: "a" } },
  { tool: "fs_write", input: { path: "src/a.ts", content: "a" } },
  { tool: "todo_write", input: { todos: [] } },
  { tool: "no_such_tool", input: {} },
];

/** A server with the record of CALLS, one turn of them an agent. */
async function recorded(options: TestAppOptions = {}) {
  const script = {
    replies: [
      { when: { user: "go" }, call: CALLS },
      { when: {}, say: ["Done."] },
    ],
  };
  const app = await startTestApp({ script, ...options, template: { permission: PERMISSION, ...options.template } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "go");
  return { app, client, agent };
}

async function simulated(client: TestClient, variables: SimulatePolicyQueryVariables) {
  const { simulation } = (await client.get(SimulatePolicyDocument, variables)).simulatePolicy;
  if (simulation === null) throw new Error("the permission has problems");
  return simulation;
}

describe("simulatePolicy", () => {
  it("says how many recorded calls would change, by tool and with examples, and changes nothing", async () => {
    const { client, agent } = await recorded();
    const before = await client.agent(agent.id);
    const simulate = (permission: object) => simulated(client, { permission });
    expect(await simulate(PERMISSION)).toMatchObject({
      examined: 6,
      changed: 0,
      changes: [],
      examples: [],
      pageInfo: { hasNextPage: false },
    });
    const simulation = await simulate({ mode: "approval", allow: ["fs_read", "fs_write(path:docs)"] });
    expect(simulation).toMatchObject({
      examined: 6,
      changed: 3,
      examinedByTool: [
        { tool: "fs_read", calls: 3 },
        { tool: "fs_write", calls: 2 },
        { tool: "todo_write", calls: 1 },
      ],
      changes: [
        { tool: "fs_read", before: "DENY", after: "ALLOW", calls: 1 },
        { tool: "fs_write", before: "ALLOW", after: "ASK", calls: 1 },
        { tool: "todo_write", before: "DENY", after: "ASK", calls: 1 },
      ],
    });
    expect(simulation.examples.map(({ before, verdict, place, toolCall }) => [before, verdict, place, toolCall?.name])).toEqual([
      ["DENY", "ALLOW", "proposed.allow.0", "fs_read"],
      ["ALLOW", "ASK", "proposed.mode", "fs_write"],
      ["DENY", "ASK", "proposed.mode", "todo_write"],
    ]);
    expect(await client.agent(agent.id)).toEqual({ ...before, cursor: expect.any(String) as string });
  });

  it("is paged, and its pages together are the whole", async () => {
    const { client } = await recorded();
    const permission = { mode: "deny" };
    const whole = await simulated(client, { permission });
    let [examined, changed, after] = [0, 0, null as string | null];
    for (let pages = 0; pages < 10; pages += 1) {
      const page = await simulated(client, { permission, first: 3, after });
      examined += page.examined;
      changed += page.changed;
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) break;
    }
    expect([examined, changed]).toEqual([whole.examined, whole.changed]);
  });

  it("a page of the last calls says that none are left, also if it is full", async () => {
    const { client } = await recorded();
    const whole = await simulated(client, { permission: {}, first: CALLS.length });
    expect(whole.pageInfo).toMatchObject({ hasNextPage: false, endCursor: null });
    const most = await simulated(client, { permission: {}, first: CALLS.length - 1 });
    expect(most.pageInfo.hasNextPage).toBe(true);
  });

  it("what hooks and agents' own permissions tightened stays tight", async () => {
    const hooks = { preToolUse: [() => ({ decision: "deny" as const, reason: "never" })] };
    const { client } = await recorded({ template: { hooks } });
    const { changes } = await simulated(client, { permission: { mode: "auto" } });
    // Only what no hook was asked for, because a list had denied it.
    expect(changes).toEqual([
      { tool: "fs_read", before: "DENY", after: "ALLOW", calls: 1 },
      { tool: "todo_write", before: "DENY", after: "ALLOW", calls: 1 },
    ]);
    const plain = await recorded();
    const strict = await plain.client.createAgent({ permission: { denyTools: ["fs_write"] } });
    await plain.client.turn(strict.id, "go");
    const filter = { agentIds: [strict.id], tools: ["fs_write"], templateIds: ["assistant"] };
    expect(await simulated(plain.client, { permission: { mode: "auto" }, filter })).toMatchObject({ examined: 2, changed: 0 });
  });

  it("looks at the actor's calls only, and refuses what cannot be meant", async () => {
    const people = [
      tokenActor("anna", ["user"]),
      tokenActor("ulf", ["user"]),
      tokenActor("stranger", ["admin"], "other"),
    ] as const;
    const script = {
      replies: [
        { when: { user: "go" }, call: CALLS },
        { when: {}, say: ["Done."] },
      ],
    };
    const app = await startTestApp({
      script,
      template: { permission: PERMISSION },
      config: { actors: people.map(({ actor }) => actor) },
    });
    const [anna, ulf, stranger] = people.map(({ token }) => connect(app.url, token));
    const agent = await anna?.createAgent();
    await anna?.turn(agent?.id ?? "", "go");
    const examined = async (client: typeof anna) =>
      (await client?.get(SimulatePolicyDocument, { permission: {} }))?.simulatePolicy.simulation?.examined;
    expect([await examined(anna), await examined(ulf), await examined(stranger)]).toEqual([6, 0, 0]);
    const wrong = async (variables: { first?: number; after?: string }) =>
      (await anna?.ask(SimulatePolicyDocument, { permission: {}, ...variables }))?.errors;
    const doubtful = { deny: ["fs_read", "fs_read(pth:a)"], allowTools: ["nothing"] };
    expect((await anna?.get(SimulatePolicyDocument, { permission: doubtful }))?.simulatePolicy).toMatchObject({
      simulation: null,
      problems: [
        { code: "INVALID", field: ["permission", "deny", "1"], message: expect.stringContaining("at character 9") },
        { code: "INVALID", field: ["permission", "allowTools", "0"] },
      ],
    });
    expect(await wrong({ first: 0 })).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    expect(await wrong({ after: "nonsense" })).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });
});

describe("toolCallStats", () => {
  it("counts by tool and state, with the mean and the slowest duration of what ran", async () => {
    const { client } = await recorded();
    const { toolCallStats } = await client.get(ToolCallStatsDocument, { first: 2 });
    expect(toolCallStats.tools).toMatchObject([
      { tool: "fs_read", calls: 5, executed: 2, meanMs: expect.any(Number), slowestMs: expect.any(Number) },
      { tool: "fs_write", calls: 2, executed: 2, states: [{ state: "COMPLETED", calls: 2 }] },
      { tool: "no_such_tool", calls: 1, executed: 0, meanMs: null, slowestMs: null },
      { tool: "todo_write", calls: 1, executed: 0, states: [{ state: "DENIED", calls: 1 }] },
    ]);
    const [reads] = toolCallStats.tools;
    expect(new Map(reads?.states.map(({ state, calls }) => [state, calls]))).toEqual(
      new Map([
        ["FAILED", 3],
        ["DENIED", 2],
      ]),
    );
    expect(toolCallStats.slowest).toHaveLength(2);
    expect(toolCallStats.slowest[0]?.durationMs).toBe(Math.max(...toolCallStats.tools.map(({ slowestMs }) => slowestMs ?? 0)));
    const none = await client.get(ToolCallStatsDocument, { filter: { tools: ["a\0b", "todo_read"] } });
    expect(none.toolCallStats).toEqual({ tools: [], slowest: [] });
  });

  it("counts a call that began among those that were executed, also if nobody knows how it ended", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    await client.createAgent();
    const text = `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, is_error, stages, audit_trail, started_at, created_at, updated_at)
      SELECT gen_random_uuid(), 'local', a.id, 1, n, 0, 'p', 'fs_write', 'SEALED', 1, '{}', true, '[]', '[]', CASE WHEN n = 1 THEN now() END, now(), now() FROM agent a, generate_series(1, 2) n`;
    await app.database.sql.query({ name: "sealed", text }, []);
    expect((await client.get(ToolCallStatsDocument, { first: 2 })).toolCallStats.tools).toMatchObject([
      { tool: "fs_write", calls: 2, executed: 1, meanMs: null },
    ]);
  });
});
