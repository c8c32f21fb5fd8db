import { describe, expect, it } from "vitest";
import { judge } from "../../../src/agent/policy/policy.ts";
import { agentPolicy } from "../../../src/agent/policy/agent-policy.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { presets } from "../../../src/config/presets.ts";

const VOCABULARY = { tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])), modes: new Map() };

/** The verdict on a call, and what decided it, with a box or without one. */
function verdict(source: PermissionSource, name: string, sandbox: "none" | "required"): string {
  const { permission, problems } = readPermission(source, "templates.t.permission", VOCABULARY);
  expect(problems).toEqual([]);
  const readOnly = VOCABULARY.tools.get(name)?.readOnly === true;
  const policy = agentPolicy({ permission, sandbox }, null, [], VOCABULARY);
  const { verdict: said, decidedBy } = judge({ agentId: "a", name, readOnly, values: {} }, policy);
  return `${said} by ${decidedBy}`;
}

describe("presets.workspace", () => {
  it("runs every built-in tool without asking in a box, and asks as presets.askAll does without one", () => {
    for (const { name, readOnly } of BUILTIN_TOOLS) {
      expect(verdict(presets.workspace, name, "required")).toBe(`allow by ${readOnly ? "mode default" : "autoAllowInBox"}`);
      expect(verdict(presets.workspace, name, "none")).toBe(verdict(presets.askAll, name, "none"));
    }
  });

  it("is bound by what the block denies, and goes before what it asks for", () => {
    expect(verdict({ ...presets.workspace, deny: ["bash_run"] }, "bash_run", "required")).toBe("deny by deny bash_run");
    expect(verdict({ ...presets.workspace, denyTools: ["fs_write"] }, "fs_write", "required")).toBe("deny by denyTools");
    expect(verdict({ ...presets.workspace, ask: ["fs_write"] }, "fs_write", "required")).toBe("allow by autoAllowInBox");
  });
});
