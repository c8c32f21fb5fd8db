import { isSecretPath } from "../workspace/secret-files.ts";
import type { CoverRule, CoverVerdict } from "../workspace/sandbox/covered-paths.ts";
import { judgeOpening } from "./judge.ts";
import { readingRules, type Rule } from "./rule.ts";
import type { Policy } from "./permission.ts";

/** Folders in which names such as `credentials` are those of packages, and hold no secrets. */
const DEPENDENCIES = new Set(["node_modules", ".git"]);
/** The folder of git's contents, whose names are sums of them. */
const CONTENTS = ".git/objects";

/**
 * The rule by which a box covers files: those that a deny rule closes for reading, and files with secrets which no allow
 * rule for reading names by their path.
 */
export function coverRule(policy: Policy): CoverRule {
  const permissions = [policy.permission, ...policy.bounds];
  const deniesPaths = permissions.some(({ deny }) => deny.some(({ deniedPath }) => deniedPath !== null));
  const allowed = [
    readingRules([...policy.permission.allow, ...policy.stored]),
    ...policy.bounds.map(({ allow }) => readingRules(allow)),
  ];
  const mayOpen = allowed.every((rules) => rules.length > 0);

  const verdict = (path: string, isFolder: boolean): CoverVerdict => {
    const open = isFolder ? "looked into" : "open";
    const judged = deniesPaths || isSecretPath(path) ? judgeOpening(policy, [path], "read").verdict : "allow";
    if (judged === "deny") return "covered";
    const isDependency = path.split("/").some((name) => DEPENDENCIES.has(name));
    if (isDependency) return isFolder && (!deniesPaths || path === CONTENTS || path.endsWith(`/${CONTENTS}`)) ? "open" : open;
    // A file of a folder of secrets may be named by a rule.
    return judged === "allow" || (isFolder && mayOpen) ? open : "covered";
  };
  const sources = (rules: readonly Rule[]): readonly string[] => rules.map(({ source }) => source);
  const key = JSON.stringify([permissions.map(({ deny }) => sources(deny)), allowed.map(sources)]);
  return { key, verdict };
}
