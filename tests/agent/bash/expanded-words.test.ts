import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { literalWord } from "../../../src/agent/bash/command-line.ts";
import { expandedWords } from "../../../src/agent/bash/expanded-words.ts";
import { presets } from "../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../support/command-lines.ts";

const NAMES = [
  "a",
  "b",
  "ab",
  "a.ts",
  "b.ts",
  ".env",
  ".a",
  "[a]",
  "é",
  "aé",
  "a b",
  "*",
  "{a,b}",
  "d/a",
  "d/b.ts",
  "d/.env",
  "e/a",
];
const PIECES = [
  "[[:alpha:]]",
  "[]v]",
  "[x-]",
  "{},}",
  "{}",
  ",",
  "a",
  "b",
  "é",
  ".",
  "*",
  "?",
  "[ab]",
  "[a-z]",
  "[a]",
  "{a,b}",
  "{,a}",
  "{1..3}",
  "{b,*}",
  "/",
  "d/",
  "e",
  "ts",
  "*.ts",
];

describe("the words that a wildcard or braces stand for", () => {
  it("are those that bash makes of them, in every locale, or more", async () => {
    const project = await projectFolder();
    await mkdir(join(project.root, "d"));
    await mkdir(join(project.root, "e"));
    for (const name of NAMES) await writeFile(join(project.root, name), "");
    const place = {
      workspace: project,
      folder: ".",
      mayHaveChanged: false,
      named: new Map<string, string | null>(),
      left: { entries: 1_000_000 },
    };
    const texts = fc
      .sample(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 }), 300)
      .map((pieces) => pieces.join(""));
    const expanded = texts.flatMap((text) => {
      const ours = expandedWords(literalWord(text, { start: 0, end: text.length }), place);
      return ours === null ? [] : [{ text, ours }];
    });
    const plain = (word: string): string => word.replace(/\/+/g, "/").replace(/\/$/, "");
    for (const locale of ["C", "C.UTF-8"]) {
      // One bash for all: to start one takes longer than all that it does.
      const script = expanded.map(({ text }) => `printf '%s\\0' ${text}\nprintf '\\n\\0'`).join("\n");
      const said = execFileSync("bash", ["--norc", "-c", script], {
        cwd: project.root,
        env: { PATH: process.env["PATH"], LC_ALL: locale },
        encoding: "utf8",
      });
      const theirs = said.split("\n\0").map((words) => words.split("\0").filter((word) => word !== ""));
      for (const [index, { text, ours }] of expanded.entries())
        expect(ours.map(plain), text).toEqual(expect.arrayContaining((theirs[index] ?? []).map(plain)));
      expect(theirs).toHaveLength(expanded.length + 1);
    }
    expect(expanded.length).toBeGreaterThan(100);
  });

  it.each([
    ["allow", "cat src/*.ts"],
    ["allow", "wc -l src/{a,b}.ts"],
    ["allow", "head -5 src/?.ts"],
    ["allow", "cat src/nothing*"],
    ["allow", "ls docs/*.md src/*"],
    ["ask", "cat *"],
    ["ask", "cat .e*"],
    ["ask", "cat {src/a.ts,.env}"],
    ["allow", "cat ?env"],
    ["allow", "cat src/[a]*"],
    ["ask", "cat out/*"],
    ["ask", "cat src/../*"],
    ["ask", "cat /etc/*"],
    ["ask", "uniq src/*.ts"],
    ["ask", "grep *"],
    ["ask", "head -n *"],
    ["ask", "cat link*"],
    ["allow", "ls opt/*"],
    ["ask", "cd opt && ls *"],
    ["ask", "git -C src rev-list main *"],
    ["allow", "cd src && git rev-list main *"],
    ["ask", "cat src/.*"],
    ["ask", "printf *"],
    ["ask", "cat many/*"],
    ["ask", "cat {1..9999}"],
    ["ask", "cat .en[[:alpha:]]"],
    ["ask", "cat .en[]v]"],
    ["ask", "cat .en[x-]v]"],
    ["ask", "uniq [[:alpha:]].txt"],
    ["ask", "cat .en{},}v"],
    ["ask", "cat link{},}"],
    ["ask", "cat a..{}-,,}"],
    ["allow", "git log --oneline HEAD@{1}"],
    ["ask", "cat /dev/stdout | cat"],
    ["ask", "tail -cf README.md"],
    ["ask", "tail -c f README.md"],
    ["ask", "tail -10f README.md"],
    ["allow", "tail -c 10k README.md"],
    ["allow", "tail -n+5 README.md"],
    ["allow", "head -n -1 README.md"],
    ["ask", "date +%999999999d"],
    ["ask", "stat -c %999999999n README.md"],
    ["ask", "git log --format='%<(999999999)%s'"],
    ["allow", "grep -rn foo --include=*.ts src"],
    ["allow", "grep -rn foo --exclude-dir={a,b} src"],
    ["ask", "grep -rn foo --include=*$X src"],
    ["ask", "grep -rn foo --include=*~ --file=*.ts src"],
    ["ask", "rg foo -g *.ts"],
    ["allow", "git tag -l 'v1.*'"],
    ["allow", "git tag -l v1.*"],
    ["allow", "git tag -n3 --list 'v*'"],
    ["allow", "git branch --list 'feat/*'"],
    ["allow", "git branch --merged"],
    ["ask", "git tag v1"],
    ["ask", "git branch 'feat/*'"],
    ["ask", "git branch --list x -d x"],
  ])("are each judged: %s %s", async (verdict, line) => {
    const project = await projectFolder();
    await writeFile(join(project.root, ".env"), "A=1");
    await symlink("/etc/passwd", join(project.root, "link.txt"));
    for (const folder of ["opt", "many"]) await mkdir(join(project.root, folder));
    for (const option of ["opt/-R", "--output=x"]) await writeFile(join(project.root, option), "");
    for (let name = 0; name < 600; name += 1) await writeFile(join(project.root, "many", String(name)), "");
    expect((await commandJudge(project, presets.readOnly)(line)).verdict).toBe(verdict);
  });

  it("are judged for commands that have no row, too: by rules, and in every mode", async () => {
    const project = await projectFolder();
    await mkdir(join(project.root, "conf"));
    await writeFile(join(project.root, "conf/key.pem"), "x");
    await writeFile(join(project.root, ".env"), "A=1");
    const rules = ["tac", "base64", "cp"].map((name) => `shell(command:${name} *)`);
    for (const line of ["tac conf/k*", "base64 o*/passwd", "cp conf/k* src/b.ts"]) {
      expect((await commandJudge(project, { ...presets.askAll, allow: rules })(line)).verdict, line).toBe("ask");
      expect((await commandJudge(project, { mode: "auto" })(line)).verdict, line).toBe("ask");
    }
    for (const line of ["tac .env*", "tac .e?v"])
      expect((await commandJudge(project, { mode: "auto" })(line)).verdict, line).toBe("ask");
    for (const line of ["tac src/*.ts", "base64 src/a.*"])
      expect((await commandJudge(project, { ...presets.askAll, allow: rules })(line)).verdict, line).toBe("allow");
    const jq = commandJudge(project, { ...presets.askAll, allow: ["shell(command:jq *)"] });
    for (const line of ["jq env.PATH package.json", "jq .+env package.json"]) expect((await jq(line)).verdict, line).toBe("ask");
    expect((await jq("jq .scripts package.json")).verdict).toBe("allow");
  });
});
