import { describe, expect, it } from "vitest";
import { AskedInputsDocument, type DecideApprovalInput } from "../generated/documents.ts";
import type { TestAppOptions } from "../support/app.ts";
import { ofType, type TestClient } from "../support/client.ts";
import { allowed, appWith } from "../support/mcp-app.ts";
import { asks, roundsServer } from "../support/mcp-asking.ts";
import { ownServer } from "../support/mcp.ts";

const WORK = ["mcp__own__work", {}] as const;

/** An agent whose call asks, with the question in the inbox. */
async function asked(url: string, options: TestAppOptions = {}) {
  return askedBy({ own: { url } }, WORK, options);
}

async function askedBy(servers: Parameters<typeof appWith>[0], call: readonly [string, object], options: TestAppOptions = {}) {
  const started = await appWith(servers, call, { template: { ...allowed("own"), selfApproval: true }, ...options });
  const { client } = started;
  const { id, cursor } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  return { ...started, id, cursor, question: await openQuestion(client, id) };
}

async function inputsOf(client: TestClient, id: string) {
  return (await client.get(AskedInputsDocument, { agentIds: [id] })).approvals.nodes;
}

async function openQuestion(client: TestClient, id: string) {
  const open = (await inputsOf(client, id)).find(({ state }) => state === "PENDING");
  if (open === undefined) throw new Error("no question is open");
  const answer = (given: Partial<DecideApprovalInput>) =>
    client.decide({ approvalId: open.id, decision: "ALLOW", inputHash: open.inputHash, ...given });
  return { ...open, answer };
}

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
});

describe("a server of the older generation that asks while its call runs", () => {
  const older = (params: unknown, more: object = {}) =>
    askedBy({ own: ownServer("asking.mjs") }, ["mcp__own__work", { ask: params, ...more }]);

  it("gets the values of a person, and the same call goes on", async () => {
    const { client, id, cursor, question } = await older(asks().params);
    expect(question).toMatchObject({ toolCall: { state: "EXECUTING" }, subject: { message: "Which hotel?" } });
    expect(question.agent.waitingFor).toBe("a person to give mcp__own__work its input");
    expect((await question.answer({ values: { city: "Bonn" } })).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    expect(await outputOf(client, id)).toEqual([
      { action: "accept", content: { city: "Bonn", nights: 2, breakfast: true, room: "s" } },
    ]);
    const events = await client.events(id);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
    expect(ofType(events, "ToolEnd")).toHaveLength(1);
  });
});
