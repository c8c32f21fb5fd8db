import { describe, expect, it } from "vitest";
import type { ToolRegistry } from "../../src/agent/tools/tool-registry.ts";
import { defineTool, Type, type Tool } from "../../src/triplane.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const NAME = "mcp__gh__create";

/** A tool of an MCP server that notes what it runs with. */
function created(ran: unknown[], parameter: "title" | "name" = "title", version = "first"): Tool {
  return defineTool({
    name: NAME,
    description: "Creates an issue.",
    readOnly: false,
    inputSchema: Type.Object({ [parameter]: Type.String() }),
    run: (input) => {
      ran.push([version, input]);
      return `created by the ${version}`;
    },
  });
}

/** A server whose model calls the tool, in each of its turns, and says what came of it. */
async function serverWith(options: Partial<TestAppOptions> = {}, input: object = { title: "x" }) {
  const model = playedModel((request) =>
    request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true
      ? says("Done.")
      : callsWith([NAME, input]),
  );
  const app = await startTestApp({ model, ...options });
  const tools: ToolRegistry = app.services.of("local").tools;
  return { app, model, tools, client: connect(app.url) };
}

/** Sends a message, and gives the request for the approval that follows. */
async function asked(client: TestClient, id: string) {
  const { cursor } = await client.agent(id);
  await client.send(id, "go");
  const [event] = ofType(await client.until(id, "PERMISSION_REQUIRED", cursor), "PermissionRequired");
  if (event === undefined) throw new Error("nobody was asked");
  return event;
}

async function allow(client: TestClient, id: string): Promise<void> {
  const { pendingApprovals } = await client.agent(id);
  const [pending] = pendingApprovals;
  if (pending === undefined) throw new Error("no approval is pending");
  const decided = await client.decide({ approvalId: pending.id, decision: "ALLOW", inputHash: pending.inputHash });
  expect(decided.userErrors).toEqual([]);
}

async function callOf(client: TestClient, id: string) {
  return (await client.agent(id)).toolCalls.nodes.at(-1);
}

const AUTO = { template: { permission: { mode: "auto", allow: ["mcp__gh__*"] } } } as const;

describe("a call of a tool that is unavailable", () => {
  it("is refused with the reason, and with what to do; the tool works again when it is back", async () => {
    const { client, tools, model } = await serverWith(AUTO);
    const ran: unknown[] = [];
    tools.set("gh", [created(ran)]);
    tools.setServerUnavailable("gh", "the server does not answer");
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    expect(await callOf(client, id)).toMatchObject({
      state: "FAILED",
      error: { type: "DISABLED", message: expect.stringContaining("unavailable at present: the server does not answer.") },
    });
    expect(model.calls[0]?.request.tools.map(({ name }) => name)).not.toContain(NAME);
    expect(ran).toEqual([]);
    tools.setServerUnavailable("gh", null);
    await client.turn(id, "go on");
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: "created by the first" });
    const note = expect.objectContaining({ type: "text", text: expect.stringContaining(`#### ${NAME}`) });
    expect(model.calls.at(-2)?.request.messages.at(-1)?.content).toContainEqual(note);
  });
});

describe("a call that a person was asked about", () => {
  it("does not run, and is asked about again, if its tool has another form by the time of the decision", async () => {
    const { client, tools } = await serverWith({ template: { permission: { mode: "approval" } } });
    const ran: unknown[] = [];
    tools.set("gh", [created(ran)]);
    const { id } = await client.createAgent();
    await asked(client, id);
    const both = defineTool({
      name: NAME,
      description: "Creates an issue.",
      readOnly: false,
      inputSchema: Type.Object({ title: Type.String({ maxLength: 10 }) }),
      run: () => {
        ran.push("second");
        return "created by the second";
      },
    });
    tools.set("gh", [both]);
    await allow(client, id);
    await expect.poll(async () => (await client.agent(id)).pendingApprovals.length).toBe(1);
    expect(await callOf(client, id)).toMatchObject({ state: "APPROVAL_REQUIRED" });
    expect(ran).toEqual([]);
    await allow(client, id);
    await client.until(id, "DONE");
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: "created by the second" });
    expect(ran).toEqual(["second"]);
  });

  it("fails if its tool has gone by then, and runs if the tool has gone and come back", async () => {
    const { client, tools } = await serverWith({ template: { permission: { mode: "approval" } } });
    const ran: unknown[] = [];
    tools.set("gh", [created(ran)]);
    const { id } = await client.createAgent();
    await asked(client, id);
    tools.set("gh", []);
    await allow(client, id);
    await client.until(id, "DONE");
    expect(await callOf(client, id)).toMatchObject({ state: "FAILED", error: { type: "NOT_FOUND" } });
    tools.set("gh", [created(ran)]);
    await asked(client, id);
    tools.setServerUnavailable("gh", "it restarts");
    tools.set("gh", [created(ran)]);
    const { cursor } = await client.agent(id);
    await allow(client, id);
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED" });
    expect(ran).toEqual([["first", { title: "x" }]]);
  });
});

describe("a call that waits for a place", () => {
  it.each([
    ["is judged again, by the form that its tool has then", "name", { state: "FAILED", error: { type: "INVALID_PARAMS" } }],
    ["runs as its tool is then", "title", { state: "COMPLETED", output: "created by the second" }],
  ] as const)("%s", async (_name, parameter, outcome) => {
    const gate = Promise.withResolvers<string>();
    const slow = ownTool("slow", () => gate.promise);
    const { client, tools, app } = await serverWith({ config: { tools: [slow], toolLimits: { running: 1 } }, ...AUTO });
    const ran: unknown[] = [];
    tools.set("gh", [created(ran)]);
    const permit = app.services.slots.tryTake();
    const { id } = await client.createAgent();
    await client.send(id, "go");
    await expect.poll(async () => (await client.agent(id)).breakpoint).toBe("PRE_TOOL");
    tools.set("gh", [created(ran, parameter, "second")]);
    permit?.release();
    await client.until(id, "DONE");
    expect(await callOf(client, id)).toMatchObject(outcome);
    expect(ran.filter((each) => JSON.stringify(each).includes("first"))).toEqual([]);
    gate.resolve("");
  });
});
