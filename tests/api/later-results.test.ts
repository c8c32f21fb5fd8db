import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  CancelToolCallDocument,
  CompleteToolCallDocument,
  InterruptAgentDocument,
  LaterCallDocument,
  type CompleteToolCallInput,
} from "../generated/documents.ts";
import { later } from "../../src/agent/tools/later.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { Json } from "../../src/lib/json.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const PEOPLE = {
  anna: tokenActor("anna", ["user"]),
  ben: tokenActor("ben", ["user"]),
  vera: tokenActor("vera", ["viewer"]),
  paul: tokenActor("paul", ["approver"]),
  ada: tokenActor("ada", ["admin"]),
  zoe: tokenActor("zoe", ["admin"], "other"),
};
const QUEUE = tokenActor("queue", ["viewer"]);
const ACTORS = [
  ...Object.values(PEOPLE).map(({ actor }) => actor),
  { ...QUEUE.actor, kind: "SERVICE" as const },
  { ...tokenActor("stranger", ["viewer"]).actor, kind: "SERVICE" as const },
];

/** The tokens that the tools of a test were given, by their calls. */
type Tokens = Map<string, string>;

/** A tool that answers later, and hands its token out. */
function laterTool(name: string, tokens: Tokens, more: { dueMs?: number; outputSchema?: object; readOnly?: boolean } = {}): Tool {
  const { dueMs, outputSchema, readOnly = true } = more;
  return defineTool<Record<string, never>>({
    name,
    description: "Answers later.",
    readOnly,
    completedBy: ["queue"],
    inputSchema: { type: "object", required: [], properties: {} },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    run: (_input, context) => {
      tokens.set(context.callId, context.completionToken());
      return later(dueMs === undefined ? {} : { dueMs });
    },
  });
}

/** A server where anna's agent has made these calls, which wait. */
async function waitingOffice(
  names: readonly string[],
  {
    tools = [],
    template = {},
    ...options
  }: { tools?: readonly Tool[]; template?: Partial<TemplateConfig> } & TestAppOptions = {},
) {
  const tokens: Tokens = new Map();
  const model = playedModel(
    () => calls(...names),
    () => says("I have it."),
  );
  const own = tools.length > 0 ? tools : [laterTool("job", tokens)];
  const app = await startTestApp({ model, template, config: { tools: [...own], actors: ACTORS }, ...options });
  const as = (person: keyof typeof PEOPLE): TestClient => connect(app.url, PEOPLE[person].token);
  const anna = as("anna");
  const agent = await anna.createAgent();
  await anna.send(agent.id, "go");
  return { app, as, anna, agent, tokens, model };
}

/** The ids of the agent's calls that wait, once there are so many. */
async function waitingCalls(client: TestClient, agentId: string, count: number): Promise<readonly string[]> {
  let ids: readonly string[] = [];
  await expect
    .poll(async () => {
      ids = ofType(await client.events(agentId), "ToolWaiting").map(({ call }) => call.callId);
      return ids.length;
    })
    .toBe(count);
  return ids;
}

const complete = async (client: TestClient, input: CompleteToolCallInput) =>
  (await client.get(CompleteToolCallDocument, { input })).completeToolCall;
const callOf = async (client: TestClient, callId: string) => (await client.get(LaterCallDocument, { callId })).toolCall;

const openWaits = (sql: Sql) => sql.query({ name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" }, []);

/** Gives a result as a program does that has the token of the call. */
async function post(url: string, token: string | null, body: unknown, init: RequestInit = {}) {
  const response = await fetch(new URL("/tool-calls/result", url), {
    method: "POST",
    headers: { "content-type": "application/json", ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
  return {
    status: response.status,
    body: (await response.json()) as { callId?: string; error?: { code: string; message: string } },
  };
}

describe("a tool that answers later", () => {
  it("gives back its place and the lease: the call is WAITING, and its result continues the turn", async () => {
    const { app, anna, agent, model } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await expect.poll(async () => (await callOf(anna, callId))?.agent.state).toBe("PAUSED");
    const call = await callOf(anna, callId);
    expect(call).toMatchObject({
      state: "WAITING",
      output: null,
      dueAt: expect.any(String),
      agent: { breakpoint: "TOOL_EXECUTING" },
    });
    expect(call?.agent.waitingFor).toMatch(/^the result of job, until 20/);
    expect(Date.parse(String(call?.dueAt)) - Date.now()).toBeGreaterThan(23 * 60 * 60 * 1_000);
    const lease = { name: "", text: "SELECT lease_owner AS owner, runnable_at AS runnable FROM agent" };
    expect(await app.services.sql.query(lease, [])).toEqual([{ owner: null, runnable: null }]);
    expect(await complete(anna, { callId, result: { rows: 3 } })).toMatchObject({
      toolCall: { state: "COMPLETED", details: { rows: 3 } },
      userErrors: [],
    });
    const events = await anna.until(agent.id, "DONE");
    expect(textOf(events)).toBe("I have it.");
    expect(events.map(({ kind }) => kind).filter((kind) => kind.startsWith("TOOL_"))).toEqual([
      "TOOL_START",
      "TOOL_WAITING",
      "TOOL_END",
      "TOOL_EXECUTED",
    ]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain(String.raw`\"rows\": 3`);
    expect(await callOf(anna, callId)).toMatchObject({
      dueAt: null,
      auditTrail: [
        { state: "PENDING" },
        { state: "EXECUTING" },
        { state: "WAITING" },
        { state: "COMPLETED", by: { actorId: "anna" } },
      ],
    });
  });

  it.each([[null], [false], [0], [""], [[]], [{}], ["text"], [{ output: 1, details: { a: [null] } }]] satisfies [Json][])(
    "takes %j for a result, and an absent one for none",
    async (result) => {
      const { anna, agent } = await waitingOffice(["job"]);
      const [callId = ""] = await waitingCalls(anna, agent.id, 1);
      expect((await complete(anna, { callId })).userErrors).toMatchObject([{ code: "INVALID", field: ["result"] }]);
      expect((await complete(anna, { callId, result, error: "both" })).userErrors).toMatchObject(
        result === null ? [] : [{ code: "INVALID" }],
      );
      if (result !== null) expect((await complete(anna, { callId, result })).userErrors).toEqual([]);
      const call = await callOf(anna, callId);
      if (result === null) expect(call).toMatchObject({ state: "FAILED" });
      else if (typeof result === "string") expect(call).toMatchObject({ state: "COMPLETED", output: result, details: null });
      else expect(call).toMatchObject({ state: "COMPLETED", details: result });
    },
  );

  it("fails with the words of an error, and a turn goes on with them", async () => {
    const { anna, agent, model } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    expect((await complete(anna, { callId, error: "the queue\0 is full" })).toolCall).toMatchObject({ state: "FAILED" });
    await anna.until(agent.id, "DONE");
    expect(await callOf(anna, callId)).toMatchObject({ isError: true, error: { type: "EXECUTION_FAILED", stage: "EXECUTION" } });
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain("The tool failed: the queue");
  });

  it("fails with `timeout` when its time is up, and a result that comes after is told the final state", async () => {
    const clock = movableClock();
    const { app, anna, agent, tokens } = await waitingOffice(["job"], { overrides: { clock } });
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await clock.passHours(25, [app.services]);
    await anna.until(agent.id, "DONE");
    expect(await callOf(anna, callId)).toMatchObject({
      state: "FAILED",
      output: "No result came within 86400000 ms. It only reads: nothing has changed.",
      error: { type: "TIMEOUT" },
      details: { afterMs: 24 * 60 * 60 * 1_000 },
      dueAt: null,
    });
    expect(await complete(anna, { callId, result: 1 })).toMatchObject({
      toolCall: null,
      userErrors: [{ code: "CALL_ENDED", message: expect.stringContaining("FAILED") }],
    });
    expect(await post(app.url, tokens.get(callId) ?? "", { result: 1 })).toMatchObject({
      status: 409,
      body: { error: { code: "CALL_ENDED" } },
    });
  });

  it("has the time that it asks for, a part of a second as well as 30 days, which is not over at once", async () => {
    const tokens: Tokens = new Map();
    const tools = [
      laterTool("soon", tokens, { dueMs: 150, readOnly: false }),
      laterTool("month", tokens, { dueMs: 30 * 24 * 60 * 60 * 1_000 }),
    ];
    const { anna, agent } = await waitingOffice(["soon", "month"], {
      tools,
      template: { permission: { mode: "auto" } },
    });
    await waitingCalls(anna, agent.id, 2);
    const names = new Map(ofType(await anna.events(agent.id), "ToolWaiting").map(({ call }) => [call.name, call.callId]));
    const [month = "", soon = ""] = [names.get("month"), names.get("soon")];
    await expect.poll(async () => (await callOf(anna, soon))?.state).toBe("FAILED");
    expect((await callOf(anna, soon))?.output).toBe(
      "No result came within 150 ms. Its effects are unknown: check before you repeat it.",
    );
    expect((await callOf(anna, month))?.state).toBe("WAITING");
  });

  it.each([[0], [-1], [Number.NaN], [Infinity], [30 * 24 * 60 * 60 * 1_000 + 1]])("refuses %s ms as a time", (dueMs) => {
    expect(() => later({ dueMs })).toThrow(/dueMs must be/);
  });

  it("passes reads behind it, holds changes back, and the results join in source order, in whatever order they come", async () => {
    const tokens: Tokens = new Map();
    const order: string[] = [];
    const said = (what: string): string => `${what} number ${order.push(what)}`;
    const tools = [
      laterTool("one", tokens, { readOnly: false }),
      laterTool("two", tokens),
      ownTool("read", () => said("read")),
      ownTool("change", () => said("change"), false),
    ];
    const template = { permission: { mode: "auto" as const } };
    const { anna, agent, model } = await waitingOffice(["one", "two", "read", "change"], { tools, template });
    const [one = "", two = ""] = await waitingCalls(anna, agent.id, 2);
    await expect.poll(() => order).toEqual(["read"]);
    expect((await complete(anna, { callId: two, result: "second" })).userErrors).toEqual([]);
    expect(order).toEqual(["read"]);
    expect((await complete(anna, { callId: one, result: "first" })).userErrors).toEqual([]);
    await anna.until(agent.id, "DONE");
    expect(order).toEqual(["read", "change"]);
    const texts = JSON.stringify(model.calls[1]?.request.messages);
    const places = ["first", "second", "read number 1", "change number 2"].map((text) => texts.indexOf(`"${text}"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it("ends by a cancellation, and the turn goes on", async () => {
    const { app, anna, agent } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await anna.get(CancelToolCallDocument, { input: { callId, note: "too slow" } });
    const events = await anna.until(agent.id, "DONE");
    expect(textOf(events)).toBe("I have it.");
    expect(await callOf(anna, callId)).toMatchObject({ state: "FAILED", error: { type: "ABORTED", stage: "EXECUTION" } });
    expect(await openWaits(app.services.sql)).toEqual([]);
  });

  it("ends with an agent that is archived while it only waits: the call is sealed, and its question closed", async () => {
    const tokens: Tokens = new Map();
    const ask = ownTool("ask", () => "never", false);
    const { app, anna, agent } = await waitingOffice(["job", "ask"], { tools: [laterTool("job", tokens), ask] });
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await anna.until(agent.id, "PERMISSION_REQUIRED");
    await expect
      .poll(async () => (await callOf(anna, callId))?.agent.waitingFor)
      .toMatch(/^a person to decide on ask, and the result of job, until/);
    await anna.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    const events = await anna.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["SEALED", "SEALED"]);
    expect(ofType(events, "PermissionClosed")).toMatchObject([
      { approvalState: "SEALED", note: "the agent was archived while it waited" },
    ]);
    expect(await openWaits(app.services.sql)).toEqual([]);
  });

  it("is sealed by an interrupt; a result that comes after is refused", async () => {
    const { app, anna, agent, tokens } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await anna.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "stop" } });
    await anna.until(agent.id, "DONE");
    expect(await callOf(anna, callId)).toMatchObject({ state: "SEALED", details: { data: { status: "WAITING" } } });
    expect(await post(app.url, tokens.get(callId) ?? "", { result: 1 })).toMatchObject({ status: 409 });
    expect(await openWaits(app.services.sql)).toEqual([]);
  });
});

describe("completeToolCall", () => {
  it("is for who asked, an administrator, and a service that the tool names; others are refused, or see no such call", async () => {
    const { app, as, anna, agent } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const codes = async (client: TestClient) =>
      (await complete(client, { callId, result: 1 })).userErrors.map(({ code }) => code);
    expect(await codes(as("paul"))).toEqual(["FORBIDDEN"]);
    expect(await codes(as("vera"))).toEqual(["FORBIDDEN"]);
    expect(await codes(as("ben"))).toEqual(["NOT_FOUND"]);
    expect(await codes(as("zoe"))).toEqual(["NOT_FOUND"]);
    expect(await codes(connect(app.url, "stranger-token"))).toEqual(["FORBIDDEN"]);
    expect((await callOf(anna, callId))?.state).toBe("WAITING");
    expect(await codes(connect(app.url, QUEUE.token))).toEqual([]);
    expect(await callOf(anna, callId)).toMatchObject({
      state: "COMPLETED",
      auditTrail: [{}, {}, {}, { by: { actorId: "queue", kind: "SERVICE" } }],
    });
    expect((await complete(as("ada"), { callId: "nonsense", result: 1 })).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
  });

  it("answers the same key and input the same, another one with the final state; a wrong form burns no key", async () => {
    const tokens: Tokens = new Map();
    const outputSchema = {
      type: "object",
      required: ["rows"],
      properties: { rows: { type: "integer" }, names: { type: "array", items: { type: "string" } } },
    };
    const { anna, as, agent } = await waitingOffice(["job"], { tools: [laterTool("job", tokens, { outputSchema })] });
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const wrong = await complete(anna, { callId, result: { rows: "3", names: ["a", 1] }, idempotencyKey: "k" });
    expect(wrong.userErrors).toMatchObject([
      { code: "INVALID", field: ["result", "rows"], message: expect.stringContaining("/rows") },
      { code: "INVALID", field: ["result", "names", "1"], message: expect.stringContaining("/names/1") },
    ]);
    expect((await callOf(anna, callId))?.state).toBe("WAITING");
    const result = { rows: 3, more: true };
    const first = await complete(anna, { callId, result, idempotencyKey: "k" });
    expect(first.userErrors).toEqual([]);
    const { toolCall, userErrors } = first;
    expect(await complete(anna, { callId, result, idempotencyKey: "k" })).toMatchObject({ toolCall, userErrors });
    expect((await complete(anna, { callId, result: { rows: 4 }, idempotencyKey: "k" })).userErrors).toMatchObject([
      { code: "IDEMPOTENCY_KEY_REUSED" },
    ]);
    expect((await complete(anna, { callId, result, idempotencyKey: "other" })).userErrors).toMatchObject([
      { code: "CALL_ENDED" },
    ]);
    expect((await complete(as("ada"), { callId, result })).userErrors).toMatchObject([{ code: "CALL_ENDED" }]);
  });

  it("takes 1 MB and no byte more, counted in UTF-8", async () => {
    const { anna, agent } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const most = "ä".repeat(512 * 1024 - 1);
    expect((await complete(anna, { callId, result: `${most}a` })).userErrors).toMatchObject([
      { code: "TOO_LARGE", field: ["result"] },
    ]);
    expect((await complete(anna, { callId, result: most })).userErrors).toEqual([]);
  });

  it("of a hundred answers at once one counts, and the turn goes on once", async () => {
    const { anna, agent } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const all = await Promise.all(Array.from({ length: 100 }, async (_, n) => complete(anna, { callId, result: n })));
    expect(all.filter(({ userErrors }) => userErrors.length === 0)).toHaveLength(1);
    expect(new Set(all.flatMap(({ userErrors }) => userErrors.map(({ code }) => code)))).toEqual(new Set(["CALL_ENDED"]));
    const events = await anna.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toHaveLength(1);
  });

  it("refuses a call that does not wait, and waits for one whose tool is about to answer", async () => {
    const release = Promise.withResolvers<void>();
    const running = Promise.withResolvers<string>();
    const slow = ownTool("slow", async (_input, { callId }) => {
      running.resolve(callId);
      await release.promise;
      return later();
    });
    const { anna, agent } = await waitingOffice(["slow"], { tools: [slow] });
    const callId = await running.promise;
    const early = complete(anna, { callId, result: "early" });
    await delay(100);
    release.resolve();
    expect((await early).userErrors).toEqual([]);
    await anna.until(agent.id, "DONE");
    expect(await callOf(anna, callId)).toMatchObject({ state: "COMPLETED", output: "early" });
  });

  it("shows the result to postToolUse hooks: one that redacts does, one that withholds and fails withholds", async () => {
    const redact = (_call: unknown, outcome: { output: string }) => ({
      replace: { output: outcome.output.replaceAll("SECRET", "***"), details: null },
    });
    const { anna, agent, model } = await waitingOffice(["job"], { template: { hooks: { postToolUse: [redact] } } });
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    await complete(anna, { callId, result: "the SECRET" });
    await anna.until(agent.id, "DONE");
    expect(await callOf(anna, callId)).toMatchObject({ output: "the ***" });
    expect(JSON.stringify([model.calls[1]?.request.messages, await anna.events(agent.id)])).not.toContain("SECRET");
  });
});

describe("POST /tool-calls/result", () => {
  it("takes the result of the call whose token it has, and of no other", async () => {
    const { app, anna, agent, tokens } = await waitingOffice(["job", "job"]);
    const [first = "", second = ""] = await waitingCalls(anna, agent.id, 2);
    const token = tokens.get(first) ?? "";
    expect(await post(app.url, token, { result: { ok: true }, idempotencyKey: "k" })).toEqual({
      status: 200,
      body: { callId: first },
    });
    expect(await post(app.url, token, { result: { ok: true }, idempotencyKey: "k" })).toEqual({
      status: 200,
      body: { callId: first },
    });
    expect(await post(app.url, token, { result: { ok: false } })).toMatchObject({
      status: 409,
      body: { error: { code: "CALL_ENDED" } },
    });
    expect(await callOf(anna, second)).toMatchObject({ state: "WAITING" });
    expect(await callOf(anna, first)).toMatchObject({
      state: "COMPLETED",
      auditTrail: [{}, {}, {}, { by: { actorId: `call:${first}`, kind: "SERVICE" } }],
    });
  });

  it("answers a text that is no token with 401, whatever it is, and nothing changes", async () => {
    const { app, anna, agent, tokens } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const token = tokens.get(callId) ?? "";
    const [claim = "", signature = ""] = token.slice("tpcall_".length).split(".");
    const forged = Buffer.from(JSON.stringify(["acme", "another"])).toString("base64url");
    const texts = [
      null,
      "",
      "x",
      "tpcall_",
      "tpcall_.",
      `tpcall_${claim}`,
      `tpcall_${claim}.`,
      `tpcall_${claim}.${signature}x`,
      `tpcall_${claim}.${signature}.${signature}`,
      `tpcall_${forged}.${signature}`,
      `${claim}.${signature}`,
      token.toUpperCase(),
      "anna-token",
      "tpcall_".padEnd(10_000, "a"),
    ];
    for (const text of texts) expect((await post(app.url, text, { result: 1 })).status, String(text)).toBe(401);
    expect(await callOf(anna, callId)).toMatchObject({ state: "WAITING" });
  });

  it("answers a body that gives no result with advice, and the call still waits", async () => {
    const { app, anna, agent, tokens } = await waitingOffice(["job"]);
    const [callId = ""] = await waitingCalls(anna, agent.id, 1);
    const token = tokens.get(callId) ?? "";
    const bodies = [
      "",
      "{",
      "null",
      "[]",
      "3",
      '"text"',
      {},
      { output: "x" },
      { result: 1, error: "both" },
      { error: 3 },
      { error: null },
      { result: 1, idempotencyKey: 3 },
      { result: 1, idempotencyKey: "" },
    ];
    for (const body of bodies) {
      const answer = await post(app.url, token, body);
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(answer.body.error?.message, JSON.stringify(body)).toMatch(/result|idempotencyKey|key/);
    }
    expect((await post(app.url, token, { result: "x".repeat(2 * 1024 * 1024) })).status).toBe(413);
    const authorization = `Bearer ${token}`;
    expect((await post(app.url, token, { result: 1 }, { headers: { authorization, "content-type": "text/plain" } })).status).toBe(
      415,
    );
    expect(
      (
        await post(
          app.url,
          token,
          { result: 1 },
          { headers: { authorization, "content-type": "application/json", "content-encoding": "gzip" } },
        )
      ).status,
    ).toBe(415);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const init = { method, headers: { authorization }, ...(method === "GET" ? { body: null } : {}) };
      expect((await post(app.url, token, "{}", init)).status, method).toBe(405);
    }
    expect(await callOf(anna, callId)).toMatchObject({ state: "WAITING" });
  });
});
