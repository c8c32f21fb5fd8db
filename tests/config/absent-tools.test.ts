import { describe, expect, it } from "vitest";
import type { TemplateConfig } from "../../src/triplane.ts";
import { settingsWith } from "../support/template-settings.ts";

const NOT_THERE = /at present\.$/;

describe("tools of MCP servers that a configuration names before they are there", () => {
  it("are accepted, with a note for each place", async () => {
    const { notes, tenants } = await settingsWith({
      tools: ["fs_read", "mcp__gh__list", "mcp__gh__*"],
      permission: {
        deny: ["mcp__gh__delete_*", "fs_read(path:.env)"],
        allow: ["mcp__gh__list(owner:acme, repo:{a,b})"],
        ask: ["mcp__git_hub__a__b"],
        denyTools: ["mcp__gh__delete"],
        requireApprovalTools: ["fs_write", "mcp__gh__create"],
      },
    });
    const said = (place: string, source: string, name = source): string =>
      `templates.t.${place}: ${source} has no effect yet: no tool is named ${name} at present.`;
    expect(notes.filter((note) => NOT_THERE.test(note))).toEqual([
      said("tools.1", "mcp__gh__list"),
      said("tools.2", "mcp__gh__*"),
      said("permission.deny.0", "mcp__gh__delete_*"),
      said("permission.allow.0", "mcp__gh__list(owner:acme, repo:{a,b})", "mcp__gh__list"),
      said("permission.ask.0", "mcp__git_hub__a__b"),
      said("permission.denyTools.0", "mcp__gh__delete"),
      said("permission.requireApprovalTools.1", "mcp__gh__create"),
    ]);
    expect(tenants.everybody.templates.get("t")?.tools).toEqual(["fs_read", "mcp__gh__list", "mcp__gh__*"]);
  });

  it("are said once, whatever number of tenants has the template", async () => {
    const { notes } = await settingsWith({ tools: ["mcp__gh__*"] }, { one: {}, other: {} });
    expect(notes.filter((note) => NOT_THERE.test(note))).toHaveLength(1);
  });

  it("are not noted for a server that is disabled: it is left out on purpose", async () => {
    const templates = { u: { model: "m", systemPrompt: "x", tools: ["mcp__gh__*", "mcp__other__*"] } };
    const { notes } = await settingsWith({}, { acme: { templates, mcpServers: { gh: { command: "x", disabled: true } } } });
    expect(notes.filter((note) => NOT_THERE.test(note))).toEqual([expect.stringContaining("mcp__other__*")]);
  });

  it("may be in the script of a model", async () => {
    const heard = (result: string) => ({ when: { result }, say: ["Done."] });
    const { notes } = await settingsWith({}, {}, [heard("mcp__gh__list"), heard("fs_raed"), heard("call_tool"), { when: {} }]);
    expect(notes.filter((note) => note.includes("waits for a result"))).toEqual([
      expect.stringContaining("the script waits for a result of fs_raed, and no tool is named so"),
    ]);
  });

  it.each<[string, Partial<TemplateConfig>, RegExp]>([
    ["a name of another form", { tools: ["mcp_gh_list"] }, /templates\.t\.tools\.0: there is no tool "mcp_gh_list"/],
    ["a server without a tool", { tools: ["mcp__gh"] }, /templates\.t\.tools\.0: there is no tool "mcp__gh"/],
    ["a pattern of other tools", { tools: ["fs_*"] }, /templates\.t\.tools\.0: there is no tool "fs_\*"/],
    ["those of all servers", { tools: ["mcp__*"] }, /no tool "mcp__\*": .*\. All tools of an MCP server are mcp__SERVER__\*$/],
    ["a part of a server's tools", { tools: ["mcp__gh__l*"] }, /templates\.t\.tools\.0: there is no tool "mcp__gh__l\*"/],
    ["a pattern in a list", { permission: { denyTools: ["mcp__gh__*"] } }, /denyTools\.0: there is no tool "mcp__gh__\*"/],
    ["a rule for a name of another form", { permission: { deny: ["mcp__*"] } }, /there is no tool mcp__\*/],
    ["a rule for an own tool", { permission: { deny: ["weather"] } }, /there is no tool weather/],
    ["a parameter twice", { permission: { deny: ["mcp__gh__a(x:1, x:2)"] } }, /x stands twice/],
    ["a pattern that cannot be read", { permission: { deny: ["mcp__gh__a(x:{1)"] } }, /a \{ has no \}/],
  ])("are not %s", async (_name, template, problem) => {
    await expect(settingsWith(template)).rejects.toThrow(problem);
  });
});

it("trusted tools of a memory that are not there are noted", async () => {
  const { notes } = await settingsWith({ memory: { per: "template", trustedTools: ["fs_read", "mcp__gh__list", "jira"] } });
  expect(notes.filter((note) => note.includes("trustedTools"))).toEqual([
    "templates.t.memory.trustedTools.1: mcp__gh__list has no effect yet: no tool is named so at present.",
    "templates.t.memory.trustedTools.2: jira has no effect yet: no tool is named so at present.",
  ]);
});
