import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength } from "../../../lib/text.ts";
import { filesOf, type CommandLine, type FoundCommand, type Trouble } from "../../bash/command-line.ts";
import { patternOfWord } from "../../bash/pattern-words.ts";
import { parseRule } from "../../policy/parse-rule.ts";
import { namesOf, useOf, type RuleValue, type RuleValues, linesOf } from "../../policy/rule-values.ts";
import type { Rule } from "../../policy/rule.ts";
import { parametersOf, placeOf } from "../../tools/path-places.ts";
import type { Tool } from "../../tools/tool.ts";

/** Longer texts, in bytes, are not made into a rule: people would not read it. */
const TEXT_BYTES = 200;

/**
 * The narrowest useful rule for a call. For a tool with paths: exactly these paths, numbers and booleans, and any
 * texts; of a list of paths also a part, in any order. For others: exactly these parameters, if all are given, since a
 * rule cannot require an absent one, and none is a list. Refused with the reason if no readable rule exists.
 */
export function narrowestRule(
  tool: Tool,
  values: RuleValues,
  input: JsonObject,
  past: readonly RuleValues[] = [],
): Result<string, NoRule> {
  if (Object.keys(tool.commands).length > 0) return narrowestCommandRule(tool, values, input, past);
  if (tool.seenByRules !== null) return ruleOfNamed(tool.name, tool.seenByRules.named, values);
  const given = Object.entries(values).filter(([place]) => Object.hasOwn(input, placeOf(place).parameter));
  const hasPaths = Object.keys(tool.paths).length > 0;
  if (hasPaths && !given.some(([parameter]) => isPath(tool, parameter))) return refused(byHand("the call names no path"));
  const open = Object.keys(parametersOf(tool.inputSchema)).find((parameter) => !given.some(([name]) => name === parameter));
  if (!hasPaths && open !== undefined)
    return refused(byHand(`the call omits ${open}, and a rule cannot require that a parameter is absent`));
  const lists = new Set(Object.keys(tool.paths).flatMap((place) => listOf(place) ?? []));
  const untold = [...lists].find((list) => !hasTextsOnly(input[list]));
  if (untold !== undefined)
    return refused(byHand(`${untold} contains values other than paths and texts, which rules cannot match`));
  const told = given.filter(
    ([parameter]) => !hasPaths || isPath(tool, parameter) || (typeof input[parameter] !== "string" && !lists.has(parameter)),
  );
  const listed = told.find(([parameter]) => !isPath(tool, parameter) && Array.isArray(input[parameter]))?.[0];
  if (listed !== undefined) return refused(byHand(`${listed} is a list: a rule would also match parts of it, in any order`));
  const conditions: string[] = [];
  for (const [parameter, list] of told) {
    const condition = conditionOf(parameter, list);
    if (!condition.ok) return refused(byHand(`${parameter} ${condition.refusal}`));
    conditions.push(condition.value);
  }
  return accepted(conditions.length === 0 ? tool.name : `${tool.name}(${conditions.join(", ")})`);
}

/** The same for a tool whose rules name these parameters: as they are. */
function ruleOfNamed(tool: string, named: readonly string[], values: RuleValues): Result<string, NoRule> {
  const conditions: string[] = [];
  for (const parameter of named) {
    const condition = conditionOf(parameter, values[parameter] ?? []);
    if (!condition.ok) return refused(byHand(`${parameter} ${condition.refusal}`));
    conditions.push(condition.value);
  }
  return accepted(`${tool}(${conditions.join(", ")})`);
}

/**
 * The same for a tool with command lines: their commands, up to the first word that varied in the past. Paths and
 * choices are as given; texts and numbers stay open.
 */
function narrowestCommandRule(
  tool: Tool,
  values: RuleValues,
  input: JsonObject,
  past: readonly RuleValues[],
): Result<string, NoRule> {
  const conditions: string[] = [];
  for (const [place, list] of Object.entries(values)) {
    if (!Object.hasOwn(input, placeOf(place).parameter)) continue;
    const isLine = Object.hasOwn(tool.commands, place);
    const condition = isLine
      ? mapped(
          commandPatternOf(
            linesIn(values, place),
            past.flatMap((each) => linesIn(each, place)),
          ),
          (pattern) => `${place}:${quoted(pattern)}`,
        )
      : isPath(tool, place) || typeof input[place] === "boolean"
        ? unsaid(conditionOf(place, list))
        : null;
    if (condition === null) continue;
    if (!condition.ok) return refused({ ...condition.refusal, reason: `${place} ${condition.refusal.reason}` });
    conditions.push(condition.value);
  }
  return conditions.length === 0
    ? refused({ reason: "the call has no command line", byHand: false })
    : accepted(`${tool.name}(${conditions.join(", ")})`);
}

function mapped(result: Result<string, NoRule>, change: (value: string) => string): Result<string, NoRule> {
  return result.ok ? accepted(change(result.value)) : result;
}

function unsaid(result: Result<string, string>): Result<string, NoRule> {
  return result.ok ? result : refused(byHand(result.refusal));
}

/** A rule that is not proposed, but that a person may write. */
function byHand(reason: string): NoRule {
  return { reason, byHand: true };
}

function listOf(place: string): string | null {
  const { parameter, field } = placeOf(place);
  return field === null ? null : parameter;
}

function hasTextsOnly(list: Json | undefined): boolean {
  if (!Array.isArray(list)) return true;
  return list.every(
    (item) => isJsonObject(item) && Object.values(item).every((value) => value === null || typeof value === "string"),
  );
}

function isPath(tool: Tool, parameter: string): boolean {
  return useOf(tool, parameter) !== undefined;
}

function conditionOf(parameter: string, list: readonly RuleValue[]): Result<string, string> {
  const patterns: string[] = [];
  for (const value of list) {
    const pattern = patternOf(value);
    if (!pattern.ok) return pattern;
    patterns.push(pattern.value);
  }
  const [only] = patterns;
  if (only === undefined) return refused("names nothing");
  const different = [...new Set(patterns)];
  const pattern = different.length === 1 ? only : `{${different.join(",")}}`;
  return accepted(`${parameter}:${quoted(list[0]?.kind === "file" ? `/${pattern}` : pattern)}`);
}

/** A pattern that matches only this value. Refused with the reason if none does. */
function patternOf(value: RuleValue): Result<string, string> {
  const [name, ...others] = namesOf(value);
  if (name === undefined || others.length > 0) return refused("leads through a link, so it has several names");
  if (/[{},]/.test(name)) return refused("contains a brace or a comma, which patterns use for alternatives");
  if (byteLength(name) > TEXT_BYTES) return refused(`is longer than ${TEXT_BYTES} bytes: the rule would be unreadable`);
  if (value.kind === "search") return refused("is a pattern itself");
  if (value.kind === "file" && name === ".") return refused("is the whole workspace");
  return accepted(literal(name));
}

function literal(name: string): string {
  return name.replace(/[*?[]/g, (character) => `[${character}]`);
}

/** Quoted if the bare text would be parsed otherwise. */
function quoted(pattern: string): string {
  const isPlain = /^[^\s,()[\]{}"\\]+( [^\s,()[\]{}"\\]+)*$/.test(pattern);
  return isPlain ? pattern : JSON.stringify(pattern);
}

/** A name that needs no escape in a pattern. */
const PLAIN_NAME = /^[\w./-]+$/;

/**
 * The allow rules for all files that a call's lines write by redirection. Empty if there are none, or if a name has no
 * exact rule.
 */
export function fileRules(values: RuleValues, tools: ReadonlyMap<string, Tool>): readonly Rule[] {
  const written = linesOf(values).flatMap(({ line }) =>
    filesOf(line).filter(({ isRedirect, access }) => isRedirect && access === "write"),
  );
  const names = [...new Set(written.flatMap((file) => file.names))];
  if (!names.every((name) => PLAIN_NAME.test(name))) return [];
  return names.flatMap((name) => {
    const rule = parseRule(`fs_write(path:/${name})`, "proposal", tools);
    return rule.ok ? [rule.value] : [];
  });
}

/** Longer patterns, in bytes, are not proposed: people would not read them. */
const PATTERN_BYTES = 300;

/** Programs whose first word is a command: it is always part of the rule. */
const WITH_COMMANDS: ReadonlySet<string> = new Set(
  "git npm pnpm yarn bun npx deno cargo go docker podman kubectl helm pip pip3 uv poetry gh glab terraform dotnet mvn gradle apt apt-get brew systemctl node python python3".split(
    " ",
  ),
);

/** Programs that run the code of an option, a module or a file: `*` stands for none of these. */
const INTERPRETERS =
  /^(?:.*\/)?(?:python|node|deno|bun|perl|ruby|php|lua|Rscript|bash|sh|zsh|dash|ksh|fish|pwsh|osascript|psql|mysql|sqlite)[\d.]*$/;
const CODE_OPTIONS = /^(?:-[a-zA-Z]*[cemprEP]|--(?:command|eval|exec|execute|module|print|require|run))$/;

/** Programs that run a command with the names that they read. */
const TAKES_NAMES: ReadonlySet<string> = new Set(["xargs", "parallel"]);

/** Why no rule is useful, and whether a person may still write one. */
export type NoRule = { readonly reason: string; readonly byHand: boolean };

/** The pattern of a parameter's lines, without its quotes; refused with the reason if none is useful. */
export function commandPatternOf(lines: readonly CommandLine[], past: readonly CommandLine[]): Result<string, NoRule> {
  const patterns: string[] = [];
  // The recorded calls include this one: its own commands are no others.
  const known = past.filter(({ text }) => lines.every((line) => line.text !== text)).flatMap(wholeCommands);
  for (const line of lines) {
    const trouble = line.trouble ?? line.hidden;
    if (trouble !== null) return refused(notTakenIn(trouble));
    for (const command of wholeCommands(line)) {
      const name = command.words[0]?.text ?? "";
      if (TAKES_NAMES.has(name))
        return refused({
          reason: `contains ${name}, which passes on file names that rules cannot check`,
          byHand: true,
        });
      const pattern = patternOfCommand(command, known);
      if (!pattern.ok) return pattern;
      if (!patterns.includes(pattern.value)) patterns.push(pattern.value);
    }
  }
  const [only] = patterns;
  if (only === undefined) return refused({ reason: "contains no command", byHand: false });
  const pattern = patterns.length === 1 ? only : `{${patterns.join(",")}}`;
  return byteLength(pattern) > PATTERN_BYTES
    ? refused({ reason: `has commands longer than ${PATTERN_BYTES} bytes: the rule would be unreadable`, byHand: true })
    : accepted(pattern);
}

export function linesIn(values: RuleValues, place: string): readonly CommandLine[] {
  return (values[place] ?? []).flatMap((value) => (value.kind === "command" ? [value.line] : []));
}

function wholeCommands({ commands }: CommandLine): readonly FoundCommand[] {
  return commands.filter(({ isWhole }) => isWhole);
}

/**
 * The words of a command up to the first that varied among recorded commands of the same kind. If that is later, up to
 * its last option; `*` for the rest. If none varied, exactly this command.
 */
function patternOfCommand(command: FoundCommand, past: readonly FoundCommand[]): Result<string, NoRule> {
  if (command.barrier !== null) return refused(notTakenIn(command.barrier));
  const { words } = command;
  const program = words[0]?.text ?? "";
  const isInterpreter = INTERPRETERS.test(program);
  const fixed = isInterpreter || WITH_COMMANDS.has(program) ? 2 : 1;
  const varied = past
    .filter((other) => sharedWords(command, other) >= Math.min(fixed, words.length))
    .map((other) => (isSame(command, other) ? words.length : sharedWords(command, other)));
  // Options are named, even if a rule would not need them: readers of the rule see them.
  const named = words.findLastIndex(({ text, mustBeNamed }) => mustBeNamed !== null || /^-./.test(text)) + 1;
  const code = isInterpreter ? words.findLastIndex(({ text }) => CODE_OPTIONS.test(text)) + 2 : 0;
  const stays = Math.min(words.length, Math.max(named, code, ...(varied.length === 0 ? [words.length] : [Math.min(...varied)])));
  const isExact = (isInterpreter && stays === words.length) || varied.every((shared) => shared === words.length);
  const patterns: string[] = [];
  for (const { text, isOpen } of words.slice(0, isExact ? words.length : stays)) {
    const pattern = isOpen ? null : patternOfWord(text);
    if (pattern === null)
      return refused({ reason: `contains the word ${JSON.stringify(text)}, which a pattern cannot express`, byHand: false });
    patterns.push(pattern);
  }
  return accepted([...patterns, ...(isExact ? [] : ["*"])].join(" "));
}

function notTakenIn({ reason }: Trouble): NoRule {
  return { reason: `contains a part that no rule can match: ${reason}`, byHand: false };
}

function sharedWords(one: FoundCommand, other: FoundCommand): number {
  const different = one.words.findIndex(({ text }, index) => other.words[index]?.text !== text);
  return different < 0 ? one.words.length : different;
}

function isSame(one: FoundCommand, other: FoundCommand): boolean {
  return one.words.length === other.words.length && sharedWords(one, other) === one.words.length;
}
