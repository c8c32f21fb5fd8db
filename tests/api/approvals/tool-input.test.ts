import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ArchiveAgentDocument, CancelToolCallDocument, InterruptAgentDocument } from "../../generated/documents.ts";
import type { TestAppOptions } from "../../support/app.ts";
import { ofType, type TestClient } from "../../support/client.ts";
import { administrator, testDatabaseUrl } from "../../support/database.ts";
import { allowed, answerOf, appWith } from "../../support/mcp-app.ts";
import { asked, askedBy, asks, inputsOf, openQuestion, roundsServer } from "../../support/mcp-asking.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { ownServer } from "../../support/mcp.ts";

type Asked = Awaited<ReturnType<typeof asked>>;

async function outputOf(client: TestClient, id: string): Promise<unknown> {
  const call = (await client.agent(id)).toolCalls.nodes.at(-1);
  expect(call).toMatchObject({ state: "COMPLETED" });
  return JSON.parse(call?.output ?? "");
}

describe("a server of the newer generation that asks for input", () => {
  it("gets the values of a person, with defaults and its state; the call runs once in all", async () => {
    const server = await roundsServer(({ inputResponses }) =>
      inputResponses === undefined ? { inputRequests: { one: asks() }, requestState: "kept exactly: é\u0000" } : null,
    );
    const { client, id, cursor, question } = await asked(server.url);
    expect(question).toMatchObject({
      kind: "TOOL_INPUT",
      reason: "the MCP server own asks for input",
      quorum: 1,
      input: null,
      toolCall: { state: "APPROVAL_REQUIRED" },
      subject: {
        server: "own",
        message: "Which hotel?",
        fields: [
          { name: "city", kind: "TEXT", title: "City", description: "Where to", isRequired: true, minLength: 2, maxLength: 20 },
          { name: "mail", kind: "TEXT", format: "EMAIL", isRequired: false, default: null },
          { name: "nights", kind: "INTEGER", minimum: 1, maximum: 30, default: 2 },
          { name: "price", kind: "NUMBER", minimum: null, maximum: 99.5 },
          { name: "breakfast", kind: "BOOLEAN", default: true },
          {
            name: "room",
            kind: "CHOICE",
            options: [
              { value: "s", title: "Single" },
              { value: "d", title: "Double" },
            ],
            default: "s",
          },
          {
            name: "view",
            kind: "CHOICE",
            options: [
              { value: "sea", title: "Sea" },
              { value: "yard", title: "yard" },
            ],
          },
          { name: "extras", kind: "CHOICES", maxItems: 2, default: null },
        ],
      },
    });
    expect((await question.answer({ values: { city: "Bonn", breakfast: null, extras: ["tv"] } })).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    expect(await outputOf(client, id)).toEqual({
      inputResponses: { one: { action: "accept", content: { city: "Bonn", nights: 2, room: "s", extras: ["tv"] } } },
      requestState: "kept exactly: é\u0000",
    });
    expect(server.rounds).toHaveLength(2);
    const events = await client.events(id);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
    expect(ofType(events, "ToolEnd")).toHaveLength(1);
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { question: { message: "Which hotel?" } } }]);
    const [row] = await inputsOf(client, id);
    expect(row?.decisions).toEqual([{ decision: "ALLOW", input: { city: "Bonn", nights: 2, room: "s", extras: ["tv"] } }]);
  });

  const oneRound = () =>
    roundsServer(({ inputResponses }) => (inputResponses === undefined ? { inputRequests: { one: asks() } } : null));

  it("is told of a refusal as decline, and of an expiry as cancel; neither fails the call", async () => {
    const declined = await asked((await oneRound()).url);
    expect((await declined.question.answer({ decision: "DENY", values: { city: "Bonn" } })).userErrors).toMatchObject([
      { field: ["values"] },
    ]);
    expect((await declined.question.answer({ decision: "DENY", note: "not today" })).userErrors).toEqual([]);
    await declined.client.until(declined.id, "DONE", declined.cursor);
    expect(await outputOf(declined.client, declined.id)).toMatchObject({ inputResponses: { one: { action: "decline" } } });
    const late = await asked((await oneRound()).url, {
      template: { permission: { mode: "auto", allow: ["mcp__own__*"] }, approvalExpiresMs: 1_500 },
    });
    await late.client.until(late.id, "DONE", late.cursor);
    expect(await outputOf(late.client, late.id)).toMatchObject({ inputResponses: { one: { action: "cancel" } } });
    expect(ofType(await late.client.events(late.id), "PermissionClosed")).toMatchObject([{ approvalState: "EXPIRED" }]);
    expect((await late.question.answer({ values: { city: "Bonn" } })).userErrors).toMatchObject([
      { code: "EXPIRED", message: expect.stringContaining("the call went on without an answer") },
    ]);
  });

  it("is asked with every wrong value named; the approval stays pending, and the same answer again is the same", async () => {
    const { client, id, cursor, question } = await asked((await oneRound()).url);
    const wrong = await question.answer({
      values: {
        city: "B",
        mail: "no mail",
        nights: 1.5,
        price: "1",
        breakfast: "yes",
        room: "x",
        view: ["sea"],
        extras: ["tv", "tv"],
        other: 1,
      },
    });
    const named = wrong.userErrors.map(({ code, field, message }) => [code, field?.join("."), message]);
    expect(named).toEqual([
      ["INVALID", "values.other", "other is no field of the form"],
      ["INVALID", "values.city", "city must have at least 2 characters"],
      ["INVALID", "values.mail", "mail must be an email address"],
      ["INVALID", "values.nights", "nights must be a whole number"],
      ["INVALID", "values.price", "price must be a number"],
      ["INVALID", "values.breakfast", "breakfast must be true or false"],
      ["INVALID", "values.room", "room must be one of the options"],
      ["INVALID", "values.view", "view must be one of the options"],
      ["INVALID", "values.extras", "extras must have each option once"],
    ]);
    expect(wrong.approval?.state).toBe("PENDING");
    for (const [given, field] of [
      [{}, "values"],
      [{ values: null }, "values"],
      [{ values: [1] }, "values"],
      [{ values: "text" }, "values"],
      [{ values: {} }, "values.city"],
      [{ values: { city: null } }, "values.city"],
      [{ values: { city: "Bonn" }, input: {} }, "input"],
      [{ values: { city: "Bonn" }, inputHash: null }, "inputHash"],
      [{ values: { city: "Bonn" }, inputHash: "0" }, "inputHash"],
      [{ decision: "DONE", result: "done" }, "decision"],
    ] as const)
      expect((await question.answer(given)).userErrors.map(({ field: path }) => path?.join("."))).toEqual([field]);
    expect((await inputsOf(client, id))[0]?.state).toBe("PENDING");
    const right = { values: { city: "Bonn" } };
    expect((await question.answer(right)).userErrors).toEqual([]);
    expect((await question.answer(right)).userErrors).toEqual([]);
    expect((await question.answer({ values: { city: "Köln" } })).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    expect((await question.answer({ decision: "DENY" })).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    await client.until(id, "DONE", cursor);
  });

  it("gets the same answer for the same values with NUL and half a character", async () => {
    const form = { type: "object", properties: { a: { type: "string" } } };
    const server = await roundsServer(({ inputResponses }) =>
      inputResponses === undefined ? { inputRequests: { one: asks(form) } } : null,
    );
    const { client, id, cursor, question } = await asked(server.url);
    const values = { a: "x\u0000\ud800" };
    for (const _again of [1, 2]) expect((await question.answer({ values })).userErrors).toEqual([]);
    expect((await question.answer({ values: { a: "x" } })).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    await client.until(id, "DONE", cursor);
  });

  it("may ask several questions in one round, and further rounds; each keeps the newest state", async () => {
    const server = await roundsServer((_sent, count) => {
      if (count === 1)
        return {
          inputRequests: { a: asks(), roots: { method: "roots/list" }, b: asks({ type: "object", properties: {} }, "Sure?") },
        };
      return count === 2 ? { inputRequests: { c: asks() }, requestState: "second" } : null;
    });
    const { app, client, id, cursor, question } = await asked(server.url);
    const answers = [question];
    await question.answer({ values: { city: "Bonn" } });
    for (const [message, given] of [
      ["Sure?", { values: {} }],
      ["Which hotel?", { values: { city: "Ulm", nights: 3 } }],
    ] as const) {
      await expect.poll(async () => (await inputsOf(client, id)).filter(({ state }) => state === "PENDING").length).toBe(1);
      const next = await openQuestion(client, id);
      expect(next.subject).toMatchObject({ message });
      answers.push(next);
      await next.answer(given);
    }
    await client.until(id, "DONE", cursor);
    const defaults = { nights: 2, breakfast: true, room: "s" };
    expect(server.rounds.map(({ inputResponses, requestState }) => [inputResponses, requestState])).toEqual([
      [undefined, undefined],
      [
        {
          a: { action: "accept", content: { city: "Bonn", ...defaults } },
          roots: { roots: [{ uri: `file://${app.workspace}` }] },
          b: { action: "accept", content: {} },
        },
        undefined,
      ],
      [{ c: { action: "accept", content: { city: "Ulm", ...defaults, nights: 3 } } }, "second"],
    ]);
    expect(ofType(await client.events(id), "ToolEnd")).toHaveLength(1);
  });

  it.each([
    [
      "a state that is too large",
      { inputRequests: { one: asks() }, requestState: "x".repeat(70_000) },
      "larger than 65536 bytes",
    ],
    [
      "too many questions",
      { inputRequests: Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`q${at}`, asks()])) },
      "more than 8",
    ],
    [
      "a nested form",
      { inputRequests: { one: asks({ type: "object", properties: { a: { type: "object" } } }) } },
      "its field a is no text",
    ],
    [
      "an address to open",
      { inputRequests: { one: { method: "elicitation/create", params: { mode: "url", message: "m", url: "http://a" } } } },
      "mode url",
    ],
    ["rounds without end", { requestState: "again" }, "more input 8 times"],
  ])("that sends %s is refused: its call says why", async (_what, needs, message) => {
    const server = await roundsServer(() => needs);
    const { client } = await appWith({ own: { url: server.url } }, ["mcp__own__work", {}], { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining(message) } });
    expect(server.rounds.length).toBeLessThanOrEqual(8);
  });

  it.each([
    ["an interrupt", "SEALED", ({ client, id }: Asked) => client.get(InterruptAgentDocument, { input: { agentId: id } })],
    ["an archive", "SEALED", ({ client, id }: Asked) => client.get(ArchiveAgentDocument, { input: { agentId: id } })],
    [
      "a cancellation",
      "FAILED",
      ({ client, question }: Asked) =>
        client.get(CancelToolCallDocument, { input: { callId: rowId("ToolCall", question.toolCall?.callId ?? "") } }),
    ],
  ])("is not answered after %s: the question is closed with its call", async (_what, state, act) => {
    const given = await asked((await oneRound()).url);
    const { client, id, question } = given;
    const { cursor } = await client.agent(id);
    await act(given);
    await client.until(id, "DONE", cursor);
    const call = (await client.agent(id)).toolCalls.nodes.at(-1);
    expect([call?.state, (await inputsOf(client, id))[0]?.state]).toEqual([state, "SEALED"]);
    expect((await question.answer({ values: { city: "Bonn" } })).userErrors).toMatchObject([{ code: "SEALED" }]);
  });

  it("has deny rules judged again, and its allowance does not hold for a changed tool", async () => {
    const { app, client, id, cursor, question } = await asked((await oneRound()).url, {
      template: { permission: { mode: "auto", allow: ["mcp__own__*"] }, selfApproval: true },
    });
    const tools = app.services.of("local").tools;
    const tool = tools.get("mcp__own__work");
    if (tool === undefined) throw new Error("the tool is there");
    tools.set("own", [{ ...tool, definition: { text: "another", digest: "another" } }]);
    await question.answer({ values: { city: "Bonn" } });
    await client.until(id, "DONE", cursor);
    const call = (await client.agent(id)).toolCalls.nodes.at(-1);
    expect(call).toMatchObject({ state: "SEALED" });
    expect(call?.output).toContain("it may not run again");
  });
});

describe("a call that fails after a person declined its question", () => {
  const failed = { resultType: "complete", isError: true, content: [{ type: "text", text: "failed" }] };

  it.each([
    ["not today", " and noted: not today"],
    [null, ""],
  ])("says so to the model, with the note %j", async (note, noted) => {
    const newer = await roundsServer(({ inputResponses }) =>
      inputResponses === undefined ? { inputRequests: { one: asks() } } : failed,
    );
    const work = (input: object) => ["mcp__own__work", input] as const;
    for (const { client, id, cursor, question } of [
      await askedBy({ own: { url: newer.url } }, work({})),
      await askedBy({ own: ownServer("asking.mjs") }, work({ ask: asks().params, fails: true })),
    ]) {
      expect((await question.answer({ decision: "DENY", note })).userErrors).toEqual([]);
      await client.until(id, "DONE", cursor);
      const call = (await client.agent(id)).toolCalls.nodes.at(-1);
      const message = `The tool failed: failed\nA person declined its question${noted}`;
      expect(call).toMatchObject({ state: "FAILED", output: expect.stringContaining(message), error: { message } });
    }
  });
});

describe("a server of the older generation that asks while its call runs", () => {
  const older = (input: object, options: TestAppOptions = {}) =>
    askedBy(
      { own: { ...ownServer("asking.mjs"), toolTimeoutMs: 2_000, readOnlyTools: ["work", "withdraw"] } },
      ["mcp__own__work", input],
      options,
    );

  it("gets the values of a person, and the same call continues, without its time limit meanwhile", async () => {
    const { client, id, cursor, question } = await older({ ask: asks().params });
    expect(question).toMatchObject({ toolCall: { state: "EXECUTING" }, subject: { message: "Which hotel?" } });
    expect(question.agent.waitingFor).toBe("a person to give mcp__own__work its input");
    await delay(2_500);
    expect((await question.answer({ values: { city: "Bonn" } })).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    expect(await outputOf(client, id)).toEqual([
      { action: "accept", content: { city: "Bonn", nights: 2, breakfast: true, room: "s" } },
    ]);
    const events = await client.events(id);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
    expect((await client.agent(id)).toolCalls.nodes[0]?.durationMs).toBeLessThan(2_000);
  });

  it("is told of a refusal as decline, of an expiry as cancel, and may ask again", async () => {
    const { client, id, cursor, question } = await older({ ask: [asks().params, asks().params] });
    await question.answer({ decision: "DENY" });
    await expect.poll(async () => (await inputsOf(client, id)).length).toBe(2);
    await (await openQuestion(client, id)).answer({ values: { city: "Ulm", nights: null, breakfast: false, room: null } });
    await client.until(id, "DONE", cursor);
    expect(await outputOf(client, id)).toEqual([
      { action: "decline" },
      { action: "accept", content: { city: "Ulm", breakfast: false } },
    ]);
    const template = { permission: { mode: "auto", allow: ["mcp__own__*"] }, approvalExpiresMs: 1_000 } as const;
    const late = await older({ ask: asks().params }, { template });
    await late.client.until(late.id, "DONE", late.cursor);
    expect(await outputOf(late.client, late.id)).toEqual([{ action: "cancel" }]);
  });

  it("is answered with an error for other forms, for addresses and for sampling", async () => {
    const { client } = await appWith(
      { own: ownServer("asking.mjs") },
      [
        "mcp__own__work",
        {
          sampling: true,
          ask: [
            { mode: "url", message: "m", elicitationId: "e", url: "https://example.com" },
            asks({ type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } }).params,
            { message: "m", requestedSchema: null },
            {},
            null,
            [[]],
            5,
            { ...asks().params, _meta: { progressToken: {} } },
          ],
        },
      ],
      { template: allowed("own") },
    );
    const call = await answerOf(client);
    const answers = JSON.parse(call?.output ?? "") as { readonly error: string }[];
    expect(answers.map((answer) => Object.keys(answer).join(","))).toEqual(Array.from({ length: 9 }, () => "error"));
    expect(answers.map(({ error }) => error)).toEqual([
      "Method not found",
      expect.stringContaining("elicitation of the mode url"),
      expect.stringContaining("its field a has `pattern`, which flat forms do not have"),
      expect.stringContaining("its form is no object with properties"),
      expect.stringContaining("without a message"),
      ...Array.from({ length: 4 }, () => "the parameters of the request are no object, or its form is unknown"),
    ]);
  });

  it("may withdraw its question: the approval is closed, and the call continues", async () => {
    const { client, id, cursor, question } = await older({ ask: asks().params, withdraw: 500 });
    await client.until(id, "DONE", cursor);
    expect(await outputOf(client, id)).toEqual(["withdrawn"]);
    expect((await inputsOf(client, id))[0]?.state).toBe("SEALED");
    expect((await question.answer({ values: { city: "Bonn" } })).userErrors).toMatchObject([{ code: "SEALED" }]);
  });

  it("has its question closed by an interrupt, with the call", async () => {
    const { client, id, cursor } = await older({ ask: asks().params });
    await client.get(InterruptAgentDocument, { input: { agentId: id } });
    await client.until(id, "DONE", cursor);
    expect((await inputsOf(client, id))[0]?.state).toBe("SEALED");
    expect((await client.agent(id)).toolCalls.nodes[0]?.error?.type).toBe("ABORTED");
  });

  it("is told of no answer when its server of Triplane closes, which does not wait for people", async () => {
    const url = await testDatabaseUrl();
    const { app, id } = await older({ ask: asks().params }, { database: { kind: "postgres", url, connections: 3 } });
    await app.close();
    const reader = await administrator(url);
    const text = "SELECT t.output, p.state FROM tool_call t JOIN approval p ON p.tool_call_id = t.id WHERE t.agent_id = $1";
    const { rows } = await reader.query(text, [rowId("Agent", id)]);
    expect(rows).toEqual([{ output: JSON.stringify([{ action: "cancel" }]), state: "SEALED" }]);
  });
});
