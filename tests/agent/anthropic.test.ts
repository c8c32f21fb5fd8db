import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropicModel } from "../../src/agent/models/anthropic.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { hangsAfter, playedModel, says } from "../support/models.ts";
import { anthropicServer, messageStream, type WireAnswer } from "../support/anthropic-server.ts";
import { connect, ofType, textOf } from "../support/client.ts";

async function appWith(answers: readonly WireAnswer[], template: TestAppOptions["template"] = {}) {
  const provider = await anthropicServer(answers);
  const model = anthropicModel({ apiKey: "sk-test", baseUrl: provider.url, model: "claude-test", maxTokens: 1_000 });
  const app = await startTestApp({ model, template });
  await writeFile(join(app.workspace, "a.txt"), "alpha");
  await writeFile(join(app.workspace, "b.txt"), "beta");
  const client = connect(app.url);
  return { provider, app, client, agent: await client.createAgent() };
}

describe("Claude by the real SDK, over the wire", () => {
  it("streams text, runs parallel tool calls whose JSON comes in fragments, and answers with the results (M18)", async () => {
    const { provider, client, agent } = await appWith([
      {
        events: messageStream(
          [
            { text: ["I will ", "read both."] },
            { tool: "fs_read", id: "toolu_a", json: ['{"pa', 'th": "a', '.txt"}'] },
            { tool: "fs_read", id: "toolu_b", json: ['{"path": "b.txt"}'] },
            { tool: "todo_read", id: "toolu_c", json: [] },
          ],
          "tool_use",
        ),
      },
      { events: messageStream([{ text: ["alpha ", "and beta"] }], "end_turn") },
    ]);
    const events = await client.turn(agent.id, "read them");
    expect(ofType(events, "TextChunk").map((event) => event.delta)).toEqual(["I will ", "read both.", "alpha ", "and beta"]);
    expect(ofType(events, "ToolEnd").map((event) => event.call.state)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
    expect(ofType(events, "TokenUsage")).toMatchObject([{ inputTokens: 11, outputTokens: 7, totalTokens: 18 }, {}]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]).toMatchObject({
      headers: { authorization: "Bearer sk-test" },
      body: {
        model: "claude-test",
        max_tokens: 1_000,
        stream: true,
        system: "You are tested.",
        messages: [{ role: "user", content: [{ type: "text", text: "read them" }] }],
      },
    });
    expect(provider.requests[0]?.body["tools"]).toMatchObject([
      { name: "fs_read", input_schema: { type: "object", required: ["path"] } },
      {},
      {},
      {},
      {},
      {},
    ]);
    expect(provider.requests[1]?.body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "read them" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I will read both." },
          { type: "tool_use", id: "toolu_a", name: "fs_read", input: { path: "a.txt" } },
          { type: "tool_use", id: "toolu_b", name: "fs_read", input: { path: "b.txt" } },
          { type: "tool_use", id: "toolu_c", name: "todo_read", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_a", content: "alpha", is_error: false },
          { type: "tool_result", tool_use_id: "toolu_b", content: "beta", is_error: false },
          { type: "tool_result", tool_use_id: "toolu_c", content: "The list is empty.", is_error: false },
        ],
      },
    ]);
  });

  it("fails broken arguments without running them, and sends an input that the provider accepts (D10)", async () => {
    const { provider, client, agent } = await appWith([
      { events: messageStream([{ tool: "fs_read", id: "toolu_a", json: ['{"path": "a.t'] }], "tool_use") },
      { events: messageStream([{ text: ["sorry"] }], "end_turn") },
    ]);
    const events = await client.turn(agent.id, "read");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED", error: { type: "invalid_params" } } }]);
    expect(provider.requests[1]?.body.messages[1]).toEqual({
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_a", name: "fs_read", input: { invalid_arguments: '{"path": "a.t' } }],
    });
    expect(provider.requests[1]?.body.messages[2]).toMatchObject({
      content: [{ type: "tool_result", tool_use_id: "toolu_a", is_error: true }],
    });
  });

  it("ends the turn with the provider's own words where it refuses, and never says the key (invariant 11)", async () => {
    const { client, agent, app } = await appWith([
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "prompt is too long" } } },
      { events: messageStream([{ text: ["Hello."] }], "end_turn") },
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "Error")).toMatchObject([
      { phase: "MODEL", message: "the model's provider answered 400: prompt is too long" },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    const dump = await app.database.sql.query({ name: "d", text: "SELECT string_agg(payload::text, '') AS dump FROM event" }, []);
    expect(JSON.stringify(dump)).not.toContain("sk-test");
    expect(textOf(await client.turn(agent.id, "again"))).toBe("Hello.");
  });

  it("makes a call again that failed before it said anything, when the provider asks for it (429, 500, 529, cut before a block)", async () => {
    const wait = { "retry-after-ms": "5" };
    const failure = (status: number, type: string): WireAnswer => ({
      status,
      headers: wait,
      body: { type: "error", error: { type, message: type } },
    });
    const { provider, client, agent } = await appWith([
      failure(429, "rate_limit_error"),
      failure(500, "api_error"),
      failure(529, "overloaded_error"),
      { events: messageStream([{ text: ["Hello."] }], "end_turn") },
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(provider.requests).toHaveLength(4);
    expect(ofType(events, "Error").map((event) => [event.severity, event.detail])).toEqual([
      ["WARN", "rate_limited"],
      ["WARN", "unavailable"],
      ["WARN", "overloaded"],
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 1 }]);
    expect(textOf(events)).toBe("Hello.");
  });

  it("gives up after the retries, and says why", async () => {
    const { provider, client, agent } = await appWith([
      {
        status: 529,
        headers: { "retry-after": "0" },
        body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      },
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(provider.requests).toHaveLength(4);
    expect(ofType(events, "Error").at(-1)).toMatchObject({
      severity: "ERROR",
      detail: "overloaded",
      message: expect.stringContaining("529: Overloaded"),
    });
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("makes a stream that broke off in its text again as a new step: the conversation keeps exactly the texts that are not aborted", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const { provider, client, agent } = await appWith([
      { events: [...messageStream([{ text: ["first block"] }, { text: ["half of"] }], "end_turn").slice(0, 7), overloaded] },
      { events: messageStream([{ text: ["All of it."] }], "end_turn") },
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd").map((event) => [event.step, event.text, event.aborted])).toEqual([
      [1, "first block", true],
      [1, "half of", true],
      [2, "All of it.", false],
    ]);
    expect(ofType(events, "Error")).toMatchObject([{ severity: "WARN", detail: "overloaded" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 2 }]);
    expect((await client.agent(agent.id)).messages.nodes.map((message) => message.text)).toEqual(["hi", "All of it."]);
    expect(JSON.stringify(provider.requests[1]?.body.messages)).not.toContain("first block");
  });

  it("gives up a stream that falls silent", async () => {
    const model = playedModel(
      () => hangsAfter("I was"),
      () => says("Hello."),
    );
    const app = await startTestApp({ model, template: { modelIdleMs: 60 } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "Error")).toMatchObject([
      { severity: "WARN", detail: "silent", message: expect.stringContaining("said nothing for 60 ms") },
    ]);
    expect(ofType(events, "TextChunkEnd").map((event) => event.aborted)).toEqual([true, false]);
    expect(model.calls[0]?.signal.aborted).toBe(true);
  });

  it("ends the turn with an error where the stream is cut for good, and the partial text goes to no model", async () => {
    const { provider, client, agent } = await appWith(
      [
        { events: messageStream([{ text: ["half of an"] }], "end_turn").slice(0, 4), cut: true },
        { events: messageStream([{ text: ["Hello."] }], "end_turn") },
      ],
      { modelRetries: 0 },
    );
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ text: "half of an", aborted: true }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    await client.turn(agent.id, "again");
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).not.toContain("half of an");
  });
});
