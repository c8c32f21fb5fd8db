import type { Explanation, ExplainedPart } from "../permission.ts";
import { heldBack, sensitiveParts } from "./held-back.ts";
import { allowedCommands, reachesFiles, speaksOfCommand, type CommandScope, type CommandVerdict } from "./line-verdict.ts";
import { deniesPath } from "../rule.ts";

/** The most parts that are shown. */
const PARTS = 50;

/** The explanation with the parts of command lines that kept the call from being allowed, the first in its reason. */
export function withParts(explanation: Explanation, scope: CommandScope): Explanation {
  const { verdict } = explanation;
  if (verdict === "allow") return explanation;
  const found = verdict === "deny" ? deniedParts(scope) : askedParts(explanation, scope);
  const parts = distinct(found).slice(0, PARTS);
  const [first] = parts;
  if (first === undefined) return explanation;
  const where = `characters ${first.start + 1} to ${first.end} of ${first.parameter}`;
  const reason = explanation.reason.includes(first.reason) ? where : `${where}: ${first.reason}`;
  return { ...explanation, reason: `${explanation.reason} (${reason})`, parts };
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

/** The layers that asked, in their order, as far as lines are what they ask about. */
function askedParts({ decidedBy }: Explanation, scope: CommandScope): readonly CommandVerdict[] {
  const held = heldBack(scope);
  if (held.length > 0) return held;
  const sensitive = sensitiveParts(scope);
  if (sensitive.length > 0) return sensitive;
  const byRules = decidedBy.startsWith("ask ") ? partsOfRules(scope) : [];
  return byRules.length > 0 ? byRules : allowedCommands(scope).filter(({ verdict }) => verdict === "ask");
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

function distinct(parts: readonly CommandVerdict[]): readonly ExplainedPart[] {
  const known = new Map<string, ExplainedPart>();
  for (const { at, start, end, verdict, reason } of parts) {
    const key = `${at} ${start} ${end}`;
    if (verdict !== "allow" && !known.has(key)) known.set(key, { parameter: at, start, end, verdict, reason });
  }
  return [...known.values()];
}
