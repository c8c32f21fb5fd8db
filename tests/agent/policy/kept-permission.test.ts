import { assert, constantFrom, property, record, subarray, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";
import { agentPermissions, agentPolicy } from "../../../src/agent/policy/agent-policy.ts";
import type { OwnPermission } from "../../../src/agent/policy/own-permission.ts";
import { judge, judgeConnection } from "../../../src/agent/policy/judge.ts";
import { isStricter, type Explanation, type Permission, type Verdict } from "../../../src/agent/policy/permission.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { parseRule } from "../../../src/agent/policy/parse-rule.ts";
import { ruleValues } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { shell } from "../../support/command-lines.ts";

const TOOLS = new Map<string, Tool>([...BUILTIN_TOOLS, shell].map((tool) => [tool.name, tool]));
const VOCABULARY = { tools: TOOLS, modes: new Map() };

function permissionOf(source: PermissionSource): Permission {
  const { permission, problems } = readPermission(source, "test", VOCABULARY);
  expect(problems).toEqual([]);
  return permission;
}

type Call = readonly [tool: string, input: Parameters<typeof ruleValues>[1]];

const CALLS: readonly Call[] = [
  ["fs_read", { path: "docs/a.md" }],
  ["fs_read", { path: ".env" }],
  ["fs_write", { path: "docs/a.md", content: "x" }],
  ["fs_write", { path: "src/a.ts", content: "x" }],
  ["fs_grep", { pattern: "x", path: "docs" }],
  ["shell", { command: "make test && git push" }],
  ["shell", { command: "cat docs/a.md" }],
  ["todo_write", { todos: [] }],
];

function said([name, input]: Call, policy: Parameters<typeof judge>[1]): Explanation {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const values = ruleValues(tool, input, new Workspace("/nowhere"));
  return judge({ agentId: "a", name, readOnly: tool.readOnly, values }, policy);
}

const RULES = [
  "fs_write",
  "fs_read(path:/docs/**)",
  "fs_write(path:/src/**)",
  "fs_read(path:.env)",
  "shell(command:make *)",
  "shell",
];
const NAMES = ["fs_read", "fs_write", "shell", "todo_write"];

const rules = uniqueArray(constantFrom(...RULES), { maxLength: 3 });
const source = record({
  mode: constantFrom("auto", "approval", "readonly", "deny", "default"),
  deny: rules,
  allow: rules,
  ask: rules,
  denyTools: subarray(NAMES, { maxLength: 1 }),
  autoAllowTools: subarray(NAMES, { maxLength: 2 }),
  requireApprovalTools: subarray(NAMES, { maxLength: 1 }),
});
const own = constantFrom<OwnPermission | null>(null, { scope: "TIGHTEN", source: { ask: ["fs_write"] } });
const stored = uniqueArray(constantFrom(...RULES), { maxLength: 2 });

const PLAIN = { box: null, above: [] } as const;

function storedRules(texts: readonly string[]) {
  return texts.flatMap((text, index) => {
    const rule = parseRule(text, "stored", TOOLS);
    return rule.ok ? [{ ...rule.value, id: String(index), createdBy: "paul" }] : [];
  });
}

/** True if a rule or list of tools decided, or the mode of a template that has none of it. */
const isOfMode = ({ decidedBy }: Explanation): boolean => decidedBy.startsWith("mode ");
const atLeast = (verdict: Verdict, than: Verdict): boolean => !isStricter(than, verdict);

describe("the permission of an agent that keeps a version", () => {
  it("is never laxer than the kept one, nor than what the present one denies or asks about", () => {
    assert(
      property(constantFrom(...CALLS), source, source, own, stored, (call, before, now, tightened, texts) => {
        const [permission, presentPermission] = [permissionOf(before), permissionOf(now)];
        const kept = said(
          call,
          agentPolicy({ ...PLAIN, permission, presentPermission }, tightened, storedRules(texts), VOCABULARY),
        );
        const alone = (each: Permission): Explanation =>
          said(call, agentPolicy({ ...PLAIN, permission: each, presentPermission: null }, null, storedRules(texts), VOCABULARY));
        expect(atLeast(kept.verdict, alone(permission).verdict)).toBe(true);
        const present = alone(presentPermission);
        if (isOfMode(present) && before.mode === now.mode) return;
        expect(atLeast(kept.verdict, present.verdict)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it("binds those below its agent as it does the agent, by its rules about the tree", () => {
    const ofTree = record({ mode: constantFrom("auto", "approval", "readonly", "deny"), deny: rules, ask: rules });
    assert(
      property(constantFrom(...CALLS), ofTree, ofTree, (call, before, now) => {
        const template = (each: PermissionSource, present: PermissionSource | null) => ({
          permission: permissionOf(each),
          presentPermission: present === null ? null : permissionOf(present),
          box: null,
        });
        const ancestors = [{ agentId: "root", templateId: "assistant", permission: null }];
        const child: OwnPermission = { scope: "TIGHTEN", source: {}, ancestors };
        const below = (above: ReturnType<typeof template>): Verdict =>
          said(call, agentPolicy({ ...template({ mode: "auto" }, null), above: [above] }, child, [], VOCABULARY)).verdict;
        const verdict = below(template(before, now));
        expect(atLeast(verdict, below(template(before, null)))).toBe(true);
        if (before.mode !== now.mode) expect(atLeast(verdict, below(template(now, null)))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  const verdictOf = (
    before: PermissionSource,
    now: PermissionSource,
    call: Call = ["fs_write", { path: "src/a", content: "" }],
  ) =>
    said(
      call,
      agentPolicy(
        { ...PLAIN, permission: permissionOf(before), presentPermission: permissionOf(now) },
        null,
        storedRules([]),
        VOCABULARY,
      ),
    ).verdict;

  it("keeps what it allows, and gains no allow rule", () => {
    expect(verdictOf({ allow: ["fs_write"] }, {})).toBe("allow");
    expect(verdictOf({}, { allow: ["fs_write"] })).toBe("ask");
    expect(verdictOf({ mode: "approval" }, { mode: "auto" })).toBe("ask");
  });

  it("is tightened by new rules, lists and modes", () => {
    const allow = ["fs_write"];
    expect(verdictOf({ allow }, { deny: ["fs_write"] })).toBe("deny");
    expect(verdictOf({ allow }, { allowTools: ["fs_read"] })).toBe("deny");
    expect(verdictOf({ allow }, { ask: ["fs_write"] })).toBe("ask");
    expect(verdictOf({ allow }, { ask: ["fs_write"], allow })).toBe("allow");
    expect(verdictOf({ allow }, { requireApprovalTools: ["fs_write"] })).toBe("ask");
    expect(verdictOf({ mode: "auto" }, { mode: "approval" })).toBe("ask");
    expect(verdictOf({ allow }, { mode: "readonly" })).toBe("deny");
  });

  it("closes the hosts that either of both closes, and opens none that only the present one opens", () => {
    const verdict = (before: PermissionSource, now: PermissionSource): Verdict => {
      const template = { permission: permissionOf(before), presentPermission: permissionOf(now), above: [] };
      const permissions = agentPermissions(template, null, VOCABULARY);
      return judgeConnection({ ...permissions, listedHosts: [], storedHosts: [] }, "example.com", 443).verdict;
    };
    const rule = ["network(host:example.com)"];
    expect(verdict({ allow: rule }, {})).toBe("allow");
    expect(verdict({ allow: rule }, { deny: rule })).toBe("deny");
    expect(verdict({ deny: rule }, { allow: rule })).toBe("deny");
    expect(verdict({}, { allow: rule })).toBe("ask");
  });

  it("holds for nothing where an administrator replaced it", () => {
    const replaced: OwnPermission = { scope: "REPLACE", source: { mode: "auto" } };
    const template = { ...PLAIN, permission: permissionOf({}), presentPermission: permissionOf({ mode: "deny" }) };
    expect(said(["todo_write", { todos: [] }], agentPolicy(template, replaced, [], VOCABULARY)).verdict).toBe("allow");
  });
});
