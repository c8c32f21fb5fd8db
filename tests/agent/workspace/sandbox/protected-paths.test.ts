import { AnsweringFolders } from "../../../../src/agent/workspace/answering-folders.ts";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { findPath, PROTECTED_PATHS, protects, worktreePaths } from "../../../../src/agent/workspace/sandbox/protected-paths.ts";
import { SandboxRefused } from "../../../../src/agent/workspace/sandbox/sandbox-refused.ts";
import { TakenAway } from "../../../../src/agent/workspace/sandbox/taken-away.ts";
import { WorkspaceUses } from "../../../../src/agent/workspace/sandbox/workspace-uses.ts";
import { temporaryFolder } from "../../../support/app.ts";
import { ended, hasNoBox, testBox } from "../../../support/box.ts";
import { asOwner } from "../../../support/users.ts";

/** Resolves when the next program that enters a workspace has looked at it. */
async function nextLook(): Promise<void> {
  const looked = Promise.withResolvers<undefined>();
  const { enter } = WorkspaceUses.prototype;
  const spied = vi.spyOn(WorkspaceUses.prototype, "enter");
  spied.mockImplementationOnce(function entering(this: WorkspaceUses, workspace, look, isAlone, signal) {
    const seen = async (): ReturnType<typeof look> => look().finally(() => looked.resolve(undefined));
    return enter.call(this, workspace, seen, isAlone, signal);
  });
  await looked.promise;
  spied.mockRestore();
}

/** A folder of another disk. */
const MEMORY = "/dev/shm";

/** Does what git does at least: a folder with its hooks and its configuration. */
async function repository(workspace: string): Promise<void> {
  await mkdir(join(workspace, ".git", "hooks"), { recursive: true });
  await writeFile(join(workspace, ".git", "config"), "[core]\n");
}

describe.skipIf(hasNoBox)("protected paths of a workspace", () => {
  it("are read and not changed, by writing, removing, renaming or moving away the folder they lie in", async () => {
    const { workspace, run } = await testBox({ protect: ["deploy/key.sh"] });
    await repository(workspace);
    await mkdir(join(workspace, "deploy"));
    await writeFile(join(workspace, "deploy", "key.sh"), "kept");
    await writeFile(join(workspace, ".envrc"), "kept");
    const { out } = await run(`
      cat .git/config deploy/key.sh
      try() { "$@" 2>/dev/null && echo "did: $*"; }
      try sh -c 'echo evil > .git/config'; try sh -c 'echo evil > .git/hooks/pre-commit'; try sh -c 'echo evil > deploy/key.sh'
      try rm .envrc; try mv .git .other; try mv .git/config .git/other; try mv deploy other; try ln -sf /etc .envrc
      try sh -c 'echo fine > .git/HEAD'; try sh -c 'echo fine > deploy/notes'`);
    expect(out).toBe(`[core]\nkeptdid: sh -c echo fine > .git/HEAD\ndid: sh -c echo fine > deploy/notes\n`);
    expect(await readFile(join(workspace, ".git", "config"), "utf8")).toBe("[core]\n");
  });

  it("are those of repositories below its root, too, of linked ones and of submodules", async () => {
    const { workspace, run } = await testBox();
    await repository(join(workspace, "vendor", "a"));
    await repository(workspace);
    await mkdir(join(workspace, "linked"));
    await writeFile(join(workspace, "linked", ".git"), "gitdir: ../.git/worktrees/linked");
    await mkdir(join(workspace, ".git", "modules", "b", "hooks"), { recursive: true });
    const { out, notes } = await run(
      `
      try() { "$@" 2>/dev/null && echo "did: $*"; }
      for f in vendor/a/.git/config vendor/a/.git/hooks/x linked/.git .git/modules/b/hooks/x .git/modules/b/config; do try sh -c "echo evil > $f"; done
      try mv vendor/a/.git vendor/a/g; try mv vendor/a vendor/b; try mv vendor other; try rm -rf linked/.git
      try sh -c 'echo fine > vendor/a/.git/HEAD'; try sh -c 'echo x > vendor/a/.git/config.worktree'`,
      { repositories: ["vendor/a", "linked"] },
    );
    expect(out).toBe("did: sh -c echo fine > vendor/a/.git/HEAD\ndid: sh -c echo x > vendor/a/.git/config.worktree\n");
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["vendor/a/.git/config.worktree"]);
    expect(await readFile(join(workspace, "vendor/a/.git/config"), "utf8")).toBe("[core]\n");
  });

  it("are what tells git where the rest of a repository lies, of it and of its linked worktrees; the rest stays writable for git", async () => {
    const { workspace, run } = await testBox();
    await repository(workspace);
    const own = join(workspace, ".git", "worktrees", "linked");
    await mkdir(own, { recursive: true });
    await writeFile(join(own, "commondir"), "../..\n");
    const { out, notes } = await run(`
      try() { "$@" 2>/dev/null && echo "did: $*"; }
      w=.git/worktrees/linked
      try sh -c "echo ../../../evil > $w/commondir"; try mv $w .git/other; try mv .git/worktrees .git/other; try rm -r $w
      for f in .git/commondir $w/config.worktree $w/HEAD $w/gitdir; do try sh -c "echo ../evil > $f"; done
      mkdir .git/worktrees/new && try sh -c 'echo ../.. > .git/worktrees/new/commondir'`);
    const written = [".git/commondir", "config.worktree", "HEAD", "gitdir"].map((name) =>
      name.startsWith(".git") ? name : `.git/worktrees/linked/${name}`,
    );
    expect(out).toBe(
      [
        ...written.map((name) => `did: sh -c echo ../evil > ${name}`),
        "did: sh -c echo ../.. > .git/worktrees/new/commondir",
        "",
      ].join("\n"),
    );
    expect(notes.map((note) => note.split(" ")[0])).toEqual([".git/commondir", ".git/worktrees/linked/config.worktree"]);
    expect(await readFile(join(own, "commondir"), "utf8")).toBe("../..\n");
    expect((await readdir(own)).toSorted()).toEqual(["HEAD", "commondir", "gitdir"]);
    expect(existsSync(join(workspace, ".git", "commondir"))).toBe(false);
  });

  it.each([
    [".git/commondir", true],
    ["a/.git/commondir", true],
    [".git/worktrees", true],
    [".git/worktrees/linked", true],
    [".git/worktrees/linked/commondir", true],
    [".git/worktrees/linked/config.worktree", true],
    [".git/worktrees/linked/HEAD", false],
    [".git/HEAD", false],
    ["worktrees/linked/commondir", false],
  ])("of the file tools: %s is one: %s", (name, isProtected) => {
    expect(protects(PROTECTED_PATHS, [name])).toBe(isProtected);
  });

  it("are not those of folders that cannot be read: the start is refused, and the folder is named", async () => {
    const workspace = await temporaryFolder();
    await mkdir(join(workspace, ".git/worktrees/linked"), { recursive: true });
    await asOwner(workspace, async () => {
      expect(worktreePaths(workspace, "")).toContain(".git/worktrees/linked/commondir");
      for (const closed of [".git/worktrees", ".git"]) {
        await chmod(join(workspace, closed), 0o200);
        expect(() => worktreePaths(workspace, "")).toThrow("the folder .git/worktrees cannot be read");
        await chmod(join(workspace, closed), 0o700);
      }
      await chmod(join(workspace, ".git"), 0o600);
      expect(() => findPath(workspace, ".git/hooks")).toThrow(SandboxRefused);
      await chmod(join(workspace, ".git"), 0o700);
    });
  });

  it("are not those of a linked worktree whose name is no text: the start is refused, and the name is shown", async () => {
    const workspace = await temporaryFolder();
    await mkdir(join(workspace, ".git/worktrees/k"), { recursive: true });
    execFileSync("bash", ["-c", "mv k $'k\\xe9'"], { cwd: join(workspace, ".git/worktrees") });
    expect(() => worktreePaths(workspace, "")).toThrow("the name .git/worktrees/k\uFFFD is not UTF-8");
  });

  it("that would be too many are refused, with what to do", async () => {
    const { workspace, start } = await testBox();
    const repositories = Array.from({ length: 80 }, (_none, index) => `r${index}`);
    for (const each of repositories) await repository(join(workspace, each));
    await expect(start("true", { repositories })).rejects.toThrow(
      /320 files.*of 80 repositories below.*let the agent work in one/,
    );
  });

  it("that are not there are not created, and what a program makes there is taken away, kept, and named", async () => {
    const { workspace, run, folder } = await testBox();
    const { notes, out } = await run(
      "ls -A; mkdir -p .git/hooks .vscode && echo evil > .git/hooks/pre-commit && ln -s /nowhere .husky && echo x > .git/HEAD",
    );
    expect(out).toBe("");
    expect(notes.map((note) => note.split(" ")[0])).toEqual([".git/hooks", ".husky", ".vscode"]);
    expect((await readdir(workspace, { recursive: true })).toSorted()).toEqual([".git", ".git/HEAD"]);
    const kept = await readdir(join(folder, "box", "taken-away"), { recursive: true });
    expect(kept.filter((name) => name.endsWith("pre-commit"))).toHaveLength(1);
    expect(await readdir(join(folder, "box", "running"))).toEqual([]);
  });

  it("that a program makes as a link, or below one, lead nothing outside of the workspace away", async () => {
    const { workspace, folder, run } = await testBox();
    await mkdir(join(folder, "other", "hooks"), { recursive: true });
    const { notes } = await run(`ln -s ${join(folder, "other")} .git`);
    expect(notes.map((note) => note.split(" ")[0])).toEqual([".git"]);
    expect(existsSync(join(folder, "other", "hooks"))).toBe(true);
    expect(await readdir(workspace)).toEqual([]);
  });

  it.skipIf(!existsSync(MEMORY))(
    "stay in their folder under another name if the server's data lies on another disk",
    async () => {
      const folder = await mkdtemp(join(MEMORY, "triplane-test-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      const { workspace, run } = await testBox({ folder });
      // Deeper than a path can be long.
      const deep = `mkdir .vscode; cd .vscode; for i in $(seq 30); do mkdir ${"a".repeat(200)}; cd ${"a".repeat(200)}; done`;
      const [note] = (await run(`echo evil > .envrc; ${deep}`)).notes;
      expect(note).toContain(join(workspace, ".envrc.taken-away-"));
      expect((await readdir(workspace)).map((name) => name.replace(/[0-9a-f-]{36}$/, "ID")).toSorted()).toEqual([
        ".envrc.taken-away-ID",
        ".vscode.taken-away-ID",
      ]);
      expect(await readdir(join(folder, "running"))).toEqual([]);
      await run("rm -r .vscode.taken-away-*");
    },
  );

  it.skipIf(process.getuid?.() === 0)(
    "are taken away also if they, or the folder in which they lie, may not be written",
    async () => {
      const { workspace, run } = await testBox();
      await run("mkdir .vscode; echo {} > .vscode/tasks.json; chmod 555 .vscode; mkdir -p .git/hooks; chmod 311 .git");
      expect((await readdir(workspace)).map((name) => name.split("-")[0])).toEqual([".git", ".vscode.taken"]);
      expect(existsSync(join(workspace, ".git", "hooks"))).toBe(false);
      await run("chmod -R u+rwx .");
    },
  );

  it("are taken away at the next start of a server that died while a program ran", async () => {
    const { workspace, folder } = await testBox();
    new TakenAway(join(folder, "box")).watch({ workspace, absent: [".husky", ".envrc"] });
    await mkdir(join(workspace, ".husky"));
    const notes = await new TakenAway(join(folder, "box")).recover(new AnsweringFolders());
    expect(notes).toHaveLength(1);
    expect(await readdir(workspace)).toEqual([]);
    expect(await new TakenAway(join(folder, "box")).recover(new AnsweringFolders())).toEqual([]);
    // A server that died, or whose disk was full, while it wrote: no program was started.
    for (const text of ["", '{"workspace":']) await writeFile(join(folder, "box", "running", `${text.length}.json`), text);
    expect(await new TakenAway(join(folder, "box")).recover(new AnsweringFolders())).toEqual([]);
    expect(await readdir(join(folder, "box", "running"))).toEqual([]);
  });

  it("that are links are mounted nowhere: the start is refused and names the link", async () => {
    const { workspace, folder, start } = await testBox();
    await mkdir(join(folder, "target"));
    await symlink(join(folder, "target"), join(workspace, ".vscode"));
    await expect(start("true")).rejects.toThrow(SandboxRefused);
    await expect(start("true")).rejects.toThrow(`${join(workspace, ".vscode")} is a link`);
  });

  it("hold back a box while another program runs there, which could put a link in the way, and refuse it at its time", async () => {
    const { workspace, start } = await testBox({}, { followsLinks: true });
    const first = await start("read; ln -sf / .envrc; echo planted");
    await writeFile(join(workspace, ".envrc"), "");
    await expect(start("true", {}, AbortSignal.abort())).rejects.toThrow("another program runs in the workspace");
    const late = new AbortController();
    const waiting = start("true", {}, late.signal);
    late.abort();
    await expect(waiting).rejects.toThrow("install bubblewrap 0.12 or later");
    const order: string[] = [];
    const looked = nextLook();
    const second = start("echo ran")
      .then(ended)
      .then(({ out }) => order.push(out));
    await looked;
    first.process.stdin.write("\n");
    order.push((await ended(first)).out);
    await second;
    expect(order).toEqual(["planted\n", "ran\n"]);
    expect(await readdir(workspace)).toEqual([]);
  });

  it("are mounted only as they were when the workspace was entered, while a program beside makes and removes them", async ({
    signal,
  }) => {
    const { workspace, start } = await testBox({}, { followsLinks: true });
    const swaps = await start("echo up; while :; do mkdir .vscode; rmdir .vscode; done 2>/dev/null", { isBackground: true });
    await once(swaps.process.stdout, "data");
    const outcomes = { beside: 0, refused: 0 };
    for (let round = 0; round < 60 || outcomes.beside === 0 || outcomes.refused === 0; round += 1) {
      signal.throwIfAborted();
      // After each 60 rounds the machine may have been so busy that the time was too short for all of them.
      const time = AbortSignal.timeout(150 * (1 + Math.floor(round / 60)));
      const program = await start("grep -c '/.vscode ' /proc/self/mountinfo", {}, time).catch(() => null);
      const said = program === null ? null : await ended(program);
      // On a busy machine its time may end while it begins.
      if (said === null || said.code === null) outcomes.refused += 1;
      else if (said.out === "0\n") outcomes.beside += 1;
      else expect.fail(`round ${round}: a box mounts a path beside a program that swaps it: ${JSON.stringify(said)}`);
    }
    swaps.end();
    await swaps.ended;
    expect(await readdir(workspace)).toHaveLength(0);
  });

  it("let no program run in the background with a bubblewrap that follows links, and any with one that does not", async () => {
    const old = await testBox({}, { followsLinks: true });
    const without = await old.start("echo up; read", { isBackground: true });
    await once(without.process.stdout, "data");
    without.end();
    await without.ended;
    await writeFile(join(old.workspace, ".npmrc"), "");
    await expect(old.start("true", { isBackground: true })).rejects.toThrow(
      "has a protected or covered path (.npmrc), and bubblewrap",
    );
    const safe = await testBox({}, { followsLinks: false });
    await writeFile(join(safe.workspace, ".npmrc"), "");
    const background = await safe.start("read", { isBackground: true });
    expect((await safe.run("echo beside")).out).toBe("beside\n");
    background.end();
    await background.ended;
  });
});

describe.skipIf(hasNoBox)("covered files", () => {
  it("are empty and cannot be changed, moved or removed, whole folders too", async () => {
    const { workspace, run } = await testBox();
    await mkdir(join(workspace, "secrets", "deep"), { recursive: true });
    await mkdir(join(workspace, "conf"));
    await writeFile(join(workspace, "secrets", "deep", "a"), "SECRET");
    await writeFile(join(workspace, "conf", "prod.json"), "SECRET");
    const covered = [join(workspace, "secrets"), join(workspace, "conf", "prod.json"), join(workspace, "gone")];
    const { out } = await run(
      `cat conf/prod.json; ls -A secrets; for c in 'mv conf c2' 'rm conf/prod.json' 'touch secrets/x' 'mv secrets s' 'ln conf/prod.json l'; do sh -c "$c" 2>/dev/null && echo "$c"; done; grep -r SECRET . ; echo done`,
      { covered },
    );
    expect(out).toBe("done\n");
    expect(await readFile(join(workspace, "conf", "prod.json"), "utf8")).toBe("SECRET");
  });

  it("with secrets stay where their names stand for secrets: no folder above them can be moved, as into node_modules", async () => {
    const { workspace, run } = await testBox();
    await mkdir(join(workspace, "apps", "keys"), { recursive: true });
    await writeFile(join(workspace, "apps", "keys", ".env"), "SECRET");
    const covered = [join(workspace, "apps", "keys", ".env")];
    const { out } = await run(
      `mkdir node_modules apps/node_modules
      try() { "$@" 2>/dev/null && echo "did: $*"; }
      try mv apps node_modules/; try mv apps/keys node_modules/; try mv -T apps/keys apps/node_modules; try mv apps/keys/.env node_modules/
      try sh -c 'echo fine > apps/keys/notes'; try mv apps/keys/notes apps/notes`,
      { covered },
    );
    expect(out).toBe("did: sh -c echo fine > apps/keys/notes\ndid: mv apps/keys/notes apps/notes\n");
    expect(await readFile(join(workspace, "apps", "keys", ".env"), "utf8")).toBe("SECRET");
  });

  it.each(["after the look of a program that waits for it", "during that look"])(
    "are found again where another program has moved them, %s",
    async (when) => {
      const { workspace, start } = await testBox({}, { followsLinks: true });
      const first = await start("read; mv keys moved");
      await mkdir(join(workspace, "keys"));
      await writeFile(join(workspace, "keys", ".env"), "SECRET");
      const move = async () => {
        first.process.stdin.write("\n");
        await ended(first);
      };
      const looked = Promise.withResolvers<void>();
      let looks = 0;
      const look = async () => {
        looks += 1;
        const covered = ["keys", "moved"].map((folder) => join(workspace, folder, ".env")).filter((path) => existsSync(path));
        if (looks === 1 && when === "during that look") await move();
        looked.resolve();
        return { covered, repositories: [] };
      };
      const second = start("cat moved/.env; echo end", { look });
      await looked.promise;
      if (looks === 1 && when !== "during that look") await move();
      expect((await ended(await second)).out).toBe("end\n");
      expect(looks).toBe(2);
    },
  );

  it("take the places of the folders in which they lie, too", async () => {
    const { workspace, start } = await testBox();
    const covered = Array.from({ length: 150 }, (_none, index) => join(workspace, "apps", `a${index}`, ".env"));
    for (const path of covered) {
      await mkdir(join(path, ".."), { recursive: true });
      await writeFile(path, "");
    }
    await expect(start("true", { covered })).rejects.toThrow(/^301 files and folders/);
    await ended(await start("true", { covered: covered.slice(1) }));
  });

  it("are what is the server's own in a workspace, and it is not made there either", async () => {
    const workspace = await temporaryFolder();
    const closed = ["data", "triplane.config.ts", ".env.local"].map((name) => join(workspace, name));
    const { run } = await testBox({ closed });
    await mkdir(join(workspace, "data", "pglite"), { recursive: true });
    await writeFile(join(workspace, "triplane.config.ts"), "SECRET");
    const command = "ls -A data; cat triplane.config.ts; echo x > .env.local; echo end";
    const { out, notes } = await run(command, { workspace, folder: workspace });
    expect(out).toBe("end\n");
    expect(notes.map((note) => note.split(" ")[0])).toEqual([".env.local"]);
  });
});
