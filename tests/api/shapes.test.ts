import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/lib/json.ts";
import { NO_TOKENS, type ModelEvent, type StopReason } from "../../src/agent/models/model.ts";
import {
  ForkAgentDocument,
  InterruptAgentDocument,
  RetryTurnDocument,
  SendMessageDocument,
  ShapedMessagesDocument,
} from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type PageEvent, type TestClient } from "../support/client.ts";
import { loseLeases, SHORT_LEASES } from "../support/lost-leases.ts";
import { calls, callsWith, hangsAfter, playedModel, says } from "../support/models.ts";
import { settingsWith } from "../support/template-settings.ts";
import { task, team } from "../support/team.ts";
import { ownTool } from "../support/tools.ts";

const SCRIPTED = { provider: "scripted", script: { replies: [{ when: {} }] } } as const;

const COUNT: JsonObject = {
  type: "object",
  properties: { files: { type: "integer" }, names: { type: "array", items: { type: "string" } } },
  required: ["files"],
  additionalProperties: false,
};

async function appWith(model: ReturnType<typeof playedModel>, template: TestAppOptions["template"] = {}) {
  const look = ownTool("look", () => Promise.resolve({ output: "seen", details: null }));
  const app = await startTestApp({ model, config: { tools: [look] }, template: { permission: { mode: "auto" }, ...template } });
  const client = connect(app.url);
  return { app, client, agent: await client.createAgent() };
}

async function ask(client: TestClient, agentId: string, outputSchema: Json, text = "How many files?") {
  return (await client.get(SendMessageDocument, { input: { agentId, text, outputSchema } })).sendMessage;
}

/** The events of a turn that is asked for a shape. */
async function shapedTurn(client: TestClient, agentId: string, outputSchema: Json = COUNT): Promise<readonly PageEvent[]> {
  const { cursor, userErrors } = await ask(client, agentId, outputSchema);
  expect(userErrors).toEqual([]);
  return client.until(agentId, "DONE", cursor ?? "0");
}

async function messagesOf(client: TestClient, id: string) {
  const { agent } = await client.get(ShapedMessagesDocument, { id });
  return agent?.messages.nodes ?? [];
}

async function* stops(stopReason: StopReason, text: string): AsyncGenerator<ModelEvent> {
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text };
  yield { type: "end", stopReason, usage: { ...NO_TOKENS, outputTokens: 1 } };
}

describe("a message with an output schema", () => {
  it("is answered with a value, in DONE and on the message; the text streams meanwhile, and tools run before", async () => {
    const model = playedModel(
      () => calls("look"),
      () => says('{"files": 2, "names": ["a"]}'),
      () => says("Any text."),
    );
    const { client, agent } = await appWith(model);
    const events = await shapedTurn(client, agent.id);
    const value = { files: 2, names: ["a"] };
    expect(textOf(events)).toBe('{"files": 2, "names": ["a"]}');
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { name: "look", state: "COMPLETED" } }]);
    expect(model.calls.map(({ request }) => request.shape)).toEqual([COUNT, COUNT]);
    const [done] = ofType(events, "Done");
    expect(done).toMatchObject({ reason: "COMPLETED", detail: null, value, problems: [] });
    const messages = await messagesOf(client, agent.id);
    expect(messages.map(({ kind, outputSchema, value: own }) => [kind, outputSchema, own])).toEqual([
      ["USER", COUNT, null],
      ["ASSISTANT", null, null],
      ["TOOL_RESULTS", null, null],
      ["ASSISTANT", null, value],
    ]);
    expect(done?.valueMessageId).toBe(messages.at(-1)?.id);
    // The next turn has no shape.
    expect(ofType(await client.turn(agent.id, "and?"), "Done")).toMatchObject([
      { reason: "COMPLETED", value: null, valueMessageId: null },
    ]);
    expect(model.calls[2]?.request.shape).toBeNull();
  });

  it("is refused with the place of a fault in the schema, and nothing is sent", async () => {
    const { client, agent } = await appWith(playedModel());
    const refusedAt = async (schema: Json) => (await ask(client, agent.id, schema)).userErrors[0];
    expect(await refusedAt({ type: "object", properties: { a: { type: "text" } } })).toMatchObject({
      code: "INVALID",
      field: ["outputSchema", "properties", "a", "type"],
    });
    expect(await refusedAt([1])).toMatchObject({ code: "INVALID", field: ["outputSchema"] });
    expect(await refusedAt({ type: "array" })).toMatchObject({
      field: ["outputSchema", "type"],
      message: expect.stringContaining('"object"'),
    });
    expect(await refusedAt({ $schema: "https://example.org/drafts/9", type: "object" })).toMatchObject({
      code: "INVALID",
      field: ["outputSchema", "$schema"],
      message: expect.stringContaining("draft-07 and earlier, 2019-09, 2020-12"),
    });
    expect(await messagesOf(client, agent.id)).toEqual([]);
  });

  it("has an answer corrected that does not fit, with each problem named, as further steps of the turn", async () => {
    const model = playedModel(
      () => says('{"files": "2", "more": 1}'),
      () => says("There are 2 files."),
      () => says('```json\n{"files": 2}\n```'),
    );
    const { client, agent } = await appWith(model);
    const events = await shapedTurn(client, agent.id);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", value: { files: 2 }, step: 3, turn: 1 }]);
    const asked = model.calls.map(({ request }) => JSON.stringify(request.messages.at(-1)?.content));
    expect(asked[1]).toContain("correction 1 of 2");
    expect(asked[1]).toContain("- /files: must be integer");
    expect(asked[1]).toContain('- /: has no parameter \\"more\\"');
    expect(asked[2]).toContain("correction 2 of 2");
    expect(asked[2]).toContain("- /: is no JSON");
  });

  it("ends with SHAPE and the problems after all corrections, and a retry answers it again with the same shape", async () => {
    const model = playedModel(
      () => says('{"files": "2"}'),
      () => says("{}"),
      () => says('{"files": 3}'),
    );
    const { client, agent } = await appWith(model, { corrections: 1 });
    const events = await shapedTurn(client, agent.id);
    expect(ofType(events, "Done")).toMatchObject([
      {
        reason: "SHAPE",
        detail: "invalid",
        value: null,
        problems: [{ path: "/", message: "must have required property 'files'" }],
      },
    ]);
    expect((await client.get(ShapedMessagesDocument, { id: agent.id })).agent?.doneReason).toBe("SHAPE");
    const { cursor } = (await client.get(RetryTurnDocument, { input: { agentId: agent.id } })).retryTurn;
    expect(ofType(await client.until(agent.id, "DONE", cursor ?? "0"), "Done")).toMatchObject([
      { reason: "COMPLETED", turn: 2, value: { files: 3 } },
    ]);
  });

  it("fails immediately if the answer was cut or refused", async () => {
    const cut = await appWith(playedModel(() => stops("max_tokens", '{"files": 2}')));
    expect(ofType(await shapedTurn(cut.client, cut.agent.id), "Done")).toMatchObject([
      { reason: "SHAPE", detail: "max_tokens", step: 1, problems: [] },
    ]);
    const refused = await appWith(playedModel(() => stops("refusal", "No.")));
    expect(ofType(await shapedTurn(refused.client, refused.agent.id), "Done")).toMatchObject([
      { reason: "SHAPE", detail: "refusal", step: 1 },
    ]);
  });

  it("has the newest schema of the turn hold, if another message joins with one", async () => {
    const other: JsonObject = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const going = Promise.withResolvers<undefined>();
    const model = playedModel(
      async function* () {
        await going.promise;
        yield* calls("look");
      },
      () => says('{"name": "a"}'),
    );
    const { client, agent } = await appWith(model);
    await ask(client, agent.id, COUNT);
    await client.until(agent.id, "BREAKPOINT_CHANGED");
    await ask(client, agent.id, other, "No: its name.");
    await client.send(agent.id, "Please.");
    going.resolve(undefined);
    expect(ofType(await client.until(agent.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED", value: { name: "a" } }]);
  });

  it("has a large value on its message alone", async () => {
    const names = Array.from({ length: 8_000 }, (_, index) => `file ${index}`);
    const { client, agent } = await appWith(playedModel(() => says(JSON.stringify({ files: 8_000, names }))));
    const [done] = ofType(await shapedTurn(client, agent.id), "Done");
    expect(done).toMatchObject({ reason: "COMPLETED", value: null });
    const message = (await messagesOf(client, agent.id)).find(({ id }) => id === done?.valueMessageId);
    expect(message?.value).toEqual({ files: 8_000, names });
  });

  it("keeps its shape over an interrupt and a retry", async () => {
    const model = playedModel(
      () => hangsAfter('{"fi'),
      () => says('{"files": 1}'),
    );
    const { client, agent } = await appWith(model);
    await ask(client, agent.id, COUNT);
    await client.until(agent.id, "TEXT_CHUNK");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
    await client.until(agent.id, "DONE");
    const { cursor } = (await client.get(RetryTurnDocument, { input: { agentId: agent.id } })).retryTurn;
    expect(ofType(await client.until(agent.id, "DONE", cursor ?? "0"), "Done")).toMatchObject([{ value: { files: 1 } }]);
  });
});

describe("a turn with a shape", () => {
  it("keeps its shape and the count of its corrections on another server, after a crash", async () => {
    const model = playedModel(
      () => says('{"files": "1"}'),
      () => hangsAfter('{"files'),
      () => says('{"files": "2"}'),
      () => says('{"files": "3"}'),
    );
    const app = await startTestApp({ model, overrides: { leaseTimes: SHORT_LEASES } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await ask(client, agent.id, COUNT);
    await expect.poll(() => model.calls.length).toBe(2);
    await client.until(agent.id, "TEXT_CHUNK", (await client.until(agent.id, "STEP_COMPLETE")).at(-1)?.cursor);
    await loseLeases(app);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "SHAPE", detail: "invalid" }]);
    expect(model.calls.map(({ request }) => request.shape)).toEqual([COUNT, COUNT, COUNT, COUNT]);
    const corrections = model.calls.map(
      ({ request }) => JSON.stringify(request.messages).match(/correction \d of 2/g)?.length ?? 0,
    );
    expect(corrections).toEqual([0, 1, 1, 2]);
  });

  it("is in a fork with its value, and another turn of the fork has none", async () => {
    const model = playedModel(
      () => says('{"files": 1}'),
      () => says("Any text."),
    );
    const { client, agent } = await appWith(model);
    const [done] = ofType(await shapedTurn(client, agent.id), "Done");
    const input = { agentId: agent.id, messageId: done?.valueMessageId ?? "" };
    const { forkAgent } = await client.get(ForkAgentDocument, { input });
    const fork = forkAgent.agent?.id ?? "";
    expect((await messagesOf(client, fork)).map(({ outputSchema, value }) => [outputSchema, value])).toEqual([
      [COUNT, null],
      [null, { files: 1 }],
    ]);
    expect(ofType(await client.turn(fork, "and?"), "Done")).toMatchObject([{ reason: "COMPLETED", value: null }]);
  });

  it("answers to the next fallback after a refusal, in the same shape", async () => {
    const first = playedModel(() => stops("refusal", "No."));
    const second = playedModel(() => says('{"files": 1}'));
    const app = await startTestApp({
      template: { fallbacks: [{ on: ["refused"], model: "second" }] },
      config: { models: { test: SCRIPTED, second: SCRIPTED } },
      overrides: {
        models: new Map([
          ["test", first],
          ["second", { ...second, name: "second" }],
        ]),
      },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    expect(ofType(await shapedTurn(client, id), "Done")).toMatchObject([{ reason: "COMPLETED", value: { files: 1 } }]);
    expect(second.calls[0]?.request.shape).toEqual(COUNT);
  });

  it("ends for each hostile answer, with its own value or none, and the agent goes on", async () => {
    const answers = ["", "null", "[]", "7", '"{}"', "{}", '{"files":null}', '{"files":[1]}', '{"files":{}}', '{"files":1e400}'];
    answers.push('{"__proto__":{"files":1}}', '{"files":1,"files":"2"}', "```json\n", `{"files":${"9".repeat(400)}}`);
    answers.push(
      `{"files":1,"names":[${Array.from({ length: 10_000 }, () => "1").join(",")}]}`,
      `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
    );
    const model = playedModel(...answers.map((text) => () => says(text)), () => says('{"files": 1}'));
    const { client, agent } = await appWith(model, { corrections: 0, modelRetries: 0 });
    for (const answer of answers) {
      const [done] = ofType(await shapedTurn(client, agent.id), "Done");
      expect(done, answer.slice(0, 40)).toMatchObject({ reason: "SHAPE", detail: "invalid", value: null });
      expect(done?.problems.length).toBeGreaterThan(0);
      expect(JSON.stringify(done?.problems).length).toBeLessThan(16_000);
    }
    expect(ofType(await shapedTurn(client, agent.id), "Done")).toMatchObject([{ value: { files: 1 } }]);
  }, 60_000);
});

describe("a template with an output schema", () => {
  it("asks for it in each turn, unless a message has one of its own", async () => {
    const model = playedModel(
      () => says('{"files": 1}'),
      () => says('{"ok": true}'),
    );
    const { client, agent } = await appWith(model, { outputSchema: COUNT });
    expect(ofType(await client.turn(agent.id, "count"), "Done")).toMatchObject([{ value: { files: 1 } }]);
    const own = { type: "object", required: ["ok"] };
    expect(ofType(await shapedTurn(client, agent.id, own), "Done")).toMatchObject([{ value: { ok: true } }]);
  });

  it("is refused at the start if the schema is invalid", async () => {
    await expect(settingsWith({ outputSchema: { type: "object", properties: { a: { minimum: "1" } } } })).rejects.toThrow(
      "templates.t.outputSchema at /properties/a/minimum must be number",
    );
  });
});

describe("task_run with an output schema", () => {
  it("has the child answer in the shape, and its value in the details of the call", async () => {
    const { client, agent, model } = await team({
      lead: [() => callsWith(task({ outputSchema: COUNT })), () => says("Three.")],
      worker: [() => says("Three files."), () => says('{"files": 3}')],
    });
    const [end] = ofType(await client.until(agent.id, "DONE"), "ToolEnd");
    expect(end).toMatchObject({ call: { state: "COMPLETED" } });
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(call?.details).toMatchObject({ status: "ok", text: '{"files": 3}', value: { files: 3 } });
    expect(model.calls.map(({ request }) => request.shape)).toEqual([null, COUNT, COUNT, null]);
  });

  it("fails with the child's text if its answer does not have the shape, and names a fault in the schema", async () => {
    const { client, agent, model } = await team({
      lead: [() => callsWith(task({ outputSchema: COUNT }), task({ outputSchema: { type: "list" } })), () => says("It cannot.")],
      worker: [() => says("Three files.")],
    });
    const ends = ofType(await client.until(agent.id, "DONE"), "ToolEnd");
    expect(ends.map(({ call }) => call.state)).toEqual(["FAILED", "FAILED"]);
    const told = JSON.stringify(model.calls.at(-1)?.request.messages.at(-1));
    expect(told).toContain("does not have the form that was asked for");
    expect(told).toContain("Three files.");
    expect(told).toContain("the outputSchema at /type must be");
  });
});
