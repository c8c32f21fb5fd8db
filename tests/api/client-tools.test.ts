import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  CancelToolCallDocument,
  CompleteToolCallDocument,
  ExplainPermissionDocument,
  ForkAgentDocument,
  InterruptAgentDocument,
  LaterCallDocument,
  MayCompleteDocument,
  TemplateToolsDocument,
  ToolCallStatsDocument,
  WaitingCallsDocument,
  type CompleteToolCallInput,
} from "../generated/documents.ts";
import { Type, type TemplateConfig } from "../../src/triplane.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

const PEOPLE = {
  anna: tokenActor("anna", ["user"]),
  ben: tokenActor("ben", ["user"]),
  vera: tokenActor("vera", ["viewer"]),
  paul: tokenActor("paul", ["approver"]),
  ada: tokenActor("ada", ["admin"]),
  zoe: tokenActor("zoe", ["admin"], "other"),
};

const ASK_USER = {
  description: "Asks the person a question.",
  inputSchema: Type.Object({ question: Type.String({ minLength: 1 }), options: Type.Optional(Type.Array(Type.String())) }),
  outputSchema: {
    type: "object",
    required: ["answer"],
    additionalProperties: false,
    properties: { answer: { type: "string", minLength: 1 } },
  },
  readOnly: true,
} as const;

type Call = readonly [name: string, input: object];
const ask = (question: string): Call => ["ask_user", { question }];

/** A server where anna's agent has made these calls. */
async function office(
  made: readonly Call[],
  { template = {}, ...options }: { template?: Partial<TemplateConfig> } & TestAppOptions = {},
) {
  const model = playedModel(
    () => callsWith(...made),
    () => says("I have it."),
  );
  const app = await startTestApp({
    model,
    template: { clientTools: { ask_user: ASK_USER }, ...template },
    config: { actors: Object.values(PEOPLE).map(({ actor }) => actor) },
    ...options,
  });
  const as = (person: keyof typeof PEOPLE): TestClient => connect(app.url, PEOPLE[person].token);
  const anna = as("anna");
  const agent = await anna.createAgent();
  await anna.send(agent.id, "go");
  return { app, as, anna, agent, model };
}

/** The agent, and its calls that wait, in the order of their questions. */
async function waitingIn(client: TestClient, agentId: string) {
  const { agent, toolCalls } = await client.get(WaitingCallsDocument, { agentId });
  const waiting = toolCalls.nodes.toSorted((one, other) => JSON.stringify(one.input).localeCompare(JSON.stringify(other.input)));
  return { agent, waiting };
}

/** The agent's client calls, once so many wait. */
async function waitingCalls(client: TestClient, agentId: string, count: number) {
  const read = async () => (await waitingIn(client, agentId)).waiting;
  await expect.poll(async () => (await read()).length).toBe(count);
  return read();
}

const complete = async (client: TestClient, input: CompleteToolCallInput) =>
  (await client.get(CompleteToolCallDocument, { input })).completeToolCall;
const codesOf = async (client: TestClient, input: CompleteToolCallInput) =>
  (await complete(client, input)).userErrors.map(({ code }) => code);
const callOf = async (client: TestClient, callId: string) => (await client.get(LaterCallDocument, { callId })).toolCall;

describe("a client tool", () => {
  it("hands the call out with its whole input, and continues the turn with the answer of a subscriber", async () => {
    const question = `Which colour? ${"x".repeat(1_000)}`;
    const { anna, agent, model } = await office([ask(question)]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    const callId = call?.callId ?? "";
    expect(call).toMatchObject({ name: "ask_user", input: { question }, waitsFor: "CLIENT_TOOL" });
    const [waiting] = ofType(await anna.events(agent.id), "ToolWaiting");
    expect(waiting).toMatchObject({ waitsFor: "CLIENT_TOOL", toolCall: { input: { question } }, call: { state: "WAITING" } });
    expect((await waitingIn(anna, agent.id)).agent?.waitingFor).toMatch(/^the answer of a client to ask_user, until 20/);
    expect(await callOf(anna, callId)).toMatchObject({ agent: { state: "PAUSED", breakpoint: "TOOL_EXECUTING" } });
    expect(await codesOf(anna, { callId, result: { answer: "blue" } })).toEqual([]);
    expect(textOf(await anna.until(agent.id, "DONE"))).toBe("I have it.");
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain(String.raw`\"answer\": \"blue\"`);
    expect(await callOf(anna, callId)).toMatchObject({
      state: "COMPLETED",
      details: { answer: "blue" },
      waitsFor: null,
      dueAt: null,
      auditTrail: [{ state: "PENDING" }, { state: "EXECUTING" }, { state: "WAITING" }, { by: { actorId: "anna" } }],
    });
    expect((await waitingIn(anna, agent.id)).waiting).toEqual([]);
  });

  it("is open to a client that comes later, and still open after it was looked at", async () => {
    const { as, anna, agent } = await office([ask("one?"), ask("two?")]);
    await waitingCalls(anna, agent.id, 2);
    for (const reader of [anna, as("anna"), as("vera")]) {
      const { agent: seen, waiting } = await waitingIn(reader, agent.id);
      expect(waiting.map(({ input }) => input)).toEqual([{ question: "one?" }, { question: "two?" }]);
      expect(seen?.toolCalls.nodes).toMatchObject(waiting.map(() => ({ state: "WAITING", waitsFor: "CLIENT_TOOL" })));
    }
    expect(ofType(await anna.events(agent.id), "ToolEnd")).toEqual([]);
  });

  it.each([
    ["missing", {}],
    ["null", { result: null }],
    ["a list", { result: ["blue"] }],
    ["of a wrong type", { result: { answer: 1 } }],
    ["empty", { result: { answer: "" } }],
    ["without its field", { result: {} }],
    ["with an unknown field", { result: { answer: "blue", more: true } }],
    ["a result and an error", { result: { answer: "blue" }, error: "no" }],
    ["too large", { result: { answer: "x".repeat(1024 * 1024) } }],
  ])("leaves the call waiting for a result that is %s", async (_what, given) => {
    const { anna, agent, model } = await office([ask("Which?")]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    const callId = call?.callId ?? "";
    const codes = await codesOf(anna, { callId, ...given });
    expect(codes).toHaveLength(1);
    expect(["INVALID", "TOO_LARGE"]).toContain(codes[0]);
    expect(await callOf(anna, callId)).toMatchObject({ state: "WAITING", waitsFor: "CLIENT_TOOL" });
    expect(model.calls).toHaveLength(1);
    expect(await codesOf(anna, { callId, result: { answer: "blue" } })).toEqual([]);
    await anna.until(agent.id, "DONE");
  });

  it("says each wrong place of a result", async () => {
    const { anna, agent } = await office([ask("Which?")]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    const { userErrors } = await complete(anna, { callId: call?.callId ?? "", result: { answer: 1, more: true } });
    expect(new Set(userErrors.map(({ field }) => field?.join("/")))).toEqual(new Set(["result", "result/answer"]));
    expect(userErrors.map(({ message }) => message)).toContain("/result/answer: must be string; received 1");
  });

  it.each([
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ])("keeps each answer of three calls in one message, answered in the order %i %i %i", async (...order) => {
    const { anna, agent, model } = await office([ask("0?"), ask("1?"), ask("2?")]);
    const waiting = await waitingCalls(anna, agent.id, 3);
    for (const [nth, place] of order.entries()) {
      expect(model.calls).toHaveLength(1);
      const callId = waiting[place]?.callId ?? "";
      expect(await codesOf(anna, { callId, result: { answer: `answer ${place}` } })).toEqual([]);
      expect((await waitingIn(anna, agent.id)).waiting).toHaveLength(2 - nth);
    }
    const events = await anna.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
    const told = JSON.stringify(model.calls[1]?.request.messages);
    const places = [0, 1, 2].map((place) => told.indexOf(`answer ${place}`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(model.calls).toHaveLength(2);
  });

  it("takes the answer of one of two tabs, and tells both: one by the answer, the other by CALL_ENDED and TOOL_END", async () => {
    const { anna, agent } = await office([ask("Which?")]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    const callId = call?.callId ?? "";
    const tabs = ["red", "blue"].map((answer) => complete(anna, { callId, result: { answer }, idempotencyKey: answer }));
    const codes = (await Promise.all(tabs)).map(({ userErrors }) => userErrors.map(({ code }) => code).join(","));
    expect(codes.toSorted()).toEqual(["", "CALL_ENDED"]);
    const events = await anna.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toHaveLength(1);
    const won = codes[0] === "" ? "red" : "blue";
    expect(await callOf(anna, callId)).toMatchObject({ details: { answer: won } });
    expect(await codesOf(anna, { callId, result: { answer: won }, idempotencyKey: won })).toEqual([]);
  });

  it("refuses an answer after an interrupt, a cancellation, and its deadline", async () => {
    const clock = movableClock();
    const ends = {
      SEALED: async ({ anna, agent }: Awaited<ReturnType<typeof office>>) =>
        anna.get(InterruptAgentDocument, { input: { agentId: agent.id } }),
      FAILED: async ({ anna }: Awaited<ReturnType<typeof office>>, callId: string) =>
        anna.get(CancelToolCallDocument, { input: { callId } }),
      TIMEOUT: async ({ app }: Awaited<ReturnType<typeof office>>) => clock.passHours(2, [app.services]),
    };
    const template = { clientTools: { ask_user: { ...ASK_USER, dueMs: 60 * 60 * 1_000 } } };
    for (const [end, make] of Object.entries(ends)) {
      const world = await office([ask("Which?")], { template, overrides: { clock } });
      const [call] = await waitingCalls(world.anna, world.agent.id, 1);
      const callId = call?.callId ?? "";
      await make(world, callId);
      await world.anna.until(world.agent.id, "DONE");
      expect(await codesOf(world.anna, { callId, result: { answer: "late" } }), end).toEqual(["CALL_ENDED"]);
      expect(await callOf(world.anna, callId)).toMatchObject({ state: end === "TIMEOUT" ? "FAILED" : end, dueAt: null });
    }
  });

  it("is answered by who asked and administrators alone: a viewer may watch, another tenant sees no call", async () => {
    const { as, anna, agent } = await office([ask("Which?")]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    const callId = call?.callId ?? "";
    const input = { callId, result: { answer: "blue" } };
    expect(ofType(await as("vera").events(agent.id), "ToolWaiting")).toHaveLength(1);
    const mayOf = async (person: keyof typeof PEOPLE) => (await as(person).get(MayCompleteDocument, { callId })).toolCall;
    for (const person of ["anna", "ada"] as const)
      expect(await mayOf(person)).toEqual({
        viewerCannotCompleteReason: null,
        tool: { outputSchema: ASK_USER.outputSchema },
      });
    for (const person of ["vera", "paul"] as const)
      expect(await mayOf(person)).toMatchObject({ viewerCannotCompleteReason: "NO_RIGHT" });
    expect(await mayOf("ben")).toBeNull();
    expect(await codesOf(as("vera"), input)).toEqual(["FORBIDDEN"]);
    expect(await codesOf(as("paul"), input)).toEqual(["FORBIDDEN"]);
    expect(await codesOf(as("ben"), input)).toEqual(["NOT_FOUND"]);
    expect(await codesOf(as("zoe"), input)).toEqual(["NOT_FOUND"]);
    expect(await waitingIn(as("zoe"), agent.id)).toEqual({ agent: null, waiting: [] });
    expect(await callOf(anna, callId)).toMatchObject({ state: "WAITING" });
    expect(await codesOf(as("ada"), input)).toEqual([]);
    expect(await mayOf("anna")).toMatchObject({ viewerCannotCompleteReason: "NOT_WAITING" });
  });

  it("is handed out only after the gate: a person is asked first, and a denied or invalid call is never handed out", async () => {
    const template = { clientTools: { ask_user: { ...ASK_USER, readOnly: false } } };
    const { as, anna, agent } = await office([ask("one?"), ask("two?"), ["ask_user", { question: "" }]], { template });
    const asked = async () => ofType(await anna.events(agent.id), "PermissionRequired").map(({ request }) => request);
    await expect.poll(async () => (await asked()).length).toBe(2);
    expect((await waitingIn(anna, agent.id)).waiting).toEqual([]);
    const [first, second] = await asked();
    const decide = async (request: typeof first, decision: "ALLOW" | "DENY") =>
      as("paul").decide({ approvalId: request?.approvalId ?? "", decision, inputHash: request?.inputHash ?? null });
    expect((await decide(first, "DENY")).userErrors).toEqual([]);
    expect((await decide(second, "ALLOW")).userErrors).toEqual([]);
    const [call] = await waitingCalls(anna, agent.id, 1);
    expect(call?.input).toEqual({ question: "two?" });
    expect(ofType(await anna.events(agent.id), "ToolWaiting")).toHaveLength(1);
    expect(await codesOf(anna, { callId: call?.callId ?? "", result: { answer: "yes" } })).toEqual([]);
    const events = await anna.until(agent.id, "DONE");
    expect(
      ofType(events, "ToolEnd")
        .map(({ call: { state } }) => state)
        .toSorted(),
    ).toEqual(["COMPLETED", "DENIED", "FAILED"]);
  });

  it("obeys deny rules and hooks, whose answers replace those of clients", async () => {
    const denied = await office([ask("Which?")], {
      template: { permission: { deny: ["ask_user(question:Which*)"] } },
    });
    await denied.anna.until(denied.agent.id, "DONE");
    expect(ofType(await denied.anna.events(denied.agent.id), "ToolWaiting")).toEqual([]);
    const hidden = await office([ask("Which?")], {
      template: { hooks: { postToolUse: () => ({ replace: { output: "hidden", details: null } }) } },
    });
    const [call] = await waitingCalls(hidden.anna, hidden.agent.id, 1);
    await complete(hidden.anna, { callId: call?.callId ?? "", result: { answer: "secret" } });
    await hidden.anna.until(hidden.agent.id, "DONE");
    expect(JSON.stringify(hidden.model.calls[1]?.request.messages)).not.toContain("secret");
    const edited = await office([ask("Which?")], {
      template: { hooks: { preToolUse: () => ({ input: { question: "Which one?" } }) } },
    });
    const [other] = await waitingCalls(edited.anna, edited.agent.id, 1);
    expect(other?.input).toEqual({ question: "Which one?" });
  });

  it("is explained, counted, forked around and archived as any tool", async () => {
    const { as, anna, agent } = await office([ask("Which?")]);
    const explained = await anna.get(ExplainPermissionDocument, {
      agentId: agent.id,
      tool: "ask_user",
      input: { question: "x" },
    });
    expect(explained.explainPermission.explanation).toMatchObject({ verdict: "ALLOW" });
    const wrong = await anna.get(ExplainPermissionDocument, { agentId: agent.id, tool: "ask_user", input: {} });
    expect(wrong.explainPermission.problems).toHaveLength(1);
    await waitingCalls(anna, agent.id, 1);
    const { toolCallStats } = await as("ada").get(ToolCallStatsDocument, { filter: { tools: ["ask_user"] } });
    expect(toolCallStats.tools).toMatchObject([{ tool: "ask_user", calls: 1, executed: 1 }]);
    const { forkAgent } = await anna.get(ForkAgentDocument, { input: { agentId: agent.id } });
    expect((await waitingIn(anna, forkAgent.agent?.id ?? "")).waiting).toEqual([]);
    const [call] = (await waitingIn(anna, agent.id)).waiting;
    await anna.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    await anna.until(agent.id, "DONE");
    expect(await codesOf(anna, { callId: call?.callId ?? "", result: { answer: "x" } })).toEqual(["CALL_ENDED"]);
    const sealed = await callOf(anna, call?.callId ?? "");
    expect(sealed).toMatchObject({ state: "SEALED", details: { error: expect.stringContaining("It only reads") } });
    expect(sealed?.output).not.toContain("unknown");
  });

  it("waits on, if a server has another configuration, until one with the tool takes the answer", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const { anna, agent } = await office([ask("Which?")], { database });
    const [call] = await waitingCalls(anna, agent.id, 1);
    const input = { callId: call?.callId ?? "", result: { answer: "blue" } };
    const other = await startTestApp({ database, config: { actors: Object.values(PEOPLE).map(({ actor }) => actor) } });
    expect(await codesOf(connect(other.url, PEOPLE.anna.token), input)).toEqual(["UNAVAILABLE"]);
    expect(await codesOf(anna, input)).toEqual([]);
    await anna.until(agent.id, "DONE");
  });

  it("belongs to the agents of the templates that declare it, with `tools` omitted or naming others", async () => {
    const { as, anna } = await office([ask("Which?")], {
      config: {
        actors: Object.values(PEOPLE).map(({ actor }) => actor),
        templates: {
          assistant: { model: "test", systemPrompt: "", tools: ["fs_read"], clientTools: { ask_user: ASK_USER } },
          all: { model: "test", systemPrompt: "", clientTools: { ask_user: ASK_USER } },
          plain: { model: "test", systemPrompt: "" },
        },
      },
    });
    const { templates } = await as("ada").get(TemplateToolsDocument, {});
    const tools = new Map(templates.map(({ templateId, tools: own }) => [templateId, own.map(({ name }) => name)]));
    expect(tools.get("assistant")).toEqual(["fs_read", "ask_user"]);
    expect(tools.get("all")).toEqual(expect.arrayContaining(["fs_write", "ask_user"]));
    expect(tools.get("plain")).not.toContain("ask_user");
    const source = templates.find(({ templateId }) => templateId === "all")?.tools.find(({ name }) => name === "ask_user");
    expect(source).toMatchObject({ source: "CLIENT", isReadOnly: true });
    const agent = await anna.createAgent({ templateId: "plain" });
    await anna.send(agent.id, "go");
    await anna.until(agent.id, "DONE");
    expect((await waitingIn(anna, agent.id)).waiting).toEqual([]);
  });
});
