import { speaksOf } from "../tools/path-places.ts";
import type { ActOf, CallAct } from "./act.ts";
import { allowsCommand, reachesFiles, speaksOfCommand, type CommandScope } from "./commands/judged-command.ts";
import { conditionsHold, deniesPath, isOfCommands, ruleMatches, speaksOfValue, type Extent, type Rule } from "./rule.ts";

/** A rule that closes a path closes it whatever tool reaches it; a search leaves out what it closes. */
export function denies(rule: Rule, act: CallAct | ActOf<"open">): boolean {
  switch (act.kind) {
    case "open":
      return deniesPath(rule, act.names, act.access);
    case "file":
      return (
        deniesPath(rule, act.file.names, act.file.access) ||
        speaksOfAct(rule, act, rule.deniedPath === null ? "reaches" : "names")
      );
    case "command":
      return (
        act.command.files.some(({ names, access }) => deniesPath(rule, names, access)) ||
        (rule.deniedPath === null && speaksOfCommand(rule, act) === "yes")
      );
    case "use":
    case "search":
    case "unproven":
      return speaksOfAct(rule, act, rule.deniedPath === null ? "reaches" : "names");
  }
}

/** True if a rule allows an act. One for a sensitive act must name its path. */
export function allows(rule: Rule, act: CallAct, scope: CommandScope, isSensitive: boolean): boolean {
  if (isOfCommands(rule)) return act.kind === "command" && allowsCommand(scope, rule, act);
  const namesPath = act.kind === "file" && rule.conditions.some(({ parameter }) => speaksOf(parameter, act.place));
  return (!isSensitive || namesPath) && speaksOfAct(rule, act, "covers");
}

/** True if a rule asks about an act. */
export function asks(rule: Rule, act: CallAct): boolean {
  if (act.kind !== "command") return speaksOfAct(rule, act, "reaches");
  return speaksOfCommand(rule, act) === "yes" || reachesFiles(rule, act.command);
}

/** True if a rule speaks of an act by its tool and the values of its call. */
function speaksOfAct(rule: Rule, act: CallAct, extent: Extent): boolean {
  const { name, values } = act.call;
  switch (act.kind) {
    case "file":
      return speaksOfValue(rule, name, values, extent, act.place, act.file);
    case "search":
      return speaksOfValue(rule, name, values, extent, act.place, act.search);
    case "use":
      return ruleMatches(rule, name, values, extent);
    case "command":
    case "unproven":
      return (
        rule.isForTool(name) &&
        rule.conditions.every(({ command }) => command === null) &&
        conditionsHold(rule, values, extent, () => true)
      );
  }
}
