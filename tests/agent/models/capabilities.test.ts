import { expect, it, onTestFinished, vi } from "vitest";
import { anthropicModel, type AnthropicOptions } from "../../../src/agent/models/anthropic.ts";
import { AskedCapabilities } from "../../../src/agent/models/capabilities.ts";
import type { ContentBlock, ModelRequest } from "../../../src/agent/models/model.ts";
import { MODEL_CALL_SETTINGS } from "../../../src/agent/models/model-settings.ts";
import { complete } from "../../../src/lib/setting.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { answers, type MessagesBody } from "../../support/providers/anthropic-stream.ts";
import { providerServer } from "../../support/providers/provider-server.ts";

const SHAPE = { type: "object", properties: { files: { type: "integer" } }, required: ["files"], additionalProperties: false };
const IMAGE: ContentBlock = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const TEXT: ContentBlock = { type: "text", text: "What is this?" };

const REQUEST: ModelRequest = {
  system: "x",
  messages: [{ role: "user", content: [IMAGE, TEXT] }],
  tools: [],
  exposeThinking: false,
  settings: {},
  isFirstOfTurn: false,
  shape: SHAPE,
};

/** The request with an effort, a shape and an image, as the provider gets it. */
async function sent(stated: unknown, options: Partial<AnthropicOptions> = {}) {
  const reads = stated === null ? {} : { "/v1/models/claude-test": { id: "claude-test", capabilities: stated } };
  const { url, requests } = await providerServer<MessagesBody>([answers([{ text: ["{}"] }], "end_turn")], { reads });
  const settings = complete(MODEL_CALL_SETTINGS, { effort: "high" });
  const fixed = { apiKey: "sk-test", model: "claude-test", maxTokens: 100, thinking: null, price: null, window: null };
  const model = anthropicModel({ ...fixed, baseUrl: url, settings, ...options });
  for await (const _event of model.stream(REQUEST, new AbortController().signal, () => {}));
  const body = requests.at(-1)?.body;
  const output = (body?.["output_config"] ?? {}) as { effort?: string; format?: object };
  return {
    effort: output.effort ?? null,
    hasFormat: output.format !== undefined,
    tools: ((body?.["tools"] ?? []) as readonly object[]).length,
    kinds: body?.messages[0]?.content.map(({ type }) => type),
  };
}

const ALL = { effort: "high", hasFormat: true, tools: 0, kinds: ["image", "text"] };
const NONE = { effort: null, hasFormat: false, tools: 1, kinds: ["text", "text"] };
const says = (supported: boolean) => ({ supported });

it("a model gets no effort, schema or image that its provider says it refuses", async () => {
  const refused = { effort: says(false), structured_outputs: says(false), image_input: says(false) };
  expect(await sent(refused)).toEqual(NONE);
  const accepted = { effort: { ...says(true), high: says(true) }, structured_outputs: says(true), image_input: says(true) };
  expect(await sent(accepted)).toEqual(ALL);
  const lower = { ...accepted, effort: { ...says(true), high: says(false), low: says(true) } };
  expect(await sent(lower)).toEqual({ ...ALL, effort: null });
});

it("all is sent if the provider says nothing, and the configuration decides before it", async () => {
  expect(await sent(null)).toEqual(ALL);
  expect(await sent({})).toEqual(ALL);
  const given = { effort: false, structuredOutputs: false, imageInput: false };
  expect(await sent(null, { capabilities: given })).toEqual(NONE);
  const refused = { effort: says(false), structured_outputs: says(false), image_input: says(false) };
  expect(await sent(refused, { capabilities: { effort: true, structuredOutputs: true, imageInput: true } })).toEqual(ALL);
});

it("only the first request waits for the provider: a later question leaves what it said last", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const later = Promise.withResolvers<unknown>();
  const questions = [Promise.resolve({ capabilities: { image_input: says(false) } }), later.promise];
  const asked = new AskedCapabilities({}, () => questions.shift() ?? Promise.reject(new Error("asked again")));
  const readsImages = async () => (await asked.for(REQUEST, { effort: null })).imageInput;
  expect(await readsImages()).toBe(false);
  vi.setSystemTime(Date.now() + DAY_MS + 1);
  expect(await readsImages()).toBe(false);
  later.resolve({ capabilities: { image_input: says(true) } });
  await expect.poll(readsImages).toBe(true);
});
