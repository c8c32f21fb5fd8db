import { speaksOf } from "../../tools/path-places.ts";
import type { PolicyCall } from "../permission.ts";
import { isWithin, type Rule } from "../rule.ts";
import type { FoundSearch } from "../../bash/command-line.ts";
import type { CommandPattern } from "../../bash/command-pattern.ts";

/** The rules that speak of command lines of the call's tool. */
export function commandRules<Each extends Rule>(rules: readonly Each[], { name }: PolicyCall): readonly Each[] {
  return rules.filter((rule) => rule.isForTool(name) && rule.conditions.some(({ command }) => command !== null));
}

/** The rules that speak of a path alone, whatever tool reaches it. */
export function pathRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(({ deniedPath }) => deniedPath !== null);
}

/** The patterns by which a rule speaks of the lines of a parameter. */
export function spokenPatterns({ conditions }: Rule, parameter: string): readonly CommandPattern[] {
  return conditions.flatMap(({ parameter: named, command }) => (command !== null && speaksOf(named, parameter) ? [command] : []));
}

/** True if a rule about a path names, from the root, what lies in the folder of a search, or would lie there. */
export function closesBelow({ conditions }: Rule, { names }: FoundSearch): boolean {
  const folders = conditions[0]?.path?.folders ?? [];
  return names.some((name) => folders.some((folder) => folder !== "." && isWithin(name, folder)));
}

/** True if a search could come upon what a rule about a path speaks of. */
export function reachesSearch({ deniedPath, conditions }: Rule, { names, access }: FoundSearch): boolean {
  if (deniedPath === null || (access === "read" && deniedPath.closes === "writing")) return false;
  if (names.some(deniedPath.isMatch) || names.some(deniedPath.isNamed)) return true;
  const folders = conditions[0]?.path?.folders ?? [];
  return names.some((name) => folders.some((folder) => isWithin(name, folder) || isWithin(folder, name)));
}
