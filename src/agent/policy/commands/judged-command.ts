import { shown } from "../../bash/command-form.ts";
import type { FoundCommand, FoundSearch, Span, Trouble } from "../../bash/command-line.ts";
import {
  coversCommand,
  touchesCommand,
  unnamedWord,
  wordBehind,
  type CommandPattern,
  type Touch,
} from "../../bash/command-pattern.ts";
import { SECRET_OPERAND } from "../../bash/known-words.ts";
import { speaksOf } from "../../tools/path-places.ts";
import type { ActOf } from "../act.ts";
import type { Permission, PolicyBox, PolicyCall, StoredRule } from "../permission.ts";
import { pathRules, conditionsHold, deniesPath, isWithin, type Condition, type Rule } from "../rule.ts";
import { closedSearch, closedSecret, isSecretFile, mayWrite, searchReason } from "./secrets.ts";

/** All by which one permission judges commands. */
export type CommandScope = {
  readonly permission: Permission;
  readonly stored: readonly StoredRule[];
  /** The box in which commands run, which closes files itself; null for none. */
  readonly box: PolicyBox | null;
};

type CommandAct = ActOf<"command">;

/** True if an allow rule takes in the command that a line runs: each of its words, the folders that it searches and the files to which it redirects. */
export function allowsCommand(scope: CommandScope, rule: Rule, { call, line, whole }: CommandAct): boolean {
  return (
    whole !== null &&
    rule.isForTool(call.name) &&
    spokenPatterns(rule, line.parameter).some((pattern) => coversCommand(pattern, withOpened(scope, whole))) &&
    conditionsHold(rule, call.values, "covers", isOfNoCommand) &&
    isFreeOtherwise(scope, whole)
  );
}

/** True if the template lets commands run that only read, and nothing asks for this one. */
export function runsAsReading(scope: CommandScope, act: CommandAct): boolean {
  const { permission } = scope;
  const { command } = act;
  return (
    permission.readOnlyCommands &&
    command.effect === "reads" &&
    command.trouble === null &&
    command.barrier === null &&
    command.repository?.reason == null &&
    closedSecret(permission, command) === undefined &&
    isFreeOtherwise(scope, command) &&
    !permission.ask.some((rule) => speaksOfCommand(rule, act) !== "no" || reachesFiles(rule, command))
  );
}

/** The answer of a rule about all calls of a tool, or about command lines, to a command. */
export function speaksOfCommand(rule: Rule, { call, line, command }: CommandAct): Touch {
  if (!rule.isForTool(call.name) || !conditionsHold(rule, call.values, "reaches", isOfNoCommand)) return "no";
  if (rule.conditions.length === 0) return "yes";
  const touches = new Set(spokenPatterns(rule, line.parameter).map((pattern) => touchesCommand(pattern, command)));
  return touches.has("yes") ? "yes" : touches.has("maybe") ? "maybe" : "no";
}

/** True if a rule about a path speaks of a file that a command names, or could come upon. */
export function reachesFiles(rule: Rule, { files, searches }: FoundCommand): boolean {
  if (rule.deniedPath === null) return false;
  return (
    files.some(({ names, access }) => deniesPath(rule, names, access)) || searches.some((search) => reachesSearch(rule, search))
  );
}

/** Why nothing allows a command. */
export function whyAsked(scope: CommandScope, act: CommandAct): Trouble {
  const { permission } = scope;
  const { command } = act;
  const { start, end } = command;
  const secret = closedSecret(permission, command);
  if (secret !== undefined)
    return { start: secret.start, end: secret.end, reason: `${secret.names.at(-1)} mostly holds secrets` };
  const search = closedSearch(permission, command);
  if (search !== undefined) return { start: search.start, end: search.end, reason: searchReason(permission, search) };
  const redirect = command.files.find((file) => file.isRedirect && file.access === "write" && !mayWrite(permission, file.names));
  if (redirect !== undefined)
    return {
      start: redirect.start,
      end: redirect.end,
      reason: `it writes ${redirect.names.at(-1)}, and no allow rule names that file`,
    };
  // The row of a reader names the word itself.
  const unnamed = command.trouble === null || command.effect !== "reads" ? unnamedReason(scope, act) : null;
  if (unnamed !== null) return { start, end, reason: unnamed };
  if (command.trouble !== null) return command.trouble;
  if (command.repository?.reason != null) return { start, end, reason: command.repository.reason };
  return { start, end, reason: command.effect === "writes" ? "it changes files, and no rule allows it" : "no rule allows it" };
}

/** The word for which a rule does not take a command in, though it takes in the words before it; null if there is no such rule. */
function unnamedReason({ permission, stored }: CommandScope, { call, line, command }: CommandAct): string | null {
  const rules = commandRules([...permission.allow, ...stored], call)
    .filter((rule) => conditionsHold(rule, call.values, "covers", isOfNoCommand))
    .flatMap((rule) => spokenPatterns(rule, line.parameter).map((pattern) => ({ rule, pattern })));
  for (const { rule, pattern } of rules) {
    const word = unnamedWord(pattern, command);
    if (word !== undefined) return `${shown(word)} must stand in the rule ${rule.source}: ${word.mustBeNamed}`;
  }
  for (const { rule, pattern } of rules) {
    const word = wordBehind(pattern, command);
    if (word !== undefined) return `the rule ${rule.source} ends before ${shown(word)}: it has no " *" for more words`;
  }
  return null;
}

/** The command, in which files with secrets are words as others if allow rules name all of them by their paths. */
function withOpened({ permission }: CommandScope, command: FoundCommand): FoundCommand {
  if (!command.files.some(isSecretFile) || closedSecret(permission, command) !== undefined) return command;
  return {
    ...command,
    words: command.words.map((word) => (word.mustBeNamed === SECRET_OPERAND ? { ...word, mustBeNamed: null } : word)),
  };
}

/** True if the files that a command opens besides its words are allowed, too. */
function isFreeOtherwise({ permission, box }: CommandScope, command: FoundCommand): boolean {
  if (box === null && closedSearch(permission, command) !== undefined) return false;
  const redirects = command.files.filter(({ isRedirect }) => isRedirect);
  return (
    closedSecret(permission, { ...command, files: redirects }) === undefined &&
    redirects.every(({ access, names }) => access === "read" || mayWrite(permission, names))
  );
}

function isOfNoCommand({ command }: Condition): boolean {
  return command === null;
}

/** A part of a line that is asked about, whatever allow rules say; `rule` is the deny or ask rule that it could evade. */
export type HeldBack = Trouble & { readonly rule: Rule | null };

/**
 * The parts of a command that are asked about whatever allow rules say, since a deny rule cannot be held otherwise: the command may be
 * one that it forbids, or may read a file that it closes. In a box the files are closed by the box, but not the copies that git has kept of them,
 * and git would record covered files as empty.
 */
export function heldBack(scope: CommandScope, act: ActOf<"command">): readonly HeldBack[] {
  const { permission, box } = scope;
  const { call, command } = act;
  const named = [...commandRules(permission.deny, call), ...commandRules(permission.ask, call)];
  const likely = named.find((rule) => speaksOfCommand(rule, act) === "maybe");
  const maybe = likely === undefined ? [] : [held(command, `only the shell knows whether ${likely.source} speaks of it`, likely)];
  const closing = pathRules(permission.deny);
  const [first] = closing;
  const recorded = command.records?.reason == null ? [] : [held(command.records, command.records.reason, null)];
  if (box !== null) return [...maybe, ...command.searches.flatMap((search) => keptBy(closing, search)), ...recorded];
  if (first === undefined) return maybe;
  const { trouble } = command;
  const unproven = command.isWhole && trouble !== null ? [unprovenFor(first, trouble)] : [];
  return [...maybe, ...unproven, ...command.searches.flatMap((search) => deniedIn(closing, search))];
}

/** The same of a part that cannot be read: a command of which a rule speaks may hide in it, or a file that a rule closes. */
export function unprovenHeldBack(
  { permission, box }: CommandScope,
  { call, trouble, hides, isCarried }: ActOf<"unproven">,
): readonly HeldBack[] {
  const [named] = [...commandRules(permission.deny, call), ...commandRules(permission.ask, call)];
  const [closing] = pathRules(permission.deny);
  const hidden =
    named === undefined || !hides ? [] : [held(trouble, `${trouble.reason}, and ${named.source} could speak of it`, named)];
  return closing === undefined || isCarried || box !== null ? hidden : [...hidden, unprovenFor(closing, trouble)];
}

function held({ start, end }: Span, reason: string, rule: Rule | null): HeldBack {
  return { start, end, reason, rule };
}

function unprovenFor(rule: Rule, trouble: Trouble): HeldBack {
  return held(trouble, `${trouble.reason}, and ${rule.source} closes files to it`, rule);
}

/** The file that a rule closes and the repository of a search tracks: a box does not cover its copies. */
function keptBy(rules: readonly Rule[], search: FoundSearch): readonly HeldBack[] {
  const kept = search.history?.find((each) => rules.some(({ source }) => source === each.rule));
  const rule = rules.find(({ source }) => source === kept?.rule);
  if (kept === undefined || rule === undefined) return [];
  return [held(search, `the repository tracks ${kept.name}, which ${rule.source} closes`, rule)];
}

/** The first rule that closes something in the folder of a search, as far as it was looked at. */
function deniedIn(rules: readonly Rule[], search: FoundSearch): readonly HeldBack[] {
  const { content } = search;
  for (const rule of rules) {
    const found = content?.denied.find((each) => each.rule === rule.source);
    if (found !== undefined) return [held(search, `${found.name}, which lies in it, is closed by ${rule.source}`, rule)];
    // What is moved, or gets another name, takes along what a rule closes later.
    const isLater = search.access === "write" && closesBelow(rule, search);
    if ((content?.clear.includes(rule.source) === true && !isLater) || !reachesSearch(rule, search)) continue;
    const reason = isLater
      ? `what may come to lie in it is closed by ${rule.source}`
      : search.history === null
        ? `what lies in it may be closed by ${rule.source}, and not all of it was looked at`
        : `commits may have what ${rule.source} closes, also of files that lie here no longer`;
    return [held(search, reason, rule)];
  }
  return [];
}

/** The rules that speak of command lines of the call's tool. */
function commandRules<Each extends Rule>(rules: readonly Each[], { name }: PolicyCall): readonly Each[] {
  return rules.filter((rule) => rule.isForTool(name) && rule.conditions.some(({ command }) => command !== null));
}

/** The patterns by which a rule speaks of the lines of a parameter. */
function spokenPatterns({ conditions }: Rule, parameter: string): readonly CommandPattern[] {
  return conditions.flatMap(({ parameter: named, command }) => (command !== null && speaksOf(named, parameter) ? [command] : []));
}

/** True if a rule about a path names, from the root, what lies in the folder of a search, or would lie there. */
function closesBelow({ conditions }: Rule, { names }: FoundSearch): boolean {
  const folders = conditions[0]?.path?.folders ?? [];
  return names.some((name) => folders.some((folder) => folder !== "." && isWithin(name, folder)));
}

/** True if a search could come upon what a rule about a path speaks of. */
function reachesSearch({ deniedPath, conditions }: Rule, { names, access }: FoundSearch): boolean {
  if (deniedPath === null || (access === "read" && deniedPath.closes === "writing")) return false;
  if (names.some(deniedPath.isMatch) || names.some(deniedPath.isNamed)) return true;
  const folders = conditions[0]?.path?.folders ?? [];
  return names.some((name) => folders.some((folder) => isWithin(name, folder) || isWithin(folder, name)));
}
