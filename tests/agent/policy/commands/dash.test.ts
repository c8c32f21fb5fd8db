import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";

const REDIRECTIONS = [
  "echo x > -",
  "echo x >> -",
  "ls 2>-",
  "ls &>-",
  "ls >|-",
  "cat <>-",
  "cat < -",
  "cat <-",
  "printf x > ./-",
];
const OPERANDS = ["cat -", "rev -", "column -", "hexdump -C -", "ls -", "tree -", "du -", "grep -n x -", "diff - README.md"];
const FOLDERS = ["git -C - log", "git -C - status", "cd - && ls"];

describe("a file named `-` (invariants 11 and 12)", () => {
  it("is asked about where it leads out of the workspace, however a line opens it", async () => {
    const workspace = await projectFolder();
    await symlink("/etc/passwd", join(workspace.root, "-"));
    for (const permission of [presets.readOnly, { mode: "auto" }])
      for (const line of [...REDIRECTIONS, ...OPERANDS, ...FOLDERS])
        expect((await commandJudge(workspace, permission)(line)).verdict, line).not.toBe("allow");
  });

  it("is closed as what it leads to: a denied file, the server's configuration of git, a file with secrets", async () => {
    for (const target of [".git/config", ".env", "customers/list.csv"]) {
      const workspace = await projectFolder();
      await symlink(target, join(workspace.root, "-"));
      const judge = commandJudge(workspace, { ...presets.readOnly, deny: ["fs_*(path:customers)", "fs_write(path:.git)"] });
      for (const line of REDIRECTIONS.slice(0, 6)) expect((await judge(line)).verdict, `${line} (${target})`).not.toBe("allow");
      if (target === ".git/config") continue;
      for (const line of ["cat < -", ...OPERANDS.slice(0, 4)])
        expect((await judge(line)).verdict, `${line} (${target})`).not.toBe("allow");
    }
  });

  it("is written by no line that only reads, and is a name to `*` of a rule", async () => {
    const workspace = await projectFolder();
    for (const line of REDIRECTIONS.slice(0, 6))
      expect((await commandJudge(workspace, presets.readOnly)(line)).verdict, line).toBe("ask");
    await symlink("/etc/passwd", join(workspace.root, "-"));
    const rules = ["cp *", "mv *", "tee *"].map((rule) => `shell(command:${rule})`);
    for (const line of ["cp - a.txt", "cp README.md -", "mv README.md -", "tee -", "unknown -"])
      expect(
        (await commandJudge(workspace, { ...presets.askAll, allow: [...rules, "shell(command:unknown *)"] })(line)).verdict,
        line,
      ).toBe("ask");
  });

  it("does not keep a line from running that reads its input by that name", async () => {
    const judge = commandJudge(await projectFolder(), presets.readOnly);
    for (const line of [
      "cat README.md | cat -",
      "cat README.md | grep -n x -",
      "sort - < README.md",
      "cat < /dev/null",
      "head -c 16 /dev/urandom",
      "head --bytes=16 /dev/zero",
    ])
      expect((await judge(line)).verdict, line).toBe("allow");
  });

  it("of an endless device reads as many bytes as a line says last, if they are few", async () => {
    const judge = commandJudge(await projectFolder(), presets.readOnly);
    for (const line of [
      "head -c 16 -n1 /dev/zero",
      "head -c 16 --lines=1 /dev/zero",
      "head -c 16 -n 99999 /dev/zero",
      "head -- -c 16 /dev/zero",
      "head -c 99999999999999999 /dev/zero",
      "head -c 16 -c -1 /dev/zero",
      "head -qc 16 -n1 /dev/zero",
    ])
      expect((await judge(line)).verdict, line).toBe("ask");
    expect((await judge("head -q -c16 /dev/urandom")).verdict).toBe("allow");
  });
});
