import { describe, expect, it } from "vitest";
import { ModelError, type Model, type ModelRequest } from "../../src/agent/models/model.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { create } from "../support/memory-app.ts";
import { tokensOf, windowedModel, type Played } from "../support/windowed-model.ts";

const WINDOW = 8_000;

const COUNT: JsonObject = { type: "object", properties: { files: { type: "integer" } }, required: ["files"] };

const SCRIPTED = { provider: "scripted", script: { replies: [{ when: {} }] } } as const;

const summary = (): string => "Facts: the colour is blue.";

async function agentOf(models: Readonly<Record<string, Model>>, template: TestAppOptions["template"]) {
  const names = Object.keys(models);
  const app = await startTestApp({
    template: { tools: ["todo_read"], permission: { mode: "auto" }, modelRetries: 0, ...template },
    config: { models: Object.fromEntries(names.map((name) => [name, SCRIPTED])) },
    overrides: { models: new Map(Object.entries(models)) },
  });
  const client = connect(app.url);
  return { client, id: (await client.createAgent()).id };
}

async function talk(client: TestClient, id: string, turns: number, characters: number) {
  for (let turn = 0; turn < turns; turn += 1) {
    await client.turn(id, `message ${turn}: ${"m".repeat(characters)}`);
    await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
  }
}

const textOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

describe("an answer in a shape", () => {
  it("is corrected and accepted in one turn while a summary takes the place of old messages", async () => {
    const wrong: Played = { text: `no JSON ${"n".repeat(6_000)}` };
    const reply = (request: ModelRequest): Played => {
      const isLast = textOf(request).includes("correction 4 of 5");
      return textOf(request).includes("count now") && !isLast ? wrong : { text: '{"files":2}' };
    };
    const model = windowedModel({ window: WINDOW, reply, summary });
    const { client, id } = await agentOf({ test: model }, { outputSchema: COUNT, corrections: 5 });
    await talk(client, id, 4, 3_000);
    const events = await client.turn(id, "count now");
    expect(ofType(events, "ContextCompression").map(({ compressionPhase }) => compressionPhase)).toEqual(["START", "END"]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", value: { files: 2 } }]);
    const last = model.requests.at(-1);
    expect(textOf(last)).toContain("Facts: the colour is blue.");
    expect(textOf(last)).toContain("count now");
    expect(model.requests.map(({ shape }) => shape)).toEqual(model.requests.map(() => COUNT));
    expect(model.summaries.map(({ shape, isFirstOfTurn }) => ({ shape, isFirstOfTurn }))).toEqual([
      { shape: null, isFirstOfTurn: false },
    ]);
    expect(Math.max(...model.requests.map(tokensOf))).toBeLessThan(WINDOW);
  });

  it("counts with its schema where a window is full", async () => {
    const large = { ...COUNT, description: "d".repeat(12_000) };
    const model = windowedModel({ window: 2_000, reply: () => ({ text: '{"files":2}' }), summary });
    const { client, id } = await agentOf({ test: model }, { outputSchema: large });
    const events = await client.turn(id, "count");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    expect(ofType(events, "ErrorRaised").at(-1)).toMatchObject({
      detail: "too_long",
      message: expect.stringMatching(/the tools have about [34]\d{3} tokens/),
    });
  });
});

it("the list of memory is told again once when a compaction has left it out", async () => {
  const reply = ({ messages }: ModelRequest): Played => {
    const [tool, input] = create("/memories/a.md");
    return JSON.stringify(messages.at(-1)).includes("keep a note") ? { tool, input } : { text: "ok" };
  };
  const model = windowedModel({ window: WINDOW, reply, summary });
  const { client, id } = await agentOf({ test: model }, { tools: ["memory"], memory: {} });
  await client.turn(id, "keep a note");
  await talk(client, id, 12, 3_000);
  expect(ofType(await client.events(id), "ContextCompression").length).toBeGreaterThan(1);
  const lists = model.requests.slice(2).map((request) => textOf(request).split("[Your memory has 1 entry").length - 1);
  expect(lists).toEqual(lists.map(() => 1));
  expect(textOf(model.requests.at(-1))).not.toContain("message 0:");
});

it("entries that an agent writes in a long turn are told when a compaction leaves their calls out", async () => {
  const reply = (_request: ModelRequest, count: number): Played => {
    const [tool, input] = create(`/memories/n${count}.md`, "n".repeat(2_000));
    return count <= 16 ? { tool, input } : { text: "done" };
  };
  const model = windowedModel({ window: WINDOW, reply, summary });
  const { client, id } = await agentOf({ test: model }, { tools: ["memory"], memory: {} });
  const events = await client.turn(id, "keep many notes");
  expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(ofType(events, "ContextCompression").length).toBeGreaterThan(1);
  expect(textOf(model.requests.at(-1))).toMatch(/\[Your memory has \d+ entries.*\/memories\/n1\.md/);
  expect(Math.max(...model.requests.map(tokensOf))).toBeLessThan(WINDOW);
});

describe("a fallback whose window is smaller than the context", () => {
  const down = (request: ModelRequest): Played => {
    if (textOf(request).includes("message 5")) throw new ModelError("overloaded", "529");
    return { text: "ok" };
  };

  it.for([
    ["with a summary", summary, "SUMMARY"],
    [
      "without old messages, if the model that summarises is down, too",
      () => {
        throw new ModelError("overloaded", "529");
      },
      "SHORTENED",
    ],
  ] as const)("answers %s", async ([, summarised, method]) => {
    const first = windowedModel({ window: 100_000, reply: down, summary: summarised });
    const small = windowedModel({ window: 4_000, reply: () => ({ text: "I am small." }), summary });
    const { client, id } = await agentOf({ test: first, small: { ...small, name: "small" } }, { fallbackModel: "small" });
    await talk(client, id, 6, 6_000);
    const events = await client.events(id);
    expect(ofType(events, "Done").map(({ reason }) => reason)).toEqual(Array(6).fill("COMPLETED"));
    const ends = ofType(events, "ContextCompression").filter(({ tokensAfter }) => tokensAfter !== null);
    expect(ends.at(-1)).toMatchObject({ method });
    expect(tokensOf(small.requests.at(-1) as ModelRequest)).toBeLessThan(4_000);
    expect(textOf(small.requests.at(-1))).toContain("message 5:");
    expect(first.requests).toHaveLength(6);
    expect((await client.agent(id)).state).toBe("READY");
  });

  it("has the mark of its own window, and the next turn that of the agent's model", async () => {
    const first = windowedModel({ window: 100_000, reply: down, summary });
    const small = windowedModel({ window: 4_000, reply: () => ({ text: "I am small." }), summary });
    const { client, id } = await agentOf({ test: first, small: { ...small, name: "small" } }, { fallbackModel: "small" });
    await talk(client, id, 6, 6_000);
    const windows = ofType(await client.events(id), "StepComplete").map(({ contextWindow }) => contextWindow);
    expect(windows).toEqual([...Array(5).fill(100_000), 4_000]);
  });
});
