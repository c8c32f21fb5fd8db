import { READS } from "./opened-files.ts";
import type { Policy } from "./permission.ts";
import { judge } from "./judge.ts";
import type { RuleValue, RuleValues } from "./rule-values.ts";

/** True if an agent may read every file that a call names, without asking. Of searches and command lines that is not known. */
export function mayReadAll(values: RuleValues, agentId: string, policy: Policy): boolean {
  const mayRead = (value: RuleValue): boolean =>
    judge({ agentId, name: READS, readOnly: true, values: { path: [value] } }, policy).verdict === "allow";
  return Object.values(values)
    .flat()
    .every((value) => value.kind === "text" || (value.kind === "file" && mayRead({ ...value, access: "read" })));
}
