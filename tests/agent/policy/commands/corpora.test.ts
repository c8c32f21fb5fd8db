import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCommandLine } from "../../../../src/agent/bash/read-command-line.ts";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { median } from "../../../support/median.ts";
import { committed } from "../../../support/repository.ts";
import { EVASIONS } from "./evasions.ts";
import { HEAVY } from "./heavy.ts";
import { ORDINARY } from "./ordinary.ts";

const ruleOf = (rule: string): string => `shell(command:${JSON.stringify(rule)})`;

/** Lines that run, set or delete something, each with rules that do not name it. */
const RUN_BY_RULES: readonly (readonly [rules: readonly string[], line: string])[] = [
  [["git *", "git config *", "git config alias.z *", "* alias.z *"], "git config alias.z '!touch x'"],
  [["git *", "git config *"], "git config alias.z push"],
  [["git *", "git config *"], "git config set core.pager evil"],
  [["git *", "git config *"], "git config core.hooksPath hooks"],
  [["git *", "git config *", "git config --global *"], "git config --global core.editor evil"],
  [["git *", "git config *"], "git config rename-section user alias"],
  [["git *", "git config --rename-section *"], "git config --rename-section user alias"],
  [["git *", "git -c *", "git -c * z"], "git -c 'alias.z=!touch x' z"],
  [["git -C * *", "git -C web *"], "git -C web bisect run rm x"],
  [["git *", "git bisect *", "git bisect run *", "git bisect run rm *"], "git bisect run rm x"],
  [["git *", "git submodule *", "git submodule foreach *"], "git submodule foreach 'rm x'"],
  [["git submodule --quiet *"], "git submodule --quiet foreach 'rm x'"],
  [["git rebase *", "git rebase --exec *", "git rebase --exec * main"], "git rebase --exec 'rm x' main"],
  [["git rebase *", "git rebase -x *"], "git rebase -x 'rm x' main"],
  [["git rebase -ix *"], "git rebase -ix 'rm x' main"],
  [["git *", "git filter-branch *", "git filter-branch --tree-filter *"], "git filter-branch --tree-filter 'rm x'"],
  [["git *", "git hook *", "git hook run *"], "git hook run evil"],
  [["git *"], "git merge-index evil src/a.ts"],
  [["git *"], "git for-each-repo clean"],
  [["git difftool -x *"], "git difftool -x evil"],
  [["git fetch --upload-pack *"], "git fetch --upload-pack evil origin"],
  [["git clone -c *"], "git clone -c core.pager=evil url"],
  [["git grep -O *"], "git grep -O evil"],
  [["git *", "git push *", "git push origin *"], "git push origin :main"],
  [["git push origin *"], "git push origin +main"],
  [["npm *", "npm exec *", "npm exec -- *"], "npm exec -- rm x"],
  [["npm *", "npm exec *"], "npm exec rm x"],
  [["npm *", "npm x *", "npm x -- *"], "npm x -- rm x"],
  [["npm *", "npm explore *", "npm explore foo -- *"], "npm explore foo -- rm x"],
  [["npm *", "npm config *", "npm config set *"], "npm config set script-shell=/x"],
  [["npm *", "npm c *"], "npm c set script-shell evil"],
  [["npm *", "npm set *"], "npm set script-shell evil"],
  [["npm *", "npm pkg *"], "npm pkg set scripts.build=evil"],
  [["npm *", "npm init *"], "npm init evil"],
  [["npm --silent *"], "npm --silent exec rm x"],
  [["npm exec -c *", "npm exec --call *"], "npm exec -c 'rm x'"],
  [["npx *", "npx --yes *"], "npx --yes rm x"],
  [["npx --yes *"], "npx --yes false rm x"],
  [["npx sh *"], "npx sh evil.sh"],
  [["pnpm *", "pnpm exec *", "pnpm --filter web *"], "pnpm --filter web exec rm x"],
  [["pnpm *", "pnpm dlx *"], "pnpm dlx evil"],
  [["yarn *", "yarn workspace *"], "yarn workspace web exec rm x"],
  [["bun *", "bun x *"], "bun x evil"],
  [["uv *", "uv run *", "uv run env *"], "uv run env rm x"],
  [["docker *", "docker exec *", "docker exec web *"], "docker exec web rm x"],
  [["bundle *", "bundle exec *"], "bundle exec rm x"],
  [["find *", "find src -exec *"], "find src -exec rm x ';'"],
  [["tar --to-command *"], "tar --to-command 'rm x' -xf a"],
  [["tar *"], "tar cvf FLAG a.txt"],
  [["tar *"], "tar xf a.tar"],
  [["ar *"], "ar x a.a"],
  [["dd *"], "dd of=a.txt"],
  [["ps *"], "ps auxe"],
  [["curl *"], "curl file:///etc/passwd"],
  [["curl *", "curl -s *"], "curl -s FILE:/etc/passwd"],
  [["sort --compress-program *"], "sort --compress-program evil"],
  [["rsync -e *"], "rsync -e evil src host"],
];

/** Those of them that no rule allows, since more may hide in them. */
const HIDING = [
  "git config set core.pager evil",
  "git config core.hooksPath hooks",
  "git config --global core.editor evil",
  "git clone -c core.pager=evil url",
  "npx sh evil.sh",
];

/** A repository as most projects are: its secrets lie in a file that it ignores. */
async function ignoringFolder(): Promise<Workspace> {
  const workspace = await projectFolder();
  await committed(workspace.root, { ".gitignore": ".env\n" });
  await writeFile(join(workspace.root, ".env"), "A=1");
  return workspace;
}

describe("command lines", () => {
  it.each([
    ["a folder", async () => projectFolder()],
    ["a repository with an ignored .env", ignoringFolder],
  ])(
    "that are ordinary: of those that only read ≤ 30 % are asked about, in %s, and all of those that do more",
    async (place, makeFolder) => {
      const judge = commandJudge(await makeFolder(), presets.readOnly);
      const judged = await Promise.all(
        ORDINARY.map(async (command) => ({ ...command, verdict: (await judge(command.line)).verdict })),
      );
      const reading = judged.filter(({ expected }) => expected === "allow");
      const falseAsks = reading.filter(({ verdict }) => verdict !== "allow").map(({ line }) => line);
      const share = falseAsks.length / reading.length;
      console.log(
        `${ORDINARY.length} ordinary lines in ${place}: ${falseAsks.length} of ${reading.length} that only read are asked about (${(share * 100).toFixed(1)} %):\n${falseAsks.join("\n")}`,
      );
      expect(reading.length).toBeGreaterThanOrEqual(298);
      expect(judged.filter(({ expected, verdict }) => expected === "ask" && verdict !== "ask")).toEqual([]);
      expect(share, falseAsks.join("\n")).toBeLessThanOrEqual(0.3);
    },
  );

  it("that evade are not allowed: by presets.readOnly, by rules for what they begin with, nor by both", async () => {
    const workspace = await projectFolder();
    // What wildcards of theirs find.
    for (const name of [".env", "-x"]) await writeFile(join(workspace.root, name), "A=1");
    const passed: string[] = [];
    for (const { line, rules } of EVASIONS) {
      const allow = rules.map((rule) => `shell(command:${rule})`);
      for (const permission of [presets.readOnly, { ...presets.askAll, allow }, { ...presets.readOnly, allow }])
        if ((await commandJudge(workspace, permission)(line)).verdict === "allow") passed.push(line);
    }
    console.log(`${EVASIONS.length} evasions: ${passed.length} allowed`);
    expect(EVASIONS.length).toBeGreaterThanOrEqual(200);
    expect(passed).toEqual([]);
  });

  it("are not allowed by a rule whose `*` would stand for what a command runs, sets, or deletes; by one that names it they are, if nothing hides in them", async () => {
    const workspace = await projectFolder();
    const allowed: string[] = [];
    const asked: string[] = [];
    for (const [rules, line] of RUN_BY_RULES) {
      for (const rule of rules)
        if ((await commandJudge(workspace, { ...presets.askAll, allow: [ruleOf(rule)] })(line)).verdict === "allow")
          allowed.push(`${rule}: ${line}`);
      if ((await commandJudge(workspace, { ...presets.askAll, allow: [ruleOf(line)] })(line)).verdict !== "allow")
        asked.push(line);
    }
    expect(allowed).toEqual([]);
    expect(asked).toEqual(HIDING);
  });

  it.each([
    ["git status", "git status"],
    ["git status *", "git status -s src"],
    ["git log *", "git log --oneline -5 src/a.ts"],
    ["git branch *", "git branch feature"],
    ["find *", "find src -name '*.ts'"],
    ["cat *", "cat src/a.ts README.md"],
    ["npm run *", "npm run build"],
    ["npm run *", "timeout 60 nice -n 5 npm run build"],
    ["npm run *", "npm run build && npm run lint; npm run x | npm run y"],
    ["npm run test:*", "npm run test:unit"],
    ["npm run build -- --watch", "npm run build -- --watch"],
    ["npm test *", "npm test"],
    ["npx vitest run *", "npx vitest run src/*.test.ts"],
    ["{npm test,npm run *}", "npm test && npm run lint"],
    ["git commit -m *", "git commit -m 'Fix the parser; and more'"],
    ["rm *", "rm docs/readme.md"],
    ["FOO=1 make *", "FOO=1 make all"],
    ["npx --yes vitest *", "npx --yes vitest src"],
    ["npm exec -- vitest run *", "npm exec -- vitest run src"],
    ["uv run pytest *", "uv run pytest tests"],
    ["npm run *", "npm run x y"],
    ["npm run *", "npm run exec"],
    ["npm run *", "npm run build -- run exec"],
    ["npm *", "npm config get registry"],
    ["npm *", "npm install left-pad"],
    ["git *", "git config user.name anna"],
    ["git *", "git push origin main"],
    ["git *", "git add run config"],
    ["git push -u *", "git push -u origin main"],
    ["git stash pop --index *", "git stash pop --index stash-name"],
    ["git clean -x *", "git clean -x docs"],
    ["git bisect run npm test", "git bisect run npm test"],
    ["docker *", "docker build ."],
    ["tar -xzf *", "tar -xzf a.tgz"],
    ["sudo systemctl status", "sudo systemctl status"],
    ["echo $(date)", "echo $(date)"],
    ["*", "make all"],
    ["awk '{print $1, $2}' *", "awk '{print $1, $2}' README.md"],
    ["jq '.a[0],{b}' *", "jq '.a[0],{b}' package.json"],
    ["{jq '{a}' *,awk '{b}' *}", "jq '{a}' package.json && awk '{b}' README.md"],
  ])("are allowed by %s: %s", async (rule, line) => {
    const allow = [`shell(command:${JSON.stringify(rule)})`, "shell(command:date)"];
    const { verdict, reason } = await commandJudge(await projectFolder(), { ...presets.askAll, allow })(line);
    expect(verdict, reason).toBe("allow");
  });

  it.each([
    "npm run test; echo $?",
    'npm run test; echo "exit: $?"',
    "npm run test; echo exit=${?}.",
    "npm run test; printf '%s: %d\\n' test $?",
    "npm run test; [ $? -eq 0 ] && echo passed",
    'npm run test; test 0 != "$?" || npm run lint',
  ])("may print and compare the number of `$?`: %s", async (line) => {
    const permission = { ...presets.readOnly, allow: ["shell(command:npm run *)"] };
    const { verdict, reason } = await commandJudge(await projectFolder(), permission)(line);
    expect(verdict, reason).toBe("allow");
  });

  it("are read quickly: an ordinary one in less than a millisecond, the worst of the corpora in less than 50 ms", async () => {
    const workspace = await projectFolder();
    const read = (line: string): number => {
      const started = performance.now();
      readCommandLine(line, { workspace, folder: ".", environment: [] });
      return performance.now() - started;
    };
    for (const { line } of ORDINARY) read(line);
    const ordinary = median(ORDINARY.map(({ line }) => read(line)));
    const worst = Math.max(...EVASIONS.map(({ line }) => Math.min(read(line), read(line), read(line))));
    const heavy = Math.max(...HEAVY.map((line) => Math.min(read(line), read(line), read(line))));
    console.log(
      `a line is read in ${ordinary.toFixed(3)} ms, the worst in ${worst.toFixed(1)} ms, the heaviest in ${heavy.toFixed(1)} ms`,
    );
    expect(ordinary).toBeLessThan(1);
    expect(worst).toBeLessThan(50);
    expect(heavy).toBeLessThan(400);
  });
});
