import { execFileSync } from "node:child_process";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { git } from "../../../support/repository.ts";

/** The verdict on a line that only reads, in a project with some files besides. */
async function verdict(line: string, files: Readonly<Record<string, string>>, isRepository = true): Promise<string> {
  const workspace = await projectFolder();
  if (isRepository) git(workspace.root, "init", "-q");
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(workspace.root, name, ".."), { recursive: true });
    await writeFile(join(workspace.root, name), content);
  }
  return (await commandJudge(workspace, presets.readOnly)(line)).verdict;
}

describe("searches of folders", () => {
  it.each([
    ["ask", "grep -r --exclude-dir=.env KEY .", { ".env": "A" }],
    ["allow", "grep -r --exclude-dir=.env KEY .", { ".env/key.pem": "A" }],
    ["ask", "grep -r --exclude-dir=hidden KEY .", { ".env": "A" }],
    ["ask", "grep -r --exclude-dir='hidden folders' KEY .", { ".aws/credentials": "A" }],
    ["ask", "grep -r --exclude-dir=ignored KEY .", { ".gitignore": "node_modules\n", "node_modules/a.pem": "A" }],
  ])("%s: %s leaves out folders of a name, and no files (%o)", async (expected, line, files) => {
    expect(await verdict(line, files)).toBe(expected);
  });

  it.each([
    ["allow", "rg K .", {}],
    ["allow", "rg -g '!*.md' K .", {}],
    ["ask", "rg -g .env K .", {}],
    ["ask", "rg -g '*' K .", {}],
    ["ask", "rg --iglob=.ENV K .", {}],
    ["ask", "rg --glob .env K .", {}],
    ["ask", "rg -t all K .", {}],
    ["ask", "rg -tall K .", {}],
    ["ask", "rg --ignore-file w K .", { w: "!.env" }],
    ["ask", "rg K .", { ".ignore": "!.env" }],
    ["ask", "rg K .", { ".rgignore": "x\n!.env\n" }],
    ["ask", "rg K .", { ".gitignore": "!.e*\n" }],
    ["ask", "rg K .", { ".git/info/exclude": "!.env\n" }],
    ["ask", "rg K src", { ".gitignore": "!.env\n", "src/.env": "A" }],
    ["ask", "rg K .", { "docs/.ignore": "!.env.local", "docs/.env.local": "A" }],
    ["allow", "rg K .", { ".gitignore": "!.env.example\n!.vscode/settings.json\n" }],
  ])("%s: %s passes over hidden files only if nothing takes them in (%o)", async (expected, line, files) => {
    expect(await verdict(line, { ".env": "A", ...files })).toBe(expected);
  });

  it("of rg by type read hidden files, and pass over hidden folders", async () => {
    expect(await verdict("rg -t ts K .", { ".env.ts": "A" })).toBe("ask");
    expect(await verdict("rg -t ts K .", { ".aws/credentials": "A" })).toBe("allow");
  });

  it.each([
    ["allow", { ".gitignore": "node_modules/\n" }, true],
    ["ask", { ".gitignore": "node_modules/\n" }, false],
    ["ask", { ".gitignore": "node_modules/\n!node_modules/\n" }, true],
    ["ask", { ".gitignore": "node_modules/\n!*\n" }, true],
    ["ask", { ".gitignore": "/node_modules\n", "src/node_modules/a.pem": "A" }, true],
    ["ask", { ".gitignore": "node_modules\n", "docs/.git/HEAD": "A", "docs/node_modules/a.pem": "A" }, true],
  ])("of rg, %s: what a .gitignore has is passed over in a repository only (%o)", async (expected, files, isRepository) => {
    expect(await verdict("rg K", { "node_modules/key.pem": "A", ...files }, isRepository)).toBe(expected);
  });

  it.each(["find -L . -name passwd -size +1", "find . -follow -name passwd", "ls -LR", "ls -R -L .", "find -L . -path './s*'"])(
    "of names are asked about if they follow a link out of the workspace: %s",
    async (line) => {
      const workspace = await projectFolder();
      const judge = commandJudge(workspace, presets.readOnly);
      const { verdict: judged, parts } = await judge(line);
      expect(judged).toBe("ask");
      expect(parts?.map(({ reason }) => reason)).toEqual(["the workspace has a link that leads out of the workspace"]);
      // What lies in it is told of: the names of files with secrets, too.
      await rm(join(workspace.root, "out"));
      await symlink("src", join(workspace.root, "in"));
      await writeFile(join(workspace.root, ".env"), "");
      expect((await judge(line)).verdict).toBe("allow");
    },
  );

  it.each(["find . -name passwd", "ls -R", "ls -L", "find -H . -name passwd"])(
    "of names run if they follow no link: %s",
    async (line) => expect(await verdict(line, { ".env": "A" })).toBe("allow"),
  );

  it("that are equal look once for a call, and different ones share what may be looked at", async () => {
    const workspace = await projectFolder();
    for (let folder = 0; folder < 16; folder += 1) {
      const place = join(workspace.root, `many/${folder}`);
      await mkdir(place, { recursive: true });
      await Promise.all(Array.from({ length: 1_000 }, (_none, file) => writeFile(join(place, String(file)), "")));
    }
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("grep -rn x .; ".repeat(200))).verdict).toBe("allow");
    expect((await judge("grep -rn x .; grep -rn x many; grep -rn x ./many/0")).verdict).toBe("allow");
    expect((await judge([1, 2, 3, 4].map((name) => `grep -rn --exclude-dir=${name}x x .`).join("; "))).verdict).toBe("ask");
  });

  it("of repositories count the names that those track", async () => {
    const workspace = await projectFolder();
    const [first, ...others] = ["r1", "r2", "r3", "r4"].map((name) => join(workspace.root, name));
    if (first === undefined) throw new Error("a repository is needed");
    git(workspace.root, "init", "-q");
    await mkdir(first);
    git(first, "init", "-q");
    const input = Array.from({ length: 19_000 }, (_none, name) => `100644 ${"1".repeat(40)}\tf${name}\n`).join("");
    execFileSync("git", ["-C", first, "update-index", "--index-info"], { input });
    for (const each of others.slice(0, 2)) await cp(first, each, { recursive: true });
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("git diff; ".repeat(100))).verdict).toBe("allow");
    for (const each of others) await cp(first, each, { recursive: true });
    expect((await judge("git diff")).verdict).toBe("ask");
  });
});
