import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { chatBody, compatibilityOf } from "../../../src/agent/models/chat-request.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import { openAiModel, type OpenAiOptions } from "../../../src/agent/models/openai.ts";
import { complete } from "../../../src/lib/setting.ts";
import { SendMessageDocument } from "../../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { chat, chatStream, chunks, type ChatBody, type Delta } from "../../support/providers/openai-stream.ts";
import { providerServer, type ProviderAnswer } from "../../support/providers/provider-server.ts";

async function appWith(
  script: readonly ProviderAnswer[],
  template: TestAppOptions["template"] = {},
  options: Partial<OpenAiOptions> = {},
) {
  const provider = await providerServer<ChatBody>(script);
  const plain = {
    apiKey: "sk-test",
    baseUrl: `${provider.url}/v1`,
    model: "local",
    maxTokens: 1_000,
    price: null,
    window: null,
    compat: {},
    settings: complete(MODEL_CALL_SETTINGS, {}),
  };
  const app = await startTestApp({ model: openAiModel({ ...plain, ...options }), template });
  await writeFile(join(app.workspace, "a.txt"), "alpha");
  await writeFile(join(app.workspace, "b.txt"), "beta");
  const client = connect(app.url);
  return { app, provider, client, agent: await client.createAgent() };
}

/** Ids are given here: those of servers may repeat, and other providers refuse their form. */
const OWN_ID: unknown = expect.stringMatching(/^[a-zA-Z0-9]{9}$/);

const said = chat([{ content: "alpha " }, { content: "and beta" }], "stop");
const fragment = (index: number | undefined, id: string | undefined, name: string | undefined, args: string): Delta => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id, type: "function" }),
      function: { ...(name === undefined ? {} : { name }), arguments: args },
    },
  ],
});

describe("A chat completions server by the real SDK, over the wire", () => {
  it("streams text, runs parallel tool calls whose arguments come in fragments, and answers with the results, errors in their text", async () => {
    const { provider, client, agent } = await appWith([
      chat(
        [
          { content: "I will " },
          { content: "read." },
          fragment(0, "call_a", "fs_read", ""),
          fragment(0, undefined, undefined, '{"pa'),
          fragment(1, "call_b", "fs_read", '{"path": '),
          fragment(0, undefined, undefined, 'th": "a.txt"}'),
          fragment(1, undefined, undefined, '"missing.txt"}'),
        ],
        "tool_calls",
      ),
      said,
    ]);
    const events = await client.turn(agent.id, "read them");
    expect(textOf(events)).toBe("I will read.alpha and beta");
    expect(
      ofType(events, "ToolEnd")
        .map((event) => event.call.state)
        .toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["COMPLETED", "FAILED"]);
    expect(ofType(events, "TokensUsed")[0]).toMatchObject({
      inputTokens: 7,
      cacheReadTokens: 4,
      outputTokens: 7,
      totalTokens: 18,
    });
    expect(provider.requests[0]).toMatchObject({
      url: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-test" },
      body: { model: "local", max_tokens: 1_000, stream: true, stream_options: { include_usage: true } },
    });
    expect(provider.requests[0]?.body["tools"]).toMatchObject([
      { type: "function", function: { name: "fs_read" } },
      ...BUILTIN_TOOLS.slice(1).flatMap(({ name }) => (["task_run", "memory"].includes(name) ? [] : [{}])),
    ]);
    expect(provider.requests[1]?.body.messages).toEqual([
      { role: "system", content: "You are tested." },
      { role: "user", content: "read them" },
      {
        role: "assistant",
        content: "I will read.",
        tool_calls: [
          { id: OWN_ID, type: "function", function: { name: "fs_read", arguments: '{"path":"a.txt"}' } },
          { id: OWN_ID, type: "function", function: { name: "fs_read", arguments: '{"path":"missing.txt"}' } },
        ],
      },
      { role: "tool", tool_call_id: OWN_ID, content: "alpha" },
      { role: "tool", tool_call_id: OWN_ID, content: expect.stringMatching(/^Error: .*missing\.txt/) },
    ]);
  });

  it.for([
    [
      "without ids, told apart by their index",
      [fragment(0, undefined, "fs_read", '{"path": "a.txt"}'), fragment(1, undefined, "fs_read", '{"path": "b.txt"}')],
    ],
    [
      "whole and without ids or indexes",
      [fragment(undefined, undefined, "fs_read", '{"path": "a.txt"}'), fragment(undefined, "", "fs_read", '{"path": "b.txt"}')],
    ],
    [
      "whole, with ids, and all with the index 0",
      [fragment(0, "x", "fs_read", '{"path": "a.txt"}'), fragment(0, "y", "fs_read", '{"path": "b.txt"}')],
    ],
    [
      "whole, without ids, and all with the index 0",
      [fragment(0, undefined, "fs_read", '{"path": "a.txt"}'), fragment(0, undefined, "fs_read", '{"path": "b.txt"}')],
    ],
    [
      "with id and name in every fragment",
      [
        fragment(0, "x", "fs_read", '{"path": '),
        fragment(0, "x", "fs_read", '"a.txt"}'),
        fragment(1, "y", "fs_read", '{"path": "b.txt"}'),
      ],
    ],
  ] as const)("takes tool calls %s, even if the server then says `stop`", async ([, deltas]) => {
    const { provider, client, agent } = await appWith([chat(deltas, "stop"), said]);
    const events = await client.turn(agent.id, "read them");
    expect(
      ofType(events, "ToolEnd")
        .map((event) => event.call.output ?? "")
        .toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["alpha", "beta"]);
    const tools = provider.requests[1]?.body.messages.filter((message) => message.role === "tool") ?? [];
    const ids = new Set(tools.map((message) => message["tool_call_id"]));
    expect(ids.size).toBe(2);
    expect(ids).not.toContain("");
    expect(ids).not.toContain(undefined);
  });

  it("takes whole calls of other tools without ids or arguments as others, and a last chunk without a delta", async () => {
    const { provider, client, agent } = await appWith([
      chunks([
        ...chatStream([fragment(0, undefined, "todo_read", ""), fragment(0, undefined, "fs_glob", "")], null, null),
        { choices: [{ index: 0, finish_reason: "tool_calls" }] },
      ]),
      said,
    ]);
    const events = await client.turn(agent.id, "go");
    expect(new Set(ofType(events, "ToolEnd").map((event) => event.call.name))).toEqual(new Set(["todo_read", "fs_glob"]));
    expect(provider.requests).toHaveLength(2);
  });

  it.for([
    ["error", "broken"],
    ["abort", "broken"],
    ["insufficient_system_resource", "overloaded"],
  ] as const)("an answer that the server gave up (`%s`) is no answer: it is made again", async ([finish, detail]) => {
    const { provider, client, agent } = await appWith([chat([{ content: "half of" }], finish), said], { modelRetryMs: 1 });
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TextChunkEnd").map((event) => [event.text, event.aborted])).toEqual([
      ["half of", true],
      ["alpha and beta", false],
    ]);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail }]);
    expect(ofType(events, "TokensUsed")[0]).toMatchObject({ inputTokens: 7, outputTokens: 7 });
    expect(JSON.stringify(provider.requests[1]?.body)).not.toContain("half of");
  });

  it("an answer that was cut at the length of the model's window (`model_length`) was cut at a limit of tokens", async () => {
    const { client, agent } = await appWith([chat([fragment(0, "x", "fs_read", '{"path": "a.txt"}')], "model_length"), said]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "StepComplete")[0]?.stopReason).toBe("max_tokens");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED" } }]);
  });

  it("reasons to stop that are empty until the last one say nothing", async () => {
    const chunk = (content: string, reason: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] });
    const { client, agent } = await appWith([chunks([chunk("alpha", ""), chunk(" and beta", "stop"), chunk("", "")])]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "StepComplete")).toMatchObject([{ stopReason: "end_turn" }]);
    expect(ofType(events, "ErrorRaised")).toEqual([]);
  });

  it("sends no key, organization or project if there is none of one's own, and counts what a server counts in part", async () => {
    vi.stubEnv("OPENAI_ORG_ID", "org-of-somebody");
    const { provider, client, agent } = await appWith(
      [chat([{ content: "Hello." }], "stop", { total_tokens: 5 })],
      {},
      { apiKey: null },
    );
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "TokensUsed")).toMatchObject([{ inputTokens: 0, outputTokens: 0, totalTokens: 0 }]);
    expect(provider.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(provider.requests[0]?.headers)).not.toContain("org-of-somebody");
  });

  it("shows the thoughts of open models if the template exposes them; alone they do not go back", async () => {
    const { provider, client, agent } = await appWith(
      [
        chat([{ reasoning_content: "Hm, " }, { reasoning_content: null, reasoning: "well." }, { content: "Hello." }], "stop"),
        said,
      ],
      { exposeThinking: true, retainThinking: true },
    );
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ block: 0, text: "Hm, well.", aborted: false }]);
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ block: 1, text: "Hello." }]);
    await client.turn(agent.id, "again");
    expect(JSON.stringify(provider.requests[1]?.body)).not.toContain("Hm, ");
  });

  const CALLED = fragment(0, "x", "fs_read", '{"path": "a.txt"}');

  it.for([
    [
      "reasoning_content",
      [{ reasoning_content: "I should " }, { reasoning_content: "look." }],
      { reasoning_content: "I should look." },
    ],
    [
      "reasoning, with details",
      [
        { reasoning: "I should look.", reasoning_details: [{ type: "reasoning.text", index: 0, text: "I should " }] },
        { reasoning_details: [{ type: "reasoning.text", index: 0, text: "look.", signature: "sig" }] },
      ],
      {
        reasoning: "I should look.",
        reasoning_details: [{ type: "reasoning.text", index: 0, text: "I should look.", signature: "sig" }],
      },
    ],
    [
      "a list of parts",
      [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "I should look." }] }] }],
      {
        content: [{ type: "thinking", thinking: [{ type: "text", text: "I should look." }] }],
      },
    ],
  ] as const)(
    "thoughts before calls go back in the field in which they came, and people see them in no message: %s",
    async ([, thought, expected]) => {
      const { provider, client, agent, app } = await appWith([chat([...thought, CALLED], "tool_calls"), said]);
      await client.turn(agent.id, "read it");
      await client.turn(agent.id, "again");
      for (const request of [1, 2])
        expect(provider.requests[request]?.body.messages.find(({ role }) => role === "assistant")).toMatchObject(expected);
      expect(JSON.stringify((await client.agent(agent.id)).messages)).not.toContain("I should");
      const events = await app.database.sql.query(
        { name: "d", text: "SELECT string_agg(payload::text, '') AS dump FROM event" },
        [],
      );
      expect(JSON.stringify(events)).not.toContain("I should");
    },
  );

  it("what a server says of a call goes back with it, and to no other model", async () => {
    const signed = {
      tool_calls: [
        {
          index: 0,
          id: "x",
          type: "function",
          function: { name: "fs_read", arguments: '{"path": "a.txt"}' },
          extra_content: { google: { thought_signature: "sig" } },
        },
      ],
    };
    const { provider, client, agent } = await appWith([chat([signed], "tool_calls"), said]);
    await client.turn(agent.id, "read it");
    const calls = provider.requests[1]?.body.messages.find(({ role }) => role === "assistant")?.["tool_calls"];
    expect(calls).toEqual([
      {
        id: OWN_ID,
        type: "function",
        function: { name: "fs_read", arguments: '{"path":"a.txt"}' },
        extra_content: { google: { thought_signature: "sig" } },
      },
    ]);
    const other = chatBody(
      {
        system: "s",
        messages: [
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "i", name: "n", input: {}, provider: { by: "openai other", fields: { a: 1 } } }],
          },
        ],
        tools: [],
        exposeThinking: false,
        settings: {},
        isFirstOfTurn: true,
        shape: null,
      },
      "openai local",
      compatibilityOf("local", {}),
    );
    expect(JSON.stringify(other)).not.toContain('"a":1');
  });

  it("the first call of an answer by another model has what stands for a signature where the server wants one, and a model's own stays", () => {
    const own = { extra_content: { google: { thought_signature: "own" } } };
    const call = (id: string, by: string | null) => ({
      type: "tool_use" as const,
      id,
      name: "n",
      input: {},
      ...(by === null ? {} : { provider: { by, fields: own } }),
    });
    const sent = (model: string, compat: Parameters<typeof compatibilityOf>[1] = {}): string =>
      JSON.stringify(
        chatBody(
          {
            system: "s",
            messages: [
              { role: "assistant", content: [call("a", null), call("b", null)] },
              { role: "assistant", content: [call("c", `openai ${model}`)] },
            ],
            tools: [],
            exposeThinking: false,
            settings: {},
            isFirstOfTurn: true,
            shape: null,
          },
          `openai ${model}`,
          compatibilityOf(model, compat),
        ).messages,
      );
    const signatures = (text: string): readonly string[] =>
      [...text.matchAll(/"thought_signature":"([^"]*)"/g)].map(([, value = ""]) => value);
    expect(signatures(sent("gemini-3-flash-preview"))).toEqual(["skip_thought_signature_validator", "own"]);
    expect(signatures(sent("google/gemini-3.1-pro"))).toEqual(["skip_thought_signature_validator", "own"]);
    expect(signatures(sent("gemini-2.5-pro"))).toEqual(["own"]);
    expect(signatures(sent("local", { callSignature: "x" }))).toEqual(["x", "own"]);
  });

  it("more of its own than is kept does not go back, and operators are told", async () => {
    const { provider, client, agent } = await appWith([chat([{ huge: "x".repeat(300_000) }, CALLED], "tool_calls"), said]);
    const events = await client.turn(agent.id, "read it");
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail: "provider_fields_cut" }]);
    expect(JSON.stringify(provider.requests[1]?.body)).not.toContain("xxxx");
  });

  it.for([
    ["local", ["system", "user", "assistant", "tool", "user"]],
    ["mistral-small", ["system", "user", "assistant", "tool", "assistant", "user"]],
  ] as const)(
    "a person's words never stand in a tool's result, nor right after one where that is refused: %s",
    async ([model, roles]) => {
      const { provider, client, agent } = await appWith([chat([CALLED], "tool_calls"), said], { maxSteps: 1 }, { model });
      await client.turn(agent.id, "read it");
      await client.turn(agent.id, "go on");
      const messages = provider.requests[1]?.body.messages ?? [];
      expect(messages.map(({ role }) => role)).toEqual(roles);
      expect(messages.find(({ role }) => role === "tool")?.["content"]).toBe("alpha");
    },
  );

  it("an answer that names no call that it says it makes is broken, and one with nothing in it is made again once", async () => {
    const without = await appWith([chat([{ content: "I will look." }], "tool_calls"), said], { modelRetryMs: 1 });
    const events = await without.client.turn(without.agent.id, "hi");
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "WARN", detail: "broken" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", detail: null }]);
    const empty = await appWith([chat([CALLED], "tool_calls"), chat([{ content: "" }], "stop", null)], { modelRetryMs: 1 });
    const later = await empty.client.turn(empty.agent.id, "hi");
    expect(empty.provider.requests).toHaveLength(3);
    expect(ofType(later, "ErrorRaised").map(({ severity, detail }) => [severity, detail])).toEqual([
      ["WARN", "empty"],
      ["WARN", "empty"],
    ]);
    expect(ofType(later, "Done")).toMatchObject([{ reason: "COMPLETED", detail: "empty" }]);
  });

  it("thoughts that people saw, and nothing else, are an empty answer as well", async () => {
    const thought = chat([{ reasoning: "Hm." }], "stop");
    const { provider, client, agent } = await appWith([thought, thought, said], { exposeThinking: true, modelRetryMs: 1 });
    const events = await client.turn(agent.id, "hi");
    expect(provider.requests).toHaveLength(2);
    expect(ofType(events, "ThinkChunkEnd").map(({ aborted }) => aborted)).toEqual([false, false]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", detail: "empty" }]);
  });

  it("sends schemas without what becomes a grammar, and validates with all of it", async () => {
    const todos = fragment(0, "x", "todo_write", JSON.stringify({ todos: [{ title: "", status: "pending" }] }));
    const { provider, client, agent } = await appWith([chat([todos], "tool_calls"), said]);
    const events = await client.turn(agent.id, "hi");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED" } }]);
    const tools = JSON.stringify(provider.requests[0]?.body["tools"]);
    for (const keyword of ["pattern", "minLength", "maxLength", "minItems", "maxItems", "format"])
      expect(tools).not.toMatch(new RegExp(`"${keyword}":["\\d]`));
    expect(tools).toContain('"additionalProperties":false');
    expect(tools).toContain("at most 32768 characters");
  });

  it("sends what the model's `compat` says", async () => {
    const compat = {
      tokenLimit: "max_completion_tokens",
      streamOptions: false,
      emptyContent: "text",
      thoughtsGoBack: false,
    } as const;
    const { provider, client, agent } = await appWith([chat([{ reasoning: "Hm." }, CALLED], "tool_calls"), said], {}, { compat });
    await client.turn(agent.id, "hi");
    const body = provider.requests[1]?.body ?? { messages: [] };
    expect(body).toMatchObject({ max_completion_tokens: 1_000 });
    for (const name of ["max_tokens", "stream_options"]) expect(body).not.toHaveProperty(name);
    expect(body.messages[2]).toMatchObject({ role: "assistant", content: "" });
    expect(body.messages[2]).not.toHaveProperty("reasoning");
  });

  it("sends images as data URLs, and counts nothing if the server counts nothing", async () => {
    const { provider, client, agent } = await appWith([chat([{ content: "A dot." }], "stop", null)]);
    const data = "R0lGODlhAQABAAAAACw=";
    await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "", images: [{ mediaType: "GIF", data }] } });
    expect(ofType(await client.until(agent.id, "DONE"), "TokensUsed")).toMatchObject([{ totalTokens: 0 }]);
    expect(provider.requests[0]?.body.messages[1]).toEqual({
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:image/gif;base64,${data}` } }],
    });
  });
});
