import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { coverRule } from "../../../../src/agent/policy/cover-rule.ts";
import { readPermission, type PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../../../../src/agent/tools/builtin.ts";
import { CoveredPaths, type CoverRule } from "../../../../src/agent/workspace/sandbox/covered-paths.ts";
import { SandboxRefused } from "../../../../src/agent/workspace/sandbox/sandbox-refused.ts";
import { temporaryFolder } from "../../../support/app.ts";
import { as, asOwner, IS_ROOT, NOBODY } from "../../../support/users.ts";

const NEVER = new AbortController().signal;

/** The rule of a permission, with another one as a bound. */
function ruleOf(source: PermissionSource, bound?: PermissionSource): CoverRule {
  const vocabulary = { tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])), modes: new Map() };
  const read = (from: PermissionSource) => {
    const { permission, problems } = readPermission(from, "test", vocabulary);
    expect(problems).toEqual([]);
    return permission;
  };
  return coverRule({
    permission: read(source),
    bounds: bound === undefined ? [] : [read(bound)],
    stored: [],
    box: { protectedPaths: [] },
  });
}

/** Makes empty files in a folder. */
async function files(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), "");
  }
}

/** Looks for what is covered, as paths from the workspace's root. */
async function covered(workspace: string, rule: CoverRule, paths = new CoveredPaths()): Promise<readonly string[]> {
  return (await paths.find(workspace, rule, NEVER)).covered.map((path) => relative(workspace, path)).toSorted();
}

describe("what a box covers of a workspace", () => {
  it("is what a deny rule closes for reading, as a folder where the folder is closed, also in dependencies", async () => {
    const workspace = await temporaryFolder();
    await files(workspace, ["a.txt", "private/b/c", "src/x.sql", "node_modules/p/y.sql", "src/locked.json"]);
    const rule = ruleOf({ deny: ["fs_read(path:/private)", "fs_*(path:*.sql)", "fs_write(path:locked.json)"] });
    expect(await covered(workspace, rule)).toEqual(["node_modules/p/y.sql", "private", "src/x.sql"]);
  });

  it("is looked for in folders of any depth: one deeper than a path can be long is refused, with a short text", async () => {
    const workspace = await temporaryFolder();
    const name = "a".repeat(200);
    execFileSync("sh", ["-c", `for i in $(seq 25); do mkdir ${name}; cd -P ${name}; done`], { cwd: workspace });
    onTestFinished(() => void execFileSync("rm", ["-rf", join(workspace, name)]));
    const refused = await covered(workspace, ruleOf({})).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SandboxRefused);
    expect(String(refused).length).toBeLessThan(500);
  });

  it.each(["300", "400", "000"])(
    "is looked for in each folder that a program may open or open again: one of the mode %s is refused, and named",
    async (mode) => {
      const workspace = await temporaryFolder();
      await files(workspace, ["keys/sub/.env", "other/a"]);
      await asOwner(workspace, async () => {
        const paths = new CoveredPaths();
        expect(await covered(workspace, ruleOf({}), paths)).toEqual(["keys/sub/.env"]);
        await chmod(join(workspace, "keys"), Number.parseInt(mode, 8));
        const refused = covered(workspace, ruleOf({}), paths);
        await expect(refused).rejects.toThrow(SandboxRefused);
        await expect(refused).rejects.toThrow("the folder keys cannot be read");
        await chmod(join(workspace, "keys"), 0o700);
        expect(await covered(workspace, ruleOf({}), paths)).toEqual(["keys/sub/.env"]);
      });
    },
  );

  it.skipIf(!IS_ROOT)(
    "is not looked for in another user's folder that no program can enter, and in one that it can",
    async () => {
      const workspace = await temporaryFolder();
      await files(workspace, ["keys/.env", ".env"]);
      await chown(workspace, NOBODY, NOBODY);
      const find = () => as(NOBODY, () => covered(workspace, ruleOf({})));
      for (const mode of [0o700, 0o744]) {
        await chmod(join(workspace, "keys"), mode);
        expect(await find()).toEqual([".env"]);
      }
      await chmod(join(workspace, "keys"), 0o711);
      await expect(find()).rejects.toThrow("the folder keys cannot be read");
    },
  );

  it.each([
    ["mv keys $'k\\xe9'", "the name k\uFFFD is not UTF-8"],
    // A folder whose name reads the same.
    ["mv keys $'k\\xe9'; mkdir $'k\\xef\\xbf\\xbd'", "the name k\uFFFD is not UTF-8"],
    ["mv keys/.env $'keys/.env.\\xe9'", "the name keys/.env.\uFFFD is not UTF-8"],
    ["mv keys $'k\\xef\\xbf\\xbd'; touch $'b\\xe9.txt'; ln -s keys $'l\\xe9'", null],
  ])(
    "is found where names are text: others that may have to be covered are refused, and named (%s)",
    async (command, refusal) => {
      const workspace = await temporaryFolder();
      await files(workspace, ["keys/.env"]);
      execFileSync("bash", ["-c", command], { cwd: workspace });
      const found = covered(workspace, ruleOf({}));
      if (refusal === null) expect(await found).toEqual(["k\uFFFD/.env"]);
      else await expect(found).rejects.toThrow(refusal);
    },
  );

  it("is found together with the repositories below the root: as folders and as files of linked ones, in dependencies only if those are looked into", async () => {
    const workspace = await temporaryFolder();
    await files(workspace, [".git/HEAD", "vendor/a/.git/HEAD", "vendor/a/sub/.git", "node_modules/p/.git/HEAD", "x/git/HEAD"]);
    await symlink(join(workspace, "vendor/a/.git"), join(workspace, "x/.git"));
    const paths = new CoveredPaths();
    const repositories = async (source: PermissionSource) =>
      (await paths.find(workspace, ruleOf(source), NEVER)).repositories.toSorted();
    for (const _again of [1, 2]) expect(await repositories({})).toEqual(["vendor/a", "vendor/a/sub"]);
    const all = ["node_modules/p", "vendor/a", "vendor/a/sub"];
    expect(await repositories({ deny: ["fs_read(path:/private)"] })).toEqual(all);
    await rm(join(workspace, "vendor/a/sub/.git"));
    expect(await repositories({})).toEqual(["vendor/a"]);
  });

  it("is what mostly holds secrets and no allow rule for reading names, but for names in dependencies", async () => {
    const workspace = await temporaryFolder();
    await files(workspace, [
      ".env",
      "app/.env",
      "app/key.pem",
      "node_modules/aws/credentials/a.js",
      "credentials/a",
      "credentials/b",
      ".git/x.key",
    ]);
    expect(await covered(workspace, ruleOf({ allow: ["fs_read", "fs_write(path:.env)"] }))).toEqual([
      ".env",
      "app/.env",
      "app/key.pem",
      "credentials",
    ]);
    const opened = { allow: ["fs_read(path:/app/.env)", "fs_read(path:credentials/a)"] };
    expect(await covered(workspace, ruleOf(opened))).toEqual([".env", "app/key.pem", "credentials/b"]);
    expect(await covered(workspace, ruleOf(opened, { deny: [] }))).toEqual([".env", "app/.env", "app/key.pem", "credentials"]);
  });

  it("leaves links as they are: what they lead to is covered where it lies", async () => {
    const workspace = await temporaryFolder();
    await files(workspace, ["private/a"]);
    await symlink("private", join(workspace, "link"));
    await symlink("/", join(workspace, "root"));
    expect(await covered(workspace, ruleOf({ deny: ["fs_read(path:private)"] }))).toEqual(["private"]);
  });

  it("is seen anew wherever something changed, also if its times were set back, and only there", async () => {
    const workspace = await temporaryFolder();
    const paths = new CoveredPaths();
    await files(workspace, ["a/b/c.txt", "a/d/e.txt", "x.txt"]);
    const rule = ruleOf({ deny: ["fs_read(path:*.pw)"] });
    const look = vi.spyOn(rule, "verdict");
    const find = () => covered(workspace, rule, paths);
    expect(await find()).toEqual([]);
    // Long after all changes, so that the folders are known for good.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 60_000);
    await find();
    look.mockClear();
    expect(await find()).toEqual([]);
    expect(look).not.toHaveBeenCalled();
    await files(workspace, ["a/b/new.pw"]);
    await utimes(join(workspace, "a/b"), new Date(0), new Date(0));
    expect(await find()).toEqual(["a/b/new.pw"]);
    expect(look.mock.calls.every(([path]) => path.startsWith("a/b/"))).toBe(true);
    await rename(join(workspace, "a"), join(workspace, "z"));
    expect(await find()).toEqual(["z/b/new.pw"]);
    await rm(join(workspace, "z"), { recursive: true });
    expect(await find()).toEqual([]);
  });

  it("is not looked for without end", async () => {
    const workspace = await temporaryFolder();
    await files(workspace, ["a/b"]);
    const aborted = AbortSignal.abort(new Error("ended"));
    await mkdir(join(workspace, Array.from({ length: 60 }, (_, index) => `d${index}`).join("/")), { recursive: true });
    await expect(new CoveredPaths().find(workspace, ruleOf({}), aborted)).rejects.toThrow("ended");
  });
});
