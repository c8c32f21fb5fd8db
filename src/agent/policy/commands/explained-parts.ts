import { isStricter, type Explanation, type ExplainedPart } from "../permission.ts";
import type { NamedLine } from "../rule-values.ts";
import { heldBack, sensitiveParts } from "./held-back.ts";
import { allowedCommands, reachesFiles, speaksOfCommand, type CommandScope, type CommandVerdict } from "./line-verdict.ts";
import { deniesPath } from "../rule.ts";

/** The most parts that are shown. */
const PARTS = 50;

/** The fate of commands that no rule takes in, that are not held back and name nothing sensitive: the mode and the lists of tools say it. */
export type Rest = "runs" | "runs, but for ask rules" | "is asked about";

/** The explanation with the parts of command lines that kept the call from being allowed: the one that decided in its reason. */
export function withParts(explanation: Explanation, scope: CommandScope, rest: Rest): Explanation {
  const { verdict } = explanation;
  if (verdict === "allow") return explanation;
  const found = verdict === "deny" ? deniedParts(scope) : askedParts(scope, rest);
  const parts = distinct(
    found.flatMap(({ at, start, end, verdict: said, reason }) =>
      said === "allow" ? [] : [{ parameter: at, start, end, verdict: said, reason }],
    ),
  );
  const [first] = parts;
  if (first === undefined) return explanation;
  const where = `characters ${first.start + 1} to ${first.end} of ${first.parameter}`;
  const reason = explanation.reason.includes(first.reason) ? where : `${where}: ${first.reason}`;
  return { ...explanation, reason: `${explanation.reason} (${reason})`, parts: inOrder(parts, scope.lines) };
}

/** The stricter of the explanations of two permissions, with what both considered. If they say the same, it has the parts of both. */
export function stricter(one: Explanation, other: Explanation, lines: readonly NamedLine[]): Explanation {
  const deciding = isStricter(other.verdict, one.verdict) ? other : one;
  const both = one.verdict === other.verdict ? [...(one.parts ?? []), ...(other.parts ?? [])] : [];
  const parts = both.length === 0 ? {} : { parts: inOrder(distinct(both), lines) };
  return { ...deciding, ...parts, considered: [...one.considered, ...other.considered] };
}

/** The most commands whose rules are named. */
const NAMED = 20;

/** The commands that rules allow, each with its rule, in words. */
export function rulesOfCommands(verdicts: readonly CommandVerdict[]): string {
  const said = verdicts.flatMap(({ rule, at, start, end }) =>
    rule === null ? [] : [`characters ${start + 1} to ${end} of ${at} by ${rule.source}`],
  );
  return [...said.slice(0, NAMED), ...(said.length > NAMED ? [`and ${said.length - NAMED} more`] : [])].join("; ");
}

/** All parts about which a layer asks, in the order of the layers. What an allow rule takes in is not among them. */
function askedParts(scope: CommandScope, rest: Rest): readonly CommandVerdict[] {
  const verdicts = allowedCommands(scope);
  const allowed = verdicts.filter(({ verdict, rule }) => verdict === "allow" && rule !== null);
  const isLeft = ({ at, start, end }: CommandVerdict): boolean =>
    !allowed.some((command) => command.at === at && command.start <= start && end <= command.end);
  const sensitive = sensitiveParts(scope);
  const found = [
    ...heldBack(scope),
    ...sensitive.filter(isLeft),
    ...(rest === "runs" ? [] : partsOfRules(scope).filter(isLeft)),
    ...(rest === "is asked about" ? verdicts.filter(({ verdict }) => verdict === "ask") : []),
  ];
  return found.length > 0 ? found : sensitive;
}

function partsOfRules(scope: CommandScope): readonly CommandVerdict[] {
  const { permission, lines } = scope;
  return lines.flatMap(({ parameter, at, line }) =>
    line.commands.flatMap((command) => {
      const rule = permission.ask.find((each) => speaksOfCommand(each, scope, command) === "yes" || reachesFiles(each, command));
      const { start, end } = command;
      return rule === undefined
        ? []
        : [{ start, end, parameter, at, verdict: "ask", reason: `${rule.source} asks for it`, rule } as const];
    }),
  );
}

function deniedParts(scope: CommandScope): readonly CommandVerdict[] {
  const { permission, lines } = scope;
  return lines.flatMap(({ parameter, at, line }) =>
    line.commands.flatMap((command) => {
      const rule = permission.deny.find(
        (each) =>
          speaksOfCommand(each, scope, command) === "yes" ||
          command.files.some(({ names, access }) => deniesPath(each, names, access)),
      );
      const { start, end } = command;
      return rule === undefined
        ? []
        : [{ start, end, parameter, at, verdict: "deny", reason: `${rule.source} forbids it`, rule } as const];
    }),
  );
}

/** The first parts, each place once. */
function distinct(parts: readonly ExplainedPart[]): readonly ExplainedPart[] {
  const known = new Map<string, ExplainedPart>();
  for (const part of parts) {
    const key = `${part.parameter} ${part.start} ${part.end}`;
    if (!known.has(key)) known.set(key, part);
  }
  return [...known.values()].slice(0, PARTS);
}

/** The parts as they stand in the input: line by line, and from left to right. */
function inOrder(parts: readonly ExplainedPart[], lines: readonly NamedLine[]): readonly ExplainedPart[] {
  const line = ({ parameter }: ExplainedPart): number => lines.findIndex(({ at }) => at === parameter);
  return parts.toSorted((one, other) => line(one) - line(other) || one.start - other.start);
}
