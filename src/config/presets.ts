import type { PermissionSource } from "../agent/policy/permission-source.ts";

/** Permission blocks for templates: `permission: presets.readOnly`. A block of one's own may spread one and add rules. */
export const presets = {
  /** Read-only tools, and command lines that are known to only read, run. Everything else is asked for. */
  readOnly: { mode: "default", readOnlyCommands: true },
  /** Everything that may change something is asked for, every command line among it. Read-only tools run. */
  askAll: { mode: "default" },
  /**
   * For templates with `sandbox: "required"`: what changes files of the workspace, and every command line, runs in the box
   * without asking. Asked for are files with secrets and tools of your own that may change something. Without a box it asks as
   * `askAll` does.
   */
  workspace: { mode: "default", autoAllowInBox: ["fs_write", "fs_edit", "fs_multi_edit", "todo_write", "bash_run", "bash_kill"] },
} as const satisfies Readonly<Record<string, PermissionSource>>;
