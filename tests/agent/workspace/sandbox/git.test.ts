import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasNoBox, testBox } from "../../../support/box.ts";
import { committed, git } from "../../../support/repository.ts";

const COMMIT = "git commit --allow-empty -qm more";
const LOG = "git log -1 --format='%an %cn'";

describe.skipIf(hasNoBox)("git in a box, as docs/sandbox.md tells it", () => {
  it("has no identity but what its own HOME, its command line, its environment or the repository gives it", async () => {
    const { workspace, home, run } = await testBox();
    await committed(workspace, { "a.txt": "a\n" });
    expect((await run(COMMIT)).err).toContain("Author identity unknown");
    const byOptions = await run(`git -c user.name=C -c user.email=c@example.org ${COMMIT.slice(4)} && ${LOG}`);
    expect(byOptions.out).toBe("C C\n");
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
    const names = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@example.org" };
    const committers = { GIT_COMMITTER_NAME: "B", GIT_COMMITTER_EMAIL: "b@example.org" };
    const byEnvironment = await run(`${COMMIT} && ${LOG}`, { env: { ...env, ...names, ...committers } });
    expect(byEnvironment.out).toBe("A B\n");
    expect((await run("git config user.name R")).err).toContain("could not write config file .git/config");
    await run("git config --global user.name G && git config --global user.email g@example.org");
    expect((await run(`${COMMIT} && ${LOG}`)).out).toBe("G G\n");
    git(workspace, "config", "user.name", "R");
    expect((await run(`${COMMIT} && ${LOG}`)).out).toBe("R R\n");
  });

  it("fails in a folder of a repository, and in a linked worktree of one that lies elsewhere", async () => {
    const { folder, run } = await testBox();
    const [repository, worktree] = [join(folder, "repository"), join(folder, "worktree")];
    await mkdir(repository);
    await committed(repository, { "a.txt": "a\n", "sub/b.txt": "b\n" });
    git(repository, "worktree", "add", "-q", worktree);
    for (const workspace of [join(repository, "sub"), worktree])
      expect((await run("git status", { workspace, folder: workspace })).err).toContain("fatal: not a git repository");
  });

  it("finds a covered tracked file changed: rebase, pull --rebase and reset --hard fail, and all work if it is not covered", async () => {
    const { workspace, run } = await testBox();
    await committed(workspace, { ".npmrc": "save-exact=true\n", "a.txt": "a\n" });
    git(workspace, "branch", "-M", "main");
    git(workspace, "branch", "other");
    const covered = [join(workspace, ".npmrc")];
    const tried = (command: string) => run(command, { covered });
    expect((await tried("git status --short")).out).toBe(" M .npmrc\n");
    expect((await tried("git rebase other")).err).toContain("You have unstaged changes");
    expect((await tried("git pull --rebase . other")).err).toContain("You have unstaged changes");
    expect((await tried("git reset --hard")).err).toContain("unable to unlink old '.npmrc': Device or resource busy");
    expect((await tried("git checkout -q other")).code).toBe(0);
    expect((await run("git status --short; git rebase -q main && git reset -q --hard")).code).toBe(0);
  });
});
