import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { anthropicModel } from "../../src/agent/models/anthropic.ts";
import { openAiModel } from "../../src/agent/models/openai.ts";
import { MODEL_CALL_SETTINGS } from "../../src/agent/models/model-settings.ts";
import type { Model, ModelMessage, ModelRequest, ToolDescription } from "../../src/agent/models/model.ts";
import { complete } from "../../src/lib/setting.ts";
import { ContextAtDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { answers, type MessagesBody } from "../support/providers/anthropic-stream.ts";
import { chat } from "../support/providers/openai-stream.ts";
import { providerServer, type ProviderAnswer, type ProviderRequest } from "../support/providers/provider-server.ts";

const settings = complete(MODEL_CALL_SETTINGS, {});
const COMMON = { apiKey: "sk-test", maxTokens: 1_000, price: null, window: null, settings };

const INPUT = '{"path":"a.txt"}';

const claude: readonly ProviderAnswer[] = [
  answers(
    [
      { thinking: ["Look."], signature: "s" },
      { tool: "fs_read", id: "toolu_1", json: [INPUT] },
    ],
    "tool_use",
  ),
  answers([{ text: ["It says alpha."] }], "end_turn"),
];

const call = { index: 0, id: "call_1", type: "function", function: { name: "fs_read", arguments: INPUT } };

const local: readonly ProviderAnswer[] = [
  chat([{ reasoning_content: "Look." }, { tool_calls: [call] }], "tool_calls"),
  chat([{ content: "It says alpha." }], "stop"),
];

const PROVIDERS: readonly [name: string, answers: readonly ProviderAnswer[], model: (url: string) => Model][] = [
  ["Claude", claude, (baseUrl) => anthropicModel({ ...COMMON, model: "claude-test", thinking: null, baseUrl })],
  [
    "a chat completions server",
    local,
    (baseUrl) => openAiModel({ ...COMMON, model: "local", compat: {}, baseUrl: `${baseUrl}/v1` }),
  ],
];

it.each(PROVIDERS)("%s is sent the same bytes again for the request that contextAt shows", async (_name, replies, modelAt) => {
  const provider = await providerServer<MessagesBody>([...replies, ...replies]);
  const model = modelAt(provider.url);
  const app = await startTestApp({ model });
  await writeFile(join(app.workspace, "a.txt"), "alpha");
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "Read a.txt");
  await client.turn(id, "And again?");
  const sent = bodiesOf(provider.requests);
  expect(sent.length).toBeGreaterThanOrEqual(3);
  for (const step of sent.keys()) {
    const shown = (await client.get(ContextAtDocument, { id, step: step + 1 })).agent?.contextAt;
    expect(shown?.isProved).toBe(true);
    const request = {
      system: shown?.system,
      tools: shown?.tools as readonly ToolDescription[],
      messages: shown?.messages?.nodes.map(({ role, content }) => ({ role, content })) as readonly ModelMessage[],
      ...(shown?.settings as object),
    } as ModelRequest;
    for await (const event of model.stream(request, AbortSignal.timeout(10_000), () => {})) void event;
    expect(bodiesOf(provider.requests).at(-1)).toBe(sent[step]);
  }
});

function bodiesOf(requests: readonly ProviderRequest<MessagesBody>[]): readonly string[] {
  return requests.filter(({ url }) => url?.endsWith("count_tokens") !== true).map(({ body }) => JSON.stringify(body));
}
