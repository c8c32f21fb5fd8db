import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";
import { tokensOf, windowedModel, type Played } from "../support/windowed-model.ts";

const WINDOW = 8_000;

const reads = ownTool("reads", async () => ({ output: "x".repeat(3_000), details: null }));

type Options = Partial<Parameters<typeof windowedModel>[0]> & { readonly template?: TestAppOptions["template"] };

/** An agent whose model has a small window, with tools that take little of it. */
async function small({ template, ...options }: Options = {}) {
  const model = windowedModel({
    window: WINDOW,
    reply: () => ({ text: "ok" }),
    summary: () => "Facts: the colour is blue.",
    ...options,
  });
  const tools = ["reads", "todo_write", "todo_read"];
  const app = await startTestApp({
    model,
    config: { tools: [reads] },
    template: { tools, permission: { mode: "auto" }, ...template },
  });
  const client = connect(app.url);
  return { app, model, client, agent: await client.createAgent() };
}

/** Sends messages of so many characters, one turn after the other, and awaits what is made of the context. */
async function talk({ client, agent }: Awaited<ReturnType<typeof small>>, turns: number, characters: number, from = 0) {
  for (let turn = from; turn < from + turns; turn += 1) {
    await client.turn(agent.id, `message ${turn}: ${"m".repeat(characters)}`);
    await expect.poll(async () => (await client.agent(agent.id)).state).toBe("READY");
  }
  return client.events(agent.id);
}

const textOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

describe("a summary takes the place of old messages", () => {
  it("in the background at the mark, reported with START and END, and the next request begins with it", async () => {
    const world = await small();
    const events = await talk(world, 9, 3_000);
    const compressions = ofType(events, "ContextCompression");
    expect(compressions.slice(0, 2)).toMatchObject([
      { compressionPhase: "START", method: "SUMMARY", summaryModel: "windowed", tokensAfter: null, summary: null },
      { compressionPhase: "END", method: "SUMMARY", summary: "Facts: the colour is blue.", failureReason: null },
    ]);
    const end = compressions[1];
    expect(end?.tokensAfter).toBeLessThan(0.35 * WINDOW);
    expect(end?.ratio).toBeCloseTo((end?.tokensAfter ?? 0) / (end?.tokensBefore ?? 1));
    expect(end?.contentHash).toMatch(/^[0-9a-f]{64}$/);
    expect(end?.fromMessageId).not.toBeNull();
    const { model } = world;
    expect(Math.max(...model.requests.map(tokensOf))).toBeLessThan(WINDOW);
    const last = model.requests.at(-1);
    expect(textOf(last)).toContain("Facts: the colour is blue.");
    expect(textOf(last)).toContain("message 8:");
    expect(textOf(last)).not.toContain("message 0:");
    expect(ofType(events, "ErrorRaised")).toEqual([]);
    expect(ofType(events, "Done").every(({ reason }) => reason === "COMPLETED")).toBe(true);
  });

  it("and nothing is added to requests before the first one", async () => {
    const world = await small();
    await talk(world, 3, 100);
    expect(world.model.requests.at(-1)?.messages.map(({ content }) => content.length)).toEqual([1, 1, 1, 1, 1]);
    expect(world.model.summaries).toEqual([]);
  });

  it("while a long turn goes on, and never between a call and its result", async () => {
    const reply = (_request: ModelRequest, count: number): Played =>
      count <= 30 ? { tool: "reads", input: {} } : { text: "done" };
    const world = await small({ reply });
    const events = await talk(world, 1, 100);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(ofType(events, "ContextCompression").length).toBeGreaterThan(2);
    expect(Math.max(...world.model.requests.map(tokensOf))).toBeLessThan(WINDOW);
    for (const request of world.model.requests) expect(textOf(request)).toContain("message 0:");
    expect(ofType(events, "ErrorRaised")).toEqual([]);
  });
});
