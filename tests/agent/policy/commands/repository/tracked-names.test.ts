import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { indexNames } from "../../../../../src/agent/policy/commands/repository/index-names.ts";
import { trackedNames } from "../../../../../src/agent/policy/commands/repository/tracked-names.ts";
import { temporaryFolder } from "../../../../support/app.ts";
import { committed, git } from "../../../../support/repository.ts";

const NAMES = ["a", "a.b", "b/a", "ä/ö", "deep/er/still/x.txt", "deep/er/still/y", "with space", `long/${"x".repeat(200)}`];
const FILES = Object.fromEntries(
  [...NAMES, ...Array.from({ length: 300 }, (_none, index) => `many/${index * 7}`)].map((name) => [name, name]),
);

/** The names as git lists them. */
function listed(folder: string): readonly string[] {
  return git(folder, "ls-files", "-z")
    .split("\0")
    .filter((name) => name !== "");
}

describe("the names of an index", () => {
  it.each([
    ["version 2", [], ["update-index", "--index-version", "2"]],
    ["version 3", [], ["update-index", "--index-version", "3", "--skip-worktree", "a"]],
    ["version 4", [], ["update-index", "--index-version", "4", "--force-write-index"]],
    ["SHA-256", ["--object-format=sha256"], ["update-index", "--index-version", "4", "--force-write-index"]],
  ])("are those that git lists: %s", async (_name, init, command) => {
    const folder = await temporaryFolder();
    await committed(folder, FILES, init);
    git(folder, ...command);
    expect(await trackedNames(folder)).toEqual(listed(folder));
  });

  it("are those of files that are not on the disk, too, and of linked worktrees and submodules", async () => {
    const folder = await temporaryFolder();
    await committed(join(folder, "main"), { "gone.txt": "x", kept: "y" });
    await rm(join(folder, "main", "gone.txt"));
    expect(await trackedNames(join(folder, "main"))).toEqual(["gone.txt", "kept"]);
    git(join(folder, "main"), "worktree", "add", "-q", join(folder, "linked"));
    expect(await trackedNames(join(folder, "linked"))).toEqual(["gone.txt", "kept"]);
  });

  it("are none of a repository in which nothing was added, and nobody knows them where there is no index that can be read whole", async () => {
    const folder = await temporaryFolder();
    expect(await trackedNames(folder)).toBe(null);
    git(folder, "init", "-q");
    expect(await trackedNames(folder)).toEqual([]);
    await committed(folder, FILES);
    const index = await readFile(join(folder, ".git", "index"));
    for (const length of [0, 11, 12, 100, index.length - 1])
      expect(indexNames(index.subarray(0, length)), `${length}`).toBe(null);
    git(folder, "update-index", "--split-index");
    expect(await trackedNames(folder)).toBe(null);
    await writeFile(join(folder, ".git", "index"), "DIRC and more");
    expect(await trackedNames(folder)).toBe(null);
  });

  it("are read without waiting, while a program puts a pipe in the place of the index again and again", async () => {
    const folder = await temporaryFolder();
    await committed(folder, { a: "a" });
    const index = join(folder, ".git", "index");
    const swap = `const { linkSync, renameSync } = require("node:fs");
      process.stdout.write("swaps");
      for (;;) for (const from of ["pipe", "file"]) { linkSync(from, "next"); renameSync("next", "index"); }`;
    execFileSync("mkfifo", [join(folder, ".git", "pipe")]);
    await copyFile(index, join(folder, ".git", "file"));
    const swaps = spawn(process.execPath, ["-e", swap], { cwd: join(folder, ".git"), stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void swaps.kill("SIGKILL"));
    await once(swaps.stdout, "data");
    const said = new Set<string>();
    for (let look = 0; look < 3_000; look += 1) said.add(JSON.stringify(await trackedNames(folder)));
    expect([...said].toSorted()).toEqual(['["a"]', "null"]);
  });

  it("have a bounded length together, also if each shares the beginning of the one before it", () => {
    const entry = (length: number, name: Buffer): Buffer => {
      const head = Buffer.alloc(62);
      head.writeUInt16BE(Math.min(length, 0xfff), 60);
      return Buffer.concat([head, name, Buffer.alloc(1)]);
    };
    const megabyte = 1024 * 1024;
    const count = 20_000;
    const head = Buffer.from("DIRC\0\0\0\x04\0\0\0\0");
    head.writeUInt32BE(count, 8);
    const long = entry(megabyte, Buffer.concat([Buffer.alloc(1), Buffer.alloc(megabyte, "x")]));
    const others = Array.from({ length: count - 1 }, () => entry(megabyte, Buffer.alloc(1)));
    expect(indexNames(Buffer.concat([head, long, ...others, Buffer.alloc(20)]))).toBe(null);
  });
});
