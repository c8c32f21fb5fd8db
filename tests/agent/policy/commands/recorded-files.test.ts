import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { committed } from "../../../support/repository.ts";

/** Commands of git that record every file as it lies in the folder, or one that is covered. */
const RECORDING = [
  "git add -A",
  "git add -u",
  "git add --all && git commit -m x",
  "git add .",
  "git add ./",
  "git add conf",
  "git add -f conf/.env",
  "git add '*.env'",
  "git add *",
  "git add :/",
  "git add src/a.ts",
  "git commit -m x",
  "git add src/a.ts $(ls)",
  "git add --pathspec-from-file=names",
  "git add -p",
  "git stage -A",
  "git commit -a -m x",
  "git commit -am x",
  "git commit -qam x",
  "git commit --all -m x",
  "git commit --amend --no-edit -a",
  "git commit -m x conf/.env",
  "git commit -m x -- conf",
  "git commit --only conf -m x",
  "git commit -im x conf/.env",
  "git stash",
  "git stash push -m x",
  "git stash -u",
  "git stash save x",
  "git stash push conf",
  "git pull --rebase --autostash",
  "git -c rebase.autoStash=true pull --rebase",
  "git update-index conf/.env",
  "git update-index --add --remove conf/.env",
  "git ls-files -z | git update-index -z --stdin",
  "git update-index --again",
  "git rm conf/.env",
  "git rm -r --cached conf",
  "git ls-files -d | xargs git rm",
  "git -C src add -A",
  "git -C conf add .env",
  "git -c user.name=x commit -am x",
  "git --git-dir=.git --work-tree=. add -A",
  "cd src && git add -A",
  "cd conf && git add .env",
  "cd $PLACE && git add .",
  "timeout 9 git add -A",
  "/usr/bin/git add -A",
  "GIT_EDITOR=true git commit -a",
  "sh -c 'git add -A'",
  "ls | xargs git add",
  "find . -name a -exec git add {} +",
];
const OTHERS = [
  "git stash list",
  "git stash pop",
  "git status",
  "git log -p",
  "git push",
  "git checkout -b x",
  "git merge x",
  "git pull --rebase",
  "npm test",
];

/** A project whose repository tracks these files. */
async function project(files: readonly string[]): Promise<Workspace> {
  const workspace = await projectFolder();
  await committed(workspace.root, Object.fromEntries(["src/a.ts", ...files].map((name) => [name, "text"])));
  return workspace;
}

const boxed = (source: PermissionSource): PermissionSource => ({ autoAllowInBox: ["shell"], ...source });

async function verdicts(workspace: Workspace, source: PermissionSource, lines: readonly string[], isBoxed = true) {
  const judge = commandJudge(workspace, boxed(source), isBoxed);
  return Promise.all(lines.map(async (line) => `${(await judge(line)).verdict} ${line}`));
}

const asked = (lines: readonly string[]): string[] => lines.map((line) => `ask ${line}`);
const allowed = (lines: readonly string[]): string[] => lines.map((line) => `allow ${line}`);

describe("a covered file that git could record", () => {
  it("is recorded as empty by no command of git in a box without a question, whatever allow rules say", async () => {
    const workspace = await project(["conf/.env"]);
    for (const source of [
      { ...presets.workspace, autoAllowInBox: ["shell"] },
      { mode: "auto" },
      { allow: ["shell(command:git *)", "shell"] },
    ] as const)
      expect(await verdicts(workspace, source, RECORDING)).toEqual(asked(RECORDING));
    expect(await verdicts(workspace, { mode: "auto" }, OTHERS)).toEqual(allowed(OTHERS));
  });

  it("is named in the question, with what can be done", async () => {
    const explanation = await commandJudge(await project(["conf/.env"]), { mode: "auto" }, true)("ls; git commit -am x");
    expect(explanation).toMatchObject({ verdict: "ask", decidedBy: "covered files that git would record" });
    expect(explanation.reason).toContain("conf/.env is covered in the box, and git could record it as empty");
    expect(explanation.reason).toContain("ignore it in the repository, or let an allow rule for fs_read name conf/.env");
    expect(explanation.parts?.[0]).toMatchObject({ start: 4, verdict: "ask" });
  });

  it("is also one that a deny rule closes, or that lies in a folder which one closes", async () => {
    const workspace = await project(["secrets/s.txt"]);
    const source = { mode: "auto", deny: ["fs_read(path:/secrets)"] } as const;
    expect(await verdicts(workspace, source, ["git add -A", "git commit -am x"])).toEqual(
      asked(["git add -A", "git commit -am x"]),
    );
    const { reason } = await commandJudge(workspace, source, true)("git add -A");
    expect(reason).toContain("secrets/s.txt is covered in the box, since the rule fs_read(path:/secrets) forbids it");
    expect(reason).toContain("let a person commit secrets/s.txt");
  });

  it("is looked for in the repository in which the command works", async () => {
    const workspace = await project([]);
    await committed(join(workspace.root, "packages/web"), { ".npmrc": "text" });
    const inside = ["git -C packages/web add -A", "cd packages/web && git commit -am x"];
    expect(await verdicts(workspace, { mode: "auto" }, inside)).toEqual(asked(inside));
    expect(await verdicts(workspace, { mode: "auto" }, ["git add -A"])).toEqual(allowed(["git add -A"]));
  });

  it("asks for nothing where there is none: no box, no tracked file, one that is gone, or one that an allow rule names", async () => {
    const lines = RECORDING.filter((line) => !/\.env|^find|stash/i.test(line));
    const workspace = await project(["conf/.env"]);
    const allow = ["fs_read(path:conf/.env)"];
    expect(await verdicts(workspace, { mode: "auto", allow }, RECORDING)).toEqual(allowed(RECORDING));
    // A wildcard finds a link that leads out of the workspace.
    const unboxed = lines.filter((line) => line !== "git add *");
    expect(await verdicts(workspace, { mode: "auto" }, unboxed, false)).toEqual(allowed(unboxed));
    await rm(join(workspace.root, "conf/.env"));
    expect(await verdicts(workspace, { mode: "auto" }, lines)).toEqual(allowed(lines));
    expect(await verdicts(await project([]), { mode: "auto" }, lines)).toEqual(allowed(lines));
    expect(await verdicts(await projectFolder(), { mode: "auto" }, lines)).toEqual(allowed(lines));
    const ignoring = await project([".gitignore"]);
    await writeFile(join(ignoring.root, ".gitignore"), ".env\n");
    await writeFile(join(ignoring.root, ".env"), "A=1");
    expect(await verdicts(ignoring, { mode: "auto" }, lines)).toEqual(allowed(lines));
  });

  it("is one that is not tracked yet, too, if the repository does not ignore it", async () => {
    const workspace = await project([]);
    await writeFile(join(workspace.root, ".env"), "A=1");
    expect(await verdicts(workspace, { mode: "auto" }, ["git add -A"])).toEqual(asked(["git add -A"]));
  });
});
