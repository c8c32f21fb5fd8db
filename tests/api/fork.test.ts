import { describe, expect, it } from "vitest";
import { ForkAgentDocument, StandstillDocument } from "../generated/documents.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { calls, callsWith, hangsAfter, playedModel, says } from "../support/models.ts";

const texts = async (client: TestClient, id: string): Promise<(string | null)[]> =>
  (await client.agent(id)).messages.nodes.map(({ text }) => text);

const standstill = async (client: TestClient, id: string) => {
  const { agent } = await client.get(StandstillDocument, { id });
  if (!agent) throw new Error("there is no such agent");
  return agent;
};

describe("forkAgent", () => {
  it("makes a new agent with the conversation up to a safe point, which goes on by itself, and keeps its lineage", async () => {
    const model = playedModel(
      () => calls("todo_read"),
      () => says("Looked."),
      () => says("On the fork."),
      () => says("On the original."),
    );
    const app = await startTestApp({ model, template: { permission: { mode: "auto" } } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "look");
    // Not after the answer that calls a tool: its result would be missing.
    const { forkPoints } = await standstill(client, agent.id);
    expect(forkPoints.nodes.map(({ index }) => index)).toEqual([3, 2, 0]);

    const { forkAgent } = await client.get(ForkAgentDocument, {
      input: { agentId: agent.id, messageId: forkPoints.nodes[0]?.messageId },
    });
    expect(forkAgent.userErrors).toEqual([]);
    const forkId = forkAgent.agent?.id ?? "";
    expect(await texts(client, forkId)).toEqual(["look", "", "", "Looked."]);
    expect(textOf(await client.turn(forkId, "and you?"))).toBe("On the fork.");
    expect(model.calls[2]?.request.messages).toHaveLength(5);
    expect(textOf(await client.turn(agent.id, "and you?"))).toBe("On the original.");
    expect(await texts(client, agent.id)).toEqual(["look", "", "", "Looked.", "and you?", "On the original."]);

    const again = await client.get(ForkAgentDocument, { input: { agentId: forkId } });
    const grandchild = again.forkAgent.agent?.id ?? "";
    expect(await standstill(client, grandchild)).toMatchObject({
      state: "READY",
      waitingFor: null,
      lineage: [agent.id, forkId],
      forkedAt: 5,
    });
    expect(ofType(await client.until(grandchild, "AGENT_CREATED"), "AgentCreated")).toMatchObject([{ forkedFrom: forkId }]);
    expect((await texts(client, grandchild)).at(-1)).toBe("On the fork.");
  });

  it("has its own copies of the calls, steps and todos up to there, whose effects and costs count once", async () => {
    const todos = (...titles: string[]): object => ({
      todos: titles.map((title, index) => ({ id: String(index), title, status: "pending" })),
    });
    const model = playedModel(
      () => callsWith(["todo_write", todos("one")]),
      () => says("First."),
      () => callsWith(["todo_write", todos("one", "two")]),
      () => says("Second."),
      () => says("On the fork."),
    );
    const app = await startTestApp({ model, template: { permission: { mode: "auto" } } });
    const client = connect(app.url);
    const { id } = await client.createAgent({ title: "the original" });
    await client.turn(id, "one");
    await client.turn(id, "two");
    const original = await client.agent(id);
    const first = original.messages.nodes.find(({ text }) => text === "First.")?.id ?? "";
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id, messageId: first } });
    const fork = await client.agent(forkAgent.agent?.id ?? "");
    expect(fork.toolCalls.nodes).toMatchObject([
      { name: "todo_write", state: "COMPLETED", step: 1, turn: 1, copyOf: original.toolCalls.nodes[0]?.id },
    ]);
    expect(fork).toMatchObject({ turn: 1, stepCount: 2, todos: [{ title: "one" }], forkIsWhole: true, title: "the original" });
    expect(fork.messages.nodes.map(({ turn }) => turn)).toEqual([1, 1, 1, 1]);
    expect(fork.usage.totalTokens).toBe(0);
    expect(original.usage.totalTokens).toBeGreaterThan(0);
    const { data } = await client.post<{ toolCalls: { totalCount: number } }>({
      query: "{ toolCalls { totalCount } toolCallStats { tools { tool calls executed } } }",
    });
    expect(data).toEqual({
      toolCalls: { totalCount: 2 },
      toolCallStats: { tools: [{ tool: "todo_write", calls: 2, executed: 2 }] },
    });
    // The fork goes on after them, and a fork of it names the first of all.
    expect(textOf(await client.turn(fork.id, "three"))).toBe("On the fork.");
    expect(await client.agent(fork.id)).toMatchObject({ turn: 2, stepCount: 3 });
    const again = (await client.get(ForkAgentDocument, { input: { agentId: fork.id } })).forkAgent.agent?.id ?? "";
    expect((await client.agent(again)).toolCalls.nodes).toMatchObject([{ copyOf: original.toolCalls.nodes[0]?.id }]);
  });

  it("has the todos that the tool calls up to there left, whatever tool wrote them", async () => {
    const plans = defineTool<{ readonly title: string }>({
      name: "plan",
      description: "Writes a plan.",
      readOnly: false,
      inputSchema: { type: "object", required: ["title"], properties: { title: { type: "string" } } },
      run: async ({ title }, { todos }) => {
        await todos.write([{ id: "1", title, status: "pending", assignee: null, notes: null }]);
        if (title === "second") throw new Error("it wrote its plan, and failed");
        return { output: "planned", details: null };
      },
    });
    const model = playedModel(
      () => callsWith(["plan", { title: "first" }]),
      () => says("First."),
      () => callsWith(["plan", { title: "second" }]),
      () => says("Second."),
    );
    const app = await startTestApp({ model, config: { tools: [plans] }, template: { permission: { mode: "auto" } } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "one");
    await client.turn(id, "two");
    const { messages } = await client.agent(id);
    const todosAt = async (text: string): Promise<unknown> => {
      const messageId = messages.nodes.find((message) => message.text === text)?.id ?? "";
      const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id, messageId } });
      return (await client.agent(forkAgent.agent?.id ?? "")).todos;
    };
    expect(await todosAt("First.")).toMatchObject([{ title: "first" }]);
    expect(await todosAt("Second.")).toMatchObject([{ title: "second" }]);
  });

  it("works while the other works, at its newest safe point, and once for a key", async () => {
    const model = playedModel(() => hangsAfter("Half"));
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    const input = { agentId: agent.id, idempotencyKey: "once" };
    const [one, two] = [await client.get(ForkAgentDocument, { input }), await client.get(ForkAgentDocument, { input })];
    expect(one.forkAgent.agent?.id).toBe(two.forkAgent.agent?.id);
    expect(await texts(client, one.forkAgent.agent?.id ?? "")).toEqual(["go"]);
    expect(await standstill(client, agent.id)).toMatchObject({
      breakpoint: "STREAMING_MODEL",
      waitingFor: "the model test to end its answer (step 1)",
    });
  });

  it("of an agent that works in a folder of its own is for who may steer the agent: a viewer changes nothing in that folder", async () => {
    const people = [tokenActor("anna", ["user"]), tokenActor("uma", ["user", "viewer"]), tokenActor("ada", ["admin"])];
    const app = await startTestApp({
      config: { actors: people.map(({ actor }) => actor), defaultWorkspace: undefined as never },
      template: { permission: { mode: "auto" } },
    });
    const client = connect(app.url, "anna-token");
    const [own, shared] = [await client.createAgent(), await client.createAgent({ workspace: app.workspace })];
    for (const { id } of [own, shared]) await client.turn(id, "hello");
    const fork = async (who: string, agentId: string) =>
      (await connect(app.url, `${who}-token`).get(ForkAgentDocument, { input: { agentId } })).forkAgent;
    expect(await fork("uma", own.id)).toMatchObject({
      agent: null,
      userErrors: [{ code: "FORBIDDEN", field: ["agentId"], message: expect.stringContaining("an administrator to fork it") }],
    });
    for (const [who, { id }] of [
      ["uma", shared],
      ["anna", own],
      ["ada", own],
    ] as const)
      expect(await fork(who, id)).toMatchObject({ userErrors: [] });
  });

  it("is refused if there is nothing to fork from, elsewhere, and for those who may not", async () => {
    const [anna, otto, vera] = [tokenActor("anna", ["user"]), tokenActor("otto", ["user"]), tokenActor("vera", ["viewer"])];
    const app = await startTestApp({ config: { actors: [anna.actor, otto.actor, vera.actor] } });
    const client = connect(app.url, anna.token);
    const [agent, other] = [await client.createAgent(), await client.createAgent()];
    await client.turn(other.id, "hello");
    const elsewhere = (await client.agent(other.id)).messages.nodes[0]?.id ?? "";
    const fork = async (token: string, input: { agentId: string; messageId?: string }) =>
      (await connect(app.url, token).get(ForkAgentDocument, { input })).forkAgent;
    expect(await fork(anna.token, { agentId: agent.id })).toMatchObject({ agent: null, userErrors: [{ code: "INVALID" }] });
    expect(await fork(anna.token, { agentId: agent.id, messageId: elsewhere })).toMatchObject({
      agent: null,
      userErrors: [{ code: "INVALID", field: ["messageId"], message: expect.stringContaining("agent.forkPoints") }],
    });
    expect(await fork(otto.token, { agentId: other.id })).toMatchObject({ agent: null, userErrors: [{ code: "NOT_FOUND" }] });
    expect(await fork(vera.token, { agentId: other.id })).toMatchObject({ agent: null, userErrors: [{ code: "FORBIDDEN" }] });
  });
});
