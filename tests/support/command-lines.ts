import { realpathSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { judgeByPolicy } from "../../src/agent/calls/stages/permission.ts";
import { validate } from "../../src/agent/calls/stages/validation.ts";
import { type Explanation, type Permission } from "../../src/agent/policy/permission.ts";
import { readPermission, type PermissionSource } from "../../src/agent/policy/permission-source.ts";
import { parseRule } from "../../src/agent/policy/parse-rule.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "./app.ts";

/** An own tool that takes a command line. It runs nothing. */
export const shell = defineTool<{ command: string; cwd?: string }>({
  name: "shell",
  description: "Takes a command line.",
  readOnly: false,
  commands: [{ place: "command", folderIn: "cwd" }],
  paths: { cwd: "read" },
  inputSchema: {
    type: "object",
    required: ["command"],
    properties: { command: { type: "string" }, cwd: { type: "string", nullable: true } },
  },
  run: ({ command }) => ({ output: `ran ${command}`, details: null }),
});

const TOOLS: ReadonlyMap<string, Tool> = new Map([...BUILTIN_TOOLS, shell].map((tool) => [tool.name, tool]));

/** A folder as a project has them, without secrets but in `private`, and with a link that leads out of it. It may lie in a folder of its own. */
export async function projectFolder(inside = "."): Promise<Workspace> {
  const root = join(realpathSync(await temporaryFolder()), inside);
  for (const name of [
    "src/a.ts",
    "src/b.ts",
    "src/deep/c.ts",
    "docs/readme.md",
    "package.json",
    "README.md",
    "tests/a.test.ts",
    "customers/list.csv",
  ]) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), "text\n");
  }
  await mkdir(join(root, "packages/web"), { recursive: true });
  await symlink("/etc", join(root, "out"));
  return new Workspace(root);
}

/** Judges command lines by a permission in a workspace, by rules that people have stored, and by the agent's own permission. */
export function commandJudge(
  workspace: Workspace,
  source: PermissionSource,
  isBoxed = false,
  rules: readonly string[] = [],
  own: PermissionSource | null = null,
) {
  const read = (given: PermissionSource): Permission => {
    const { permission, problems } = readPermission(given, "test", { tools: TOOLS, modes: new Map() });
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    return permission;
  };
  const permission = read(source);
  const stored = rules.map((rule, index) => {
    const parsed = parseRule(rule, `allowRules.${index}`, TOOLS);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.refusal));
    return { ...parsed.value, id: String(index), createdBy: "a person" };
  });
  const policy = { permission, bounds: own === null ? [] : [read(own)], stored, box: isBoxed ? { protectedPaths: [] } : null };
  return async (command: string, cwd?: string): Promise<Explanation> => {
    const input = cwd === undefined ? { command } : { command, cwd };
    const validated = validate({
      request: { tenant: "t", agentId: "a", callId: "c", name: "shell", form: "json", input },
      tool: shell,
    });
    if (!validated.ok) throw new Error(JSON.stringify(validated));
    return (
      await judgeByPolicy(validated.value, {
        policy,
        workspace,
        definitionChange: async () => null,
        fromOutside: async () => null,
      })
    ).explanation;
  };
}
