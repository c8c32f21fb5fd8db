import { filesOf } from "../../bash/command-line.ts";
import { type Rule } from "../../policy/rule.ts";
import { parseRule } from "../../policy/parse-rule.ts";
import { linesOf, type RuleValues } from "../../policy/rule-values.ts";
import type { Tool } from "../../tools/tool.ts";

/** A name that needs no escape in a pattern. */
const PLAIN_NAME = /^[\w./-]+$/;

/**
 * The allow rules for all files that a call's lines write by redirection. Empty if there are none, or if a name has no
 * exact rule.
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
