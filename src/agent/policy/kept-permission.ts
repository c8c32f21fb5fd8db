import type { Permission, StoredRule } from "./permission.ts";

/**
 * The permission of the present version of a template, as it binds an agent that keeps an earlier version. Its rules and
 * lists deny and ask as they do for other agents; its mode binds only if it is another than the kept one, and
 * hosts that it does not name are the matter of the kept one.
 */
export function boundOfPresent(kept: Permission, present: Permission, stored: readonly StoredRule[]): Permission {
  const mode = present.mode.name === kept.mode.name ? ({ kind: "builtin", name: "auto" } as const) : present.mode;
  const hosts = { ...present.hosts, unnamed: null };
  return { ...present, mode, hosts, allow: [...present.allow, ...stored] };
}
