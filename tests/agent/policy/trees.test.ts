import fc from "fast-check";
import { expect, it } from "vitest";
import { agentPolicy } from "../../../src/agent/policy/agent-policy.ts";
import type { Ancestor, OwnPermission } from "../../../src/agent/policy/own-permission.ts";
import { judge, judgeConnection } from "../../../src/agent/policy/judge.ts";
import { parseRule } from "../../../src/agent/policy/parse-rule.ts";
import { type Policy, type PolicyBox, isStricter, type StoredRule, type Verdict } from "../../../src/agent/policy/permission.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { ruleValues } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { shell } from "../../support/command-lines.ts";

const TOOLS = new Map<string, Tool>([...BUILTIN_TOOLS, shell].map((tool) => [tool.name, tool]));
const VOCABULARY = { tools: TOOLS, modes: new Map() };

const RULES = [
  "fs_read(path:/src/**)",
  "fs_read(path:/docs/a.md)",
  "fs_write(path:/src/**)",
  "fs_write(path:/docs/**)",
  "shell(command:git *)",
  "shell(command:npm test)",
  "shell(command:rm *)",
];
const HOST_RULES = ["network(host:example.com)", "network(host:*.example.com)", "network(host:other.org)"];
const FILES = ["src/a.ts", "src/b.ts", "docs/a.md", "docs/b.md", "x"];
const COMMANDS = ["git status", "git push", "npm test", "rm x", "git status && rm x", "cat src/a.ts", "echo $(rm x)"];
const HOSTS = ["example.com", "a.example.com", "other.org", "unnamed.net"];

/** Rules with brackets alone: those without, and lists of tools, say what an agent may use, and bind no child. */
const source: fc.Arbitrary<PermissionSource> = fc.record({
  mode: fc.constantFrom("auto", "auto", "auto", "approval", "default", "readonly", "deny"),
  deny: fc.uniqueArray(fc.constantFrom(...RULES, ...HOST_RULES), { maxLength: 1 }),
  ask: fc.uniqueArray(fc.constantFrom(...RULES), { maxLength: 2 }),
  allow: fc.uniqueArray(fc.constantFrom(...RULES, ...HOST_RULES), { maxLength: 4 }),
  autoAllowTools: fc.uniqueArray(fc.constantFrom("fs_write", "shell"), { maxLength: 1 }),
});

type Level = {
  readonly template: PermissionSource;
  readonly own: { scope: OwnPermission["scope"]; source: PermissionSource } | null;
};
const level: fc.Arbitrary<Level> = fc.record({
  template: source,
  own: fc.option(fc.record({ scope: fc.constantFrom("TIGHTEN" as const, "REPLACE" as const), source }), { nil: null }),
});

/** The policies of the agents of a branch, the first of the tree first. */
function policiesOf(levels: readonly Level[], box: PolicyBox | null, stored: readonly StoredRule[]): readonly Policy[] {
  const templates = levels.map(({ template }, index) => ({
    permission: readPermission(template, `templates.t${index}.permission`, VOCABULARY).permission,
    presentPermission: null,
    box: index === 0 ? box : null,
  }));
  const ancestors: Ancestor[] = [];
  return levels.map(({ own }, index) => {
    const template = templates[index];
    if (template === undefined) throw new Error("each level has a template");
    const above = { ancestors: [...ancestors] };
    const permission = index === 0 ? own : { ...(own ?? ({ scope: "TIGHTEN", source: {} } as const)), ...above };
    ancestors.push({ agentId: `a${index}`, templateId: `t${index}`, permission: own });
    const held = { ...template, above: templates.slice(0, index) };
    return agentPolicy(held, permission, index === levels.length - 1 ? stored : [], VOCABULARY);
  });
}

const workspace = new Workspace("/nowhere");
const calls = [
  ...FILES.flatMap((path) => [["fs_read", { path }] as const, ["fs_write", { path, content: "text" }] as const]),
  ...COMMANDS.map((command) => ["shell", { command }] as const),
].map(([name, input]) => {
  const tool = TOOLS.get(name) ?? shell;
  return {
    said: `${name} ${JSON.stringify(input)}`,
    call: { agentId: "a", name, readOnly: tool.readOnly, values: ruleValues(tool, input, workspace) },
  };
});

/** The verdicts of a policy on all calls and hosts. Hosts are judged only for programs in a box. */
function verdictsOf(policy: Policy): ReadonlyMap<string, Verdict> {
  const hosts = policy.box === null ? [] : HOSTS;
  return new Map([
    ...calls.map(({ said, call }) => [said, judge(call, policy).verdict] as const),
    ...hosts.map((host) => [host, judgeConnection({ ...policy, listedHosts: [], storedHosts: [] }, host, 443).verdict] as const),
  ]);
}

it("a child's verdict is never laxer than that of each agent above it, about files, hosts and commands (invariant 14)", () => {
  const seen = { tightened: 0, hosts: 0, allowed: 0 };
  const storedRules = fc.uniqueArray(fc.constantFrom(...RULES), { maxLength: 2 });
  fc.assert(
    fc.property(fc.array(level, { minLength: 2, maxLength: 5 }), fc.boolean(), storedRules, (levels, inBox, rules) => {
      const stored = rules.map((text): StoredRule => {
        const parsed = parseRule(text, "allowRules", TOOLS);
        if (!parsed.ok) throw new Error(parsed.refusal.message);
        return { ...parsed.value, id: text, createdBy: "anna" };
      });
      const all = policiesOf(levels, inBox ? { protectedPaths: [] } : null, stored).map(verdictsOf);
      const child = all.at(-1) ?? new Map<string, Verdict>();
      const alone = levels.at(-1);
      const free =
        alone === undefined
          ? child
          : verdictsOf({ ...(policiesOf([alone], null, stored)[0] as Policy), box: inBox ? { protectedPaths: [] } : null });
      for (const [act, verdict] of child) {
        for (const [above, verdicts] of all.slice(0, -1).entries())
          expect(
            isStricter(verdicts.get(act) ?? "allow", verdict),
            `${act}: ${verdict} below level ${above}, which says ${verdicts.get(act)}`,
          ).toBe(false);
        if (verdict === "allow") seen.allowed += 1;
        if (isStricter(verdict, free.get(act) ?? verdict)) seen[HOSTS.includes(act) ? "hosts" : "tightened"] += 1;
      }
    }),
    { numRuns: 300 },
  );
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(20);
});

it("names the agent above whose limit decided", () => {
  const own = { scope: "TIGHTEN", source: {} } as const;
  const [, , policy] = policiesOf(
    [
      { template: { mode: "auto", deny: ["fs_write(path:/src/**)"] }, own: null },
      { template: { mode: "auto" }, own: { ...own, source: { ask: ["shell(command:rm *)"] } } },
      { template: { mode: "auto", allow: ["network"] }, own: null },
    ],
    { protectedPaths: [] },
    [],
  );
  if (policy === undefined) throw new Error("there are three levels");
  const said = (wanted: string) => calls.filter(({ said: text }) => text.includes(wanted)).map(({ call }) => judge(call, policy));
  expect(said('fs_write {"path":"src/a.ts"')).toMatchObject([
    {
      verdict: "deny",
      place: "templates.t0.permission.deny.0 of the ancestor a0",
      reason: "denied by the permission of t0 (ancestor, agent a0): the rule fs_write(path:/src/**) forbids it",
    },
  ]);
  expect(said('"rm x"')).toMatchObject([
    {
      verdict: "ask",
      place: "agent.permission.ask.0 of the ancestor a1",
      reason: expect.stringMatching(/^asked by the permission of t1 \(ancestor, agent a1\): .*shell\(command:rm \*\)/),
    },
  ]);
  expect(judgeConnection({ ...policy, listedHosts: [], storedHosts: [] }, "example.com", 443)).toMatchObject({
    verdict: "ask",
    place: "built in of the ancestor a0",
    reason: "asked by the permission of t0 (ancestor, agent a0): no rule allows example.com:443",
  });
});
