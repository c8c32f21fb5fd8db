import type { Rule } from "./rule.ts";

/** The tool by whose rules files are read. */
export const READS = "fs_read";

/** The allow rules for reading that speak of a path alone: a file with secrets that one of them names is open. */
export function readingRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter((rule) => rule.isForTool(READS) && rule.conditions.length === 1 && rule.conditions[0]?.path != null);
}

/** True if one of such rules names a file by all of its names. */
export function opensFile(rules: readonly Rule[], names: readonly string[]): boolean {
  return rules.some(({ conditions: [condition] }) => names.every((name) => condition?.path?.isMatch(name) === true));
}

/** The rules that speak of a path alone, whatever tool reaches it. */
export function pathRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(({ deniedPath }) => deniedPath !== null);
}
