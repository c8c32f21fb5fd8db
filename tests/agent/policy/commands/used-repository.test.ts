import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { committed, git } from "../../../support/repository.ts";

/** A repository whose folder `sub` is another one, recorded as that, with a filter that leaves a mark when it runs. */
async function nestedProject(): Promise<{ readonly workspace: Workspace; readonly mark: string }> {
  const workspace = await projectFolder();
  const { root } = workspace;
  const mark = join(root, "MARK");
  const sub = join(root, "sub");
  await committed(sub, { "f.txt": "a\n" });
  await committed(root, { "top.txt": "top\n" });
  git(root, "add", "sub");
  git(root, "commit", "-q", "-m", "nested");
  git(sub, "config", "filter.x.clean", `touch '${mark}'; cat`);
  await writeFile(join(sub, ".gitattributes"), "* filter=x\n");
  await writeFile(join(sub, "f.txt"), "b\n");
  return { workspace, mark };
}

const COMPARING = [
  "git status",
  "git status -s",
  "git diff",
  "git diff --stat",
  "git diff HEAD",
  "git -C src status",
  "cd src && git diff",
];

describe("a repository within the repository", () => {
  it("keeps what compares files from running unasked: git would run its filters there", async () => {
    const { workspace, mark } = await nestedProject();
    git(workspace.root, "status");
    expect(existsSync(mark)).toBe(true);
    const judge = commandJudge(workspace, presets.readOnly);
    for (const line of COMPARING) {
      const { verdict, reason } = await judge(line);
      expect(verdict, line).toBe("ask");
      expect(reason).toContain("sub");
    }
    expect((await judge("git log -p --submodule=diff")).verdict).toBe("ask");
    for (const line of [
      "git log --oneline",
      "git status --ignore-submodules=all",
      "git diff --stat --ignore-submodules",
      "git diff --cached --stat",
      "git branch",
    ])
      expect((await judge(line)).verdict, line).toBe("allow");
    expect((await judge("git status --ignore-submodules=all --ignore-submodules=none")).verdict).toBe("ask");
    for (const line of [
      "git status -- . --ignore-submodules=all",
      "git status . -- --ignore-submodules",
      "git diff --stat -- . --staged",
      "git diff-index HEAD -- . --cached",
    ])
      expect((await judge(line)).verdict, line).toBe("ask");
  });

  it("is not entered with --ignore-submodules=all", async () => {
    const { workspace, mark } = await nestedProject();
    git(workspace.root, "status", "--ignore-submodules=all");
    git(workspace.root, "diff", "--ignore-submodules");
    expect(existsSync(mark)).toBe(false);
  });

  it("is found once the index records it, and is looked for by nothing that runs", async () => {
    const workspace = await projectFolder();
    const { root } = workspace;
    await committed(root, { "top.txt": "top\n" });
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git status")).verdict).toBe("allow");
    await committed(join(root, "sub"), { "f.txt": "a\n" });
    git(root, "add", "sub");
    expect((await judge("git status")).verdict).toBe("ask");
    const rule = commandJudge(workspace, { ...presets.readOnly, allow: ["shell(command:git status *)"] });
    expect((await rule("git status")).verdict).toBe("allow");
  });
});

describe("a repository whose configuration may make git run a program", () => {
  it.each([
    '[filter "x"]\n\tclean = touch MARK\n',
    "[diff]\n\texternal = touch MARK\n",
    '[diff "x"]\n\ttextconv = touch MARK\n',
    "[include]\n\tpath = ../evil\n",
    "[alias]\n\tz = !touch MARK\n",
    "[core]\n\tattributesFile = x\n",
    "[submodule]\n\trecurse = true\n",
    "[status]\n\tsubmoduleSummary = true\n",
    "[extensions]\n\tpartialClone = origin\n",
    '[remote "x"]\n\tpromisor = true\n\tuploadpack = touch MARK\n',
    "[core]\n\thooksPath = .\n",
    "[gpg]\n\tprogram = touch\n",
    "[pager]\n\tlog = touch MARK\n",
  ])("is asked about: %j", async (settings) => {
    const workspace = await projectFolder();
    await committed(workspace.root, { "top.txt": "top\n" });
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git log --oneline")).verdict).toBe("allow");
    await appendFile(join(workspace.root, ".git/config"), settings);
    for (const line of ["git log --oneline", "git status", "git show", "cd src && git log"])
      expect((await judge(line)).verdict, line).toBe("ask");
    expect((await judge("ls")).verdict).toBe("allow");
    expect((await commandJudge(workspace, presets.workspace, true)("git status")).verdict).not.toBe("deny");
  });

  it("is found in a folder below, by -C and by cd", async () => {
    const workspace = await projectFolder();
    const sub = join(workspace.root, "packages/web");
    await committed(workspace.root, { "top.txt": "top\n" });
    await mkdir(sub, { recursive: true });
    await committed(sub, { "f.txt": "a\n" });
    git(sub, "config", "filter.x.clean", "touch MARK; cat");
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git -C packages/web status")).verdict).toBe("ask");
    expect((await judge("cd packages/web && git status")).verdict).toBe("ask");
    expect((await judge("git log -1")).verdict).toBe("allow");
  });

  it("keeps nothing from running if it has what clones, commits and branches write there", async () => {
    const workspace = await projectFolder();
    const { root } = workspace;
    await committed(root, { "top.txt": "top\n" });
    git(root, "remote", "add", "origin", "https://example.org/x.git");
    for (const [key, value] of [
      ["branch.main.remote", "origin"],
      ["branch.main.merge", "refs/heads/main"],
      ["user.name", "Anna"],
      ["pull.rebase", "true"],
      ["http.https://example.org/.extraheader", "AUTHORIZATION: x"],
      ["core.fsmonitor", "touch MARK; false"],
    ] as const)
      git(root, "config", key, value);
    const judge = commandJudge(workspace, presets.readOnly);
    for (const line of ["git config --list", "git config --get user.name"]) expect((await judge(line)).verdict, line).toBe("ask");
    git(root, "config", "--unset", "http.https://example.org/.extraheader");
    expect((await judge("git remote -v")).verdict).toBe("allow");
    git(root, "remote", "set-url", "origin", "https://token@example.org/x.git");
    expect((await judge("git remote -v")).verdict).toBe("ask");
    expect((await judge("cat .git/config")).verdict).toBe("ask");
    for (const line of ["git status", "git diff --stat", "git log --oneline"])
      expect((await judge(line)).verdict, line).toBe("allow");
    expect(existsSync(join(root, "MARK"))).toBe(false);
  });
});

describe("a repository by which git runs a program without a setting", () => {
  it("is asked about: a hook for the index, options that check signatures or show what history records", async () => {
    const workspace = await projectFolder();
    const { root } = workspace;
    await committed(root, { "top.txt": "top\n" });
    const judge = commandJudge(workspace, presets.readOnly);
    for (const line of [
      "git log --format=%G? -1",
      "git log --pretty=%+GS -1",
      "git show -s --format=%GG",
      "git for-each-ref '--format=%(signature:key)'",
      "git log -p --submodule=diff",
      "git diff --submodule=diff HEAD~2 HEAD~1",
    ])
      expect((await judge(line)).verdict, line).toBe("ask");
    for (const line of ["git log --format=%H", "git diff --stat --ignore-submodules", "git log -- --submodule=diff"])
      expect((await judge(line)).verdict, line).toBe("allow");
    const hook = join(root, ".git/hooks/post-index-change");
    await mkdir(join(root, ".git/hooks"), { recursive: true });
    await writeFile(hook, "#!/bin/sh\ntouch MARK\n");
    await chmod(hook, 0o755);
    for (const line of ["git status", "git diff"]) expect((await judge(line)).verdict, line).toBe("ask");
  });

  it("is looked at by the names that it has, also with a line feed in them", async () => {
    const workspace = await projectFolder();
    const { root } = workspace;
    await committed(root, { "top.txt": "top\n" });
    await rename(join(root, ".git"), join(root, "g\nh"));
    await writeFile(join(root, ".git"), "gitdir: g\nh\n");
    expect((await commandJudge(workspace, presets.readOnly)("git status")).verdict).toBe("ask");
  });
});

describe("a repository that reads out of the workspace", () => {
  const LINES = ["git log -p", "git show HEAD:top.txt", "git cat-file -p HEAD:top.txt", "git blame HEAD -- top.txt"];

  it.each([
    ["a file .git", async (root: string, other: string) => writeFile(join(root, ".git"), `gitdir: ${other}/.git\n`)],
    ["a link .git", async (root: string, other: string) => symlink(join(other, ".git"), join(root, ".git"))],
    [
      "commondir",
      async (root: string, other: string) => {
        await committed(root, {});
        await writeFile(join(root, ".git/commondir"), `${other}/.git\n`);
      },
    ],
    [
      "linked objects",
      async (root: string, other: string) => {
        await committed(root, {});
        await rm(join(root, ".git/objects"), { recursive: true });
        await symlink(join(other, ".git/objects"), join(root, ".git/objects"));
      },
    ],
    [
      "objects of another one",
      async (root: string, other: string) => {
        await committed(root, {});
        await mkdir(join(root, ".git/objects/info"), { recursive: true });
        await writeFile(join(root, ".git/objects/info/alternates"), `${other}/.git/objects\n`);
      },
    ],
  ])("is asked about: %s", async (_what, make) => {
    const workspace = await projectFolder();
    const other = await mkdtemp(join(tmpdir(), "outside-"));
    await committed(other, { "top.txt": "SECRET\n" });
    await make(workspace.root, other);
    const judge = commandJudge(workspace, presets.readOnly);
    for (const line of LINES) expect((await judge(line)).verdict, line).toBe("ask");
    await rm(other, { recursive: true });
  });

  it.each([
    ["info/grafts", "../../.env"],
    ["shallow", "../.env"],
    ["packed-refs", "/etc/passwd"],
    ["rebase-merge/done", "/etc/passwd"],
    ["objects/ab/cdef", "/etc/passwd"],
  ])("is asked about if it has a link in itself, wherever it leads: %s", async (name, target) => {
    const workspace = await projectFolder();
    await committed(workspace.root, { "top.txt": "top\n" });
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git log --oneline")).verdict).toBe("allow");
    const link = join(workspace.root, ".git", name);
    await mkdir(join(link, ".."), { recursive: true });
    await symlink(target, link);
    for (const line of ["git log --oneline", "git status", "git show HEAD"])
      expect((await judge(line)).verdict, line).toBe("ask");
  });

  it("is not waited for: a pipe in the place of its configuration is asked about, once for all commands of a line", async () => {
    const workspace = await projectFolder();
    for (const name of ["a", "b", "c", "d"]) {
      await committed(join(workspace.root, name), { "top.txt": "top\n" });
      await rm(join(workspace.root, name, ".git/config"));
      execFileSync("mkfifo", [join(workspace.root, name, ".git/config")]);
    }
    const began = performance.now();
    const line = ["a", "b", "c", "d"].map((name) => `git -C ${name} log --oneline`).join("; ");
    expect((await commandJudge(workspace, presets.readOnly)(line)).verdict).toBe("ask");
    expect(performance.now() - began).toBeLessThan(12_000);
  });

  it("is read unasked if the workspace is one of its worktrees", async () => {
    const workspace = await projectFolder();
    const other = await mkdtemp(join(tmpdir(), "outside-"));
    await committed(other, { "top.txt": "top\n" });
    const tree = join(workspace.root, "tree");
    git(other, "worktree", "add", "-q", tree);
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git -C tree log --stat")).verdict).toBe("allow");
    await rm(join(other, ".git/worktrees/tree/gitdir"));
    expect((await judge("git -C tree log --stat")).verdict).toBe("ask");
    await rm(other, { recursive: true });
  });
});

describe("a token in the configuration of a repository", () => {
  it("is asked about in whatever way a search comes upon it, and keeps no other search from running", async () => {
    const workspace = await projectFolder();
    const { root } = workspace;
    await committed(root, { "top.txt": "top\n" });
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("grep -rn url .git")).verdict).toBe("allow");
    git(root, "remote", "add", "origin", "https://example.org/x?private_token=abc");
    for (const line of ["grep -rn url .git", "git remote -v"]) expect((await judge(line)).verdict, line).toBe("ask");
  });
});
