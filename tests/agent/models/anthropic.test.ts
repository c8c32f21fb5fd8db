import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropicModel, type AnthropicOptions } from "../../../src/agent/models/anthropic.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import { complete } from "../../../src/lib/setting.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import {
  answers,
  messageStream,
  streamed,
  type MessagesBody,
  type StreamBlock,
  type StreamEvent,
} from "../../support/providers/anthropic-stream.ts";
import { providerServer, type ProviderAnswer } from "../../support/providers/provider-server.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { SendMessageDocument } from "../../generated/documents.ts";

const PLAIN = {
  apiKey: "sk-test",
  model: "claude-test",
  maxTokens: 1_000,
  thinking: null,
  settings: complete(MODEL_CALL_SETTINGS, {}),
  price: null,
  window: null,
} as const;

async function appWith(
  script: readonly ProviderAnswer[],
  template: TestAppOptions["template"] = {},
  options: Partial<AnthropicOptions> = {},
) {
  const provider = await providerServer<MessagesBody>(script);
  const model = anthropicModel({ ...PLAIN, baseUrl: provider.url, ...options });
  const app = await startTestApp({ model, template });
  await writeFile(join(app.workspace, "a.txt"), "alpha");
  await writeFile(join(app.workspace, "b.txt"), "beta");
  const client = connect(app.url);
  return { provider, app, client, agent: await client.createAgent() };
}

describe("Claude by the real SDK, over the wire", () => {
  it("streams text, runs parallel tool calls whose JSON comes in fragments, and answers with the results", async () => {
    const { provider, client, agent } = await appWith([
      answers(
        [
          { text: ["I will ", "read both."] },
          { tool: "fs_read", id: "toolu_a", json: ['{"pa', 'th": "a', '.txt"}'] },
          { tool: "fs_read", id: "toolu_b", json: ['{"path": "b.txt"}'] },
          { tool: "todo_read", id: "toolu_c", json: [] },
        ],
        "tool_use",
      ),
      answers([{ text: ["alpha ", "and beta"] }], "end_turn"),
    ]);
    const events = await client.turn(agent.id, "read them");
    expect(textOf(events)).toBe("I will read both.alpha and beta");
    expect(ofType(events, "ToolEnd").map((event) => event.call.state)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
    expect(ofType(events, "TokensUsed")).toMatchObject([{ inputTokens: 11, outputTokens: 7, totalTokens: 18 }, {}]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]).toMatchObject({
      headers: { authorization: "Bearer sk-test" },
      body: {
        model: "claude-test",
        max_tokens: 1_000,
        stream: true,
        system: [{ type: "text", text: "You are tested.", cache_control: { type: "ephemeral" } }],
        messages: [{ role: "user", content: [{ type: "text", text: "read them", cache_control: { type: "ephemeral" } }] }],
      },
    });
    expect(provider.requests[0]?.body["tools"]).toMatchObject([
      { name: "fs_read", input_schema: { type: "object", required: ["path"] } },
      ...BUILTIN_TOOLS.slice(1).flatMap(({ name }) => (["task_run", "memory"].includes(name) ? [] : [{}])),
    ]);
    expect(provider.requests[1]?.body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "read them", cache_control: { type: "ephemeral" } }] },
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
          {
            type: "tool_result",
            tool_use_id: "toolu_c",
            content: "The list is empty.",
            is_error: false,
            cache_control: { type: "ephemeral" },
          },
        ],
      },
    ]);
  });

  it("fails broken arguments without running them, and sends an input that the provider accepts", async () => {
    const { provider, client, agent } = await appWith([
      answers([{ tool: "fs_read", id: "toolu_a", json: ['{"path": "a.t'] }], "tool_use"),
      answers([{ text: ["sorry"] }], "end_turn"),
    ]);
    const events = await client.turn(agent.id, "read");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED", error: { type: "INVALID_PARAMS" } } }]);
    expect(provider.requests[1]?.body.messages[1]).toEqual({
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_a", name: "fs_read", input: { invalid_arguments: '{"path": "a.t' } }],
    });
    expect(provider.requests[1]?.body.messages[2]).toMatchObject({
      content: [{ type: "tool_result", tool_use_id: "toolu_a", is_error: true }],
    });
  });

  it("ends the turn with the provider's own words if it refuses, and never says the key (invariant 11)", async () => {
    const { client, agent, app } = await appWith([
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "prompt is too long" } } },
      answers([{ text: ["Hello."] }], "end_turn"),
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      {
        phase: "MODEL",
        message: expect.stringContaining("the model's provider answered 400: prompt is too long. The system prompt has"),
      },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    const dump = await app.database.sql.query({ name: "d", text: "SELECT string_agg(payload::text, '') AS dump FROM event" }, []);
    expect(JSON.stringify(dump)).not.toContain("sk-test");
    expect(textOf(await client.turn(agent.id, "again"))).toBe("Hello.");
  });

  it("makes a stream that broke off in its text again as a new step: the conversation keeps exactly the texts that are not aborted", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const { provider, client, agent } = await appWith([
      streamed([...messageStream([{ text: ["first block"] }, { text: ["half of"] }], "end_turn").slice(0, 7), overloaded]),
      answers([{ text: ["All of it."] }], "end_turn"),
    ]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd").map((event) => [event.step, event.text, event.aborted])).toEqual([
      [1, "first block", true],
      [1, "half of", true],
      [2, "All of it.", false],
    ]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail: "overloaded" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 2 }]);
    expect((await client.agent(agent.id)).messages.nodes.map((message) => message.text)).toEqual(["hi", "All of it."]);
    expect(JSON.stringify(provider.requests[1]?.body.messages)).not.toContain("first block");
  });

  it("a stream cut after any of its events is made again, and the conversation keeps the answer once", async () => {
    const whole = messageStream([{ text: ["Let ", "me see."] }, { text: ["Hello."] }], "end_turn");
    const cuts = whole.slice(1).map((_event, index) => streamed(whole.slice(0, index + 1), "cut"));
    const good = answers([{ text: ["Hello."] }], "end_turn");
    const { client, agent } = await appWith(
      cuts.flatMap((cut) => [cut, good]),
      { modelRetryMs: 1 },
    );
    for (const [turn, cut] of cuts.entries()) {
      const events = await client.turn(agent.id, `turn ${turn}`);
      const isWhole = cut.frames?.some((frame) => frame.includes("message_delta")) === true;
      if (isWhole) break;
      expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail: "broken" }]);
      expect(ofType(events, "TextChunkEnd").filter((end) => !end.aborted)).toMatchObject([{ text: "Hello." }]);
      const kept = (await client.agent(agent.id)).messages.nodes.slice(-2).map((message) => message.text);
      expect(kept).toEqual([`turn ${turn}`, "Hello."]);
    }
  });

  it("refuses streams that break the protocol, and makes the call again", async () => {
    const whole = messageStream([{ text: ["half"] }], "end_turn");
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    const stray = { type: "content_block_delta", index: 7, delta: { type: "text_delta", text: "stray" } };
    const misplaced = { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "?" } };
    const { provider, client, agent } = await appWith(
      [
        streamed([...whole.slice(0, 2), stray]),
        streamed([...whole.slice(0, 3), block]),
        streamed([...whole.slice(0, 3), misplaced]),
        streamed([...whole.slice(0, 2), { type: "content_block_stop", index: 0 }]),
        streamed([{ type: "message_start" }]),
        answers([{ text: ["Hello."] }], "end_turn"),
      ],
      { modelRetries: 10, modelRetryMs: 1 },
    );
    const events = await client.turn(agent.id, "hi");
    expect(provider.requests).toHaveLength(6);
    expect(ofType(events, "ErrorRaised").map((event) => event.detail)).toEqual([
      "broken",
      "broken",
      "broken",
      "broken",
      "broken",
    ]);
    expect(ofType(events, "TextChunkEnd").filter((event) => !event.aborted)).toMatchObject([{ text: "Hello." }]);
  });

  it("takes what a block has when it begins: servers that speak the protocol may send it whole", async () => {
    const whole = messageStream([], "tool_use");
    const begins = [
      { type: "text", text: "I will read." },
      { type: "tool_use", id: "toolu_a", name: "fs_read", input: { path: "a.txt" } },
    ].flatMap((block, index): StreamEvent[] => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]);
    const { client, agent } = await appWith([
      streamed([...whole.slice(0, 2), ...begins, ...whole.slice(2)]),
      answers([{ text: ["It says alpha."] }], "end_turn"),
    ]);
    const events = await client.turn(agent.id, "read");
    expect(textOf(events)).toBe("I will read.It says alpha.");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED", output: "alpha" } }]);
  });

  it("gives calls ids of their own if those that come are not unique in the conversation, or of a form that is refused", async () => {
    const reads = (id: string, path: string): StreamBlock => ({ tool: "fs_read", id, json: [JSON.stringify({ path })] });
    const { provider, client, agent } = await appWith([
      answers([reads("toolu_a", "a.txt"), reads("toolu_a", "b.txt")], "tool_use"),
      answers([reads("toolu_a", "b.txt"), reads("", "b.txt"), reads("call:1", "a.txt")], "tool_use"),
      answers([{ text: ["Hello."] }], "end_turn"),
    ]);
    expect(textOf(await client.turn(agent.id, "read"))).toBe("Hello.");
    const blocks = provider.requests[2]?.body.messages.flatMap(({ content }) => content) ?? [];
    const ids = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [String(id)] : []));
    expect(ids[0]).toBe("toolu_a");
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
    const results = blocks.filter(({ type }) => type === "tool_result");
    expect(results.map((result) => [result["tool_use_id"], result["content"]])).toEqual(
      ["alpha", "beta", "beta", "beta", "alpha"].map((content, place) => [ids[place], content]),
    );
  });

  it("ignores events and blocks that it does not know, as the protocol asks", async () => {
    const whole = messageStream([{ text: ["Hello."] }], "end_turn");
    const unknown = [
      { type: "something_new", detail: 1 },
      { type: "content_block_start", index: 1, content_block: { type: "something_new" } },
      { type: "content_block_delta", index: 1, delta: { type: "something_delta" } },
      { type: "content_block_stop", index: 1 },
    ];
    const { client, agent } = await appWith([streamed([...whole.slice(0, 5), ...unknown, ...whole.slice(5)])]);
    expect(textOf(await client.turn(agent.id, "hi"))).toBe("Hello.");
  });

  it("reports the time to the first piece of output, which is not the empty start of a block", async () => {
    const { client, agent } = await appWith([{ ...answers([{ text: ["Hello."] }], "end_turn"), paceMs: 40 }]);
    const [complete] = ofType(await client.turn(agent.id, "hi"), "StepComplete");
    // The start of the message, a ping and the start of the block go before it; a timer may end a little before its time.
    expect(complete?.firstTokenMs).toBeGreaterThan(110);
    expect(complete?.firstTokenMs).toBeLessThan(complete?.durationMs ?? 0);
  });

  it("goes on after pause_turn with what was said so far, and ends the turn at a stop sequence", async () => {
    const { provider, client, agent } = await appWith(
      [answers([{ text: ["Let me see."] }], "pause_turn"), answers([{ text: ["Hello."] }], "stop_sequence")],
      {},
      { settings: complete(MODEL_CALL_SETTINGS, { stopSequences: ["###"] }) },
    );
    const events = await client.turn(agent.id, "hi");
    expect(textOf(events)).toBe("Let me see.Hello.");
    expect(ofType(events, "StepComplete").map((event) => event.stopReason)).toEqual(["pause_turn", "stop_sequence"]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 2 }]);
    expect(provider.requests[1]?.body).toMatchObject({
      stop_sequences: ["###"],
      messages: [
        { role: "user" },
        { role: "assistant", content: [{ text: "Let me see.", cache_control: { type: "ephemeral" } }] },
      ],
    });
  });

  it("counts what came from the cache and went into it, and what it cost, for the step and for the agent", async () => {
    const cached = { input_tokens: 5, cache_creation_input_tokens: 200, cache_read_input_tokens: 1_000 };
    const { client, agent, app } = await appWith(
      [answers([{ text: ["Hello."] }], "end_turn", cached)],
      {},
      { price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
    );
    const events = await client.turn(agent.id, "hi");
    const cost = (5 * 3 + 7 * 15 + 1_000 * 0.3 + 200 * 3.75) / 1_000_000;
    expect(ofType(events, "TokensUsed")).toMatchObject([
      { inputTokens: 5, outputTokens: 7, cacheReadTokens: 1_000, cacheWriteTokens: 200, totalTokens: 1_212, costUsd: cost },
    ]);
    await client.turn(agent.id, "again");
    const { usage } = await client.agent(agent.id);
    expect(usage).toMatchObject({
      inputTokens: 10,
      outputTokens: 14,
      cacheReadTokens: 2_000,
      cacheWriteTokens: 400,
      totalTokens: 2_424,
    });
    expect(usage.costUsd).toBeCloseTo(2 * cost, 10);
    const most = { name: "t", text: "UPDATE step SET input_tokens = 2147483647 RETURNING step" };
    expect(await app.database.sql.query(most, [])).toHaveLength(2);
    expect((await client.agent(agent.id)).usage.inputTokens).toBe(2 * 2_147_483_647);
  });

  it("counts what a server counts in part, or not at all", async () => {
    const uncounted = (text: string, usage: object | undefined): ProviderAnswer =>
      streamed(
        messageStream([{ text: [text] }], "end_turn").map((event) =>
          event.type === "message_start"
            ? { type: event.type, message: { content: [], ...(usage === undefined ? {} : { usage }) } }
            : Object.assign(event, { usage: undefined }),
        ),
      );
    const { client, agent } = await appWith([uncounted("Hello.", { input_tokens: 5 }), uncounted("Bye.", undefined)]);
    const events = await client.turn(agent.id, "hi");
    expect(textOf(events)).toBe("Hello.");
    expect(ofType(events, "TokensUsed")).toMatchObject([{ inputTokens: 5, outputTokens: 0, totalTokens: 5 }]);
    expect(textOf(await client.turn(agent.id, "bye"))).toBe("Bye.");
    expect((await client.agent(agent.id)).usage).toMatchObject({ inputTokens: 5, totalTokens: 5 });
  });

  it("says that there is no cost if the model has no price", async () => {
    const { client, agent } = await appWith([answers([{ text: ["Hello."] }], "end_turn")]);
    expect(ofType(await client.turn(agent.id, "hi"), "TokensUsed")).toMatchObject([{ costUsd: null }]);
    expect((await client.agent(agent.id)).usage).toMatchObject({ totalTokens: 18, costUsd: null });
  });

  it("sends the images of a message, before its text", async () => {
    const { provider, client, agent } = await appWith([answers([{ text: ["A dot."] }], "end_turn")]);
    const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const { sendMessage } = await client.get(SendMessageDocument, {
      input: { agentId: agent.id, text: "what is it?", images: [{ mediaType: "PNG", data }] },
    });
    expect(sendMessage.userErrors).toEqual([]);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "MessageReceived")).toMatchObject([{ text: "what is it?", images: 1 }]);
    expect(provider.requests[0]?.body.messages[0]?.content).toMatchObject([
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
      { type: "text", text: "what is it?" },
    ]);
  });
});

describe("Thinking", () => {
  const TURN = [
    answers(
      [
        { thinking: ["Let me ", "read it."], signature: "sig-1" },
        { redacted: "enc-1" },
        { text: ["I read."] },
        { tool: "fs_read", id: "toolu_a", json: ['{"path": "a.txt"}'] },
      ],
      "tool_use",
    ),
    answers([{ text: ["alpha"] }], "end_turn"),
  ];
  const thinking = { thinking: { budgetTokens: 1_024 }, maxTokens: 4_000 } as const;

  it("is not shown unless the template says so, and goes back to its model with the calls that followed it all the same", async () => {
    const { provider, client, agent } = await appWith(TURN, {}, thinking);
    const events = await client.turn(agent.id, "read it");
    expect(events.filter((event) => event.kind.startsWith("THINK"))).toEqual([]);
    expect(textOf(events)).toBe("I read.alpha");
    expect(provider.requests[0]?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 1_024 });
    expect(provider.requests[1]?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 1_024 });
    expect(provider.requests[1]?.body.messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "Let me read it.", signature: "sig-1" },
      { type: "redacted_thinking", data: "enc-1" },
      { type: "text", text: "I read." },
      { type: "tool_use", id: "toolu_a" },
    ]);
    expect(JSON.stringify((await client.agent(agent.id)).messages)).not.toContain("Let me");
  });

  it("is shown if the template exposes it, and is no part of the text", async () => {
    const { client, agent, provider } = await appWith(TURN, { exposeThinking: true }, { thinking: "adaptive" });
    const events = await client.turn(agent.id, "read it");
    expect(ofType(events, "ThinkChunkStart")).toMatchObject([
      { step: 1, block: 0 },
      { step: 1, block: 1 },
    ]);
    expect(
      ofType(events, "ThinkChunk")
        .map((event) => event.delta)
        .join(""),
    ).toBe("Let me read it.");
    expect(ofType(events, "ThinkChunkEnd")).toMatchObject([
      { block: 0, text: "Let me read it.", aborted: false },
      { block: 1, text: "", aborted: false },
    ]);
    expect(textOf(events)).toBe("I read.alpha");
    expect(provider.requests[0]?.body["thinking"]).toEqual({ type: "adaptive", display: "summarized" });
  });

  it("goes back to its model with its signature if the template retains it, and people see it only if it is exposed", async () => {
    const { provider, client, agent } = await appWith(TURN, { retainThinking: true }, thinking);
    await client.turn(agent.id, "read it");
    expect(provider.requests[1]?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 1_024 });
    expect(provider.requests[1]?.body.messages[1]?.content).toMatchObject([
      { type: "thinking", thinking: "Let me read it.", signature: "sig-1" },
      { type: "redacted_thinking", data: "enc-1" },
      { type: "text", text: "I read." },
      { type: "tool_use", id: "toolu_a" },
    ]);
    expect(JSON.stringify((await client.agent(agent.id)).messages)).not.toContain("Let me");
  });

  it("goes on in the turn after one that ended in its tool calls, whose results stand before the new message", async () => {
    const { provider, client, agent } = await appWith(TURN, { maxSteps: 1 }, thinking);
    await client.turn(agent.id, "read it");
    await client.turn(agent.id, "go on");
    expect(provider.requests[1]?.body.messages.at(-1)?.content.map((block) => block["type"])).toEqual(["tool_result", "text"]);
    expect(provider.requests[1]?.body.messages[1]?.content[0]).toMatchObject({ type: "thinking", signature: "sig-1" });
    expect(provider.requests[1]?.body["thinking"]).toEqual({ type: "enabled", budget_tokens: 1_024 });
  });

  it("alone, without an answer, does not stand at the end of a message: the provider would refuse every later turn", async () => {
    const alone = answers([{ thinking: ["Hm."], signature: "sig-1" }, { text: ["\n"] }], "end_turn");
    const template = { retainThinking: true, modelRetryMs: 1 };
    const { provider, client, agent } = await appWith([alone], template, { thinking: "adaptive" });
    await client.turn(agent.id, "hi");
    await client.turn(agent.id, "again");
    expect(provider.requests).toHaveLength(4);
    expect(provider.requests[2]?.body.messages.map((message) => message.role)).toEqual(["user"]);
    expect(provider.requests[2]?.body.messages[0]?.content).toMatchObject([{ text: "hi" }, { text: "again" }]);
    expect(provider.requests[2]?.body["thinking"]).toEqual({ type: "adaptive" });
  });

  it("that broke off is closed as aborted, and the call is made again", async () => {
    const cut = messageStream([{ thinking: ["Let me "], signature: "" }], "end_turn").slice(0, 4);
    const { client, agent } = await appWith([streamed(cut, "cut"), answers([{ text: ["Hello."] }], "end_turn")], {
      exposeThinking: true,
      modelRetryMs: 1,
    });
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ step: 1, text: "Let me ", aborted: true }]);
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ step: 2, text: "Hello.", aborted: false }]);
  });
});
