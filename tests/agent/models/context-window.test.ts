import { describe, expect, it } from "vitest";
import { anthropicModel } from "../../../src/agent/models/anthropic.ts";
import { ModelError, type Model, type ModelEvent, type ModelRequest } from "../../../src/agent/models/model.ts";
import { openAiModel } from "../../../src/agent/models/openai.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import { parseScript } from "../../../src/agent/models/script.ts";
import { scriptedModel } from "../../../src/agent/models/scripted.ts";
import { complete } from "../../../src/lib/setting.ts";
import { answers, type MessagesBody } from "../../support/providers/anthropic-stream.ts";
import { providerServer, type ProviderAnswer } from "../../support/providers/provider-server.ts";

const REQUEST: ModelRequest = {
  system: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  tools: [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }],
  exposeThinking: false,
  settings: {},
  isFirstOfTurn: false,
  shape: null,
};

const settings = complete(MODEL_CALL_SETTINGS, {});

async function claude(
  script: readonly ProviderAnswer[],
  reads: Readonly<Record<string, unknown>> = {},
  window: number | null = null,
) {
  const { url, requests } = await providerServer<MessagesBody>(script, { reads });
  const options = { apiKey: "sk-test", baseUrl: url, model: "claude-test", maxTokens: 100, thinking: null, settings };
  return { requests, model: anthropicModel({ ...options, price: null, window }) };
}

async function local(list: unknown) {
  const { url } = await providerServer([], { reads: { "/v1/models": list } });
  const options = { apiKey: null, baseUrl: `${url}/v1`, model: "local", maxTokens: null, price: null, window: null };
  return openAiModel({ ...options, compat: {}, settings });
}

async function failureOf(model: Model): Promise<ModelError> {
  try {
    for await (const _event of model.stream(REQUEST, new AbortController().signal, () => {}));
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error("the call did not fail");
}

describe("the context window of a model", () => {
  it("of Claude is what the provider says, and 200,000 tokens until then", async () => {
    const { model } = await claude([], { "/v1/models/claude-test": { id: "claude-test", max_input_tokens: 1_000_000 } });
    expect(model.window?.(10)).toBe(200_000);
    expect(model.window?.(60_000)).toBe(200_000);
    await expect.poll(() => model.window?.(60_000)).toBe(1_000_000);
  });

  it("is the configured one, which nobody is asked for", async () => {
    const { model } = await claude([], { "/v1/models/claude-test": { max_input_tokens: 1_000_000 } }, 30_000);
    expect(model.window?.(60_000)).toBe(30_000);
  });

  it.for([
    ["OpenRouter", { context_length: 8_192 }],
    ["vLLM", { max_model_len: 8_192 }],
    ["Groq", { context_window: 8_192 }],
    ["Mistral", { max_context_length: "8192" }],
  ] as const)("of another server is what its list of models says, as of %s", async ([, entry]) => {
    const model = await local({
      data: [
        { id: "other", context_length: 1 },
        { id: "local", ...entry },
      ],
    });
    await expect.poll(() => model.window?.(2_000)).toBe(8_192);
  });

  it.for([{}, { data: null }, { data: [{ id: "local", context_length: -1 }] }, { data: [{ id: "other", context_length: 9 }] }])(
    "stays unknown if the list says nothing usable: %j",
    async (list) => {
      const model = await local(list);
      expect(model.window?.(2_000)).toBeNull();
      await expect.poll(() => model.window?.(2_000)).toBeNull();
    },
  );
});

it("a request is counted by the provider as it would be sent, without what only concerns the answer", async () => {
  const { model, requests } = await claude([{ body: { input_tokens: 123 } }]);
  expect(await model.count?.(REQUEST, AbortSignal.timeout(5_000))).toBe(123);
  expect(requests[0]?.url).toContain("/v1/messages/count_tokens");
  expect(Object.keys(requests[0]?.body ?? {}).toSorted()).toEqual(["messages", "model", "system", "tools"]);
});

describe("a full context window is one kind of failure", () => {
  it("if Claude stops in the middle of its answer", async () => {
    const { model } = await claude([answers([{ text: ["I beg"] }], "model_context_window_exceeded")]);
    expect(await failureOf(model)).toMatchObject({ kind: "too_long" });
  });

  it("if Claude refuses the request", async () => {
    const { model } = await claude([
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 7 > 5" } } },
    ]);
    expect(await failureOf(model)).toMatchObject({ kind: "too_long" });
  });

  it("if a scripted model has a window", async () => {
    const script = parseScript("test", JSON.stringify({ replies: [{ when: {}, say: ["hello"] }] }));
    expect(await failureOf(scriptedModel("test", script, null, 20))).toMatchObject({ kind: "too_long" });
    const said: ModelEvent[] = [];
    const larger = scriptedModel("test", script, null, 200);
    for await (const event of larger.stream(REQUEST, AbortSignal.timeout(5_000), () => {})) said.push(event);
    expect(said.at(-1)).toMatchObject({ type: "end" });
  });
});

it("a scripted model with a window counts a token for four characters of the parts that a provider is sent", async () => {
  const script = parseScript("test", JSON.stringify({ replies: [{ when: {}, say: ["hello"] }] }));
  const ownField = { name: "look", description: "Looks.", inputSchema: { type: "object" }, manual: "m".repeat(4_000) };
  const shape = { type: "object" };
  const said: ModelEvent[] = [];
  const request = { ...REQUEST, tools: [ownField], shape };
  const model = scriptedModel("test", script, null, 1_000);
  for await (const event of model.stream(request, AbortSignal.timeout(5_000), () => {})) said.push(event);
  const { system, messages, tools } = REQUEST;
  const characters = system.length + [messages, tools, shape].reduce((sum, part) => sum + JSON.stringify(part).length, 0);
  expect(said[0]).toMatchObject({ type: "counted", usage: { inputTokens: Math.ceil(characters / 4) } });
});
