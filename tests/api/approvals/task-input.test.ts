import { describe, expect, it } from "vitest";
import { CancelToolCallDocument, InterruptAgentDocument, StandstillDocument } from "../../generated/documents.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import type { TestAppOptions } from "../../support/app.ts";
import { ofType, type TestClient } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { allowed, appWith } from "../../support/mcp-app.ts";
import { askedBy, asks, inputsOf, openQuestion } from "../../support/mcp-asking.ts";
import { seenAs, taskServer } from "../../support/mcp-tasks.ts";

const WORK = ["mcp__own__work", {}] as const;
const CITY = { values: { city: "Bonn" } };
const NOTHING = { type: "object", properties: {} };

/**
 * A server of the newer generation whose task asks, each of `rounds` after the one before. It ends with all that it was
 * answered, as JSON. `takes` is false while it refuses answers.
 */
async function askingTask(...rounds: readonly Record<string, object>[]) {
  const task = { left: [...rounds], answers: [] as object[], takes: true, ended: null as object | null };
  const { url, arrived } = await taskServer("newer", ({ method, params, id }) => {
    if (method === "tasks/update") {
      if (!task.takes)
        return (response) => {
          const error = { code: -32_603, message: "busy" };
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        };
      const { inputResponses } = params as { inputResponses: Record<string, object> };
      task.answers.push(inputResponses);
      const [asked = {}] = task.left;
      for (const key of Object.keys(inputResponses)) delete asked[key];
      if (Object.keys(asked).length === 0) task.left.shift();
      return { result: { resultType: "complete" } };
    }
    if (method !== "tasks/get") return null;
    if (task.ended !== null) return seenAs("newer", task.ended);
    const [requests] = task.left;
    if (requests !== undefined) return seenAs("newer", { status: "input_required", inputRequests: requests });
    const content = [{ type: "text", text: JSON.stringify(task.answers) }];
    return seenAs("newer", { status: "completed", result: { content } });
  });
  const countOf = (method: string) => arrived.filter((each) => each.method === method).length;
  return { url, task, countOf };
}

const start = (url: string, options: TestAppOptions = {}) => askedBy({ own: { url } }, WORK, options);

const callOf = async (client: TestClient, id: string) => (await client.agent(id)).toolCalls.nodes.at(-1);

async function nextQuestion(client: TestClient, id: string, message: string) {
  await expect
    .poll(async () => (await inputsOf(client, id)).filter(({ state }) => state === "PENDING").map(({ subject }) => subject), {
      timeout: 10_000,
    })
    .toMatchObject([{ message }]);
  return openQuestion(client, id);
}

describe("a task of the newer generation that asks for input", () => {
  it("asks a person, gets the values, and ends with its result; its call waits meanwhile", async () => {
    const { url, task, countOf } = await askingTask({ one: asks() });
    const { client, id, cursor, question } = await start(url);
    expect(question).toMatchObject({ toolCall: { state: "WAITING" }, subject: { message: "Which hotel?" } });
    // The question wakes the loop, which looks and waits again.
    await expect
      .poll(async () => (await client.get(StandstillDocument, { id })).agent?.waitingFor)
      .toMatch(/^a person to give mcp__own__work its input, and the result of mcp__own__work, until /);
    expect((await question.answer(CITY)).userErrors).toEqual([]);
    const events = await client.until(id, "DONE", cursor);
    const content = { city: "Bonn", nights: 2, breakfast: true, room: "s" };
    expect(task.answers).toEqual([{ one: { action: "accept", content } }]);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: JSON.stringify(task.answers) });
    expect([countOf("tools/call"), countOf("tasks/cancel")]).toEqual([1, 0]);
    expect([ofType(events, "PermissionRequired").length, ofType(events, "ToolEnd").length]).toEqual([1, 1]);
  });

  it("may ask several questions, roots and further ones; each is asked once, and a refusal is told", async () => {
    const roots = { method: "roots/list" };
    const { url, task } = await askingTask({ a: asks(), r: roots, b: asks(NOTHING, "Sure?") }, { c: asks(NOTHING, "Really?") });
    const { app, client, id, cursor, question } = await start(url);
    await question.answer(CITY);
    await (await nextQuestion(client, id, "Sure?")).answer({ values: {} });
    await (await nextQuestion(client, id, "Really?")).answer({ decision: "DENY" });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED" });
    const given = Object.assign({}, ...task.answers) as object;
    expect(given).toMatchObject({
      a: { action: "accept", content: { city: "Bonn" } },
      r: { roots: [{ uri: `file://${app.workspace}` }] },
      b: { action: "accept" },
      c: { action: "decline" },
    });
    expect(await inputsOf(client, id)).toHaveLength(3);
  }, 30_000);

  it("gets an answer that it did not take at first", async () => {
    const { url, task, countOf } = await askingTask({ one: asks() });
    task.takes = false;
    const { client, id, cursor, question } = await start(url);
    await question.answer(CITY);
    await expect.poll(() => countOf("tasks/update"), { timeout: 10_000 }).toBeGreaterThan(0);
    task.takes = true;
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("Bonn") });
    expect(await inputsOf(client, id)).toHaveLength(1);
  }, 30_000);

  it("is answered on another server of Triplane, also if the answer came while none was there", async () => {
    const { url, task } = await askingTask({ one: asks() }, { two: asks(NOTHING, "Sure?") });
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const { app, id, cursor } = await start(url, { database });
    await app.close();
    const config = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const again = { template: { ...allowed("own"), selfApproval: true }, database, config };
    const without = await appWith({}, WORK, again);
    expect((await (await openQuestion(without.client, id)).answer(CITY)).userErrors).toEqual([]);
    await without.app.close();
    const { client } = await appWith({ own: { url } }, WORK, again);
    await (await nextQuestion(client, id, "Sure?")).answer({ values: {} });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: JSON.stringify(task.answers) });
    expect(task.answers).toHaveLength(2);
  }, 30_000);

  it("is told of an expiry as cancel, and works on", async () => {
    const { url, task } = await askingTask({ one: asks() });
    const template = { ...allowed("own"), approvalExpiresMs: 1_000 };
    const { client, id, cursor } = await start(url, { template });
    await client.until(id, "DONE", cursor);
    expect(task.answers).toEqual([{ one: { action: "cancel" } }]);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED" });
  }, 30_000);

  it("closes its question if it ends without the answer", async () => {
    const { url, task } = await askingTask({ one: asks() });
    const { client, id, cursor, question } = await start(url);
    task.ended = { status: "failed", error: { code: -32_603, message: "too late" } };
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("too late") } });
    expect((await inputsOf(client, id)).map(({ state }) => state)).toEqual(["SEALED"]);
    expect((await question.answer(CITY)).userErrors).toMatchObject([{ code: "SEALED" }]);
  }, 30_000);

  it("says in its failure that a person declined", async () => {
    const { url, task } = await askingTask({ one: asks() });
    const { client, id, cursor, question } = await start(url);
    task.ended = null;
    await question.answer({ decision: "DENY", note: "not today" });
    task.ended = { status: "failed", error: { code: -32_603, message: "stopped" } };
    await client.until(id, "DONE", cursor);
    const message = expect.stringMatching(/stopped\nA person declined its question and noted: not today/) as string;
    expect(await callOf(client, id)).toMatchObject({ state: "FAILED", error: { message } });
  }, 30_000);

  it.each([
    [
      "an interrupt",
      "SEALED",
      (client: TestClient, id: string) => client.get(InterruptAgentDocument, { input: { agentId: id } }),
    ],
    [
      "a cancellation",
      "FAILED",
      (client: TestClient, _id: string, callId: string) => client.get(CancelToolCallDocument, { input: { callId } }),
    ],
  ])(
    "has its question closed by %s, and is cancelled",
    async (_how, state, act) => {
      const { url, countOf } = await askingTask({ one: asks() });
      const { client, id, cursor, question } = await start(url);
      await act(client, id, rowId("ToolCall", question.toolCall?.callId ?? ""));
      await client.until(id, "DONE", cursor);
      expect(await callOf(client, id)).toMatchObject({ state });
      expect((await inputsOf(client, id)).map((each) => each.state)).toEqual(["SEALED"]);
      expect((await question.answer(CITY)).userErrors).toMatchObject([{ code: "SEALED" }]);
      await expect.poll(() => countOf("tasks/cancel"), { timeout: 10_000 }).toBe(1);
    },
    30_000,
  );

  it("has its question closed when deferredTimeoutMs is over", async () => {
    const { url } = await askingTask({ one: asks() });
    const template = { ...allowed("own"), deferredTimeoutMs: 4_000 };
    const { client, id, cursor } = await start(url, { template });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "FAILED" });
    expect((await inputsOf(client, id)).map(({ state }) => state)).toEqual(["SEALED"]);
  }, 30_000);

  it("fails if it asks another question by the key of an answered one: no person has answered that", async () => {
    const { url, task, countOf } = await askingTask({ one: asks(NOTHING, "Look?") }, { one: asks(NOTHING, "Delete all?") });
    const { client, id, cursor, question } = await start(url);
    await question.answer({ values: {} });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringContaining("it changed a question") },
    });
    expect(task.answers).toHaveLength(1);
    await expect.poll(() => countOf("tasks/cancel"), { timeout: 10_000 }).toBe(1);
  }, 30_000);

  it.each([
    ["for sampling", { one: { method: "sampling/createMessage", params: {} } }, "sampling/createMessage"],
    ["with a nested form", { one: asks({ type: "object", properties: { a: { type: "object" } } }) }, "its field a is no text"],
    ["too much", Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`q${at}`, asks()])), "more than 8"],
  ])(
    "fails if it asks %s, and is cancelled",
    async (_what, requests, message) => {
      const { url, countOf } = await askingTask(requests);
      const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
      const { id } = await client.createAgent();
      await client.turn(id, "go");
      expect(await callOf(client, id)).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining(message) } });
      await expect.poll(() => countOf("tasks/cancel"), { timeout: 10_000 }).toBe(1);
    },
    30_000,
  );
});
