import { expect, it } from "vitest";
import type { Model, ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { HooksConfig } from "../../src/triplane.ts";
import { CompactAgentDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { windowedModel } from "../support/windowed-model.ts";

/** The parts of a request in the order in which providers cache them. */
function partsOf({ tools, system, messages }: ModelRequest): readonly string[] {
  const blocks = messages.flatMap(({ role, content }) => content.map((block) => ({ role, block })));
  return [tools, system, ...blocks].map((part) => JSON.stringify(part));
}

const tokensOf = (parts: readonly string[]): number => Math.ceil(parts.join("").length / 4);

/** A model whose provider caches the newest request of a conversation, part by part. It calls a tool, and then answers. */
function cachingModel(): Model {
  const reply = ({ messages }: ModelRequest) => {
    const isAnswered = messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true;
    return isAnswered ? { text: "ok" } : { tool: "todo_read", input: {} };
  };
  const inner = windowedModel({ window: 20_000, reply, summary: () => "Facts: blue." });
  let cached: readonly string[] = [];
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const parts = partsOf(request);
    const same = parts.findIndex((part, index) => part !== cached[index]);
    const read = tokensOf(parts.slice(0, same === -1 ? parts.length : same));
    const usage = { inputTokens: 0, outputTokens: 1, cacheReadTokens: read, cacheWriteTokens: tokensOf(parts) - read };
    if (request.tools.length > 0) cached = parts;
    for await (const event of inner.stream(request, signal, () => {}))
      yield event.type === "end" || event.type === "counted" ? { ...event, usage } : event;
  }
  return { ...inner, stream };
}

const TOOLS = ["todo_read", "todo_write"];

async function world(options: TestAppOptions = {}) {
  const model = options.model ?? cachingModel();
  const template = { tools: TOOLS, permission: { mode: "auto" as const }, ...options.template };
  const app = await startTestApp({ ...options, model, template });
  return { app, model, client: connect(app.url) };
}

/** The steps of a turn with many words. */
async function stepsOf(client: TestClient, id: string, text = "m".repeat(4_000)) {
  return ofType(await client.turn(id, text), "StepComplete");
}

const missesOf = (steps: Awaited<ReturnType<typeof stepsOf>>) => steps.map(({ cacheMiss }) => cacheMiss);

it("a conversation keeps its cache from step to step, and loses it once by a compaction", async () => {
  const { client } = await world();
  const { id } = await client.createAgent();
  const first = await stepsOf(client, id);
  expect(first.map(({ cachedShare }) => cachedShare === 0)).toEqual([true, false]);
  for (const turn of [1, 2, 3]) {
    const steps = await stepsOf(client, id, `${turn} ${"m".repeat(4_000)}`);
    expect(missesOf(steps)).toEqual([null, null]);
    expect(steps.every(({ cachedShare }) => (cachedShare ?? 0) > 0.5)).toBe(true);
  }
  await client.get(CompactAgentDocument, { input: { agentId: id } });
  await expect.poll(async () => ofType(await client.events(id), "ContextCompression").length).toBe(2);
  const [compacted, ...rest] = await stepsOf(client, id);
  expect(compacted?.cacheMiss).toEqual({ reason: null, tokens: expect.any(Number), expected: "COMPACTION" });
  expect(missesOf(rest)).toEqual([null]);
  expect(missesOf(await stepsOf(client, id))).toEqual([null, null]);
});

it("another system prompt is an expected miss; the tools of a template in another order are none", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const { app, model, client } = await world({ database });
  const { id } = await client.createAgent();
  await stepsOf(client, id);
  const config = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
  await app.close();
  const reordered = await world({ model, database, config, template: { tools: TOOLS.toReversed() } });
  expect(missesOf(await stepsOf(reordered.client, id))).toEqual([null, null]);
  await reordered.app.close();
  const changed = await world({ model, database, config, template: { systemPrompt: "You are changed." } });
  const known = { reason: null, tokens: expect.any(Number), expected: "FRAME" };
  expect(missesOf(await stepsOf(changed.client, id))).toEqual([known, null]);
});

// goruck/home-generative-agent #617
it("a hook that puts the time before the conversation is a miss in each step, without a cause that is known", async () => {
  let time = 0;
  const hooks: HooksConfig = {
    preModel: [
      (_step, [first, ...rest]) => {
        time += 1;
        const told = { type: "text", text: `The time is ${time}.` } as const;
        return [{ role: "user", content: [told, ...(first?.content ?? [])] }, ...rest];
      },
    ],
  };
  const { client } = await world({ template: { hooks } });
  const { id } = await client.createAgent();
  const unknown = { reason: null, tokens: expect.any(Number), expected: null };
  expect(missesOf(await stepsOf(client, id))).toEqual([null, unknown]);
  expect(missesOf(await stepsOf(client, id))).toEqual([unknown, unknown]);
});
