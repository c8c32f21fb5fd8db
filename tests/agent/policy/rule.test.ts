import { describe, expect, it } from "vitest";
import { deniesPath, ruleMatches } from "../../../src/agent/policy/rule.ts";
import { parseRule } from "../../../src/agent/policy/parse-rule.ts";
import type { RuleValue, RuleValues } from "../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";

const TOOLS = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));

function rule(source: string) {
  const parsed = parseRule(source, "test", TOOLS);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusal));
  return parsed.value;
}

const file = (...names: string[]): readonly RuleValue[] => [{ kind: "file", names, access: "read" }];
const text = (...texts: string[]): readonly RuleValue[] => texts.map((text) => ({ kind: "text", text }));

describe("rules that cannot be meant", () => {
  it.each([
    ["", 1, "expected the name of a tool"],
    ["fs_red", 1, "there is no tool fs_red: the tools are fs_read, "],
    ["fs read", 3, 'a tool\'s name has no " "'],
    ["mcp__*", 1, "there is no tool mcp__*"],
    ["fs_read(path:.env", 18, 'expected ")" at the end'],
    ["fs_read(path:.env) x", 21, 'expected ")" at the end'],
    ["fs_read()", 9, "expected parameter:pattern"],
    ["fs_read(.env)", 9, "expected parameter:pattern"],
    ["fs_read(pth:.env)", 9, "fs_read has no parameter pth: there are path, offset, limit"],
    ["fs_read(path:.env, limt:3)", 20, "fs_read has no parameter limt"],
    ["fs_read(path:)", 14, "expected a pattern for path"],
    ["fs_read(path:.env,)", 19, "expected parameter:pattern"],
    ['fs_read(path:".env)', 9, 'no closing "'],
    ["fs_read(path:../x)", 14, "the pattern of a path has no `..`"],
    ["fs_read(path:a/../.env)", 14, "the pattern of a path has no `..`"],
    ["fs_*(cwd:a, content:b)", 6, "no tool that fs_* names has all of these parameters"],
    [`fs_read(path:${"{a,b}".repeat(7)})`, 14, "more than 100 alternatives"],
    ["fs_read(constructor:x)", 9, "fs_read has no parameter constructor"],
    ["fs_read(path:a, path:b)", 22, "path stands twice"],
    ["fs_read(path:{a,b)", 14, "a { has no }"],
    ["fs_read(path:a})", 14, "a } has no {"],
    ["fs_read(path:[a)", 14, "a [ has no ]"],
    ["fs_read(path:a//b)", 14, "no empty names"],
    ["fs_read(path:a/./b)", 14, "no `.` in it"],
    ["fs_read(path:{../x,a})", 14, "no `..`"],
  ])("%s: at character %i, %s", (source, character, message) => {
    expect(parseRule(source, "test", TOOLS)).toMatchObject({ ok: false, refusal: { character } });
    const parsed = parseRule(source, "test", TOOLS);
    expect(parsed.ok ? "" : parsed.refusal.message).toContain(message);
  });
});

describe("what a rule speaks of", () => {
  it.each<[string, string, RuleValues, boolean]>([
    ["fs_read", "fs_read", {}, true],
    ["fs_read", "fs_write", {}, false],
    ["fs_read(*)", "fs_read", {}, true],
    ["fs_read( ** )", "fs_read", {}, true],
    ["*", "todo_write", {}, true],
    ["fs_*", "fs_grep", {}, true],
    ["fs_*", "todo_read", {}, false],
    ["fs_re?d", "fs_read", {}, true],
    ["fs_read(path:.env)", "fs_read", { path: file(".env") }, true],
    ["fs_read(path:.env)", "fs_read", { path: file("config/.env") }, true],
    ["fs_read(path:/.env)", "fs_read", { path: file("config/.env") }, false],
    ["fs_read(path:./.env)", "fs_read", { path: file(".env") }, true],
    ["fs_read(path:config/*.json)", "fs_read", { path: file("config/a.json") }, true],
    ["fs_read(path:config/*.json)", "fs_read", { path: file("config/deep/a.json") }, false],
    ["fs_read(path:config/**/*.json)", "fs_read", { path: file("config/deep/a.json") }, true],
    ["fs_read(path:secrets/)", "fs_read", { path: file("a/secrets/b/c.txt") }, true],
    ["fs_read(path:/secrets)", "fs_read", { path: file("a/secrets/b/c.txt") }, false],
    ["fs_read(path:*.{pem,key})", "fs_read", { path: file("tls/server.key") }, true],
    ["fs_read(path:.env)", "fs_read", { path: file(".environment") }, false],
    ["fs_read(path:.env)", "fs_read", { path: file("a..env") }, false],
    ["fs_read(path:.env, limit:1?)", "fs_read", { path: file(".env"), limit: text("12") }, true],
    ["fs_read(path:.env, limit:1?)", "fs_read", { path: file(".env"), limit: text("120") }, false],
    ["fs_read(path:.env, limit:1?)", "fs_read", { path: file(".env") }, false],
    ["fs_write(content:*password*)", "fs_write", { content: text("the\n/password/ is") }, true],
    ['fs_write(content:"a, (b)")', "fs_write", { content: text("a, (b)") }, true],
    ["fs_write(content:[ab]c)", "fs_write", { content: text("bc") }, true],
    ["fs_glob(dot:true)", "fs_glob", { dot: text("true") }, true],
  ])("%s, called as %s with %j: %s", (source, tool, values, isMatch) => {
    expect(ruleMatches(rule(source), tool, values, "names")).toBe(isMatch);
    expect(ruleMatches(rule(source), tool, values, "covers")).toBe(isMatch);
  });

  it.each<[string, string[], boolean]>([
    ["fs_write(path:/)", ["a/b.txt"], true],
    ["fs_write(path:./)", ["a/b.txt"], true],
    ["fs_write(path:.)", ["a/b.txt"], true],
    ["fs_write(path:{/.env,/customers})", [".env", "customers/x"], true],
    ["fs_write(path:{/.env,/customers})", ["config/.env"], false],
    ["fs_write(path:{.env,secrets/key.txt})", ["config/.env", "secrets/key.txt"], true],
    ["fs_write(path:{.env,secrets/key.txt})", ["a/secrets/key.txt"], false],
  ])("%s closes %j: %s, each alternative by itself", (source, names, isClosed) => {
    for (const name of names) expect(deniesPath(rule(source), [name], "write")).toBe(isClosed);
  });

  const search = (pattern: string, ...folders: string[]): readonly RuleValue[] => [{ kind: "search", pattern, folders }];
  it.each<[string, string, readonly RuleValue[], boolean, boolean]>([
    ["fs_grep(path:docs)", "in it", search("docs/*.md", "docs"), true, true],
    ["fs_grep(path:docs)", "around it", search("**/*", "."), false, true],
    ["fs_grep(path:docs)", "also elsewhere", search("{customers/**,docs/*}", "customers", "docs"), false, true],
    ["fs_grep(path:/docs)", "elsewhere", search("src/**", "src"), false, false],
    ["fs_grep(path:*.md)", "by another pattern", search("{**/*,a/b.md/c}", ".", "a/b.md"), false, true],
    ["fs_grep(path:logs/?.txt)", "by a wider pattern", search("logs/*.txt", "logs"), false, true],
    ["fs_grep(path:logs/*.txt)", "by the same pattern", search("logs/*.txt", "logs"), true, true],
    ["fs_grep(path:/users/*/public/**)", "by a wider pattern", search("users/**/public/**", "users"), false, true],
    ["fs_grep(path:**)", "everywhere", search("**/*", "."), true, true],
  ])(
    "%s and a search %s: it covers it only if it takes in all the folders, and is reached if it could be met",
    (source, _where, path, covers, reaches) => {
      expect(ruleMatches(rule(source), "fs_grep", { path }, "covers")).toBe(covers);
      expect(ruleMatches(rule(source), "fs_grep", { path }, "reaches")).toBe(reaches);
    },
  );

  it("one name of a file is enough to deny, and all of them are needed to allow", () => {
    const values = { path: file("docs/link.md", ".env") };
    expect(ruleMatches(rule("fs_read(path:.env)"), "fs_read", values, "names")).toBe(true);
    expect(ruleMatches(rule("fs_read(path:docs)"), "fs_read", values, "covers")).toBe(false);
  });

  it("a pattern that would backtrack takes less than 1 s of the processor (P-bounded)", () => {
    const started = process.cpuUsage();
    const hostile = rule(`fs_write(content:${"*a".repeat(100)}b)`);
    expect(ruleMatches(hostile, "fs_write", { content: text("a".repeat(5_000)) }, "names")).toBe(false);
    expect(process.cpuUsage(started).user).toBeLessThan(1_000 * 1_000);
  });
});
