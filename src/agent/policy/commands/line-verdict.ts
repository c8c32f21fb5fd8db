import { isSecretPath } from "../../workspace/secret-files.ts";
import type { Permission, PolicyBox, PolicyCall, StoredRule, Verdict } from "../permission.ts";
import type { NamedLine } from "../rule-values.ts";
import { opensFile, readingRules } from "../opened-files.ts";
import { conditionsHold, deniesPath, type Rule } from "../rule.ts";
import type { Access } from "../../workspace/workspace.ts";
import {
  NAMED_SECRETS,
  type FoundCommand,
  type FoundFile,
  type FoundSearch,
  type Missed,
  type Span,
  type Trouble,
} from "../../bash/command-line.ts";
import { shown } from "../../bash/command-form.ts";
import { coversCommand, touchesCommand, unnamedWord, wordBehind, type Touch } from "../../bash/command-pattern.ts";
import { SECRET_OPERAND } from "../../bash/known-words.ts";
import { commandRules, pathRules, reachesSearch, spokenPatterns } from "./spoken-rules.ts";

/** The verdict on one command of a line, and why. */
export type CommandVerdict = Span & {
  /** The parameter that holds the line, and where in the input it stands. */
  readonly parameter: string;
  readonly at: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** The rule that decided; null if none did. */
  readonly rule: Rule | null;
};

/** All by which the commands of a call are judged. */
export type CommandScope = {
  readonly call: PolicyCall;
  readonly permission: Permission;
  readonly stored: readonly StoredRule[];
  /** The box in which the call runs, which closes files itself; null for none. */
  readonly box: PolicyBox | null;
  /** The command lines of the call. */
  readonly lines: readonly NamedLine[];
};

/** A command of a call that its line runs, with the allow rule that takes it in. */
type Judged = { readonly named: NamedLine; readonly command: FoundCommand; readonly rule: Rule | undefined };

/** The verdicts on the commands that the lines of a call run: by allow rules, and the setting for commands that only read. */
export function allowedCommands(scope: CommandScope): readonly CommandVerdict[] {
  const { permission, stored, call, lines } = scope;
  const first = lines.flatMap((named): readonly Judged[] =>
    named.line.commands
      .filter(({ isWhole }) => isWhole)
      .map((command) => ({
        named,
        command,
        rule: commandRules(permission.allow, call).find((rule) => allowsCommand(scope, rule, named.parameter, command)),
      })),
  );
  const left = first.filter(({ command, rule }) => rule === undefined && !runsAsReading(scope, command));
  // A call starts by one stored rule: that must take in all that is left, of all of its lines.
  const takenIn = commandRules(stored, call).map((rule) => ({
    rule,
    commands: left.flatMap(({ named, command }) => (allowsCommand(scope, rule, named.parameter, command) ? [command] : [])),
  }));
  const most = Math.max(0, ...takenIn.map(({ commands }) => commands.length));
  const best = takenIn.find(({ commands }) => commands.length === most && most > 0);
  const unjoined = (command: FoundCommand): string | null => {
    const another = takenIn.find(({ commands }) => commands.includes(command));
    if (best === undefined || another === undefined) return null;
    return `a call runs by one stored rule: ${best.rule.source} takes in another part, and ${another.rule.source} this one`;
  };
  return lines.flatMap((named) => {
    const said = (span: Span, verdict: Verdict, reason: string, rule: Rule | null = null): CommandVerdict => {
      const { start, end } = span;
      return { start, end, parameter: named.parameter, at: named.at, verdict, reason, rule };
    };
    const trouble = named.line.trouble ?? named.line.hidden;
    const troubled = trouble === null ? [] : [said(trouble, "ask", trouble.reason)];
    return troubled.concat(
      first
        .filter((each) => each.named === named)
        .map(({ command, rule }) => {
          const deciding = rule ?? (best?.commands.includes(command) === true ? best.rule : undefined);
          if (deciding !== undefined) return said(command, "allow", `the rule ${deciding.source} allows it`, deciding);
          if (!left.some((each) => each.command === command)) return said(command, "allow", "it only reads");
          const reason = unjoined(command);
          if (reason !== null) return said(command, "ask", reason);
          const why = whyAsked(scope, named.parameter, command);
          return said(why, "ask", why.reason);
        }),
    );
  });
}

/** Why nothing allows a command. */
function whyAsked(scope: CommandScope, parameter: string, command: FoundCommand): Trouble {
  const { start, end } = command;
  const secret = closedSecret(scope, command);
  if (secret !== undefined)
    return { start: secret.start, end: secret.end, reason: `${secret.names.at(-1)} mostly holds secrets` };
  const search = closedSearch(scope, command);
  if (search !== undefined) return { start: search.start, end: search.end, reason: searchReason(scope, search) };
  const redirect = command.files.find((file) => file.isRedirect && file.access === "write" && !mayWrite(scope, file.names));
  if (redirect !== undefined)
    return {
      start: redirect.start,
      end: redirect.end,
      reason: `it writes ${redirect.names.at(-1)}, and no allow rule names that file`,
    };
  // What the row of a reader says names the word itself.
  const unnamed = command.trouble === null || command.effect !== "reads" ? unnamedReason(scope, parameter, command) : null;
  if (unnamed !== null) return { start, end, reason: unnamed };
  if (command.trouble !== null) return command.trouble;
  if (command.repository?.reason != null) return { start, end, reason: command.repository.reason };
  return { start, end, reason: command.effect === "writes" ? "it changes files, and no rule allows it" : "no rule allows it" };
}

/** The word for which a rule does not take a command in, though it takes in what stands before it; null if there is no such rule. */
function unnamedReason({ permission, stored, call }: CommandScope, parameter: string, command: FoundCommand): string | null {
  const rules = commandRules([...permission.allow, ...stored], call)
    .filter((rule) => conditionsHold(rule, call.values, "covers", (condition) => condition.command === null))
    .flatMap((rule) => spokenPatterns(rule, parameter).map((pattern) => ({ rule, pattern })));
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

/** Why a search is asked about. */
export function searchReason(scope: CommandScope, { content, names, access, tells }: FoundSearch): string {
  const folder = names.at(-1) === "." ? "the workspace" : names.at(-1);
  const secrets = tells === "names" ? [] : (content?.secrets ?? []);
  const secret = secrets.find((name) => !isOpened(scope, [name], NEEDS[access]));
  if (content === null) return `nobody has looked at what lies in ${folder}`;
  if (secret !== undefined) return `${secret}, which lies in ${folder}, mostly holds secrets`;
  return missedReason(content.missed, folder ?? "the folder");
}

function missedReason(missed: Missed | undefined, folder: string): string {
  switch (missed) {
    case "entries":
      return `${folder} has more entries than are looked at`;
    case "link":
      return `${folder} has a link that leads out of the workspace`;
    case "name":
      return `${folder} has a folder whose name is not UTF-8`;
    case "outer repository":
      return "the repository begins outside of the workspace";
    case "tracked files":
      return `a repository in ${folder} tracks more files than are looked at, or does not say which`;
    case undefined:
      return `not all of ${folder} was looked at`;
  }
}

/** True if nothing that a search comes upon holds secrets. Names of the workspace are none, and links may lead to others. */
function isOpenSearch({ content, tells, follows }: FoundSearch): boolean {
  if (tells === "names" && !follows) return true;
  return content !== null && content.isWhole && (tells === "names" || content.secrets.length === 0);
}

function isSecretFile({ names }: FoundFile): boolean {
  return names.some(isSecretPath);
}

/** The accesses for which allow rules must name a file with secrets, in the folder of a search: what is changed may be moved. */
const NEEDS: Readonly<Record<Access, readonly Access[]>> = { read: ["read"], write: ["read", "write"] };
/** Commands that give a file another name, under which it can be read. */
const GIVES_NAME: ReadonlySet<string> = new Set(["mv", "cp"]);

/** True if allow rules name a file for these accesses by its path. */
function isOpened(scope: CommandScope, names: readonly string[], accesses: readonly Access[]): boolean {
  return accesses.every((access) =>
    access === "read" ? opensFile(readingRules(scope.permission.allow), names) : mayWrite(scope, names),
  );
}

/** The first file with secrets that a command names and no allow rule opens. */
export function closedSecret(scope: CommandScope, { files, words }: FoundCommand): FoundFile | undefined {
  const givesName = words.some(({ text }) => GIVES_NAME.has(text));
  return files.find(
    (file) =>
      isSecretFile(file) &&
      !isOpened(scope, file.names, file.access === "write" && !(givesName && !file.isRedirect) ? ["write"] : NEEDS[file.access]),
  );
}

/** The first search of a command that may come upon a file with secrets which no allow rule opens. */
export function closedSearch(scope: CommandScope, { searches }: FoundCommand): FoundSearch | undefined {
  return searches.find((search) => {
    if (isOpenSearch(search)) return false;
    const { content, access } = search;
    // Of more files only the first are known.
    const isKnown = content !== null && content.isWhole && content.secrets.length < NAMED_SECRETS;
    return !isKnown || !content.secrets.every((name) => isOpened(scope, [name], NEEDS[access]));
  });
}

/** True if an allow rule takes in a command: each of its words, what it searches and what it redirects. */
function allowsCommand(scope: CommandScope, rule: Rule, parameter: string, command: FoundCommand): boolean {
  const isNamed =
    spokenPatterns(rule, parameter).some((pattern) => coversCommand(pattern, withOpened(scope, command))) &&
    conditionsHold(rule, scope.call.values, "covers", (condition) => condition.command === null);
  return isNamed && isFreeOtherwise(scope, command);
}

/** The command, in which files with secrets are words as others if allow rules name all of them by their paths. */
function withOpened(scope: CommandScope, command: FoundCommand): FoundCommand {
  if (!command.files.some(isSecretFile) || closedSecret(scope, command) !== undefined) return command;
  return {
    ...command,
    words: command.words.map((word) => (word.mustBeNamed === SECRET_OPERAND ? { ...word, mustBeNamed: null } : word)),
  };
}

/** True if what a command opens besides its words is allowed, too. */
function isFreeOtherwise(scope: CommandScope, command: FoundCommand): boolean {
  if (scope.box === null && closedSearch(scope, command) !== undefined) return false;
  const redirects = command.files.filter(({ isRedirect }) => isRedirect);
  return (
    closedSecret(scope, { ...command, files: redirects }) === undefined &&
    redirects.every(({ access, names }) => access === "read" || mayWrite(scope, names))
  );
}

/** True if an allow rule lets the file be written. */
function mayWrite({ permission }: CommandScope, names: readonly string[]): boolean {
  return pathRules(permission.allow).some((rule) => rule.deniedPath?.mayWrite === true && names.every(rule.deniedPath.isMatch));
}

/** True if the template lets commands run that only read, and nothing asks for this one. */
function runsAsReading(scope: CommandScope, command: FoundCommand): boolean {
  const { permission } = scope;
  return (
    permission.readOnlyCommands &&
    command.effect === "reads" &&
    command.trouble === null &&
    command.barrier === null &&
    command.repository?.reason == null &&
    closedSecret(scope, command) === undefined &&
    isFreeOtherwise(scope, command) &&
    !permission.ask.some((rule) => speaksOfCommand(rule, scope, command) !== "no" || reachesFiles(rule, command))
  );
}

/** True if the table proves of all command lines of a call that they only read: files of the workspace, and none with secrets. */
export function onlyReads(lines: readonly NamedLine[]): boolean {
  return lines.every(
    ({ line: { trouble, hidden, commands } }) => trouble === null && hidden === null && commands.every(isReading),
  );
}

function isReading({ isWhole, effect, trouble, barrier, outside, files, searches }: FoundCommand): boolean {
  const isProven = isWhole && effect === "reads" && trouble === null && barrier === null && outside === null;
  return isProven && files.every((file) => file.access === "read" && !isSecretFile(file)) && searches.every(isOpenSearch);
}

/** The answer of a rule about command lines to a command, wherever it stands. */
export function speaksOfCommand(rule: Rule, { call, lines }: Pick<CommandScope, "call" | "lines">, command: FoundCommand): Touch {
  if (!rule.isForTool(call.name)) return "no";
  if (rule.conditions.length === 0) return "yes";
  const touches = lines
    .filter(({ line }) => line.commands.includes(command))
    .flatMap(({ parameter }) => spokenPatterns(rule, parameter).map((pattern) => touchesCommand(pattern, command)));
  if (touches.length === 0 || !conditionsHold(rule, call.values, "reaches", (condition) => condition.command === null))
    return "no";
  return touches.includes("yes") ? "yes" : touches.includes("maybe") ? "maybe" : "no";
}

/** True if a rule about a path speaks of a file that a command names, or could come upon. */
export function reachesFiles(rule: Rule, { files, searches }: FoundCommand): boolean {
  if (rule.deniedPath === null) return false;
  return (
    files.some(({ names, access }) => deniesPath(rule, names, access)) || searches.some((search) => reachesSearch(rule, search))
  );
}
