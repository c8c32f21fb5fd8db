import { describe, expect, it } from "vitest";
import { keptTemplate } from "../../src/config/kept-templates.ts";
import type { TemplateConfig } from "../../src/config/template-settings.ts";
import { templateOf } from "../../src/config/templates.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import type { Template } from "../../src/agent/loop/scope.ts";
import { deniesPath } from "../../src/agent/policy/rule.ts";
import type { Json } from "../../src/lib/json.ts";

const VOCABULARY = { tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])), modes: new Map() };
const WRITTEN = { systemPrompt: "Go.", model: "one" };

function presentOf(config: Partial<TemplateConfig>): Template {
  return templateOf({
    path: "triplane.config.ts",
    id: "assistant",
    place: "templates.assistant",
    config: { ...WRITTEN, ...config },
    hooks: {},
    protect: ["Makefile"],
    modelNames: ["one"],
    templateNames: ["assistant"],
    vocabulary: VOCABULARY,
  });
}

function kept(data: Json, now: Partial<TemplateConfig> = {}, notes: string[] = []) {
  const source = { protect: ["Makefile"], vocabulary: VOCABULARY };
  return keptTemplate(source, presentOf(now), { digest: "0123456789abcdef", data }, (note) => void notes.push(note));
}

describe("a kept version of a template", () => {
  it("has its own data, with the present code and names", () => {
    const hooks = { preToolUse: () => undefined };
    const template = kept({ ...WRITTEN, model: "gone", maxSteps: 7, version: "one" }, { name: "Now", version: "two", hooks });
    expect(template).toMatchObject({ maxSteps: 7, version: "one", model: "gone", name: "Now", digest: "0123456789abcdef" });
    expect(template).toMatchObject({
      subagents: null,
      hooks: { preToolUse: [{ place: "templates.assistant.hooks.preToolUse.0" }] },
    });
    expect(kept({ ...WRITTEN }, { subagents: { templates: ["assistant"] } })).toMatchObject({ subagents: null });
    expect(kept({ ...WRITTEN, subagents: { templates: ["gone"] } })).toMatchObject({
      subagents: { templates: ["gone"], depth: 1 },
    });
  });

  it.each<[Partial<TemplateConfig>, Partial<TemplateConfig>, object]>([
    [{ sandbox: "required" }, {}, { sandbox: "required", box: { protectedPaths: expect.arrayContaining(["Makefile"]) } }],
    [{}, { sandbox: "required" }, { sandbox: "required", box: { protectedPaths: expect.arrayContaining(["Makefile"]) } }],
    [{}, {}, { sandbox: "none", box: null }],
    [{ approvalQuorum: 3 }, { approvalQuorum: 2 }, { approvalQuorum: 3 }],
    [{ approvalQuorum: 1 }, { approvalQuorum: 2 }, { approvalQuorum: 2 }],
    [{ selfApproval: true }, { selfApproval: true }, { selfApproval: true }],
    [{ selfApproval: true }, {}, { selfApproval: false }],
    [{ exposeThinking: true }, {}, { exposeThinking: false }],
  ])("has the stricter setting of both: %j, then %j", (before, now, expected) => {
    expect(kept(JSON.parse(JSON.stringify({ ...WRITTEN, ...before })) as Json, now)).toMatchObject(expected);
  });

  it.each<[string, Json, RegExp]>([
    ["no object", [], /systemPrompt/],
    ["another form", { ...WRITTEN, toolTimeoutMs: "1" }, /toolTimeoutMs/],
    ["a permission of another form", { ...WRITTEN, permission: { forbid: ["fs_read"] } }, /forbid/],
    ["a rule that cannot be read", { ...WRITTEN, permission: { ask: ["fs_read(path"] } }, /permission\.ask\.0/],
    ["an unknown mode", { ...WRITTEN, permission: { mode: "office" } }, /permission\.mode/],
    ["too many rules", { ...WRITTEN, permission: { allow: Array.from({ length: 301 }, () => "fs_read") } }, /301 rules/],
  ])("is missing, with the reason, if its data has %s", (_name, data, reason) => {
    expect(kept(data)).toEqual({ missing: expect.stringMatching(reason) });
    expect(kept(data)).toEqual({ missing: expect.stringContaining("the version 0123456789ab of the template assistant") });
  });

  it("notes rules of tools that are not there, and keeps the paths closed that they may name", () => {
    const deny = ["gone", "gone_*(path:secrets)", "gone(to:../x)", "gone(a:1, b:2)", "fs_read(path:.env)"];
    const notes: string[] = [];
    const template = kept({ ...WRITTEN, permission: { deny, ask: ["gone(amount:*)"] } }, {}, notes);
    if ("missing" in template) throw new Error(template.missing);
    expect(template.permission.deny.map(({ source }) => source)).toEqual(deny);
    const closed = template.permission.deny.filter((rule) => deniesPath(rule, ["secrets/key"], "read"));
    expect(closed.map(({ source }) => source)).toEqual(["gone_*(path:secrets)"]);
    const place = "templates.assistant@0123456789ab.permission";
    expect(notes).toEqual([
      ...deny.slice(0, 4).map((rule, index) => `${place}.deny.${index}: ${rule} names no tool that is there: no call fits it`),
      `${place}.ask.0: gone(amount:*) names no tool that is there: no call fits it`,
    ]);
  });

  it("ignores settings of other releases, and allow rules and lists of unknown tools", () => {
    const permission = { mode: "approval", allow: ["gone"], denyTools: ["gone"], allowTools: ["gone", "fs_read"] };
    expect(kept({ ...WRITTEN, later: true, permission })).toMatchObject({
      permission: { allow: [{ source: "gone" }], denyTools: ["gone"], mode: { name: "approval" } },
    });
  });
});
