import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { versionText } from "../../src/telemetry/version.ts";
import { temporaryFolder } from "../support/app.ts";

async function checkout(): Promise<{ readonly folder: string; git(...words: string[]): string }> {
  const folder = join(await temporaryFolder(), "checkout");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ version: "1.2.3" }));
  const git = (...words: string[]): string =>
    execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
      encoding: "utf8",
    }).trim();
  git("init", "--quiet", "--initial-branch=release/one");
  git("add", ".");
  git("commit", "--quiet", "--message=one");
  return { folder, git };
}

describe("the version", () => {
  it("is that of package.json, with the commit that is checked out: of a branch, packed or not, of none, and in a work tree", async () => {
    const { folder, git } = await checkout();
    const commit = git("rev-parse", "HEAD");
    const expected = { version: "1.2.3", commit: commit.slice(0, 12) };
    expect(readVersion({}, folder)).toEqual(expected);
    git("pack-refs", "--all");
    expect(readVersion({}, folder)).toEqual(expected);
    git("worktree", "add", "--quiet", "../beside");
    expect(readVersion({}, join(folder, "../beside"))).toEqual(expected);
    git("checkout", "--quiet", "--detach");
    expect(readVersion({}, folder)).toEqual(expected);
    expect(versionText(expected)).toBe(`1.2.3 (${commit.slice(0, 12)})`);
  });

  it("has no commit outside of a checkout, and the one of TRIPLANE_COMMIT where an image was built", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "package.json"), JSON.stringify({ version: "1.2.3" }));
    expect(readVersion({}, folder)).toEqual({ version: "1.2.3", commit: null });
    expect(readVersion({ TRIPLANE_COMMIT: "" }, folder)).toEqual({ version: "1.2.3", commit: null });
    expect(readVersion({ TRIPLANE_COMMIT: "0123456789abcdef" }, folder).commit).toBe("0123456789ab");
  });

  it("has no commit where git's files say none: empty, broken, a branch without commits", async () => {
    const { folder } = await checkout();
    for (const head of ["", "ref: refs/heads/none", "ref: ../../etc/passwd", "abc", "\0"]) {
      await writeFile(join(folder, ".git/HEAD"), head);
      expect(readVersion({}, folder).commit).toBe(null);
    }
  });

  it("is the same of the server and its client, and heads the change log", async () => {
    const versionOf = async (path: string): Promise<string> =>
      (JSON.parse(await readFile(path, "utf8")) as { readonly version: string }).version;
    const version = await versionOf("package.json");
    expect(await versionOf("clients/package.json")).toBe(version);
    const [, newest] = /^## (\S+)/m.exec(await readFile("CHANGELOG.md", "utf8")) ?? [];
    expect(newest).toBe(version);
  });
});
