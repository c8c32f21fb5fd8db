import type { PermissionSource } from "../agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../agent/tools/builtin.ts";
import { memoryTool } from "../agent/tools/memory/memory.ts";
import { taskRun } from "../agent/tools/task.ts";

type ToolSetting = { readonly name: "memory" | "subagents"; readonly example: string };

/** Templates have these tools by a setting of their own. */
export const TOOLS_BY_SETTING: ReadonlyMap<string, ToolSetting> = new Map([
  [memoryTool.name, { name: "memory", example: "`memory: {}`" }],
  [taskRun.name, { name: "subagents", example: "`subagents`" }],
]);

/** The names of the built-in tools that need no setting, for a template whose agents do not have those of each MCP server. */
export const builtinTools: readonly string[] = BUILTIN_TOOLS.map(({ name }) => name).filter(
  (name) => !TOOLS_BY_SETTING.has(name),
);

/** Permission blocks for templates: `permission: presets.readOnly`. A custom block may spread one and add rules. */
export const presets = {
  /** Read-only tools, and command lines known to only read, run. All others are asked about. */
  readOnly: { mode: "default", readOnlyCommands: true },
  /** All changes are asked about, including every command line. Read-only tools run. */
  askAll: { mode: "default" },
  /**
   * For templates with `sandbox: "required"`: changes of workspace files, and every command line, run in the box
   * without a question. Secret files and custom tools that may change something are asked about. Without a box it asks
   * as `askAll` does.
   */
  workspace: {
    mode: "default",
    autoAllowInBox: ["fs_write", "fs_edit", "fs_multi_edit", "todo_write", "memory", "bash_run", "bash_kill"],
  },
} as const satisfies Readonly<Record<string, PermissionSource>>;
