import { describe, expect, it } from "vitest";
import { anthropicModel, type AnthropicThinking } from "../../../src/agent/models/anthropic.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import type { Model } from "../../../src/agent/models/model.ts";
import { openAiModel } from "../../../src/agent/models/openai.ts";
import { modelsOf, type ModelConfig } from "../../../src/config/models.ts";
import { readEnvironment } from "../../../src/config/environment.ts";
import { complete, type Written } from "../../../src/lib/setting.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { answers } from "../../support/providers/anthropic-stream.ts";
import { chat } from "../../support/providers/openai-stream.ts";
import { providerServer } from "../../support/providers/provider-server.ts";

type Settings = Written<typeof MODEL_CALL_SETTINGS>;
type Body = Readonly<Record<string, unknown>>;

/** The bodies of two calls of one turn, of which the first asks for a tool, and that of the next turn. */
async function claudeBodies(settings: Settings, thinking: AnthropicThinking, template: TestAppOptions["template"] = {}) {
  const provider = await providerServer<Body>([
    answers([{ tool: "todo_read", id: "toolu_a", json: ["{}"] }], "tool_use"),
    answers([{ text: ["Nothing."] }], "end_turn"),
  ]);
  const model = anthropicModel({
    apiKey: "sk",
    baseUrl: provider.url,
    model: "claude-test",
    maxTokens: 4_000,
    thinking,
    price: null,
    window: null,
    settings: complete(MODEL_CALL_SETTINGS, settings),
  });
  return bodiesOf(model, provider.requests, template);
}

async function chatBodies(settings: Settings, template: TestAppOptions["template"] = {}) {
  const provider = await providerServer<Body>([
    chat([{ tool_calls: [{ index: 0, id: "a", function: { name: "todo_read", arguments: "{}" } }] }], "tool_calls"),
    chat([{ content: "Nothing." }], "stop"),
  ]);
  const model = openAiModel({
    apiKey: "sk",
    baseUrl: `${provider.url}/v1`,
    model: "local",
    maxTokens: null,
    price: null,
    window: null,
    compat: {},
    settings: complete(MODEL_CALL_SETTINGS, settings),
  });
  return bodiesOf(model, provider.requests, template);
}

async function bodiesOf(
  model: Model,
  requests: readonly { readonly body: Body }[],
  template: TestAppOptions["template"],
): Promise<readonly Body[]> {
  const client = connect((await startTestApp({ model, template: { permission: { mode: "auto" }, ...template } })).url);
  const { id } = await client.createAgent();
  await client.turn(id, "What is to be done?");
  await client.turn(id, "And now?");
  return requests.map(({ body }) => body);
}

describe("settings of a Claude model", () => {
  it("are in each request, and a tool is forced in the first call of each turn alone", async () => {
    const settings = { temperature: 0.2, stopSequences: ["<END>"], effort: "max", toolChoice: { tool: "todo_read" } } as const;
    const bodies = await claudeBodies(settings, null);
    const all = { temperature: 0.2, stop_sequences: ["<END>"], output_config: { effort: "max" } };
    expect(bodies).toMatchObject([all, all, all]);
    const forced = { type: "tool", name: "todo_read" };
    expect(bodies.map((body) => body["tool_choice"])).toEqual([forced, undefined, forced]);
  });

  it("leave the request as it was if there are none", async () => {
    const [body] = await claudeBodies({}, null);
    expect(Object.keys(body ?? {})).toEqual(["model", "max_tokens", "system", "messages", "tools", "stream"]);
  });

  it("are replaced by those of the template, but for a temperature and a forced tool if the model thinks", async () => {
    const modelSettings = { temperature: 0.1, effort: "low", toolChoice: "required", stopSequences: ["a"] } as const;
    const own = { temperature: 0.9, effort: "high", stopSequences: ["b"] } as const;
    const [plain] = await claudeBodies(own, null, { modelSettings });
    const same = { output_config: { effort: "low" }, stop_sequences: ["a"] };
    expect(plain).toMatchObject({ ...same, temperature: 0.1, tool_choice: { type: "any" } });
    const [thinking] = await claudeBodies({ effort: "high" }, "adaptive", { modelSettings });
    expect(thinking).toMatchObject(same);
    expect(thinking).not.toHaveProperty("temperature");
    expect(thinking).not.toHaveProperty("tool_choice");
  });
});

describe("settings of a chat completions model", () => {
  it("are in each request, and a tool is forced in the first call of each turn alone", async () => {
    const bodies = await chatBodies({ temperature: 1.5, stopSequences: ["<END>"], effort: "minimal", toolChoice: "required" });
    const all = { temperature: 1.5, stop: ["<END>"], reasoning_effort: "minimal" };
    expect(bodies).toMatchObject([all, all, all]);
    expect(bodies.map((body) => body["tool_choice"])).toEqual(["required", undefined, "required"]);
  });

  it("leave the request as it was if there are none, and `none` holds for each call", async () => {
    const [body] = await chatBodies({});
    expect(Object.keys(body ?? {})).toEqual(["messages", "tools", "stream_options", "model", "stream"]);
    const bodies = await chatBodies({}, { modelSettings: { toolChoice: "none" } });
    expect(bodies.map((each) => each["tool_choice"])).toEqual(["none", "none", "none"]);
  });
});

describe("a configured model", () => {
  const source = {
    folder: ".",
    environment: readEnvironment({ ANTHROPIC_API_KEY: "sk", OPENAI_API_KEY: "sk" }),
    tools: new Map(),
    onRead: () => {},
  };
  const notesOf = async (config: ModelConfig) => (await modelsOf("models", { m: config }, source)).notes;

  it.each([
    [{ temperature: 1.2 }, "models.m.temperature must be at most 1"],
    [{ temperature: 1, thinking: "adaptive" }, "models.m.temperature is refused by the provider with thinking"],
    [{ effort: "minimal" }, "models.m.effort must be one of low, medium, high, xhigh, max"],
    [{ toolChoice: "required", thinking: { budgetTokens: 2_000 } }, "models.m.toolChoice can force no tool with thinking"],
  ] as const)("is refused with settings that Claude refuses: %j", async (settings, problem) => {
    await expect(notesOf({ provider: "anthropic", model: "claude", ...settings })).rejects.toThrow(problem);
  });

  it("is refused with more stop sequences than OpenAI accepts", async () => {
    const stopSequences = ["a", "b", "c", "d", "e"];
    await expect(notesOf({ provider: "openai", model: "gpt", stopSequences })).rejects.toThrow("at most 4 at OpenAI");
  });

  it("notes the settings that a script ignores", async () => {
    const script = { replies: [{ when: {} }] };
    expect(await notesOf({ provider: "scripted", script, temperature: 0, effort: "low" })).toEqual([
      "models.m: a scripted model ignores temperature, effort",
    ]);
    expect(await notesOf({ provider: "scripted", script })).toEqual([]);
  });
});
