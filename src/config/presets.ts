import type { PermissionSource } from "../agent/policy/permission-source.ts";

/** Permission blocks for templates: `permission: presets.readOnly`. A block of one's own may spread one and add rules. */
export const presets = {
  /** Read-only tools, and command lines that are known to only read, run. Everything else is asked for. */
  readOnly: { mode: "default", readOnlyCommands: true },
  /** Everything that may change something is asked for, every command line among it. Read-only tools run. */
  askAll: { mode: "default" },
} as const satisfies Readonly<Record<string, PermissionSource>>;
