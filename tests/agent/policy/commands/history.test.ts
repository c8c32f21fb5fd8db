import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import { presets } from "../../../../src/config/presets.ts";
import { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { committed, git } from "../../../support/repository.ts";

/** Commands that print what commits, or the index, have of files, and run unasked where nothing is tracked that is closed. */
const READING = [
  "git show HEAD",
  "git show HEAD~1",
  "git log -p",
  "git log -p --follow src/a.ts",
  "git log -L 1,2:src/a.ts",
  "git diff",
  "git diff HEAD~1",
  "git diff --cached",
  "git grep TOP",
  "git grep TOP HEAD~1",
  "git show --stat -L 1,2:src/a.ts",
  "git show -s 1234",
  "git show -s HEAD:src/a.ts",
  "git -C src show --stat HEAD:src/a.ts",
  "git show --name-only HEAD",
  "git diff --stat -w",
];
/** All that print it. */
const PRINTING = [
  ...READING,
  "git stash show -p",
  "git cat-file -p HEAD",
  "git whatchanged -p",
  "git status -v",
  "git status -vv",
  "git status -sv",
  "git status --verbose --short",
  "git diff --stat --check",
  "git diff --summary --check",
  "git diff --cached --name-only --check",
  "git show --stat --check HEAD~1",
  "git diff --name-only -S TOP",
  "git diff --stat -GTOP",
  "git log --check",
  "git stash list -L 1,2:src/a.ts",
  "git reflog show -L 1,2:src/a.ts",
  "git show -s HEAD~1:",
  "git show --stat --all",
  "git show -s --tags",
  "git show -s --glob='refs/*'",
  "git show -s -g",
  "sh -c 'git log -p'",
  "git show -s 'HEAD@{2030-01-01 10:00:00}:src/a.ts'",
  "git show --name-only 257cc5642cb1a054f08cc83f2d943e56fd3ebe99",
];
const OUTLINES = [
  "git status",
  "git status -sb",
  "git log --oneline",
  "git diff --stat",
  "git diff --cached --name-only",
  "git ls-files",
];

/** A project whose repository tracks files, of which some lie on the disk no longer. */
async function project(files: Readonly<Record<string, string>>, gone: readonly string[] = []): Promise<Workspace> {
  const workspace = await projectFolder();
  await committed(workspace.root, { "src/a.ts": "text", ...files });
  for (const name of gone) await rm(join(workspace.root, name));
  return workspace;
}

/** The lines that are judged at a time: each judgement has git look, for which a call has 6 s, and later ones know the repository. */
const TOGETHER = 4;

async function verdicts(workspace: Workspace, source: PermissionSource, lines: readonly string[], isBoxed = false) {
  const judge = commandJudge(workspace, source, isBoxed);
  const found: string[] = [];
  for (let first = 0; first < lines.length; first += TOGETHER) {
    const together = lines.slice(first, first + TOGETHER);
    found.push(...(await Promise.all(together.map(async (line) => `${(await judge(line)).verdict} ${line}`))));
  }
  return found;
}

const asked = (lines: readonly string[]): string[] => lines.map((line) => `ask ${line}`);
const allowed = (lines: readonly string[]): string[] => lines.map((line) => `allow ${line}`);

describe("what a repository has kept of a denied file", () => {
  const deny = ["fs_read(path:/secrets)"];

  /** A project that tracked the file once. */
  async function projectWithout(): Promise<Workspace> {
    const workspace = await project({ "secrets/key.txt": "TOP SECRET" });
    git(workspace.root, "rm", "-q", "secrets/key.txt");
    git(workspace.root, "commit", "-q", "-m", "gone");
    return workspace;
  }

  it.each<[string, PermissionSource]>([
    ["that only reads", { ...presets.readOnly, deny }],
    ["of the mode auto", { mode: "auto", deny }],
    ["with rules that allow", { ...presets.readOnly, deny, allow: ["shell", "shell(command:git *)", "shell(command:sh -c *)"] }],
  ])("is printed by no command without a question, if the file was tracked once: a permission %s", async (_what, source) => {
    expect(await verdicts(await projectWithout(), source, PRINTING)).toEqual(asked(PRINTING));
  });

  it("keeps no outline from running, and is denied where a command names it", async () => {
    const workspace = await projectWithout();
    expect(await verdicts(workspace, { ...presets.readOnly, deny }, OUTLINES)).toEqual(allowed(OUTLINES));
    for (const line of ["git show HEAD~1:secrets/key.txt", "git show :secrets/key.txt", "git show :0:secrets/key.txt"])
      expect((await commandJudge(workspace, { mode: "auto", deny })(line)).verdict, line).toBe("deny");
  });

  it("is asked about in a box if the file is tracked, since no box covers it, and not otherwise", async () => {
    const source = { ...presets.workspace, autoAllowInBox: ["shell"], deny };
    const tracking = await project({ "secrets/key.txt": "TOP SECRET" });
    expect(await verdicts(tracking, source, PRINTING, true)).toEqual(asked(PRINTING));
    expect(await verdicts(tracking, source, [...OUTLINES, "npm test"], true)).toEqual(allowed([...OUTLINES, "npm test"]));
    const free = await project({});
    expect(await verdicts(free, source, PRINTING, true)).toEqual(allowed(PRINTING));
    const explanation = await commandJudge(tracking, source, true)("ls; git diff");
    expect(explanation.reason).toContain("the repository tracks secrets/key.txt, which fs_read(path:/secrets) closes");
    expect(explanation.parts?.[0]).toMatchObject({ start: 4, verdict: "ask" });
  });
});

describe("files with secrets that a repository tracks", () => {
  it("are asked about by each command that prints contents, if they lie on the disk or not", async () => {
    const workspace = await project({ "conf/.env": "A=1" }, ["conf/.env"]);
    for (const source of [presets.readOnly, { mode: "auto" }])
      expect(await verdicts(workspace, source, PRINTING)).toEqual(asked(PRINTING));
    expect(await verdicts(workspace, presets.readOnly, OUTLINES)).toEqual(allowed(OUTLINES));
    expect(await verdicts(await project({}), presets.readOnly, READING)).toEqual(allowed(READING));
  });

  it("are no others: an ignored one keeps no command from running, where git takes the folder for a repository", async () => {
    const workspace = await project({ ".gitignore": ".env\n" });
    await writeFile(join(workspace.root, ".env"), "A=1");
    expect(await verdicts(workspace, presets.readOnly, READING)).toEqual(allowed(READING));
    const others = [
      "git stash show -p --include-untracked",
      "git grep --untracked A",
      "git diff --no-index src docs",
      "cat .env",
    ];
    expect(await verdicts(workspace, presets.readOnly, others)).toEqual(asked(others));
    await rm(join(workspace.root, ".git/HEAD"));
    expect(await verdicts(workspace, presets.readOnly, ["git diff src docs"])).toEqual(asked(["git diff src docs"]));
  });

  it("are those of repositories below, too; one that lies around the workspace is asked about", async () => {
    const workspace = await project({});
    await committed(join(workspace.root, "vendor/a"), { "key.pem": "x" });
    await rm(join(workspace.root, "vendor/a/key.pem"));
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git diff")).reason).toContain("vendor/a/key.pem, which lies in the workspace, mostly holds secrets");
    await committed(join(workspace.root, "node_modules/x"), { "src.ts": "x", "other.pem": "x" });
    for (const line of ["git -C node_modules/x show", "cd node_modules/x && git log -p"])
      expect((await judge(line)).verdict, line).toBe("ask");
    const inner = commandJudge(new Workspace(join(workspace.root, "src")), presets.readOnly);
    expect(await inner("git diff")).toMatchObject({
      verdict: "ask",
      reason: expect.stringContaining("the repository begins outside of the workspace"),
    });
    expect((await inner("git status")).verdict).toBe("allow");
  });
});
