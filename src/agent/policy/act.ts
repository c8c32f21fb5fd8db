import type { FoundCommand, Trouble } from "../bash/command-line.ts";
import type { Access } from "../workspace/workspace.ts";
import type { HostRule, Host } from "./hosts/host-rule.ts";
import type { PolicyCall, Consideration, Verdict } from "./permission.ts";
import type { NamedLine, RuleValue } from "./rule-values.ts";
import { isOfCommands, type Rule } from "./rule.ts";

/**
 * Something that an agent would do, as far as permissions tell it apart. A call is a list of acts, each with the place of the input from
 * which it comes. Opening a file and connecting to a host are acts of programs and tools that run already.
 */
export type Act =
  /** A call that names no file, search or command. */
  | (OfCall & { readonly kind: "use" })
  | (Carried & { readonly kind: "file"; readonly place: string; readonly file: ValueOf<"file"> })
  | (Carried & { readonly kind: "search"; readonly place: string; readonly search: ValueOf<"search"> })
  | (Carried & {
      readonly kind: "command";
      readonly line: NamedLine;
      readonly command: FoundCommand;
      /** The command that the line runs: itself, or the one in which it was found. Null if it lies in a part that cannot be read. */
      readonly whole: FoundCommand | null;
    })
  | (Carried & {
      readonly kind: "unproven";
      readonly line: NamedLine;
      readonly trouble: Trouble;
      /** True if commands may be in it that are not among the acts. */
      readonly hides: boolean;
    })
  | { readonly kind: "open"; readonly names: readonly string[]; readonly access: Access }
  | { readonly kind: "connect"; readonly host: Host };

export type ActOf<Kind extends Act["kind"]> = Extract<Act, { readonly kind: Kind }>;

export const ACTS_OF_CALLS = ["use", "file", "search", "command", "unproven"] as const;
export type CallAct = ActOf<(typeof ACTS_OF_CALLS)[number]>;

type OfCall = { readonly call: PolicyCall };

/** `isCarried`: another act of the call stands for it, such as the command that runs it. Rules may close it or ask about it, and it asks for nothing itself. */
type Carried = OfCall & { readonly isCarried: boolean };

type ValueOf<Kind extends RuleValue["kind"]> = Extract<RuleValue, { readonly kind: Kind }>;

/** The decision of a row on an act. */
export type Decision = {
  readonly verdict: Verdict;
  readonly decidedBy: string;
  readonly place: string;
  readonly reason: string;
  /** The rule that decided, and the person who stored it; null if none did. */
  readonly rule: DecidingRule | null;
  /** The parts of the act's command line that it speaks of, each with a reason of its own. */
  readonly parts: readonly Trouble[];
};

export type DecidingRule = {
  readonly source: string;
  readonly place: string;
  /** The place of the rule in its list, from 0. */
  readonly index: number;
  /** True for a rule about command lines, which takes in single commands. */
  readonly isOfCommands: boolean;
  readonly stored: { readonly id: string; readonly createdBy: string } | null;
};

/** The decision that another act of the call answers for this one. */
export const CARRIED = "carried";

/** The answer of a row: the rules and lists of it that say nothing of the act, and its decision, if it has one. */
export type Said = { readonly passed: () => readonly Consideration[]; readonly decision: Decision | typeof CARRIED | null };

const none = (): readonly Consideration[] => [];

export const NOTHING: Said = { passed: none, decision: null };

export const ANSWERED: Said = { passed: none, decision: CARRIED };

export function passed(rule: string, place: string): Said {
  return { passed: () => [{ rule, place, verdict: "no match" }], decision: null };
}

export type NamedRule = Rule | HostRule;

export function decided(
  verdict: Verdict,
  decidedBy: string,
  place: string,
  reason: string,
  rule: DecidingRule | null = null,
  parts: readonly Trouble[] = [],
): Decision {
  return { verdict, decidedBy, place, reason, parts, rule };
}

/** A row that decides at once. */
export function says(...decision: Parameters<typeof decided>): Said {
  return { passed: none, decision: decided(...decision) };
}

export function decidingRule(rule: NamedRule, index: number, stored: DecidingRule["stored"] = null): DecidingRule {
  const { source, place } = rule;
  return { source, place, index, stored, isOfCommands: "conditions" in rule && isOfCommands(rule) };
}

/** The first of the rules that matches decides; those before it that speak of the act's tool, or of hosts, say nothing. */
export function firstRule<Each extends NamedRule>(
  list: "deny" | "allow" | "ask",
  rules: readonly Each[],
  act: Act,
  isMatch: (rule: Each) => boolean,
  decide: (rule: Each, index: number) => Decision,
): Said {
  const index = rules.findIndex(isMatch);
  const deciding = rules[index];
  const isSpokenOf = (rule: NamedRule): boolean => !("isForTool" in rule) || ("call" in act && rule.isForTool(act.call.name));
  const before = (): readonly Each[] => (deciding === undefined ? rules : rules.slice(0, index)).filter(isSpokenOf);
  return {
    passed: () => before().map((rule) => ({ rule: `${list} ${rule.source}`, place: rule.place, verdict: "no match" })),
    decision: deciding === undefined ? null : decide(deciding, index),
  };
}

/** A list of tools decides if it names the tool. */
export function named(
  names: readonly string[],
  list: string,
  place: string,
  tool: string,
  verdict: Verdict,
  reason: string,
  parts: () => readonly Trouble[] = () => [],
): Said {
  const index = names.indexOf(tool);
  if (index >= 0) return says(verdict, list, `${place}.${list}.${index}`, reason, null, parts());
  return names.length === 0 ? NOTHING : passed(list, `${place}.${list}`);
}
