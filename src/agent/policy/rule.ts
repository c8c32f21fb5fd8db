import type { RuleScope } from "./rule-text.ts";
import type { CommandLine } from "../bash/command-line.ts";
import { coversCommand, touchesCommand, type CommandPattern } from "../bash/command-pattern.ts";
import type { Access } from "../workspace/workspace.ts";
import { namesOf, valuesOf, type RuleValue, type RuleValues } from "./rule-values.ts";

/** The demand of a rule on one parameter. */
export type Condition = {
  readonly parameter: string;
  readonly pattern: string;
  readonly isText: (text: string) => boolean;
  /** True for a pattern of some texts: those that step out of a folder (`..`) may lead out of the folder that it names. */
  readonly isOfSome: boolean;
  /** The demand on a path; null if its tools have none there. */
  readonly path: PathPattern | null;
  /** The demand on a command line; null if its tools have none there. */
  readonly command: CommandPattern | null;
};

/** A pattern of paths, and the folders before its wildcards, in which alone it can match. */
export type PathPattern = {
  readonly source: string;
  readonly isMatch: (name: string) => boolean;
  /** True for the file or folder whose very name the pattern is, such as `app/[id]`: deny and ask rules speak of it, too. */
  readonly isNamed: (name: string) => boolean;
  readonly folders: readonly string[];
};

/**
 * The extent to which a rule takes in a call. `covers`: it holds for all that the call names, as an allow rule must; a search is taken
 * in if all folders in which it looks are. `names`: one of the names of one value is enough. `reaches`: the same, and
 * a search is taken in that could come upon what the rule speaks of.
 */
export type Extent = "covers" | "names" | "reaches";

/** A file or folder that a deny rule closes, through whatever tool it is reached. */
export type DeniedPath = {
  readonly isMatch: (name: string) => boolean;
  readonly isNamed: (name: string) => boolean;
  readonly closes: "everything" | "writing";
  /** True if one of its tools writes there. */
  readonly mayWrite: boolean;
};

/** A permission rule, parsed: which tools it speaks of, and which of their calls. */
export type Rule = {
  readonly source: string;
  /** The place in the configuration: `templates.assistant.permission.deny.0`. */
  readonly place: string;
  readonly scope: RuleScope;
  readonly isForTool: (tool: string) => boolean;
  readonly conditions: readonly Condition[];
  /** The path that it closes as a deny rule; null if it speaks of calls and not of a path alone. */
  readonly deniedPath: DeniedPath | null;
};

/** True if a rule speaks of this call. */
export function ruleMatches(rule: Rule, tool: string, values: RuleValues, extent: Extent): boolean {
  return rule.isForTool(tool) && conditionsHold(rule, values, extent, () => true);
}

/** True if those conditions of a rule that are wanted hold for the values of a call. */
export function conditionsHold(
  { conditions }: Rule,
  values: RuleValues,
  extent: Extent,
  isWanted: (condition: Condition) => boolean,
): boolean {
  return conditions.filter(isWanted).every((condition) => {
    const list = valuesOf(values, condition.parameter);
    return listHolds(condition, list, extent);
  });
}

function listHolds(condition: Condition, list: readonly RuleValue[], extent: Extent): boolean {
  const test = (value: RuleValue): boolean => valueHolds(condition, value, extent);
  return list.length > 0 && (extent === "covers" ? list.every(test) : list.some(test));
}

/** A text that may be a path, or an address, with a step out of a folder. */
const STEPS_OUT = /(?:^|[\\/])(?:\.|%2e){2}(?=[\\/?#]|$)/i;

/** True if a condition holds for one value. */
export function valueHolds({ isText, isOfSome, path, command }: Condition, value: RuleValue, extent: Extent): boolean {
  if (value.kind === "text") return isText(value.text) && !(extent === "covers" && isOfSome && STEPS_OUT.test(value.text));
  if (value.kind === "command") return command !== null && lineHolds(command, value.line, extent);
  if (path === null) return false;
  const names = namesOf(value);
  if (extent === "covers") return names.every(path.isMatch) || (value.kind === "search" && value.pattern === path.source);
  if (names.some(path.isMatch) || names.some(path.isNamed)) return true;
  return (
    extent === "reaches" &&
    value.kind === "search" &&
    names.some((folder) => path.folders.some((other) => isWithin(folder, other) || isWithin(other, folder)))
  );
}

/** True if a pattern takes in a line: each of its commands, or one of them. What a command opens besides is judged by `commands/judged-command.ts`. */
function lineHolds(pattern: CommandPattern, { trouble, commands }: CommandLine, extent: Extent): boolean {
  if (extent !== "covers") return commands.some((command) => touchesCommand(pattern, command) === "yes");
  const whole = commands.filter(({ isWhole }) => isWhole);
  return trouble === null && whole.length > 0 && whole.every((command) => coversCommand(pattern, command));
}

/** True if a rule speaks of command lines: those are taken in command by command. */
export function isOfCommands({ conditions }: Rule): boolean {
  return conditions.some(({ command }) => command !== null);
}

/** True if a path is the folder or lies in it. Both are relative to the workspace, whose root is `.`. */
export function isWithin(folder: string, path: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`);
}

/** True if a deny rule closes a file of these names for this access. */
export function deniesPath({ deniedPath }: Rule, names: readonly string[], access: Access): boolean {
  if (deniedPath === null || (access === "read" && deniedPath.closes === "writing")) return false;
  return names.some(deniedPath.isMatch) || names.some(deniedPath.isNamed);
}

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
