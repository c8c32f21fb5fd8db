import { describe, expect, it } from "vitest";
import { judge } from "../../../src/agent/policy/judge.ts";
import type { CustomMode, Permission, PolicyCall, Verdict } from "../../../src/agent/policy/permission.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";

const custom =
  (verdict: Verdict): CustomMode =>
  () =>
    verdict;

const VOCABULARY = {
  tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])),
  modes: new Map([
    ["lets", custom("allow")],
    ["forbids", custom("deny")],
  ]),
};

function permissionOf(source: PermissionSource): Permission {
  const { permission, problems } = readPermission(source, "test", VOCABULARY);
  expect(problems).toEqual([]);
  return permission;
}

/** The verdict on a call of a tool of an MCP server, and what decided it. */
function said(source: PermissionSource, call: Partial<PolicyCall> = {}, bounds: readonly PermissionSource[] = []): string {
  const policy = { permission: permissionOf(source), bounds: bounds.map(permissionOf), stored: [], box: null };
  const { verdict, decidedBy } = judge({ agentId: "a", name: "mcp__gh__list", readOnly: false, values: {}, ...call }, policy);
  return `${verdict} by ${decidedBy}`;
}

const ASKED = "ask by tools of MCP servers";

describe("a call of an MCP server's tool", () => {
  it("is asked about in each mode that does not deny it, also if it is read-only", () => {
    for (const mode of ["auto", "default", "approval", "lets"]) {
      expect(said({ mode }), mode).toBe(ASKED);
      expect(said({ mode }, { readOnly: true }), mode).toBe(ASKED);
    }
    expect(said({ mode: "readonly" }, { readOnly: true })).toBe(ASKED);
    expect(said({ mode: "readonly" })).toBe("deny by mode readonly");
    expect(said({ mode: "deny" })).toBe("deny by mode deny");
    expect(said({ mode: "forbids" })).toBe("deny by mode forbids");
  });

  it("runs by a rule or a list that names it; other tools run by the mode", () => {
    expect(said({ mode: "auto", allow: ["mcp__gh__*"] })).toBe("allow by allow mcp__gh__*");
    expect(said({ mode: "auto", autoAllowTools: ["mcp__gh__list"] })).toBe("allow by autoAllowTools");
    expect(said({ mode: "auto", allow: ["mcp__gh__*"], deny: ["mcp__gh__list"] })).toBe("deny by deny mcp__gh__list");
    expect(said({ mode: "auto" }, { name: "fs_read" })).toBe("allow by mode auto");
  });

  it("is not asked about by a bound, such as an ancestor's permission, that says nothing of it", () => {
    expect(said({ mode: "auto", allow: ["mcp__gh__*"] }, {}, [{ mode: "auto" }])).toBe("allow by allow mcp__gh__*");
    expect(said({ mode: "auto", allow: ["mcp__gh__*"] }, {}, [{ mode: "approval" }])).toBe("ask by mode approval");
    expect(said({ mode: "auto" }, {}, [{ mode: "auto" }])).toBe(ASKED);
  });

  it("is asked about if its definition has changed, whatever allows it, and denied by what denies it", () => {
    const changed = { changed: "its definition is another one" };
    for (const source of [{ allow: ["mcp__gh__*"] }, { autoAllowTools: ["mcp__gh__list"] }, {}])
      expect(said({ mode: "auto", ...source }, changed)).toBe("ask by changed definitions");
    expect(said({ mode: "auto", deny: ["mcp__gh__list"] }, changed)).toBe("deny by deny mcp__gh__list");
    expect(said({ mode: "forbids" }, changed)).toBe("deny by mode forbids");
    expect(said({ mode: "auto" }, changed, [{ mode: "deny" }])).toBe("deny by mode deny");
  });
});
