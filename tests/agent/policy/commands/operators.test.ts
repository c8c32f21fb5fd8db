import { describe, expect, it } from "vitest";
import { agentPermissions } from "../../../../src/agent/policy/agent-policy.ts";
import { patternOfWord } from "../../../../src/agent/bash/pattern-words.ts";
import { readPermission } from "../../../../src/agent/policy/permission-source.ts";
import { parseRule } from "../../../../src/agent/policy/parse-rule.ts";
import { storedRules } from "../../../../src/agent/policy/stored-rules.ts";
import { BUILTIN_TOOLS } from "../../../../src/agent/tools/builtin.ts";
import { presets } from "../../../../src/config/presets.ts";
import type { Sql } from "../../../../src/db/sql.ts";
import { commandJudge, projectFolder, shell } from "../../../support/command-lines.ts";

const VOCABULARY = {
  tools: new Map([...BUILTIN_TOOLS, shell].map((tool) => [tool.name, tool])),
  modes: new Map(),
};
const ruleOf = (pattern: string): string => `shell(command:${JSON.stringify(pattern)})`;

describe("a rule of more than the words of one command", () => {
  it.each([
    ["npm install && npm publish", "&& outside of quotes is more: write one rule for each command"],
    ["npm install&&npm publish", "&& outside of quotes is more"],
    ["ls; rm", "; outside of quotes is more"],
    ["ls;rm *", "; outside of quotes is more"],
    ["{git status,ls || rm *}", "|| outside of quotes is more"],
    ["cat * | sh", "| outside of quotes is more"],
    ["cat * |& sh", "|& outside of quotes is more"],
    ["make &", "& outside of quotes is more"],
    ["find * -exec date \\;", "put ; in quotes"],
    ["(rm *)", "( outside of quotes is more"],
    ["git status\nrm *", "a line break outside of quotes is more"],
    ["ls > out", "> outside of quotes is a redirection: leave it out"],
    ["ls >out", "> outside of quotes is a redirection"],
    ["make 2>&1", ">& outside of quotes is a redirection"],
    ["make &> log", "&> outside of quotes is a redirection"],
    ["wc < in", "< outside of quotes is a redirection"],
    ["cat << END", "<< outside of quotes is a redirection"],
    ["echo $(date -u)", "a substitution is one of them: put it in quotes"],
    ["echo `date -u`", "a substitution is one of them: put it in quotes"],
  ])("is refused where it is written: %s", (pattern, message) => {
    expect(parseRule(ruleOf(pattern), "test", VOCABULARY.tools)).toMatchObject({
      ok: false,
      refusal: { character: 15, message: expect.stringContaining(message) },
    });
    for (const list of ["deny", "allow", "ask"])
      expect(readPermission({ [list]: ["fs_read", ruleOf("ls; rm *")] }, "test", VOCABULARY).problems).toEqual([
        {
          field: [list, "1"],
          message: expect.stringMatching(/^at character 15 of .*: a pattern has the words of one command, .* one rule for each/),
        },
      ]);
  });

  it("that is stored all the same allows nothing; in an agent's own permission it denies everything", async () => {
    const rules = [ruleOf("ls; make *"), ruleOf("ls *")].map((rule, id) => ({ id: String(id), rule, createdBy: "paul" }));
    const sql = { query: () => Promise.resolve([{ rules, ofTenant: 2, ofAgent: 0 }]) } as unknown as Sql;
    const stored = await storedRules(sql, VOCABULARY.tools, { tenant: "acme", templateId: "assistant", id: null });
    expect(stored.rules.map(({ id }) => id)).toEqual(["1"]);
    const { permission } = readPermission({ mode: "auto" }, "test", VOCABULARY);
    const template = { permission, presentPermission: null, above: [] };
    const own = { scope: "TIGHTEN", source: { deny: [ruleOf("ls; make *")] } } as const;
    expect(agentPermissions(template, own, VOCABULARY).bounds).toMatchObject([{ mode: { kind: "builtin", name: "deny" } }]);
  });
});

describe("a rule of the words of one command", () => {
  it.each([
    ["git commit -m 'a; b && c > d'", "git commit -m 'a; b && c > d'"],
    ["rg 'foo|bar' *", "rg 'foo|bar' src"],
    ['rg "foo|bar" *', "rg 'foo|bar' src"],
    ["rg a[|]b *", "rg 'a|b' src"],
    ["find src -exec date ';'", "find src -exec date \\;"],
    ["echo $(date)", "echo $(date)"],
    ["echo '$(date -u)'", "echo $(date -u)"],
    ["echo `date`", "echo `date`"],
    ["echo $((1+(2<<3)))", "echo $((1+(2<<3)))"],
    ["FOO=1 make *", "FOO=1 make all"],
    ["{make all,\n make test}\n", "make all"],
    ["it's *", '"it\'s" all'],
    ["*", "make all"],
  ])("holds quoted operators and substitutions: %s", async (pattern, line) => {
    const allow = [ruleOf(pattern), "shell(command:date *)"];
    const { verdict, reason } = await commandJudge(await projectFolder(), { ...presets.askAll, allow })(line);
    expect(verdict, reason).toBe("allow");
  });

  it.each(["a|b", "a;b", "x>y", "f(a)", "`a`", "$(a", "it's;", "&&", "a b"])("is proposed for the word %s", async (word) => {
    const pattern = patternOfWord(word);
    const judge = commandJudge(await projectFolder(), { ...presets.askAll, allow: [ruleOf(`make ${pattern}`)] });
    expect((await judge(`make "${word.replace(/[`$]/g, "\\$&")}"`)).verdict).toBe("allow");
  });
});
