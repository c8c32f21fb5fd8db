import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  CancelToolCallDocument,
  CompleteToolCallDocument,
  InterruptAgentDocument,
  LaterCallDocument,
} from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { QUICK, referenceServer } from "../support/mcp.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import type { Arrived } from "../support/mcp-http.ts";
import { seenAs, startedAs, taskServer } from "../support/mcp-tasks.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { aroundWrites } from "../support/writes.ts";

const WORK = ["mcp__own__work", {}] as const;
const RESULT = { content: [{ type: "text", text: "found" }] };

const COMPLETED = seenAs("newer", { status: "completed", result: RESULT });

const countOf = (arrived: readonly Arrived[], method: string): number => arrived.filter((each) => each.method === method).length;

/** A server of the newer generation whose task works until `finish`, and an agent whose call waits for it. */
async function waiting(options: TestAppOptions = {}) {
  let isDone = false;
  const { url, arrived } = await taskServer("newer", ({ method }) => {
    if (method !== "tasks/get") return null;
    return isDone ? COMPLETED : seenAs("newer", {});
  });
  const own = { url, transport: "http" } as const;
  const { app, client } = await appWith({ own }, WORK, { template: allowed("own"), ...options });
  const { id } = await client.createAgent();
  await client.send(id, "go");
  const waits = ofType(await client.until(id, "TOOL_WAITING"), "ToolWaiting");
  const callId = waits[0]?.call.callId ?? "";
  return { own, app, client, agentId: id, callId, arrived, finish: () => (isDone = true) };
}

const stateOf = async (client: TestClient, agentId: string) => (await client.agent(agentId)).toolCalls.nodes[0];

describe("a call that waits for a task", () => {
  it("says so, gives back its lease, and is completed by nobody else", async () => {
    const { app, client, agentId, callId, finish } = await waiting();
    const held = { name: "", text: "SELECT lease_owner FROM agent" };
    await expect.poll(() => app.database.sql.query(held, [])).toEqual([{ lease_owner: null }]);
    expect((await client.get(LaterCallDocument, { callId })).toolCall?.agent.waitingFor).toMatch(
      /^the result of mcp__own__work, until 20/,
    );
    const { completeToolCall } = await client.get(CompleteToolCallDocument, { input: { callId, result: "mine" } });
    expect(completeToolCall.userErrors).toMatchObject([{ code: "FORBIDDEN", message: expect.stringContaining("MCP server") }]);
    finish();
    await client.until(agentId, "DONE");
    expect(await stateOf(client, agentId)).toMatchObject({ state: "COMPLETED", output: "found" });
    const open = { name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" };
    expect(await app.database.sql.query(open, [])).toEqual([]);
  });

  it.each([
    [
      "interrupted",
      (client: TestClient, agentId: string) => client.get(InterruptAgentDocument, { input: { agentId } }),
      "SEALED",
    ],
    ["archived", (client: TestClient, agentId: string) => client.get(ArchiveAgentDocument, { input: { agentId } }), "SEALED"],
    [
      "cancelled",
      (client: TestClient, _agentId: string, callId: string) => client.get(CancelToolCallDocument, { input: { callId } }),
      "FAILED",
    ],
  ])("and is %s cancels the task once", async (_name, stop, state) => {
    const { client, agentId, callId, arrived, app } = await waiting();
    await stop(client, agentId, callId);
    await client.until(agentId, "DONE");
    expect(await stateOf(client, agentId)).toMatchObject({ state });
    await expect.poll(() => countOf(arrived, "tasks/cancel"), { timeout: 5_000 }).toBe(1);
    expect(arrived.find(({ method }) => method === "tasks/cancel")?.params["taskId"]).toBe("t-1");
    const open = { name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" };
    await expect.poll(() => app.database.sql.query(open, [])).toEqual([]);
    expect(countOf(arrived, "tools/call")).toBe(1);
  });

  it("longer than deferredTimeoutMs fails, and cancels the task", async () => {
    const { app, client, agentId, arrived } = await waiting();
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '25 hours'");
    await client.until(agentId, "DONE");
    expect(await stateOf(client, agentId)).toMatchObject({ state: "FAILED", error: { type: "TIMEOUT" } });
    await expect.poll(() => countOf(arrived, "tasks/cancel"), { timeout: 5_000 }).toBe(1);
  });

  it("is continued by another server of Triplane, and called once", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const { own, app, agentId, arrived, finish } = await waiting({ database });
    await app.close();
    finish();
    const folders = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const { client } = await appWith({ own }, WORK, { template: allowed("own"), database, config: folders });
    await client.until(agentId, "DONE");
    expect(await stateOf(client, agentId)).toMatchObject({ state: "COMPLETED", output: "found" });
    expect(countOf(arrived, "tools/call")).toBe(1);
    expect(countOf(arrived, "tasks/cancel")).toBe(0);
  });

  it.each([
    ["before the commit of its end", false],
    ["before it hears of the commit", true],
  ])("ends once if its server dies %s", async (_name, isCommitted) => {
    let died = 0;
    const { app, client, agentId, finish, arrived } = await waiting({
      expectsErrors: true,
      overrides: {
        mcpTimes: QUICK,
        sql: (sql) =>
          aroundWrites(sql, async ({ kinds }, write) => {
            if (!kinds.includes("TOOL_END") || died > 0) return write();
            died += 1;
            if (isCommitted) await write();
            throw new Error("the server dies here");
          }),
      },
    });
    finish();
    await expect.poll(() => died, { timeout: 5_000 }).toBe(1);
    // The claim of the dead server is over.
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '60 s'");
    const events = await client.until(agentId, "DONE");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["COMPLETED"]);
    expect(countOf(arrived, "tools/call")).toBe(1);
  });

  it("waits while its server is away", async () => {
    let isUp = true;
    let looks = 0;
    const { url } = await taskServer("newer", ({ method }) => {
      if (method === "tasks/get") looks += 1;
      if (!isUp) return (response) => response.writeHead(503).end();
      return method === "tasks/get" && looks > 1 ? COMPLETED : method === "tasks/get" ? seenAs("newer", {}) : null;
    });
    const { app, client } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "TOOL_WAITING");
    isUp = false;
    await expect.poll(() => looks, { timeout: 5_000 }).toBeGreaterThan(0);
    await expect.poll(() => app.services.of("local").mcpServers.get("own")?.state.kind).toBe("AWAY");
    expect(await stateOf(client, id)).toMatchObject({ state: "WAITING" });
    isUp = true;
    looks = 1;
    await client.until(id, "DONE");
    expect(await stateOf(client, id)).toMatchObject({ state: "COMPLETED", output: "found" });
  });
});

it("a question and a cancellation that fail are logged once each", async () => {
  const warned: string[] = [];
  const { url, arrived } = await taskServer("newer", ({ method, id }) => {
    if (method !== "tasks/get" && method !== "tasks/cancel") return null;
    const error = { code: -32_603, message: "no disk" };
    return (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  });
  const { client } = await appWith({ own: { url, transport: "http" } }, WORK, {
    template: allowed("own"),
    overrides: { mcpTimes: QUICK, logger: { ...silentLogger, warn: (message) => void warned.push(message) } },
  });
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await expect.poll(() => countOf(arrived, "tasks/get"), { timeout: 15_000 }).toBe(2);
  expect(await stateOf(client, id)).toMatchObject({ state: "WAITING" });
  await client.get(InterruptAgentDocument, { input: { agentId: id } });
  await expect
    .poll(() => warned.filter((each) => each.includes("no disk")), { timeout: 15_000 })
    .toEqual([
      expect.stringContaining("could not be asked for a task, and is asked again"),
      expect.stringContaining("could not be asked to cancel a task"),
    ]);
}, 40_000);

it("a task whose tool is not listed any more gives its result", async () => {
  let isListed = true;
  const { url, arrived } = await taskServer("newer", ({ method }) => {
    if (method === "tools/list" && !isListed)
      return { result: { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" } };
    return method !== "tasks/get" ? null : isListed ? seenAs("newer", {}) : COMPLETED;
  });
  const { app, client } = await appWith({ own: { url, transport: "http" } }, WORK, {
    template: allowed("own"),
    overrides: { mcpTimes: { ...QUICK, againMs: 50 } },
  });
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "TOOL_WAITING");
  await expect.poll(() => countOf(arrived, "tasks/get"), { timeout: 5_000 }).toBeGreaterThan(0);
  isListed = false;
  await expect.poll(() => app.services.of("local").tools.has("mcp__own__work")).toBe(false);
  await client.until(id, "DONE");
  expect(await stateOf(client, id)).toMatchObject({ state: "COMPLETED", output: "found" });
}, 20_000);

it("a server closes soon although an MCP server does not answer a cancellation", async () => {
  const { url, arrived } = await taskServer("newer", ({ method }) => {
    if (method === "tasks/cancel") return () => {};
    return method === "tasks/get" ? seenAs("newer", {}) : null;
  });
  const { app, client } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "TOOL_WAITING");
  await client.get(InterruptAgentDocument, { input: { agentId: id } });
  await expect.poll(() => countOf(arrived, "tasks/cancel"), { timeout: 10_000 }).toBe(1);
  const began = performance.now();
  await app.close();
  expect(performance.now() - began).toBeLessThan(10_000);
}, 40_000);

describe("tasks of the same id", () => {
  it("of two tenants' servers, and of two calls, give each call its own result", async () => {
    const served = async (text: string) => {
      const result = { content: [{ type: "text", text }] };
      const { url } = await taskServer("newer", ({ method }) =>
        method === "tasks/get" ? seenAs("newer", { status: "completed", result }) : null,
      );
      return { own: { url, transport: "http" } } as const;
    };
    const actors = [tokenActor("anna", ["user"], "acme"), tokenActor("otto", ["user"], "other")];
    const app = await startTestApp({
      model: playedModel((request) =>
        request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true
          ? says("Done.")
          : callsWith(WORK, WORK),
      ),
      template: allowed("own"),
      config: {
        actors: actors.map(({ actor }) => actor),
        tenants: { acme: { mcpServers: await served("of acme") }, other: { mcpServers: await served("of other") } },
      },
      overrides: { mcpTimes: QUICK },
    });
    for (const [who, tenant] of [
      ["anna", "acme"],
      ["otto", "other"],
    ] as const) {
      const client = connect(app.url, `${who}-token`);
      const { id } = await client.createAgent();
      await client.turn(id, "go");
      const { nodes } = (await client.agent(id)).toolCalls;
      expect(nodes.map(({ output }) => output)).toEqual([`of ${tenant}`, `of ${tenant}`]);
    }
  });
});

describe("a server that does not answer questions for tasks", () => {
  it("is asked for 8 at a time, and delays no other wait of the tenant", async () => {
    let open = 0;
    const { url } = await taskServer("newer", ({ method, params }) => {
      if (method === "tools/call") return startedAs("newer", { taskId: String(params["arguments"]) + String(Math.random()) });
      return method === "tasks/get" ? () => (open += 1) : null;
    });
    const { client, app } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    const agents = await Promise.all(Array.from({ length: 12 }, () => client.createAgent()));
    for (const { id } of agents) await client.send(id, "go");
    await Promise.all(agents.map(({ id }) => client.until(id, "TOOL_WAITING")));
    await expect.poll(() => open, { timeout: 10_000 }).toBe(8);
    // The others are not claimed again and again.
    const later = { name: "", text: "SELECT FROM wait WHERE kind = 'MCP_TASK' AND due > policy_time() + interval '10 s'" };
    await expect.poll(async () => (await app.database.sql.query(later, [])).length, { timeout: 20_000 }).toBe(12);
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '25 hours'");
    await Promise.all(agents.map(({ id }) => client.until(id, "DONE")));
    for (const { id } of agents) expect(await stateOf(client, id)).toMatchObject({ state: "FAILED", error: { type: "TIMEOUT" } });
  }, 60_000);
});

it.each(["tüsk/1", "a\nb: c", "x".repeat(1_000), "../../etc", " "])(
  "a task with the odd id %j is asked for by it",
  async (taskId) => {
    const { url, arrived } = await taskServer("newer", ({ method, params }) => {
      if (method === "tools/call") return startedAs("newer", { taskId });
      if (method !== "tasks/get") return null;
      return params["taskId"] === taskId ? COMPLETED : seenAs("newer", {});
    });
    const { client } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "found" });
    expect(countOf(arrived, "tasks/get")).toBe(1);
  },
);

describe("a task of the reference server of the registry", () => {
  it.each([
    [{ topic: "rivers" }, { state: "COMPLETED", output: expect.stringContaining("# Research Report: rivers") }],
    [
      { topic: "python", ambiguous: true },
      {
        state: "FAILED",
        error: { message: expect.stringMatching(/asks for input, which people.*Found multiple interpretations/) },
      },
    ],
  ])(
    "with the input %j ends the call",
    async (input, ended) => {
      const call = ["mcp__all__simulate-research-query", input] as const;
      const { client } = await appWith({ all: referenceServer("everything") }, call, { template: allowed("all") });
      expect(await answerOf(client)).toMatchObject(ended);
    },
    30_000,
  );
});
