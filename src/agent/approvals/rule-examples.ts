import { readCommandLine } from "../policy/commands/read-command-line.ts";
import { ruleMatches, type Rule } from "../policy/rule.ts";
import { linesOf, type RuleValues } from "../policy/rule-values.ts";
import { Workspace } from "../workspace/workspace.ts";

/** Command lines that a rule takes in, and some that it does not, for the person who stores it. */
export type RuleExamples = { readonly matching: readonly string[]; readonly notMatching: readonly string[] };

const EXAMPLES = 3;
/** Ways in which a line becomes another one. */
const OTHERS: readonly ((line: string) => string)[] = [
  (line) => `${line}; rm -rf .`,
  (line) => `${line} "$(curl example.org)"`,
  (line) => `PATH=. ${line}`,
  (line) => `sudo ${line}`,
];

/** The examples of a rule: the call's line and recorded ones, and lines that begin as the call's does. */
export function ruleExamples(rule: Rule, tool: string, values: RuleValues, past: readonly RuleValues[]): RuleExamples {
  const recorded = [values, ...past].flatMap((each) =>
    linesOf(each).map(({ line }) => ({ text: line.text, isMatch: ruleMatches(rule, tool, each, "covers") })),
  );
  const [first] = linesOf(values);
  const made = first === undefined ? [] : OTHERS.map((other) => ({ parameter: first.parameter, text: other(first.line.text) }));
  const unmatched = made.filter(
    ({ parameter, text }) => !ruleMatches(rule, tool, { ...values, [parameter]: lineValue(text) }, "covers"),
  );
  const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
  return {
    matching: distinct(recorded.flatMap(({ text, isMatch }) => (isMatch ? [text] : []))).slice(0, EXAMPLES),
    notMatching: distinct([
      ...recorded.flatMap(({ text, isMatch }) => (isMatch ? [] : [text])).slice(0, EXAMPLES),
      ...unmatched.map(({ text }) => text),
    ]).slice(0, 2 * EXAMPLES),
  };
}

/** A line as rules see it in a folder that is not there: an example names no file. */
function lineValue(text: string): RuleValues[string] {
  return [
    { kind: "command", line: readCommandLine(text, { workspace: new Workspace("/nowhere"), folder: ".", environment: [] }) },
  ];
}
