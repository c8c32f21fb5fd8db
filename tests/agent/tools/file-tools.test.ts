import { chmod, chown, link, mkdir, open, readFile, symlink, writeFile } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, realpathSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { literalSearch } from "../../../src/agent/workspace/line-search.ts";
import { FolderChanged, inFolder } from "../../../src/agent/workspace/pinned-folder.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import type { TodoItem } from "../../../src/events/snapshots.ts";
import type { Json } from "../../../src/lib/json.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

/** A workspace beside a secret, with links that lead to it. */
async function trap(): Promise<{ folder: string; secret: string; outside: string }> {
  const parent = await temporaryFolder();
  const folder = join(parent, "ws");
  const outside = join(parent, "ws-evil");
  await mkdir(join(folder, "sub"), { recursive: true });
  await mkdir(outside);
  const secret = join(outside, "secret.txt");
  await writeFile(secret, "SECRET");
  await symlink(secret, join(folder, "link.txt"));
  await symlink(outside, join(folder, "linked"));
  await symlink(join(outside, "missing.txt"), join(folder, "dangling.txt"));
  await writeFile(join(folder, "a..b.txt"), "two dots are a name");
  return { folder, secret, outside };
}

const NOTHING_LEFT_OUT = { secrets: 0, hidden: 0, folders: [], large: 0, binary: 0, links: 0, unreadable: 0 };

const ESCAPES = [
  "../ws-evil/secret.txt",
  "sub/../../ws-evil/secret.txt",
  "link.txt",
  "linked/secret.txt",
  "./linked/../linked/secret.txt",
  "/etc/passwd",
  "..",
  "/",
  "sub/../..",
  "linked",
];

describe("the workspace (invariant of fs tools)", () => {
  it.each(ESCAPES)("does not read %s", async (path) => {
    const { folder } = await trap();
    await expect(runTool(folder, "fs_read", { path })).rejects.toThrow(/outside of the workspace|not a file/);
  });

  it.each([...ESCAPES, "dangling.txt", "linked/new.txt"])("does not write %s", async (path) => {
    const { folder, secret } = await trap();
    await expect(runTool(folder, "fs_write", { path, content: "overwritten" })).rejects.toThrow();
    expect(await readFile(secret, "utf8")).toBe("SECRET");
    await expect(readFile(join(folder, "..", "ws-evil", "missing.txt"))).rejects.toThrow("ENOENT");
    await expect(readFile(join(folder, "..", "ws-evil", "new.txt"))).rejects.toThrow("ENOENT");
  });

  it("does not read an absolute path of the secret, nor search or list through links", async () => {
    const { folder, secret, outside } = await trap();
    await expect(runTool(folder, "fs_read", { path: secret })).rejects.toThrow("outside");
    expect((await runTool(folder, "fs_grep", { pattern: "SECRET" })).details).toMatchObject({ matches: [] });
    for (const pattern of ["../ws-evil/*", "/etc/*", "sub/../../ws-evil/*"])
      await expect(runTool(folder, "fs_glob", { pattern })).rejects.toThrow("inside");
    for (const cwd of ["..", outside, "linked"])
      await expect(runTool(folder, "fs_glob", { pattern: "*", cwd })).rejects.toThrow("outside");
    await expect(runTool(folder, "fs_grep", { pattern: "SECRET", path: "../**" })).rejects.toThrow("inside");
    expect((await runTool(folder, "fs_glob", { pattern: "**/*" })).output).not.toContain("secret");
  });

  it("takes names with two dots, absolute paths inside, and hard links as what they are", async () => {
    const { folder } = await trap();
    expect((await runTool(folder, "fs_read", { path: "a..b.txt" })).output).toBe("two dots are a name");
    expect((await runTool(folder, "fs_read", { path: join(folder, "a..b.txt") })).output).toBe("two dots are a name");
    await link(join(folder, "a..b.txt"), join(folder, "hard.txt"));
    expect((await runTool(folder, "fs_read", { path: "hard.txt" })).output).toBe("two dots are a name");
  });
});

describe("a folder that becomes a link between the look and the deed", () => {
  it.each(["sub/new.txt", "sub/deeper/new.txt"])("is refused: nothing is made outside of the workspace (%s)", async (path) => {
    const { folder, outside } = await trap();
    await mkdir(join(folder, "sub"), { recursive: true });
    // The guard is asked after the path was resolved: the last moment before it is used.
    const swap = (): null => {
      if (lstatSync(join(folder, "sub")).isSymbolicLink()) return null;
      renameSync(join(folder, "sub"), join(folder, "moved"));
      symlinkSync(outside, join(folder, "sub"));
      return null;
    };
    const before = readdirSync(outside);
    const workspace = new Workspace(realpathSync(folder), swap);
    await expect(workspace.openForWriting(path)).rejects.toThrow("changed while it was opened");
    expect(readdirSync(outside)).toEqual(before);
  });

  it("keeps what is done in it in it, once it is held", async () => {
    const { folder, outside } = await trap();
    const real = join(realpathSync(folder), "held");
    await mkdir(real);
    await inFolder(real, async (held) => {
      renameSync(real, `${real} elsewhere`);
      symlinkSync(outside, real);
      await writeFile(join(held, "file.txt"), "here");
    });
    expect(await readFile(join(`${real} elsewhere`, "file.txt"), "utf8")).toBe("here");
    expect(readdirSync(outside)).not.toContain("file.txt");
    await expect(inFolder(real, () => Promise.resolve())).rejects.toThrow(FolderChanged);
  });
});

describe("what is no regular file", () => {
  it("is not opened: a pipe without a writer would hold a thread for ever", async () => {
    const folder = await temporaryFolder();
    for (const name of ["a", "b", "c", "d", "e"]) execFileSync("mkfifo", [join(folder, name)]);
    await writeFile(join(folder, "f.txt"), "needle");
    for (const name of ["a", "b", "c", "d", "e"]) {
      await expect(runTool(folder, "fs_read", { path: name })).rejects.toThrow("not a file");
      await expect(runTool(folder, "fs_write", { path: name, content: "x" })).rejects.toThrow(/not a file|ENXIO/);
    }
    expect((await runTool(folder, "fs_grep", { pattern: "needle" })).details).toMatchObject({ matches: [{ path: "f.txt" }] });
    expect((await runTool(folder, "fs_glob", { pattern: "*" })).details).toMatchObject({ matches: ["f.txt"] });
  });
});

describe("fs_read", () => {
  it("answers path, offset, limit, truncated, totalLines and content", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), "one\ntwo\nthree\nfour\n");
    expect((await runTool(folder, "fs_read", { path: "a.txt" })).details).toEqual({
      path: "a.txt",
      offset: 1,
      limit: 1_998,
      truncated: false,
      totalLines: 4,
      content: "one\ntwo\nthree\nfour\n",
    });
    expect(await runTool(folder, "fs_read", { path: "a.txt", offset: 2, limit: 2 })).toEqual({
      output: "two\nthree\n\n[lines 2 to 3 of 4; read on with offset 4]",
      details: { path: "a.txt", offset: 2, limit: 2, truncated: true, totalLines: 4, content: "two\nthree\n" },
    });
  });

  it("reads empty files, cuts huge ones, and refuses folders, binaries and what does not exist", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "empty.txt"), "");
    await writeFile(join(folder, "huge.txt"), "x".repeat(3_000_000));
    await writeFile(join(folder, "many.txt"), "line\n".repeat(10_000));
    await writeFile(join(folder, "image.png"), Buffer.from([0x89, 0x50, 0, 0x0d]));
    expect((await runTool(folder, "fs_read", { path: "empty.txt" })).details).toMatchObject({
      totalLines: 0,
      content: "",
      truncated: false,
    });
    const huge = await runTool(folder, "fs_read", { path: "huge.txt" });
    expect(huge.output.length).toBeLessThan(52_000);
    expect(huge.details).toMatchObject({ truncated: true, totalLines: 1 });
    expect(huge.output).toContain("[only the start of line 1, which is too long to be read; the file has 1 line]");
    const many = await runTool(folder, "fs_read", { path: "many.txt" });
    expect(many.details).toMatchObject({ truncated: true, totalLines: 10_000 });
    expect(many.output).toMatch(/\[lines 1 to 1998 of 10000; read on with offset 1999\]$/);
    await writeFile(
      join(folder, "wide.txt"),
      Array.from({ length: 3_000 }, (_, index) => `${index + 1}:${"ä".repeat(100)}\n`).join(""),
    );
    const wide = await runTool(folder, "fs_read", { path: "wide.txt" });
    expect(Buffer.byteLength(wide.output)).toBeLessThanOrEqual(50 * 1024);
    const next = Number(/read on with offset (\d+)\]$/.exec(wide.output)?.[1]);
    expect((await runTool(folder, "fs_read", { path: "wide.txt", offset: next, limit: 1 })).output).toContain(`${next}:`);
    await expect(runTool(folder, "fs_read", { path: "image.png" })).rejects.toThrow("not a text file");
    await expect(runTool(folder, "fs_read", { path: "." })).rejects.toThrow("not a file");
    await expect(runTool(folder, "fs_read", { path: "nowhere.txt" })).rejects.toThrow(
      "nowhere.txt does not exist: fs_glob finds files",
    );
  });
});

describe("fs_write, fs_glob, fs_grep", () => {
  it("writes, replaces and makes folders", async () => {
    const folder = await temporaryFolder();
    expect((await runTool(folder, "fs_write", { path: "deep/er/a.txt", content: "a long first text\n" })).details).toEqual({
      ok: true,
      path: "deep/er/a.txt",
      bytes: 18,
      lines: 1,
      diff: "--- /dev/null\n+++ b/deep/er/a.txt\n@@ -0,0 +1,1 @@\n+a long first text\n",
    });
    await runTool(folder, "fs_write", { path: "deep/er/a.txt", content: "ä" });
    expect(await readFile(join(folder, "deep/er/a.txt"), "utf8")).toBe("ä");
  });

  it("lists by pattern, hidden names only when asked, with a limit", async () => {
    const folder = await temporaryFolder();
    for (const path of ["b.ts", "a.ts", "src/c.ts", ".hidden/d.ts", "node_modules/e.ts"])
      await runTool(folder, "fs_write", { path, content: "" });
    const list = async (input: Json) => ((await runTool(folder, "fs_glob", input)).details as { matches: string[] }).matches;
    expect(await list({ pattern: "**/*.ts" })).toEqual(["a.ts", "b.ts", "src/c.ts"]);
    expect(await list({ pattern: "**/*.ts", dot: true })).toEqual([".hidden/d.ts", "a.ts", "b.ts", "src/c.ts"]);
    expect(await list({ pattern: "node_modules/*.ts" })).toEqual(["node_modules/e.ts"]);
    expect(await list({ pattern: "*.ts", cwd: "src" })).toEqual(["src/c.ts"]);
    expect((await runTool(folder, "fs_glob", { pattern: "**/*.ts", limit: 1 })).details).toEqual({
      ok: true,
      pattern: "**/*.ts",
      cwd: ".",
      truncated: true,
      count: 1,
      matches: ["a.ts"],
      leftOut: { ...NOTHING_LEFT_OUT, hidden: 1 },
    });
    expect((await runTool(folder, "fs_glob", { pattern: "*.py", cwd: "src" })).output).toBe("No file matches *.py.");
  });

  it("searches texts and regular expressions, with case and a limit", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), "first\n  a Needle here\nneedle\n");
    const search = async (input: Json) =>
      (await runTool(folder, "fs_grep", input)).details as { matches: Json[]; truncated: boolean };
    expect(await search({ pattern: "needle" })).toEqual({
      ok: true,
      pattern: "needle",
      path: "**/*",
      truncated: false,
      matches: [{ path: "a.txt", line: 3, column: 1, preview: "needle" }],
      leftOut: NOTHING_LEFT_OUT,
    });
    expect((await search({ pattern: "needle", case_sensitive: false })).matches).toHaveLength(2);
    expect((await search({ pattern: "^n.*e$", regex: true })).matches).toEqual([
      { path: "a.txt", line: 3, column: 1, preview: "needle" },
    ]);
    expect(await search({ pattern: "e", max_results: 1 })).toMatchObject({ truncated: true, matches: [{ line: 2 }] });
    await expect(search({ pattern: "(", regex: true })).rejects.toThrow("Invalid regular expression");
  });

  it("takes the name of a folder for all that lies in it, however it is written, and says of a path at which nothing is", async () => {
    const folder = await temporaryFolder();
    for (const name of ["src/a.ts", "src/deep/b.ts", "app/[id]/c.ts"]) {
      await mkdir(join(folder, name, ".."), { recursive: true });
      await writeFile(join(folder, name), "hello");
    }
    const found = async (tool: "fs_grep" | "fs_glob", input: Record<string, Json>): Promise<readonly string[]> => {
      const { matches } = (await runTool(folder, tool, input)).details as { matches: ({ path: string } | string)[] };
      return matches.map((match) => (typeof match === "string" ? match : match.path));
    };
    for (const path of ["src", "src/", "./src", "./src/.", "src//", "./src/**/*"])
      expect(await found("fs_grep", { pattern: "hello", path }), path).toEqual(["src/a.ts", "src/deep/b.ts"]);
    for (const path of [".", "./", ""]) expect(await found("fs_grep", { pattern: "hello", path }), path).toHaveLength(3);
    expect(await found("fs_grep", { pattern: "hello", path: "app/[id]" })).toEqual(["app/[id]/c.ts"]);
    expect(await found("fs_grep", { pattern: "hello", path: "./src/a.ts" })).toEqual(["src/a.ts"]);
    expect(await found("fs_glob", { pattern: "./src/*.ts" })).toEqual(["src/a.ts"]);
    expect(await found("fs_glob", { pattern: "src/" })).toEqual(["src/a.ts", "src/deep/b.ts"]);
    expect(await found("fs_glob", { pattern: "deep", cwd: "src" })).toEqual(["src/deep/b.ts"]);
    expect((await runTool(folder, "fs_grep", { pattern: "hello", path: "srk" })).output).toContain("srk does not exist.");
    expect((await runTool(folder, "fs_glob", { pattern: "srk/a.ts" })).output).toContain("srk/a.ts does not exist.");
  });

  it("says what it left out: hidden names, folders of tools, what is no text or too large (features.md, fs_grep)", async () => {
    const folder = await temporaryFolder();
    for (const path of ["a.txt", ".github/b.txt", ".git/config", "node_modules/c.txt", "src/node_modules/d.txt", ".hidden"])
      await runTool(folder, "fs_write", { path, content: "needle" });
    await writeFile(join(folder, "image.bin"), "needle\0");
    await writeFile(join(folder, "large.txt"), "needle".repeat(1024 * 1024));
    const leftOut = { ...NOTHING_LEFT_OUT, hidden: 2, folders: [".git", "node_modules"], large: 1, binary: 1 };
    const grep = await runTool(folder, "fs_grep", { pattern: "needle" });
    expect(grep.details).toMatchObject({ matches: [{ path: "a.txt" }], leftOut });
    expect(grep.output).toContain(
      "[left out: 2 hidden (name them, as in .github/**); .git and node_modules (name the folder in the pattern); 1 too large; 1 without text]",
    );
    const glob = await runTool(folder, "fs_glob", { pattern: "**/*.txt" });
    expect(glob.details).toMatchObject({ matches: ["a.txt", "large.txt"], leftOut: { hidden: 1 } });
    expect((await runTool(folder, "fs_grep", { pattern: "needle", path: ".github/**" })).details).toMatchObject({
      matches: [{ path: ".github/b.txt" }],
    });
  });

  it("counts folders whose names are not UTF-8 among what cannot be read", async () => {
    const folder = await temporaryFolder();
    await runTool(folder, "fs_write", { path: "docs/a.md", content: "needle" });
    execFileSync("bash", ["-c", "mv docs $'d\\xe9'"], { cwd: folder });
    const grep = await runTool(folder, "fs_grep", { pattern: "needle" });
    expect(grep.details).toMatchObject({ matches: [], leftOut: { unreadable: 1 } });
    expect(grep.output).toContain("[left out: 1 that cannot be read]");
  });

  it("says how many links it did not follow: to folders, and to files that the pattern does not cover", async () => {
    const folder = await temporaryFolder();
    await runTool(folder, "fs_write", { path: "docs/a.md", content: "needle" });
    await runTool(folder, "fs_write", { path: "src/b.ts", content: "needle" });
    await symlink("../docs", join(folder, "src/docs"));
    await symlink("../docs/a.md", join(folder, "src/a.ts"));
    const grep = await runTool(folder, "fs_grep", { pattern: "needle", path: "src/**/*.ts" });
    expect(grep.details).toMatchObject({ matches: [{ path: "src/b.ts" }], leftOut: { links: 2, unreadable: 0 } });
    expect(grep.output).toContain("[left out: 2 links (name what a link leads to)]");
    const glob = await runTool(folder, "fs_glob", { pattern: "src/**/*" });
    expect(glob.details).toMatchObject({ matches: ["src/a.ts", "src/b.ts", "src/docs"], leftOut: { links: 1 } });
  });

  it("never leaves half a file: writes beside it, then renames, and keeps its permissions", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "run.sh");
    await writeFile(path, "before");
    await chmod(path, 0o750);
    const reader = await open(path);
    const { ino } = lstatSync(path);
    await runTool(folder, "fs_write", { path: "run.sh", content: "after" });
    expect(await reader.readFile("utf8")).toBe("before");
    await reader.close();
    expect(await readFile(path, "utf8")).toBe("after");
    expect(lstatSync(path).ino).not.toBe(ino);
    expect(lstatSync(path).mode & 0o777).toBe(0o750);
    expect(readdirSync(folder)).toEqual(["run.sh"]);
    await mkdir(join(folder, "full"));
    await expect(runTool(folder, "fs_write", { path: "full", content: "" })).rejects.toThrow("full is not a file");
    expect(readdirSync(folder)).toEqual(["full", "run.sh"]);
  });

  it.each([0o077, 0o022, 0o002])("gives a new file, and its folders, what the umask of the server leaves (%d)", async (mask) => {
    const folder = await temporaryFolder();
    const before = process.umask(mask);
    onTestFinished(() => void process.umask(before));
    await runTool(folder, "fs_write", { path: "new/a.txt", content: "one" });
    await chmod(join(folder, "new/a.txt"), 0o646);
    await runTool(folder, "fs_write", { path: "new/b.txt", content: "two" });
    await runTool(folder, "fs_write", { path: "new/a.txt", content: "three" });
    const modes = ["new", "new/b.txt", "new/a.txt"].map((path) => lstatSync(join(folder, path)).mode & 0o777);
    expect(modes).toEqual([0o777 & ~mask, 0o666 & ~mask, 0o646]);
  });

  it.skipIf(process.getuid?.() !== 0)("leaves a file to its owner, if the server may give files away", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "a.txt");
    await writeFile(path, "one");
    await chown(path, 1_234, 2_345);
    await runTool(folder, "fs_write", { path: "a.txt", content: "two" });
    expect(lstatSync(path)).toMatchObject({ uid: 1_234, gid: 2_345 });
    expect(await readFile(path, "utf8")).toBe("two");
  });

  it("writes files of the longest names that a disk takes", async () => {
    const folder = await temporaryFolder();
    const name = "文".repeat(85);
    for (const content of ["first", "second"]) await runTool(folder, "fs_write", { path: name, content });
    expect(await readFile(join(folder, name), "utf8")).toBe("second");
    expect(readdirSync(folder)).toEqual([name]);
  });

  it("lets others have their turns while it searches a large file, and counts its lines all the same", async () => {
    const folder = await temporaryFolder();
    const lines = Array.from({ length: 40_000 }, (_, index) =>
      index % 7_000 === 6_999 ? "a needle" : `${index} ${"x".repeat(100)}`,
    );
    await writeFile(join(folder, "large.txt"), lines.join("\n"));
    const { details } = await runTool(folder, "fs_grep", { pattern: "needle" });
    expect((details as { matches: { line: number }[] }).matches.map(({ line }) => line)).toEqual([
      7_000, 14_000, 21_000, 28_000, 35_000,
    ]);
    let turns = 0;
    let isSearching = true;
    const count = (): void => {
      turns += 1;
      if (isSearching) setImmediate(count);
    };
    count();
    await literalSearch("needle", true, new AbortController().signal).search(lines.join("\n"), 10);
    isSearching = false;
    expect(turns).toBeGreaterThan(10);
    const range = await runTool(folder, "fs_read", { path: "large.txt", offset: 13_999, limit: 2 });
    expect(range.details).toMatchObject({ totalLines: 40_000, content: `${lines[13_998]}\na needle\n` });
  });

  it("stops an expression that would run for ever, and lets the server live", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), `${"a".repeat(60)}!`);
    const stop = AbortSignal.timeout(300);
    await expect(runTool(folder, "fs_grep", { pattern: "^(a+)+$", regex: true }, { signal: stop })).rejects.toThrow("timeout");
  });
});

describe("todo_read, todo_write", () => {
  it("replace the list as a whole, with unique ids and one in progress at most", async () => {
    const todos: TodoItem[] = [];
    const folder = await temporaryFolder();
    const kept = {
      todos: { read: async () => todos, write: async (list: readonly TodoItem[]) => void todos.splice(0, todos.length, ...list) },
    };
    const write = (list: Json) => runTool(folder, "todo_write", { todos: list }, kept);
    expect(
      (
        await write([
          { id: "1", title: "a", status: "in_progress", notes: "n" },
          { id: "2", title: "b", status: "pending" },
        ])
      ).details,
    ).toEqual({ ok: true, count: 2 });
    expect((await runTool(folder, "todo_read", {}, kept)).output).toBe("[~] 1: a — n\n[ ] 2: b");
    await expect(
      write([
        { id: "1", title: "a", status: "pending" },
        { id: "1", title: "b", status: "pending" },
      ]),
    ).rejects.toThrow('two todos have the id "1"');
    await expect(
      write([
        { id: "1", title: "a", status: "in_progress" },
        { id: "2", title: "b", status: "in_progress" },
      ]),
    ).rejects.toThrow("more than one todo is in_progress");
    await expect(write([{ id: "1", title: " ", status: "pending" }])).rejects.toThrow("title");
    await expect(
      write(Array.from({ length: 60 }, (_, index) => ({ id: `${index}`, title: "t".repeat(500), status: "pending" }))),
    ).rejects.toThrow("larger than 24 KB");
    expect(todos).toHaveLength(2);
    await write([]);
    expect(todos).toEqual([]);
  });
});
