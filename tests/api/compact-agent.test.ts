import { describe, expect, it } from "vitest";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { CompactAgentDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { windowedModel, type WindowedModel } from "../support/windowed-model.ts";

const template = { tools: ["todo_read"], permission: { mode: "auto" as const } };

async function world(
  options: Partial<Parameters<typeof windowedModel>[0]> = {},
  more: Partial<TemplateConfig> = {},
): Promise<{
  readonly model: WindowedModel;
  readonly client: TestClient;
  readonly id: string;
}> {
  const model = windowedModel({ window: 20_000, reply: () => ({ text: "ok" }), summary: () => "Facts: blue.", ...options });
  const app = await startTestApp({ model, template: { ...template, ...more } });
  const client = connect(app.url);
  return { model, client, id: (await client.createAgent()).id };
}

const compact = async (client: TestClient, agentId: string, more: object = {}) =>
  (await client.get(CompactAgentDocument, { input: { agentId, ...more } })).compactAgent;

const compressions = async (client: TestClient, id: string) => ofType(await client.events(id), "ContextCompression");

describe("compactAgent", () => {
  it("of an idle agent makes a summary without a turn, with the instruction, and the meter shows it", async () => {
    const { client, id, model } = await world();
    for (const turn of [0, 1, 2, 3]) await client.turn(id, `${turn} ${"m".repeat(4_000)}`);
    const before = (await client.agent(id)).context;
    expect(before).toMatchObject({ window: 20_000, compactedAt: null });
    expect(before.tokens).toBeGreaterThan(4_000);
    expect(await compact(client, id, { instruction: "keep all colours" })).toMatchObject({ userErrors: [] });
    await expect.poll(async () => (await compressions(client, id)).length).toBe(2);
    expect(await compressions(client, id)).toMatchObject([
      { compressionPhase: "START", instruction: "keep all colours", askedBy: { actorId: expect.stringMatching(/./) } },
      { compressionPhase: "END", summary: "Facts: blue.", failureReason: null },
    ]);
    expect(JSON.stringify(model.summaries[0])).toContain("keep all colours");
    const after = await client.agent(id);
    expect(after).toMatchObject({ turn: 4, stepCount: 4, state: "READY" });
    expect(after.context.tokens).toBeLessThan(before.tokens ?? 0);
    expect(after.context.compactedAt).not.toBeNull();
    await client.turn(id, "and now?");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("Facts: blue.");
  });

  it("counts the summary in the usage of the agent", async () => {
    const { client, id } = await world();
    for (const turn of [0, 1, 2, 3]) await client.turn(id, `${turn} ${"m".repeat(4_000)}`);
    const before = (await client.agent(id)).usage.totalTokens;
    await compact(client, id);
    await expect.poll(async () => (await compressions(client, id)).length).toBe(2);
    const { totalTokens } = (await client.agent(id)).usage;
    expect(totalTokens).toBeGreaterThan(before);
    const told = ofType(await client.events(id), "TokensUsed").reduce((sum, event) => sum + event.totalTokens, 0);
    expect(told).toBe(totalTokens);
  });

  it("of a working agent makes it beside the turn, and is refused while one is under way", async () => {
    const going = Promise.withResolvers<void>();
    const { client, id, model } = await world({
      summary: async function* summary(): AsyncGenerator<ModelEvent> {
        await going.promise;
        yield { type: "text_start", block: 0 };
        yield { type: "text_delta", block: 0, text: "Facts: green." };
        yield { type: "end", stopReason: "end_turn", usage: { ...NO_TOKENS, inputTokens: 5, outputTokens: 5 } };
      },
    });
    for (const turn of [0, 1, 2, 3]) await client.turn(id, `${turn} ${"m".repeat(4_000)}`);
    expect(await compact(client, id, { idempotencyKey: "once" })).toMatchObject({ userErrors: [] });
    expect(await compact(client, id, { idempotencyKey: "once" })).toMatchObject({ userErrors: [] });
    await expect.poll(() => model.summaries.length).toBe(1);
    expect(await compact(client, id)).toMatchObject({ userErrors: [{ code: "COMPACTING", field: ["agentId"] }] });
    await client.turn(id, "a turn meanwhile");
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("a turn meanwhile");
    going.resolve();
    await expect.poll(async () => (await compressions(client, id)).length).toBe(2);
    await client.turn(id, "after it");
    const last = JSON.stringify(model.requests.at(-1)?.messages);
    expect(last).toContain("Facts: green.");
    expect(last).toContain("a turn meanwhile");
  });

  it("says that there is too little to summarise", async () => {
    const { client, id, model } = await world();
    await compact(client, id);
    await expect.poll(async () => (await compressions(client, id)).length).toBe(1);
    expect(await compressions(client, id)).toMatchObject([
      { compressionPhase: "END", failureReason: "there is too little to summarise" },
    ]);
    expect(model.summaries).toEqual([]);
  });

  it("shows the smaller window on the meter: that of the model, or of the template", async () => {
    const windowWith = async (maxTokens: number): Promise<number | null> => {
      const { client, id } = await world({}, { context: { maxTokens } });
      await client.turn(id, "go");
      return (await client.agent(id)).context.window;
    };
    expect(await windowWith(12_000)).toBe(12_000);
    expect(await windowWith(30_000)).toBe(20_000);
  });
});
