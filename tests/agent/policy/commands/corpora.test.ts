import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCommandLine } from "../../../../src/agent/policy/commands/read-command-line.ts";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { median } from "../../../support/median.ts";
import { committed } from "../../../support/repository.ts";
import { EVASIONS } from "./evasions.ts";
import { HEAVY } from "./heavy.ts";
import { ORDINARY } from "./ordinary.ts";

/** A repository as most projects are: its secrets lie in a file that it ignores. */
async function ignoringFolder(): Promise<Workspace> {
  const workspace = await projectFolder();
  await committed(workspace.root, { ".gitignore": ".env\n" });
  await writeFile(join(workspace.root, ".env"), "A=1");
  return workspace;
}

describe("command lines", () => {
  it.each([
    ["a folder", async () => projectFolder()],
    ["a repository with an ignored .env", ignoringFolder],
  ])(
    "that are ordinary have the verdict that an engineer expects, in %s: false asks ≤ 5 %, and none allowed that should be asked about",
    async (place, makeFolder) => {
      const judge = commandJudge(await makeFolder(), presets.readOnly);
      const judged = await Promise.all(
        ORDINARY.map(async (command) => ({ ...command, verdict: (await judge(command.line)).verdict })),
      );
      const reading = judged.filter(({ expected }) => expected === "allow");
      const falseAsks = reading.filter(({ verdict }) => verdict !== "allow").map(({ line }) => line);
      const share = falseAsks.length / reading.length;
      console.log(
        `${ORDINARY.length} ordinary lines in ${place}: ${falseAsks.length} of ${reading.length} that only read are asked about (${(share * 100).toFixed(1)} %)`,
      );
      expect(ORDINARY.length).toBeGreaterThanOrEqual(300);
      expect(judged.filter(({ expected, verdict }) => expected === "ask" && verdict !== "ask")).toEqual([]);
      expect(share, falseAsks.join("\n")).toBeLessThanOrEqual(0.05);
    },
  );

  it("that evade are not allowed: by presets.readOnly, by rules for what they begin with, nor by both", async () => {
    const workspace = await projectFolder();
    const passed: string[] = [];
    for (const { line, rules } of EVASIONS) {
      const allow = rules.map((rule) => `shell(command:${rule})`);
      for (const permission of [presets.readOnly, { ...presets.askAll, allow }, { ...presets.readOnly, allow }])
        if ((await commandJudge(workspace, permission)(line)).verdict === "allow") passed.push(line);
    }
    console.log(`${EVASIONS.length} evasions: ${passed.length} allowed`);
    expect(EVASIONS.length).toBeGreaterThanOrEqual(200);
    expect(passed).toEqual([]);
  });

  it.each([
    ["git status", "git status"],
    ["git status *", "git status -s src"],
    ["git log *", "git log --oneline -5 src/a.ts"],
    ["git branch *", "git branch feature"],
    ["find *", "find src -name '*.ts'"],
    ["cat *", "cat src/a.ts README.md"],
    ["npm run *", "npm run build"],
    ["npm run *", "timeout 60 nice -n 5 npm run build"],
    ["npm run *", "npm run build && npm run lint; npm run x | npm run y"],
    ["npm run test:*", "npm run test:unit"],
    ["npm run build -- --watch", "npm run build -- --watch"],
    ["npm test *", "npm test"],
    ["npx vitest run *", "npx vitest run src/*.test.ts"],
    ["{npm test,npm run *}", "npm test && npm run lint"],
    ["git commit -m *", "git commit -m 'Fix the parser; and more'"],
    ["rm *", "rm docs/readme.md"],
    ["FOO=1 make *", "FOO=1 make all"],
    ["sudo systemctl status", "sudo systemctl status"],
    ["echo $(date)", "echo $(date)"],
    ["*", "make all"],
  ])("are allowed by %s: %s", async (rule, line) => {
    const allow = [`shell(command:${JSON.stringify(rule)})`, "shell(command:date)"];
    const { verdict, reason } = await commandJudge(await projectFolder(), { ...presets.askAll, allow })(line);
    expect(verdict, reason).toBe("allow");
  });

  it("are read quickly: an ordinary one in less than a millisecond, the worst of the corpora in less than 50 ms", async () => {
    const workspace = await projectFolder();
    const read = (line: string): number => {
      const started = performance.now();
      readCommandLine(line, { workspace, folder: ".", environment: [] });
      return performance.now() - started;
    };
    for (const { line } of ORDINARY) read(line);
    const ordinary = median(ORDINARY.map(({ line }) => read(line)));
    const worst = Math.max(...EVASIONS.map(({ line }) => Math.min(read(line), read(line), read(line))));
    const heavy = Math.max(...HEAVY.map((line) => Math.min(read(line), read(line), read(line))));
    console.log(
      `a line is read in ${ordinary.toFixed(3)} ms, the worst in ${worst.toFixed(1)} ms, the heaviest in ${heavy.toFixed(1)} ms`,
    );
    expect(ordinary).toBeLessThan(1);
    expect(worst).toBeLessThan(50);
    expect(heavy).toBeLessThan(400);
  });
});
