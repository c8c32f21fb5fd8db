import { execFileSync } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
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
    ["allow", "rg K .", {}],
    ["ask", "rg -g '!*.md' K .", {}],
    ["ask", "rg -t ts K .", {}],
    ["ask", "rg --hidden K .", {}],
    ["ask", "rg -uu K .", {}],
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
    ["ask", "rg K sub", { "sub/.git/info/exclude": "!.env\n", "sub/.env": "A" }],
    ["ask", "rg K", { "sub/.git/HEAD": "", "sub/.env": "A" }],
    ["ask", "rg K sub/deep", { ".gitignore": "node_modules\n", "sub/.git/HEAD": "", "sub/deep/node_modules/a.pem": "A" }],
  ])("%s: %s passes over hidden files only if nothing takes them in (%o)", async (expected, line, files) => {
    expect(await verdict(line, { ".env": "A", ...files })).toBe(expected);
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

  it.each(["find -L . -name passwd", "find . -follow -name passwd", "ls -LR", "ls -L"])(
    "of names are asked about if they follow links: %s",
    async (line) => expect(await verdict(line, {})).toBe("ask"),
  );

  it.each(["find . -name passwd", "ls -R", "tree -a"])("of names run over files with secrets: %s", async (line) =>
    expect(await verdict(line, { ".env": "A" })).toBe("allow"),
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
    expect((await judge(["grep -rn x .", "grep -Rn x .", "rg x", "rg -uuu x", "rg --files -uuu"].join("; "))).verdict).toBe(
      "ask",
    );
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
