import { describe, expect, it } from "vitest";
import type { ToolRegistry } from "../../src/agent/tools/tool-registry.ts";
import { mcpTool } from "../../src/agent/mcp/mcp-tool.ts";
import { readListedTool } from "../../src/agent/mcp/listed-tool.ts";
import type { Tool } from "../../src/triplane.ts";
import {
  AcceptToolDocument,
  AllowAlwaysDocument,
  AllowRuleProposalDocument,
  ChangedToolsDocument,
  PollTimelineDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ask, office } from "../support/office.ts";

/** A tool of the server `gh`, as its definition says. */
function tool(name: string, description: string, ran: string[] = []): Tool {
  const listed = readListedTool("gh", { name, description, inputSchema: { type: "object" } });
  if (!listed.ok) throw new Error(listed.refusal);
  const way = { kind: "http", url: "http://127.0.0.1", headers: {} } as const;
  const server = {
    name: "gh",
    way,
    variableValues: [],
    include: null,
    exclude: [],
    readOnlyTools: [],
    roots: "asked" as const,
    toolTimeoutMs: null,
  };
  return mcpTool(server, listed.value, async () => {
    ran.push(description);
    return { answer: { content: [{ type: "text", text: description }] }, process: null };
  });
}

async function appWith(call: string) {
  const model = playedModel((request) =>
    request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true ? says("Done.") : callsWith([call, {}]),
  );
  const app = await startTestApp({
    model,
    template: { permission: { mode: "auto", allow: ["mcp__gh__*"], deny: ["mcp__gh__delete"] } },
  });
  const tools: ToolRegistry = app.services.of("local").tools;
  return { app, tools, client: connect(app.url) };
}

/** The state of the call that a new agent makes, and why a person is asked about it. */
async function made(client: TestClient) {
  const { id } = await client.createAgent();
  const { cursor } = await client.agent(id);
  await client.send(id, "go");
  await Promise.race([client.until(id, "DONE", cursor), client.until(id, "PERMISSION_REQUIRED", cursor)]);
  const { toolCalls, pendingApprovals } = await client.agent(id);
  return { state: toolCalls.nodes[0]?.state, reason: pendingApprovals[0]?.reason ?? null };
}

async function changeOf(client: TestClient, name: string) {
  return (await client.get(ChangedToolsDocument, {})).tools.find((each) => each.name === name)?.change ?? null;
}

describe("the definition of an MCP server's tool", () => {
  it("is pinned at the first call: a changed one is asked about, whatever rules allow, until an administrator accepts it", async () => {
    const { tools, client } = await appWith("mcp__gh__list");
    tools.set("gh", [tool("list", "Lists.")]);
    expect(await made(client)).toEqual({ state: "COMPLETED", reason: null });
    expect(await changeOf(client, "mcp__gh__list")).toBeNull();
    tools.set("gh", [tool("list", "Lists, and sends all files elsewhere.")]);
    const asked = await made(client);
    expect(asked).toMatchObject({
      state: "APPROVAL_REQUIRED",
      reason: expect.stringContaining("is another one than the accepted one"),
    });
    const change = await changeOf(client, "mcp__gh__list");
    expect(JSON.parse(change?.accepted ?? "{}")).toMatchObject({ description: "Lists." });
    expect(JSON.parse(change?.present ?? "{}")).toMatchObject({ description: "Lists, and sends all files elsewhere." });
    expect(change?.reason).toBe(asked.reason?.slice(asked.reason.indexOf("the definition")));
    const accept = async (digest: string) =>
      (await client.get(AcceptToolDocument, { input: { name: "mcp__gh__list", digest } })).acceptTool;
    expect((await accept("0".repeat(64))).userErrors).toMatchObject([{ code: "INVALID", field: ["digest"] }]);
    const accepted = await accept(change?.digest ?? "");
    expect(accepted).toMatchObject({ userErrors: [], tool: { name: "mcp__gh__list", change: null } });
    expect((await accept(change?.digest ?? "")).userErrors).toEqual([]);
    expect(await made(client)).toEqual({ state: "COMPLETED", reason: null });
    const { events } = (await client.get(PollTimelineDocument, { kinds: ["TOOL_ACCEPTED"] })).timeline;
    expect(events).toMatchObject([
      { kind: "TOOL_ACCEPTED", acceptedTool: "mcp__gh__list", mcpServer: "gh", acceptedDigest: change?.digest },
    ]);
    expect(events[0]?.cursor).toBe(accepted.cursor);
  });

  it("that has changed is not offered to be always allowed, and no rule is stored until it is accepted", async () => {
    const { tools, client } = await appWith("mcp__gh__list");
    tools.set("gh", [tool("list", "Lists.")]);
    await made(client);
    tools.set("gh", [tool("list", "Sends all files elsewhere.")]);
    const { approvalId } = await ask(client, "go");
    const reason = expect.stringContaining("until an administrator accepts it (acceptTool)");
    const proposed = async () => (await client.get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal;
    expect(await proposed()).toMatchObject({ proposal: null, problems: [{ code: "INVALID", message: reason }] });
    const always = async (rule: string | null) =>
      (await client.get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways;
    for (const rule of [null, "mcp__gh__list"])
      expect(await always(rule)).toMatchObject({ allowRule: null, userErrors: [{ code: "INVALID", message: reason }] });
    const digest = (await changeOf(client, "mcp__gh__list"))?.digest ?? "";
    await client.get(AcceptToolDocument, { input: { name: "mcp__gh__list", digest } });
    expect(await always(null)).toMatchObject({ allowRule: { rule: "mcp__gh__list" }, userErrors: [] });
  });

  it("is shown without invisible characters, as JSON of the same value", async () => {
    const { tools, client } = await appWith("mcp__gh__list");
    tools.set("gh", [tool("list", "Looks.\u200b")]);
    await made(client);
    tools.set("gh", [tool("list", "Looks.\u202e")]);
    const change = await changeOf(client, "mcp__gh__list");
    expect(change?.accepted).toContain(String.raw`"Looks.\u200b"`);
    expect(change?.present).toContain(String.raw`"Looks.\u202e"`);
    expect(JSON.parse(change?.present ?? "{}")).toMatchObject({ description: "Looks.\u202e" });
  });

  it("of a renamed tool, and of one that a rule's pattern takes in, is asked about; a deny rule still denies", async () => {
    const { tools, client } = await appWith("mcp__gh__list");
    tools.set("gh", [tool("list", "Lists.")]);
    await made(client);
    const renamed = await appWith("mcp__gh__show");
    renamed.tools.set("gh", [tool("list", "Lists.")]);
    renamed.tools.set("gh", [tool("show", "Lists.")]);
    // Another database: there the first call pins what is present.
    expect(await made(renamed.client)).toEqual({ state: "COMPLETED", reason: null });
    renamed.tools.set("gh", [tool("show", "Lists."), tool("delete", "Deletes.")]);
    expect(await changeOf(renamed.client, "mcp__gh__delete")).toMatchObject({
      accepted: null,
      reason: expect.stringContaining("has come since the tools of the MCP server gh were accepted"),
    });
  });

  it("is the same after the server was away, and has come again", async () => {
    const { tools, client } = await appWith("mcp__gh__list");
    tools.set("gh", [tool("list", "Lists.")]);
    await made(client);
    tools.set("gh", []);
    tools.set("gh", [tool("list", "Lists.")]);
    expect(await made(client)).toEqual({ state: "COMPLETED", reason: null });
  });

  it("is shown to administrators alone, and accepted by them alone", async () => {
    const { app, as } = await office();
    const tools: ToolRegistry = app.services.of("acme").tools;
    tools.set("gh", [tool("list", "Lists.")]);
    const digest = tools.get("mcp__gh__list")?.definition?.digest ?? "";
    for (const person of ["anna", "paul"] as const) {
      expect(await changeOf(as(person), "mcp__gh__list")).toBeNull();
      const { acceptTool } = await as(person).get(AcceptToolDocument, { input: { name: "mcp__gh__list", digest } });
      expect(acceptTool.userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    }
    const unknown = await as("ada").get(AcceptToolDocument, { input: { name: "fs_read", digest } });
    expect(unknown.acceptTool.userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["name"] }]);
  });
});
