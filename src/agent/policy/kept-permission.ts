import type { Permission, StoredRule } from "./permission.ts";

/**
 * The permission of the present version of a template, as it binds an agent that keeps an earlier version. Its rules and
 * lists deny and ask as they do for other agents; its mode binds only if it is another than the kept one. It says nothing
 * of hosts that it does not name.
 */
export function boundOfPresent(kept: Permission, present: Permission, stored: readonly StoredRule[]): Permission {
  const mode = present.mode.name === kept.mode.name ? ({ kind: "builtin", name: "auto" } as const) : present.mode;
  return { ...present, mode, allow: [...present.allow, ...stored], hosts: { ...present.hosts, unnamed: null } };
}
