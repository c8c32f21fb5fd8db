import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judge } from "../../../../src/agent/policy/judge.ts";
import { readPermission, type PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import { ruleValues } from "../../../../src/agent/policy/rule-values.ts";
import { BUILTIN_TOOLS } from "../../../../src/agent/tools/builtin.ts";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder, shell } from "../../../support/command-lines.ts";
import { committed } from "../../../support/repository.ts";

const READ = "fs_read(path:.npmrc)";
const WRITE = "fs_write(path:.npmrc)";

/** A repository that tracks an .npmrc. */
async function tracking(more: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await projectFolder();
  await committed(workspace.root, { ".npmrc": "save-exact=true\n", ...more });
  return workspace;
}

async function verdicts(workspace: Workspace, permission: PermissionSource, lines: readonly string[]): Promise<string[]> {
  const judged = commandJudge(workspace, permission);
  return Promise.all(lines.map(async (line) => `${(await judged(line)).verdict} ${line}`));
}
const all = (verdict: string, lines: readonly string[]): string[] => lines.map((line) => `${verdict} ${line}`);

const READING = ["cat .npmrc", "git diff", "git show HEAD:.npmrc", "grep -r exact .", "git grep exact", "sort < .npmrc"];

describe("a file with secrets that an allow rule names by its path", () => {
  it("keeps no command line from running that reads it", async () => {
    const workspace = await tracking();
    expect(await verdicts(workspace, presets.readOnly, READING)).toEqual(all("ask", READING));
    for (const allow of [[READ], ["fs_*(path:/.npmrc)"]])
      expect(await verdicts(workspace, { ...presets.readOnly, allow }, READING)).toEqual(all("allow", READING));
    expect(await verdicts(workspace, { mode: "auto", allow: [READ] }, READING)).toEqual(all("allow", READING));
    const allow = ["shell(command:{cat,git,grep,sort} *)", READ];
    const lines = ["cat .npmrc", "git diff", "grep -r exact ."];
    expect(await verdicts(workspace, { ...presets.askAll, allow }, lines)).toEqual(all("allow", lines));
  });

  it("counts by a rule on its path alone, of all of its names, and of every such file that is read", async () => {
    const workspace = await tracking();
    for (const allow of [
      ["fs_read"],
      ["fs_read(*)"],
      [WRITE],
      ["fs_read(path:/src)"],
      ["fs_read(path:.npmrc, limit:5)"],
      ["shell"],
    ])
      expect(await verdicts(workspace, { ...presets.readOnly, allow }, READING), allow[0]).toEqual(all("ask", READING));
    await symlink(".npmrc", join(workspace.root, "plain.txt"));
    const several = await tracking({ ".env": "A=1" });
    await symlink("../.env", join(several.root, "src/.npmrc"));
    const permission = { ...presets.readOnly, allow: [READ] };
    expect(await verdicts(workspace, permission, ["cat plain.txt"])).toEqual(["ask cat plain.txt"]);
    const lines = ["cat .npmrc .env", "git diff", "grep -r A .", "cat src/.npmrc", "grep -R A src"];
    expect(await verdicts(several, permission, lines)).toEqual(all("ask", lines));
    const many = await tracking(Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [`x${number}/.npmrc`, ""])));
    await writeFile(join(many.root, ".env"), "A=1");
    expect(await verdicts(many, permission, ["grep -r A ."])).toEqual(["ask grep -r A ."]);
  });

  it("is written by a rule for writing, and gets another name by rules for both", async () => {
    const workspace = await tracking();
    const writing = ["echo x > .npmrc", "tee .npmrc", "rm .npmrc", "cp README.md .npmrc"];
    const moving = ["mv .npmrc x", "mv -f .npmrc docs"];
    const commands = ["shell(command:{tee,rm,cp,mv,ln,link} *)", "shell(command:mv -f *)"];
    const linking = ["ln .npmrc x", "ln -s .npmrc x", "cp -l .npmrc x", "link .npmrc x"];
    const judged = async (...allow: string[]): Promise<string[]> =>
      verdicts(workspace, { ...presets.askAll, readOnlyCommands: true, allow: [...commands, ...allow] }, [...writing, ...moving]);
    expect(await judged(READ)).toEqual(all("ask", [...writing, ...moving]));
    expect(await judged(WRITE)).toEqual([...all("allow", writing.slice(0, 3)), ...all("ask", [...writing.slice(3), ...moving])]);
    expect(await judged(READ, WRITE)).toEqual(all("allow", [...writing, ...moving]));
    const allow = [...commands, READ, WRITE];
    expect(await verdicts(workspace, { ...presets.askAll, allow }, linking)).toEqual(all("ask", linking));
  });

  it("stays closed by a deny rule, by what the table does not prove, and by a bound of the agent", async () => {
    const workspace = await tracking();
    const denying = { ...presets.readOnly, deny: ["fs_read(path:.npmrc)"], allow: [READ] };
    expect(await verdicts(workspace, denying, ["cat .npmrc"])).toEqual(["deny cat .npmrc"]);
    const programs = { ...presets.askAll, allow: [READ, "shell(command:python3 *)"] };
    expect(await verdicts(workspace, programs, ["python3 .npmrc"])).toEqual(["ask python3 .npmrc"]);
    const vocabulary = { tools: new Map([...BUILTIN_TOOLS, shell].map((tool) => [tool.name, tool])), modes: new Map() };
    const { permission } = readPermission({ mode: "auto", allow: [READ] }, "test", vocabulary);
    const { permission: bound } = readPermission({ mode: "auto" }, "test", vocabulary);
    const values = ruleValues(shell, { command: "cat .npmrc" }, workspace);
    const call = { agentId: "a", name: "shell", readOnly: false, values };
    expect(judge(call, { permission, bounds: [], stored: [], box: null }).verdict).toBe("allow");
    expect(judge(call, { permission, bounds: [bound], stored: [], box: null }).verdict).toBe("ask");
  });

  it("by a rule that a person stored is open to the tools of the rule alone: a call runs by one stored rule", async () => {
    const judged = commandJudge(await tracking(), presets.readOnly, false, [READ]);
    expect((await judged("cat .npmrc")).verdict).toBe("ask");
  });
});
