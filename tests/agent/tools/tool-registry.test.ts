import { describe, expect, it } from "vitest";
import { toolboxOf } from "../../../src/agent/calls/stages/validation.ts";
import { parseRule } from "../../../src/agent/policy/parse-rule.ts";
import { ruleMatches } from "../../../src/agent/policy/rule.ts";
import { ToolDefinitionError } from "../../../src/agent/tools/input-schema.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import { defineTool, Type, type Tool } from "../../../src/triplane.ts";
import { ownTool, toolWithPrompt } from "../../support/tools.ts";

const plain = ownTool("plain", () => "");
const list = toolWithPrompt("mcp__gh__list", "Lists.");
const find = toolWithPrompt("mcp__gh__find", "Finds.");

describe("a registry", () => {
  it("is a map of the present tools: those of the configuration, and those that servers have", () => {
    const tools = new ToolRegistry([plain]);
    tools.set("gh", [list, find]);
    tools.set("hub", [toolWithPrompt("mcp__hub__list", "Others.")]);
    expect([...tools.keys()]).toEqual(["plain", "mcp__gh__find", "mcp__gh__list", "mcp__hub__list"]);
    expect(tools.get("mcp__gh__list")).toMatchObject({ source: "MCP", server: "gh", unavailable: null });
    expect(tools.get("plain")).toBe(plain);
    expect([tools.size, tools.has("mcp__gh__none"), [...tools].length, [...tools.values()].length]).toEqual([4, false, 4, 4]);
    const seen: string[] = [];
    tools.forEach((_tool, name, all) => seen.push(`${name} ${all === tools}`));
    expect(seen[0]).toBe("plain true");
    tools.set("gh", [find]);
    expect([...tools.keys()]).toEqual(["plain", "mcp__gh__find", "mcp__hub__list"]);
  });

  it("keeps tools that are unavailable, with the reason, and gives the same tool again when it is back", () => {
    const tools = new ToolRegistry([plain]);
    tools.set("gh", [list, find]);
    const before = tools.get("mcp__gh__list");
    tools.setServerUnavailable("gh", "down");
    tools.setUnavailable("mcp__gh__find", "its own reason");
    tools.setUnavailable("plain", `${"x".repeat(2_000)}\0`);
    expect(tools.get("mcp__gh__list")?.unavailable).toBe("down");
    expect(tools.get("mcp__gh__find")?.unavailable).toBe("its own reason");
    expect(tools.get("plain")?.unavailable).toHaveLength(1_000);
    tools.setServerUnavailable("gh", null);
    tools.setUnavailable("plain", null);
    expect(tools.get("mcp__gh__list")).toBe(before);
    expect(tools.get("plain")).toBe(plain);
    expect(tools.get("mcp__gh__find")?.unavailable).toBe("its own reason");
  });

  it("has the tools of a server available that lists them again", () => {
    const tools = new ToolRegistry([]);
    tools.set("gh", [list]);
    tools.setServerUnavailable("gh", "down");
    tools.set("gh", [list]);
    expect(tools.get("mcp__gh__list")?.unavailable).toBeNull();
  });

  const withPath = defineTool({
    name: "mcp__gh__read",
    description: "Reads.",
    readOnly: true,
    paths: { path: "read" },
    inputSchema: Type.Object({ path: Type.String() }),
    run: () => "",
  });

  it.each<[string, readonly Tool[], RegExp]>([
    ["of another name", [plain], /is named mcp__gh__TOOL, not plain$/],
    ["of another server", [toolWithPrompt("mcp__hub__list", "x")], /is named mcp__gh__TOOL/],
    ["without a name of its own", [toolWithPrompt("mcp__gh__", "x")], /is named mcp__gh__TOOL/],
    ["named twice", [list, list], /^two tools are named mcp__gh__list$/],
    ["with paths, which rules that are there would not see", [withPath], /declares no paths and no commands$/],
  ])("refuses a tool %s, and changes nothing", (_name, refused, problem) => {
    const tools = new ToolRegistry([plain]);
    tools.set("gh", [find]);
    expect(() => tools.set("gh", refused)).toThrow(problem);
    expect(() => tools.set("gh", refused)).toThrow(ToolDefinitionError);
    expect([...tools.keys()]).toEqual(["plain", "mcp__gh__find"]);
  });

  it("refuses a tool that the configuration, or a server of a longer name, has", () => {
    const tools = new ToolRegistry([toolWithPrompt("mcp__gh__own", "x")]);
    expect(() => tools.set("gh", [toolWithPrompt("mcp__gh__own", "x")])).toThrow("two tools are named mcp__gh__own");
    tools.set("gh__hub", [toolWithPrompt("mcp__gh__hub__list", "x")]);
    expect(() => tools.set("gh", [toolWithPrompt("mcp__gh__hub__list", "x")])).toThrow("two tools are named");
  });
});

describe("a template that names `mcp__server__*`", () => {
  it("has the tools that the server has at the time, and no other server's", () => {
    const tools = new ToolRegistry([plain]);
    const settings = { clientTools: {}, subagents: null, memory: null };
    const named = { ...settings, tools: ["mcp__gh__*"] };
    expect([...toolboxOf(tools, named).enabled.keys()]).toEqual([]);
    tools.set("gh", [list]);
    tools.set("gh__hub", [toolWithPrompt("mcp__gh__hub__list", "x")]);
    expect([...toolboxOf(tools, named).enabled.keys()]).toEqual(["mcp__gh__list"]);
    expect([...toolboxOf(tools, { ...settings, tools: null }).enabled.keys()]).toEqual([
      "plain",
      "mcp__gh__hub__list",
      "mcp__gh__list",
    ]);
  });
});

describe("a rule that names a tool before it is there", () => {
  it.each<[string, string, string, boolean]>([
    ["mcp__gh__list", "mcp__gh__list", "acme", true],
    ["mcp__gh__l*", "mcp__gh__list", "acme", true],
    ["mcp__gh__list", "mcp__gh__find", "acme", false],
    ["mcp__gh__list(owner:acme)", "mcp__gh__list", "acme", true],
    ["mcp__gh__list(owner:a*)", "mcp__gh__list", "acme", true],
    ["mcp__gh__list(owner:other)", "mcp__gh__list", "acme", false],
  ])("%s for a call of %s with the owner %s: %s", (source, tool, owner, isMatch) => {
    const rule = parseRule(source, "test", new ToolRegistry([plain]));
    if (!rule.ok) throw new Error(rule.refusal.message);
    expect(ruleMatches(rule.value, tool, { owner: [{ kind: "text", text: owner }] }, "names")).toBe(isMatch);
  });
});
