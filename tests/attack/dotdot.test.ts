import { describe, expect, it } from "vitest";
import { ExplainPermissionDocument } from "../generated/documents.ts";
import { appWith } from "../support/mcp-app.ts";
import { ownServer } from "../support/mcp.ts";

describe("an allow rule about a path of an MCP server's tool", () => {
  it("does not allow a path that leaves it", async () => {
    const list = { tools: [{ name: "read", inputSchema: { type: "object", properties: { path: { type: "string" } } } }] };
    const { client, tools } = await appWith({ own: ownServer("plain.mjs", JSON.stringify({ "tools/list": list })) }, ["mcp__own__read", {}], {
      template: { permission: { mode: "auto", allow: ["mcp__own__read(path:/work/**)"] } },
    });
    await expect.poll(() => tools.get("mcp__own__read")).toBeDefined();
    const { id } = await client.createAgent();
    const verdict = async (path: string) => (await client.get(ExplainPermissionDocument, { agentId: id, tool: "mcp__own__read", input: { path } })).explainPermission.explanation?.verdict;
    expect(await verdict("/work/a.txt")).toBe("ALLOW");
    for (const path of ["/work/../etc/passwd", "/work/a/..", "/work/..\\x", "/work/%2E%2e/etc/passwd"])
      expect(await verdict(path)).toBe("ASK");
  });
});
