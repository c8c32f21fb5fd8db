import { describe, expect, it } from "vitest";
import { judge } from "../../../src/agent/policy/judge.ts";
import { agentPolicy } from "../../../src/agent/policy/agent-policy.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import type { RuleValues } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { presets } from "../../../src/config/presets.ts";

const VOCABULARY = {
  tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])),
  modes: new Map(),
};

/** The verdict on a call, and what decided it, with a box or without one. */
function verdict(source: PermissionSource, name: string, sandbox: "none" | "required", values: RuleValues = {}): string {
  const { permission, problems } = readPermission(source, "templates.t.permission", VOCABULARY);
  expect(problems).toEqual([]);
  const readOnly = VOCABULARY.tools.get(name)?.readOnly === true;
  const policy = agentPolicy(
    {
      permission,
      presentPermission: null,
      box: sandbox === "required" ? { protectedPaths: [".git/hooks", "Makefile"] } : null,
      above: [],
    },
    null,
    [],
    VOCABULARY,
  );
  const { verdict: said, decidedBy } = judge({ agentId: "a", name, readOnly, values }, policy);
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

describe("a path that boxes protect", () => {
  const at = (name: string, access: "read" | "write"): RuleValues => ({ path: [{ kind: "file", names: [name], access }] });

  it("is asked for when a tool of files would write it, in every mode, unless an allow rule names it; reading it is not", () => {
    for (const path of ["Makefile", ".git/hooks/post-commit", ".git/hooks"])
      for (const source of [presets.workspace, { mode: "auto" }, { allow: ["fs_write"] }, { autoAllowTools: ["fs_write"] }])
        expect(verdict(source, "fs_write", "required", at(path, "write")), path).toBe("ask by protected files");
    for (const path of ["vendor/a/.git/hooks/x", "vendor/a/.git/config", ".git/modules/a/config", "vendor/a/.git", ".git"])
      expect(verdict(presets.workspace, "fs_write", "required", at(path, "write")), path).toBe("ask by protected files");
    for (const path of ["vendor/a/.git/info/exclude", "vendor/hooks/x", "a.git/hooks/x", ".gitignore"])
      expect(verdict(presets.workspace, "fs_write", "required", at(path, "write")), path).toContain("allow");
    expect(verdict({ allow: ["fs_write(path:Makefile)"] }, "fs_write", "required", at("Makefile", "write"))).toContain("allow");
    expect(verdict(presets.workspace, "fs_write", "required", at("src/Makefile", "write"))).toContain("allow");
    expect(verdict(presets.workspace, "fs_read", "required", at("Makefile", "read"))).toContain("allow");
    expect(verdict({ mode: "auto" }, "fs_write", "none", at("Makefile", "write"))).toBe("allow by mode auto");
  });
});
