import type { CommandLine } from "../../bash/command-line.ts";
import { readCommandLine } from "../../bash/read-command-line.ts";
import { linesOf, type RuleValues } from "../../policy/rule-values.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";
import { Workspace } from "../../workspace/workspace.ts";
import type { MatchedCall, PastCalls } from "./past-calls.ts";

export type RuleProposal = { readonly rule: string; readonly past: PastCalls } & RuleExamples & RecordedExamples;

/** The ids of recorded calls that a rule matches, and of some that it does not, newest first. None for a rule about hosts. */
type RecordedExamples = { readonly matchingCalls: readonly string[]; readonly notMatchingCalls: readonly string[] };

/** Command lines that a rule matches, and some that it does not, for the person who stores it. */
type RuleExamples = {
  readonly matching: readonly string[];
  readonly notMatching: readonly string[];
  /** True if the rule matches every call of its tool. */
  readonly takesInAll: boolean;
};

const EXAMPLES = 3;
const WIDER = 3;
const DANGEROUS = ["rm -rf .", "git push"];
const OTHER_WORD = "other";
const NEAR = 2;
const OTHERS: readonly ((line: string) => string)[] = [
  (line) => `${line}; rm -rf .`,
  (line) => `${line} "$(curl example.org)"`,
  (line) => `PATH=. ${line}`,
  (line) => `sudo ${line}`,
];

/** The examples of a rule: the call's line, recorded lines, lines that begin alike, and others that a wide rule matches. */
export function ruleExamples(
  rule: Rule,
  tool: string,
  values: RuleValues,
  past: readonly Pick<MatchedCall, "values" | "isMatch">[],
): RuleExamples {
  const own = { values, isMatch: ruleMatches(rule, tool, values, "covers") };
  const recorded = [own, ...past].flatMap(({ values: each, isMatch }) =>
    linesOf(each).map(({ line }) => ({ text: line.text, isMatch })),
  );
  const [first] = linesOf(values);
  const takesIn = (text: string): boolean =>
    first !== undefined && ruleMatches(rule, tool, { ...values, [first.parameter]: lineValue(text) }, "covers");
  const made = first === undefined ? [] : OTHERS.map((other) => other(first.line.text));
  // The widest first: they show what a rule lets run.
  const wider = first === undefined ? [] : [...DANGEROUS, ...made, ...otherwise(first.line)];
  // The nearest first: they show what a rule does not let run.
  const near =
    first === undefined
      ? []
      : [`${first.line.text} ${OTHER_WORD}`, `${first.line.text} --${OTHER_WORD}`, ...otherwise(first.line).toReversed()];
  const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
  return {
    matching: distinct([
      ...distinct(recorded.flatMap(({ text, isMatch }) => (isMatch ? [text] : []))).slice(0, EXAMPLES),
      ...wider.filter(takesIn).slice(0, WIDER),
    ]),
    notMatching: distinct([
      ...near.filter((text) => !takesIn(text)).slice(0, NEAR),
      ...recorded.flatMap(({ text, isMatch }) => (isMatch ? [] : [text])).slice(0, EXAMPLES),
      ...made.filter((text) => !takesIn(text)),
    ]).slice(0, 2 * EXAMPLES),
    takesInAll: rule.conditions.length === 0,
  };
}

function otherwise({ commands, text }: CommandLine): readonly string[] {
  const [command] = commands;
  if (command === undefined) return [];
  const words = text.slice(command.start, command.end).split(" ");
  return words.map((_word, index) => [...words.slice(0, index), OTHER_WORD].join(" "));
}

function lineValue(text: string): RuleValues[string] {
  return [
    { kind: "command", line: readCommandLine(text, { workspace: new Workspace("/nowhere"), folder: ".", environment: [] }) },
  ];
}
