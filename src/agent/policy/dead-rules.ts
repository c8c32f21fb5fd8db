import type { JsonObject } from "../../lib/json.ts";
import type { Tool } from "../tools/tool.ts";
import { MEMORY_TOOL } from "../tools/memory/memory.ts";
import { ROOT } from "../tools/memory/memory-path.ts";
import { alternativesOf } from "../workspace/glob.ts";
import { PathRefused, Workspace } from "../workspace/workspace.ts";
import type { CommandPattern } from "../bash/command-pattern.ts";
import type { Explanation, Permission, PolicyBox } from "./permission.ts";
import { judge } from "./judge.ts";
import { ruleMatches, type Condition, type Rule } from "./rule.ts";
import { isReading, linesOf, ruleValues, type RuleValues } from "./rule-values.ts";

/** A template, as far as its rules are judged. */
type RuledTemplate = { readonly permission: Permission; readonly box: PolicyBox | null };

/** A call that a rule takes in as its pattern stands. */
type Sample = { readonly tool: Tool; readonly text: string | null; readonly values: RuleValues };

/** What a policy says of a call that a rule takes in. */
type Judged = Omit<Sample, "values"> & { readonly said: Explanation };

/**
 * The allow rules of a template that let no call run, and its ask rules that ask about none, since something else decides first: each
 * found by calls that its own pattern spells, one of each tool. Also all rules about paths that no memory has. With the reason.
 */
export function deadRules({ permission, box }: RuledTemplate, tools: ReadonlyMap<string, Tool>): readonly string[] {
  const policy = { permission, bounds: [], stored: [], box };
  const judged = (rule: Rule, extent: "covers" | "reaches"): readonly Judged[] =>
    [...tools.values()]
      .flatMap((tool) => samplesOf(rule, tool))
      .filter(({ tool, values }) => ruleMatches(rule, tool.name, values, extent))
      .map(({ tool, text, values }) => {
        const said = judge({ agentId: "", name: tool.name, readOnly: isReading(tool, values), values }, policy);
        return { tool, text, said };
      });
  const dead = (rules: readonly Rule[], extent: "covers" | "reaches", isAlive: (said: Explanation) => boolean) =>
    rules.flatMap((rule) => {
      const [first, ...others] = judged(rule, extent);
      if (first === undefined || [first, ...others].some(({ said }) => isAlive(said))) return [];
      return [{ rule, ...first }];
    });
  return [
    ...outsideOfMemory(permission, tools),
    ...dead(permission.allow, "covers", ({ verdict }) => verdict === "allow").map(
      ({ rule, said, ...sample }) =>
        `${rule.place}: ${rule.source} lets nothing run: ${shown(sample)} ${said.verdict === "deny" ? "is denied" : "is asked about"}, since ${reasonOf(said)}.`,
    ),
    ...dead(permission.ask, "reaches", ({ verdict }) => verdict !== "allow").map(
      ({ rule, said, ...sample }) =>
        `${rule.place}: ${rule.source} asks about nothing: ${shown(sample)} runs, since ${reasonOf(said)}. What allows is asked before it: write it as deny, or name less in what allows.`,
    ),
  ];
}

/** Rules of the memory tool whose path no entry can have. */
function outsideOfMemory({ deny, allow, ask }: Permission, tools: ReadonlyMap<string, Tool>): readonly string[] {
  const isOfMemory = (rule: Rule): boolean => [...tools.keys()].every((name) => rule.isForTool(name) === (name === MEMORY_TOOL));
  return [...deny, ...allow, ...ask]
    .filter((rule) => isOfMemory(rule) && rule.conditions.some(isOutside))
    .map(({ place, source }) => `${place}: ${source} matches no path: paths of a memory begin with ${ROOT}/.`);
}

function isOutside({ parameter, pattern }: Condition): boolean {
  if (!/^(old_|new_)?path$/.test(parameter)) return false;
  return alternativesOf(pattern).every((alternative) => {
    const wildcard = alternative.search(/[*?[\\]/);
    if (wildcard < 0) return alternative !== ROOT && !alternative.startsWith(`${ROOT}/`);
    const begin = alternative.slice(0, wildcard);
    return !begin.startsWith(`${ROOT}/`) && !`${ROOT}/`.startsWith(begin);
  });
}

/** Why a call is judged so: what is said of its command, where it has one. */
function reasonOf({ parts, reason, place }: Explanation): string {
  const said = parts?.find((part) => part.reason !== null)?.reason ?? reason;
  return place === "built in" || said.includes(place) ? said : `${said} (${place})`;
}

function shown({ tool, text }: Omit<Sample, "values">): string {
  return text === null ? `a call of ${tool.name}` : `${tool.name} of \`${text}\``;
}

/** The calls of a tool that the pattern of a rule spells; none for a rule that speaks of other texts, or of more than one parameter. */
function samplesOf(rule: Rule, tool: Tool): readonly Sample[] {
  if (!rule.isForTool(tool.name)) return [];
  const [condition, ...others] = rule.conditions;
  if (condition === undefined) return sampleOf(tool, {}, null);
  if (others.length > 0) return [];
  return spelled(condition).flatMap((text) => sampleOf(tool, { [condition.parameter]: text }, text));
}

function sampleOf(tool: Tool, input: JsonObject, text: string | null): readonly Sample[] {
  try {
    const values = ruleValues(tool, input, new Workspace("/nowhere"));
    // A line that nobody can read is nobody's example.
    return linesOf(values).some(({ line }) => line.trouble !== null) ? [] : [{ tool, text, values }];
  } catch (error) {
    if (error instanceof PathRefused) return [];
    throw error;
  }
}

/**
 * The shortest texts of a pattern, one of each alternative, with a letter for each wildcard; of a command also with one word more, of
 * which ask rules speak as well. None of a pattern that is neither of a path nor of a command.
 */
function spelled({ path, command }: Condition): readonly string[] {
  if (command !== null) return commandsOf(command);
  return path === null ? [] : alternativesOf(path.source).map(withLetters);
}

function commandsOf({ alternatives }: CommandPattern): readonly string[] {
  return alternatives.flatMap((pattern) => {
    const words = pattern.flatMap((word) => (word.kind === "any" ? [] : [withLetters(word.text)]));
    return [words.join(" "), [...words, "x"].join(" ")];
  });
}

function withLetters(pattern: string): string {
  return pattern.replaceAll(/\*+|\?/g, "x");
}
