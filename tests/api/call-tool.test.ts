import { describe, expect, it } from "vitest";
import type { HookCall } from "../../src/agent/tools/tool-hooks.ts";
import type { Json } from "../../src/lib/json.ts";
import { AllowAlwaysDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { ghPlace, ghTool, isNewTurn, toldNames } from "../support/late-tools.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { toolWithPrompt } from "../support/tools.ts";

const BRIDGE = "call_tool";

/** Calls a tool by the bridge in each turn. */
function bridging(tool: string, input: object) {
  return (request: Parameters<typeof isNewTurn>[0]) =>
    isNewTurn(request) ? callsWith([BRIDGE, { tool, input }]) : says("Done.");
}

async function newestCall(client: TestClient, id: string) {
  return (await client.agent(id)).toolCalls.nodes.at(-1);
}

describe("a call by call_tool", () => {
  it("is one of the tool that it names, for the gate, hooks, approvals, events and the audit; the model sees its own words", async () => {
    const seen: HookCall["name"][] = [];
    const ran: Json[] = [];
    const { start, requests } = await ghPlace(bridging("mcp__gh__add", { title: "x" }));
    const { client, tools } = await start({
      permission: { mode: "auto", ask: ["mcp__gh__add"] },
      hooks: { preToolUse: [({ name }) => void seen.push(name)] },
    });
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("add", "Adds.", "title", ran)]);
    await client.send(id, "go");
    const events = await client.until(id, "PERMISSION_REQUIRED");
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { call: { name: "mcp__gh__add" } } }]);
    const [pending] = (await client.agent(id)).pendingApprovals;
    expect(JSON.parse(JSON.stringify(pending?.input))).toEqual({ title: "x" });
    await client.decide({ approvalId: pending?.id ?? "", decision: "ALLOW", inputHash: pending?.inputHash ?? "" });
    const after = await client.until(id, "DONE");
    expect(ran).toEqual([{ title: "x" }]);
    expect(new Set(seen)).toEqual(new Set(["mcp__gh__add"]));
    for (const kind of ["ToolStart", "ToolEnd", "ToolExecuted"] as const)
      expect(ofType(after, kind)).toMatchObject([{ call: { name: "mcp__gh__add" } }]);
    const query = '{ toolCalls(filter: { tools: ["mcp__gh__add"] }) { nodes { name state input } } }';
    expect((await client.post({ query })).data).toMatchObject({
      toolCalls: { nodes: [{ name: "mcp__gh__add", state: "COMPLETED", input: { title: "x" } }] },
    });
    const last = requests().at(-1)?.messages ?? [];
    const blocks = last.flatMap(({ content }) => content);
    const use = blocks.find((block) => block.type === "tool_use");
    expect(use).toMatchObject({ name: BRIDGE, input: { tool: "mcp__gh__add", input: { title: "x" } } });
    expect(blocks).toContainEqual({
      type: "tool_result",
      tool_use_id: use?.type === "tool_use" ? use.id : "",
      content: "add ran",
      is_error: false,
    });
    expect(JSON.stringify(after)).not.toContain(BRIDGE);
  });

  it("is shown in messages as the call of the tool that it names", async () => {
    const { start } = await ghPlace(bridging("mcp__gh__add", { title: "x" }));
    const { client, tools } = await start();
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("add")]);
    await client.turn(id, "go");
    const query = `query ($id: ID!) { agent(id: $id) { messages { nodes { blocks { ... on ToolCallBlock { name input toolCall { name } } } } } } }`;
    const answer = JSON.stringify((await client.post({ query, variables: { id } })).data);
    expect(answer).toContain('{"name":"mcp__gh__add","input":{"title":"x"},"toolCall":{"name":"mcp__gh__add"}}');
    expect(answer).not.toContain(BRIDGE);
  });

  it.each<[string, object, object]>([
    [
      "a tool that the agent does not have",
      { tool: "fs_write", input: { path: "a", content: "" } },
      { state: "FAILED", error: { type: "DISABLED" } },
    ],
    ["a tool that does not exist", { tool: "mcp__gh__nothing", input: {} }, { state: "FAILED", error: { type: "NOT_FOUND" } }],
    [
      "a tool that a rule denies",
      { tool: "mcp__gh__drop", input: { title: "x" } },
      { state: "DENIED", error: { type: "PERMISSION_DENIED" } },
    ],
    [
      "a tool that is unavailable",
      { tool: "mcp__gh__away", input: { title: "x" } },
      { state: "FAILED", error: { type: "DISABLED", message: expect.stringContaining("it rests") } },
    ],
    [
      "itself",
      { tool: BRIDGE, input: { tool: "mcp__gh__add", input: { title: "x" } } },
      {
        state: "FAILED",
        name: BRIDGE,
        error: { type: "INVALID_PARAMS", message: expect.stringContaining("- /tool: must be the name of another tool") },
      },
    ],
    [
      "a wrong input of the tool",
      { tool: "mcp__gh__add", input: { titel: "x" } },
      {
        state: "FAILED",
        name: "mcp__gh__add",
        error: { type: "INVALID_PARAMS", message: expect.stringContaining('- /input: has no parameter "titel"') },
      },
    ],
    [
      "a wrong value in the input of the tool",
      { tool: "mcp__gh__add", input: { title: { x: 1 } } },
      {
        state: "FAILED",
        name: "mcp__gh__add",
        error: { type: "INVALID_PARAMS", message: expect.stringContaining("- /input/title: must be string") },
      },
    ],
    [
      "a wrong form of its own",
      { tool: 5, input: "{}", more: true },
      {
        state: "FAILED",
        name: BRIDGE,
        error: { type: "INVALID_PARAMS", message: expect.stringMatching(/- \/tool: must be string.*- \/input: must be object/s) },
      },
    ],
    ["no tool", { input: {} }, { state: "FAILED", name: BRIDGE, error: { type: "INVALID_PARAMS" } }],
  ])("does not reach %s", async (_what, input, expected) => {
    const ran: Json[] = [];
    const { start } = await ghPlace((request) => (isNewTurn(request) ? callsWith([BRIDGE, input]) : says("Done.")));
    const { client, tools } = await start({ permission: { mode: "auto", allow: ["mcp__gh__*"], deny: ["mcp__gh__drop"] } });
    const { id } = await client.createAgent();
    tools.set(
      "gh",
      ["add", "drop", "away"].map((name) => ghTool(name, "Does.", "title", ran)),
    );
    tools.setUnavailable("mcp__gh__away", "it rests");
    await client.turn(id, "go");
    expect(await newestCall(client, id)).toMatchObject(expected);
    expect(ran).toEqual([]);
  });

  it.each([
    ["other names of its parameters", { name: "mcp__gh__add", arguments: { title: "x" } }],
    ["the tool's name and input", { tool: "mcp__gh__add", input: { title: "x" } }],
  ])("takes %s", async (_what, input) => {
    const { start } = await ghPlace((request) => (isNewTurn(request) ? callsWith([BRIDGE, input]) : says("Done.")));
    const { client, tools } = await start();
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("add")]);
    await client.turn(id, "go");
    expect(await newestCall(client, id)).toMatchObject({ name: "mcp__gh__add", state: "COMPLETED", output: "add ran" });
  });

  it("leaves the fields of the input as they are, whatever their names", async () => {
    const input = { name: "n", tool: "t", arguments: { input: [null, { items: [1] }] }, parameters: null };
    const ran: Json[] = [];
    const { start } = await ghPlace(bridging("mcp__gh__any", input));
    const { client, tools } = await start();
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("any", "Takes anything.", null, ran)]);
    await client.turn(id, "go");
    expect(ran).toEqual([input]);
  });

  it("with its input as JSON in a text is refused with the path: a repaired call would run", async () => {
    const { start, requests } = await ghPlace((request) =>
      isNewTurn(request) ? callsWith([BRIDGE, { tool: "mcp__gh__add", input: '{"title":"x"}' }]) : says("Done."),
    );
    const { client, tools } = await start();
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("add")]);
    await client.turn(id, "go");
    expect(JSON.stringify(requests().at(-1)?.messages)).toContain("- /input: must be object");
    expect(await newestCall(client, id)).toMatchObject({ name: BRIDGE, state: "FAILED" });
  });

  it("is allowed always as a call of the tool that it names, and opens no other tool", async () => {
    const { start } = await ghPlace((request) => {
      const turns = request.messages.filter(({ content }) => content.some(({ type }) => type === "tool_result")).length;
      const tool = turns === 0 ? "mcp__gh__add" : "mcp__gh__drop";
      return isNewTurn(request) ? callsWith([BRIDGE, { tool, input: { title: "x" } }]) : says("Done.");
    });
    const { client, tools } = await start({ permission: { mode: "auto" } });
    const { id } = await client.createAgent();
    tools.set("gh", [ghTool("add"), ghTool("drop")]);
    const { cursor } = await client.agent(id);
    await client.send(id, "go");
    await client.until(id, "PERMISSION_REQUIRED", cursor);
    const [pending] = (await client.agent(id)).pendingApprovals;
    const { allowAlways } = await client.get(AllowAlwaysDocument, { input: { approvalId: pending?.id ?? "" } });
    expect(allowAlways.allowRule?.rule).toMatch(/^mcp__gh__add\b/);
    await client.decide({ approvalId: pending?.id ?? "", decision: "ALLOW", inputHash: pending?.inputHash ?? "" });
    await client.until(id, "DONE", cursor);
    const { cursor: second } = await client.agent(id);
    await client.send(id, "go on");
    const events = await client.until(id, "PERMISSION_REQUIRED", second);
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { call: { name: "mcp__gh__drop" } } }]);
  });

  it("needs no input for a tool without parameters", async () => {
    const { start } = await ghPlace((request) => (isNewTurn(request) ? callsWith([BRIDGE, { tool: "plain" }]) : says("Done.")));
    const { client } = await start(
      { tools: ["plain", "mcp__gh__*"], permission: { mode: "auto" } },
      { tools: [toolWithPrompt("plain", "Plain.")] },
    );
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    expect(await newestCall(client, id)).toMatchObject({ name: "plain", state: "COMPLETED", output: "done" });
  });

  it("is unknown to an agent that is not offered it", async () => {
    const { start } = await ghPlace(bridging("fs_read", { path: "." }));
    const { client } = await start({ tools: ["fs_read"] });
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    expect(await newestCall(client, id)).toMatchObject({ name: BRIDGE, state: "FAILED", error: { type: "NOT_FOUND" } });
  });

  it("waits for a person while servers change, and runs on one that has the tool", async () => {
    const ran: Json[] = [];
    const { start } = await ghPlace(bridging("mcp__gh__add", { title: "x" }));
    const asks = { permission: { mode: "approval" } } as const;
    const first = await start(asks);
    const { id } = await first.client.createAgent();
    first.tools.set("gh", [ghTool("add", "Adds.", "title", ran)]);
    await first.client.send(id, "go");
    await first.client.until(id, "PERMISSION_REQUIRED");
    await first.app.close();
    const { client, tools } = await start(asks);
    tools.set("gh", [ghTool("add", "Adds.", "title", ran)]);
    const [pending] = (await client.agent(id)).pendingApprovals;
    await client.decide({ approvalId: pending?.id ?? "", decision: "ALLOW", inputHash: pending?.inputHash ?? "" });
    await client.until(id, "DONE");
    expect(await newestCall(client, id)).toMatchObject({ name: "mcp__gh__add", state: "COMPLETED", output: "add ran" });
    expect(ran).toEqual([{ title: "x" }]);
  });

  it("of an agent without it is shown under the name that its row has", async () => {
    const model = playedModel(bridging("bash_run", { command: "ls" }));
    const client = connect((await startTestApp({ model, template: { tools: ["fs_read"] } })).url);
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    const query = `query ($id: ID!) { agent(id: $id) { messages { nodes { blocks { ... on ToolCallBlock { name toolCall { name } } } } } } }`;
    const shown = JSON.stringify((await client.post({ query, variables: { id } })).data);
    expect(shown).toContain(JSON.stringify({ name: BRIDGE, toolCall: { name: BRIDGE } }));
  });

  it("in the old form of a changed tool is told each problem with its path", async () => {
    const { start, requests } = await ghPlace((request) =>
      isNewTurn(request) ? callsWith(["mcp__gh__add", { title: "x" }]) : says("Done."),
    );
    const { client, tools } = await start();
    tools.set("gh", [ghTool("add")]);
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    tools.set("gh", [ghTool("add", "Does add.", "name")]);
    await client.turn(id, "go on");
    expect(requests().filter(isNewTurn).map(toldNames)).toEqual([[], ["mcp__gh__add"]]);
    expect(await newestCall(client, id)).toMatchObject({
      state: "FAILED",
      error: {
        type: "INVALID_PARAMS",
        message: expect.stringMatching(/- \/: (must have the parameter .?"?name|has no parameter "title")/),
      },
    });
  });
});
