import type { Rule } from "../rule.ts";
import type { CommandLine, FoundSearch, Span } from "../../bash/command-line.ts";
import {
  closedSearch,
  closedSecret,
  searchReason,
  speaksOfCommand,
  type CommandScope,
  type CommandVerdict,
} from "./line-verdict.ts";
import { closesBelow, commandRules, pathRules, reachesSearch } from "./spoken-rules.ts";

/**
 * The parts of a call's lines that are asked about whatever allow rules say, since a deny rule cannot be held otherwise: a
 * file that it closes may be read by what the table does not prove, a command that it forbids may be hidden. In a box the
 * files are closed by the box, but not what git has kept of them, and git would record what the box covers as empty.
 */
export function heldBack(scope: CommandScope): readonly CommandVerdict[] {
  return scope.lines.flatMap(({ parameter, at, line }) => {
    const asks = (span: Span, reason: string, rule: Rule | null): CommandVerdict => ({
      start: span.start,
      end: span.end,
      parameter,
      at,
      verdict: "ask",
      reason,
      rule,
    });
    const closed =
      scope.box !== null ? [...keptParts(scope, line, asks), ...recordedParts(line, asks)] : unprovenParts(scope, line, asks);
    return [...hiddenParts(scope, line, asks), ...closed];
  });
}

/** The layer of the policy to which a part belongs that is held back. No deny rule stands behind files that are only covered. */
export function heldBackBy({ rule }: CommandVerdict): string {
  return rule === null ? "covered files that git would record" : "command lines that deny rules cannot be held to";
}

type Asks = (span: Span, reason: string, rule: Rule | null) => CommandVerdict;

/** The parts that may be, or hide, a command that a deny or ask rule speaks of. */
function hiddenParts(scope: CommandScope, line: CommandLine, asks: Asks): readonly CommandVerdict[] {
  const { call, permission } = scope;
  const rules = [...commandRules(permission.deny, call), ...commandRules(permission.ask, call)];
  const [first] = rules;
  if (first === undefined) return [];
  const found = line.hidden ?? line.chosen;
  const hidden = found == null ? [] : [asks(found, `${found.reason}, and ${first.source} could speak of it`, first)];
  const maybe = line.commands.flatMap((command) => {
    const rule = rules.find((each) => speaksOfCommand(each, scope, command) === "maybe");
    return rule === undefined ? [] : [asks(command, `only the shell knows whether ${rule.source} speaks of it`, rule)];
  });
  return [...hidden, ...maybe];
}

/** The parts that may open a file which a deny rule closes. */
function unprovenParts({ permission: { deny } }: CommandScope, line: CommandLine, asks: Asks): readonly CommandVerdict[] {
  const rules = pathRules(deny);
  const [first] = rules;
  if (first === undefined) return [];
  const trouble = line.trouble ?? line.hidden;
  const closes = `and ${first.source} closes files to it`;
  return [
    ...(trouble === null ? [] : [asks(trouble, `${trouble.reason}, ${closes}`, first)]),
    ...line.commands.flatMap((command) => [
      ...(command.isWhole && command.trouble !== null
        ? [asks(command.trouble, `${command.trouble.reason}, ${closes}`, first)]
        : []),
      ...command.searches.flatMap((search) => {
        const found = deniedIn(rules, search);
        return found === null ? [] : [asks(search, found.reason, found.rule)];
      }),
    ]),
  ];
}

/** The parts that print what a repository has kept, and keeps, of a file which a deny rule closes: no box covers that. */
function keptParts({ permission: { deny } }: CommandScope, line: CommandLine, asks: Asks): readonly CommandVerdict[] {
  const rules = pathRules(deny);
  return line.commands.flatMap(({ searches }) =>
    searches.flatMap((search) => {
      const kept = search.history?.find((each) => rules.some(({ source }) => source === each.rule));
      const rule = rules.find(({ source }) => source === kept?.rule);
      return kept === undefined || rule === undefined
        ? []
        : [asks(search, `the repository tracks ${kept.name}, which ${rule.source} closes`, rule)];
    }),
  );
}

/** The parts by which git would record files as the box shows them. */
function recordedParts({ commands }: CommandLine, asks: Asks): readonly CommandVerdict[] {
  return commands.flatMap(({ records }) => (records?.reason == null ? [] : [asks(records, records.reason, null)]));
}

/** The deny rule that closes something in a folder, as far as it was looked at; null if none does. */
function deniedIn(rules: readonly Rule[], search: FoundSearch): { readonly reason: string; readonly rule: Rule } | null {
  const { content } = search;
  for (const rule of rules) {
    const found = content?.denied.find((each) => each.rule === rule.source);
    if (found !== undefined) return { rule, reason: `${found.name}, which lies in it, is closed by ${rule.source}` };
    // What is moved, or gets another name, takes along what a rule closes later.
    const isLater = search.access === "write" && closesBelow(rule, search);
    if ((content?.clear.includes(rule.source) === true && !isLater) || !reachesSearch(rule, search)) continue;
    const reason = isLater
      ? `what may come to lie in it is closed by ${rule.source}`
      : search.history === null
        ? `what lies in it may be closed by ${rule.source}, and not all of it was looked at`
        : `commits may have what ${rule.source} closes, also of files that lie here no longer`;
    return { rule, reason };
  }
  return null;
}

/** The parts of a call's lines of which every template asks, unless an allow rule names them: secrets, and paths out of the workspace. */
export function sensitiveParts(scope: CommandScope): readonly CommandVerdict[] {
  if (scope.box !== null) return [];
  return scope.lines.flatMap(({ parameter, at, line }) =>
    line.commands.flatMap((command) => {
      const { outside } = command;
      const secret = closedSecret(scope, command);
      const search = closedSearch(scope, command);
      const found =
        secret !== undefined
          ? { ...secret, reason: `${secret.names.at(-1)} mostly holds secrets, and no allow rule names it` }
          : search !== undefined
            ? { ...search, reason: searchReason(scope, search) }
            : outside;
      return found === null
        ? []
        : [{ start: found.start, end: found.end, parameter, at, verdict: "ask", reason: found.reason, rule: null } as const];
    }),
  );
}
