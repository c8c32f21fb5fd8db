import { speaksOf } from "../tools/path-places.ts";
import type { ActOf, CallAct } from "./act.ts";
import { allowsCommand, reachesFiles, runsAsReading, speaksOfCommand, type CommandScope } from "./commands/judged-command.ts";
import type { PolicyCall } from "./permission.ts";
import { conditionsHold, deniesPath, isOfCommands, ruleMatches, valueHolds, type Condition, type Rule } from "./rule.ts";
import { linesOf, valuesOf, writesItself } from "./rule-values.ts";

/**
 * The answers of rules to the acts of one call, judged by one permission. A deny or ask rule speaks of the call as a whole: one matching
 * value for each of its conditions binds all acts. An allow rule takes in acts one by one. An answer that is the same for several acts is kept.
 */
export class RuleMatches {
  readonly #speaking = new Map<Rule, boolean>();
  /** By place: true for a rule whose conditions hold but for those on the files and searches of the place. */
  readonly #beside = new Map<string, Map<Rule, boolean>>();
  #areTakenIn: boolean | null = null;
  #facts: { readonly takesLines: boolean; readonly writesItself: boolean } | null = null;

  /** A rule that closes a path closes it whatever tool reaches it; a search leaves out what it closes. */
  denies(rule: Rule, act: CallAct | ActOf<"open">): boolean {
    if (act.kind === "open") return deniesPath(rule, act.names, act.access);
    const files = act.kind === "file" ? [act.file] : act.kind === "command" ? act.command.files : [];
    const { name, values } = act.call;
    return (
      files.some(({ names, access }) => deniesPath(rule, names, access)) ||
      kept(this.#speaking, rule, () => ruleMatches(rule, name, values, rule.deniedPath === null ? "reaches" : "names"))
    );
  }

  asks(rule: Rule, { call: { name, values } }: CallAct): boolean {
    const commands = (): boolean => linesOf(values).some(({ line }) => line.commands.some((each) => reachesFiles(rule, each)));
    return kept(this.#speaking, rule, () => ruleMatches(rule, name, values, "reaches") || commands());
  }

  /** One for a sensitive act must name its path. */
  allows(rule: Rule, act: CallAct, scope: CommandScope, isSensitive: boolean): boolean {
    if (isOfCommands(rule)) return act.kind === "command" && allowsCommand(scope, rule, act);
    if (act.kind !== "file" && act.kind !== "search")
      return !isSensitive && ruleMatches(rule, act.call.name, act.call.values, "covers");
    const ofPlace = rule.conditions.filter(({ parameter }) => speaksOf(parameter, act.place));
    const value = act.kind === "file" ? act.file : act.search;
    return (
      (!isSensitive || ofPlace.length > 0) &&
      this.#holdsBeside(rule, act.call, act.place) &&
      ofPlace.every((condition) => valueHolds(condition, value, "covers"))
    );
  }

  /** True if rules allow commands of a call's lines, and all of its other commands only read. */
  areTakenIn(call: PolicyCall, scope: CommandScope): boolean {
    return (this.#areTakenIn ??= areTakenIn(call, scope));
  }

  takesLines(call: PolicyCall): boolean {
    return this.#factsOf(call).takesLines;
  }

  /** True if the call names a file that it writes itself, and not by a command of its lines. */
  writesItself(call: PolicyCall): boolean {
    return this.#factsOf(call).writesItself;
  }

  #factsOf({ values }: PolicyCall) {
    return (this.#facts ??= { takesLines: linesOf(values).length > 0, writesItself: writesItself(values) });
  }

  #holdsBeside(rule: Rule, { name, values }: PolicyCall, place: string): boolean {
    const ofPlace = this.#beside.get(place) ?? new Map<Rule, boolean>();
    this.#beside.set(place, ofPlace);
    const isOfPlace = ({ parameter }: Condition): boolean => speaksOf(parameter, place);
    return kept(
      ofPlace,
      rule,
      () =>
        rule.isForTool(name) &&
        conditionsHold(rule, values, "covers", (condition) => !isOfPlace(condition)) &&
        // A text in such a place is no act of its own.
        rule.conditions.filter(isOfPlace).every((condition) =>
          valuesOf(values, condition.parameter)
            .filter(({ kind }) => kind === "text")
            .every((value) => valueHolds(condition, value, "covers")),
        ),
    );
  }
}

function areTakenIn(call: PolicyCall, scope: CommandScope): boolean {
  const lines = linesOf(call.values);
  if (lines.some(({ line }) => line.trouble !== null || line.hidden !== null)) return false;
  const rules = [...scope.permission.allow, ...scope.stored].filter(isOfCommands);
  let isAnyByRule = false;
  for (const line of lines)
    for (const command of line.line.commands) {
      if (!command.isWhole) continue;
      const act = { kind: "command", call, line, command, whole: command, isCarried: false } as const;
      const isByRule = rules.some((rule) => allowsCommand(scope, rule, act));
      if (!isByRule && !runsAsReading(scope, act)) return false;
      isAnyByRule ||= isByRule;
    }
  return isAnyByRule;
}

/** True if a rule speaks of a command by itself: of all calls of its tool, of its words, or of its files. */
export function marksCommand(rule: Rule, act: ActOf<"command">): boolean {
  const isOfAll = rule.conditions.length === 0 && rule.isForTool(act.call.name);
  return isOfAll || reachesFiles(rule, act.command) || (isOfCommands(rule) && speaksOfCommand(rule, act) === "yes");
}

function kept(known: Map<Rule, boolean>, rule: Rule, find: () => boolean): boolean {
  const found = known.get(rule) ?? find();
  known.set(rule, found);
  return found;
}
