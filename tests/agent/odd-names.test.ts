import { mkdir, readFile, writeFile } from "node:fs/promises";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { narrowestRule } from "../../src/agent/approvals/allow-rules/narrowest-rule.ts";
import { judge } from "../../src/agent/policy/judge.ts";
import { readPermission } from "../../src/agent/policy/permission-source.ts";
import { ruleValues } from "../../src/agent/policy/rule-values.ts";
import { ruleMatches } from "../../src/agent/policy/rule.ts";
import { parseRule } from "../../src/agent/policy/parse-rule.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import { isSecretPath } from "../../src/agent/workspace/secret-files.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import { presets } from "../../src/config/presets.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { temporaryFolder } from "../support/app.ts";
import { commandJudge } from "../support/command-lines.ts";
import { runTool } from "../support/run-tool.ts";

/** Names as people and frameworks give them, and any others that a file may have. */
const COMMON = [
  "[id]",
  "[[lang]]",
  "[...slug]",
  "(shop)",
  "{1}",
  "{a,b}",
  "a b",
  "it's",
  'say "hi"',
  "$HOME",
  "`x`",
  "*",
  "?",
  "a*b",
  "-",
  "--",
  "-rf",
  "#a",
  "~",
  "a;b",
  "a&b",
  "a|b",
  "a>b",
  "!x",
  "%s",
  "@x",
  "a\\b",
  "café",
  "日本語",
  "👍🏽",
  "a\nb",
  "\ttab",
  " lead",
  "trail ",
  ".dot",
  "...",
  "a,b",
  "[a",
  "a]",
  "{a",
  "a}",
  "x".repeat(255),
  "é".repeat(127),
];
/** Characters that stand for something in a pattern, a command line or a rule. */
const SPECIAL = "a b . * ? [ ] { } ( ) ! ^ - , ' \" $ ` \\ ~ # ; & | < > \n".split(" ").concat(" ");
const odd = fc
  .oneof(
    fc.constantFrom(...COMMON),
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...SPECIAL), minLength: 1, maxLength: 12 }),
  )
  .filter(
    (name) =>
      name !== "" &&
      name !== "." &&
      name !== ".." &&
      !/[/\0]/.test(name) &&
      name.isWellFormed() &&
      Buffer.byteLength(name) <= 255,
  );
const name = odd.filter((each) => !isSecretPath(each) && each !== ".git" && each !== "node_modules");

const TOOLS = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
const toolNamed = (tool: string) => TOOLS.get(tool) ?? BUILTIN_TOOLS[0];

function verdictOf(
  workspace: Workspace,
  tool: string,
  input: JsonObject,
  rules: { readonly deny?: string[]; readonly allow?: string[] },
): string {
  const used = toolNamed(tool);
  if (used === undefined) throw new Error("no tool");
  const { permission, problems } = readPermission({ mode: "approval", ...rules }, "test", { tools: TOOLS, modes: new Map() });
  if (problems.length > 0) return `problem: ${JSON.stringify(problems)}`;
  const values = ruleValues(used, input, workspace);
  return judge({ agentId: "a", name: tool, readOnly: used.readOnly, values }, { permission, bounds: [], stored: [], box: null })
    .verdict;
}

/** A folder with a file of the name, and a file of another name in a folder of the name. */
async function folderWith(file: string, folder: string): Promise<Workspace> {
  const root = realpathSync(await temporaryFolder());
  await mkdir(join(root, "app"), { recursive: true });
  await writeFile(join(root, "app", file), "needle in the file\n");
  if (folder !== file) {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, "page.txt"), "needle in the folder\n");
  }
  for (const other of ["i", "l", "shop", "1", "a"]) {
    await mkdir(join(root, "others", other), { recursive: true });
    await writeFile(join(root, "others", other, "page.txt"), "needle elsewhere\n");
  }
  return new Workspace(root);
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

describe("any name of a file (property)", () => {
  it("is read, edited, found and searched by that name", async () => {
    await fc.assert(
      fc.asyncProperty(
        name,
        name.filter((each) => each !== "app" && each !== "others"),
        async (file, folder) => {
          const { root } = await folderWith(file, folder);
          const path = `app/${file}`;
          expect((await runTool(root, "fs_read", { path })).output).toContain("needle in the file");
          const edited = await runTool(root, "fs_edit", { path, old_string: "needle", new_string: "Needle" });
          expect(edited.output).not.toContain("does not exist");
          expect(await readFile(join(root, path), "utf8")).toBe("Needle in the file\n");
          await runTool(root, "fs_write", { path: `app/${file.slice(0, 60)}.new`, content: "x" });
          const found = await runTool(root, "fs_glob", { pattern: path });
          expect(found.details).toMatchObject({ matches: expect.arrayContaining([path]) });
          const searched = await runTool(root, "fs_grep", { pattern: "eedle", path });
          expect(searched.output).toContain("Needle in the file");
          expect(searched.details).toMatchObject({ matches: expect.arrayContaining([expect.objectContaining({ path })]) });
          if (folder === file) return;
          const inFolder = await runTool(root, "fs_glob", { pattern: `${folder}/*` });
          expect(inFolder.details).toMatchObject({ matches: expect.arrayContaining([`${folder}/page.txt`]) });
        },
      ),
      { numRuns: 150 },
    );
  });

  it("is closed by a rule that is that name, wherever such a rule can be written", async () => {
    await fc.assert(
      fc.asyncProperty(name, async (file) => {
        const workspace = await folderWith(file, file);
        const rule = `fs_write(path:${JSON.stringify(`app/${file}`)})`;
        const verdict = verdictOf(workspace, "fs_write", { path: `app/${file}`, content: "" }, { deny: [rule] });
        if (!verdict.startsWith("problem")) expect(verdict, rule).toBe("deny");
        const folderRule = `fs_write(path:${JSON.stringify(`made/${file}`)})`;
        const below = verdictOf(workspace, "fs_write", { path: `made/${file}/x`, content: "" }, { deny: [folderRule] });
        if (!below.startsWith("problem")) expect(below, rule).toBe("deny");
      }),
      { numRuns: 150 },
    );
  });

  it("is allowed by the rule that is proposed for it, and no other file is", async () => {
    await fc.assert(
      fc.asyncProperty(name, name, async (file, other) => {
        const workspace = await folderWith(file, file);
        const tool = toolNamed("fs_write");
        if (tool === undefined) throw new Error("no tool");
        const input = { path: `app/${file}`, content: "" };
        const values = ruleValues(tool, input, workspace);
        const proposed = narrowestRule(tool, values, input);
        if (!proposed.ok) return;
        const rule = parseRule(proposed.value, "proposal", TOOLS);
        expect(rule.ok, proposed.value).toBe(true);
        if (!rule.ok) return;
        expect(ruleMatches(rule.value, "fs_write", values, "covers"), proposed.value).toBe(true);
        if (other === file) return;
        const others = ruleValues(tool, { path: `app/${other}`, content: "" }, workspace);
        expect(ruleMatches(rule.value, "fs_write", others, "covers"), `${proposed.value} and ${other}`).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("is one file to a command line in quotes, which a deny rule closes", async () => {
    await fc.assert(
      fc.asyncProperty(name, async (file) => {
        const workspace = await folderWith(file, file);
        const line = `wc -l -- ${quoted(`app/${file}`)}`;
        const verdict = (await commandJudge(workspace, presets.readOnly)(line)).verdict;
        expect(["allow", "ask"], line).toContain(verdict);
        if (/^[\p{L}\p{N} ._'"()[\]{}-]+$/u.test(file)) expect(verdict, line).toBe("allow");
        const denied = await commandJudge(workspace, { mode: "auto", deny: ["fs_read(path:/app)"] })(line);
        expect(denied.verdict, line).toBe("deny");
      }),
      { numRuns: 150 },
    );
  });
});

describe("names with brackets and braces", () => {
  it("are found as they are written, beside what they stand for, and what is judged is what is searched", async () => {
    const root = realpathSync(await temporaryFolder());
    for (const folder of ["app/[id]", "app/i", "src/[[lang]]", "notes{1}", "{a,b}", "(shop)"]) {
      await mkdir(join(root, folder), { recursive: true });
      await writeFile(join(root, folder, "page.tsx"), `TOKEN of ${folder}\n`);
    }
    const grep = async (path: string): Promise<readonly string[]> => {
      const { details } = await runTool(root, "fs_grep", { pattern: "TOKEN", path });
      return (details as { readonly matches: readonly { readonly path: string }[] }).matches.map((match) => match.path);
    };
    expect(await grep("app/[id]/page.tsx")).toEqual(["app/[id]/page.tsx", "app/i/page.tsx"]);
    for (const same of ["./app/[id]/page.tsx", "app//[id]/page.tsx"])
      expect(await grep(same), same).toContain("app/[id]/page.tsx");
    expect(await grep("src/[[lang]]/*")).toEqual(["src/[[lang]]/page.tsx"]);
    expect(await grep("notes{1}/page.tsx")).toEqual(["notes{1}/page.tsx"]);
    expect(await grep("{a,b}/*.tsx")).toEqual(["{a,b}/page.tsx"]);
    expect(await grep("(shop)/*.tsx")).toEqual(["(shop)/page.tsx"]);
    const tool = toolNamed("fs_grep");
    if (tool === undefined) throw new Error("no tool");
    const values = ruleValues(tool, { pattern: "TOKEN", path: "{a,b}/*.tsx" }, new Workspace(root));
    expect(values["path"]).toMatchObject([{ kind: "search", folders: ["a", "b", "{a,b}"] }]);
    const ask = { allow: ["fs_grep(path:/a)", "fs_grep(path:/b)"] };
    expect(verdictOf(new Workspace(root), "fs_grep", { pattern: "x", path: "{a,b}/*.tsx" }, ask)).toBe("ask");
    const none = await runTool(root, "fs_glob", { pattern: "app/[slug]/*.ts" });
    expect(none.output).toContain("write [[] for [");
  });

  it("deny what they name, and not only what they stand for; allow rules stay patterns", async () => {
    const root = realpathSync(await temporaryFolder());
    await mkdir(join(root, "app/[id]"), { recursive: true });
    await writeFile(join(root, "app/[id]/page.tsx"), "x");
    const workspace = new Workspace(root);
    const input = { path: "app/[id]/page.tsx", content: "" };
    for (const rule of ["fs_write(path:app/[id]/page.tsx)", "fs_write(path:app/[id])", "fs_write(path:[id])"]) {
      expect(verdictOf(workspace, "fs_write", input, { deny: [rule] }), rule).toBe("deny");
      expect(verdictOf(workspace, "fs_write", input, { allow: [rule] }), rule).toBe("ask");
    }
    expect(verdictOf(workspace, "fs_write", input, { allow: ["fs_write(path:app/[[]id]/page.tsx)"] })).toBe("allow");
  });
});

describe("a search for one file", () => {
  it("leaves nothing out, and shows the part of a long line in which the match stands", async () => {
    const root = realpathSync(await temporaryFolder());
    await mkdir(join(root, ".git"));
    await mkdir(join(root, "node_modules"));
    await writeFile(join(root, "app.min.js"), `${"var a=1;".repeat(40_000)}needleHere;${"var b=2;".repeat(40_000)}\n`);
    const { output, details } = await runTool(root, "fs_grep", { pattern: "needleHere", path: "app.min.js" });
    expect(output).not.toContain("left out");
    const [match] = (details as { readonly matches: readonly { readonly preview: string; readonly column: number }[] }).matches;
    expect(match?.preview).toMatch(/^….*needleHere.*…$/);
    expect(match?.preview.length).toBe(202);
    expect(match?.column).toBe(320_001);
  });
});
