import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openAiModel, type OpenAiOptions } from "../../../src/agent/models/openai.ts";
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
  const plain = { apiKey: "sk-test", baseUrl: `${provider.url}/v1`, model: "local", maxTokens: 1_000, price: null };
  const app = await startTestApp({ model: openAiModel({ ...plain, ...options }), template });
  await writeFile(join(app.workspace, "a.txt"), "alpha");
  await writeFile(join(app.workspace, "b.txt"), "beta");
  const client = connect(app.url);
  return { provider, client, agent: await client.createAgent() };
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
      ...BUILTIN_TOOLS.slice(1).map(() => ({})),
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
    ["", "broken"],
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

  it("shows the thoughts of open models if the template exposes them, and never sends them back", async () => {
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
