import { filesOf } from "../../bash/command-line.ts";
import { type Rule } from "../../policy/rule.ts";
import { parseRule } from "../../policy/parse-rule.ts";
import { linesOf, type RuleValues } from "../../policy/rule-values.ts";
import type { Tool } from "../../tools/tool.ts";

/** A name that stands in a pattern as it is. */
const PLAIN_NAME = /^[\w./-]+$/;

/**
 * The allow rules that let each file be written which the lines of a call write by a redirection. None if the lines write none,
 * or if a name needs more than itself in a rule.
 */
export function fileRules(values: RuleValues, tools: ReadonlyMap<string, Tool>): readonly Rule[] {
  const written = linesOf(values).flatMap(({ line }) =>
    filesOf(line).filter(({ isRedirect, access }) => isRedirect && access === "write"),
  );
  const names = [...new Set(written.flatMap((file) => file.names))];
  if (!names.every((name) => PLAIN_NAME.test(name))) return [];
  return names.flatMap((name) => {
    const rule = parseRule(`fs_write(path:/${name})`, "proposal", tools);
    return rule.ok ? [rule.value] : [];
  });
}
