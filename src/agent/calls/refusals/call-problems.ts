import type { CommandRefusal } from "../../actors/actor.ts";
import type { ValidationIssue } from "../../tools/input-schema.ts";
import { ISSUES, issueText, refusalText, type Refusal } from "./refusal.ts";

/** The problems of a call that does not reach the permission stage, one a place of its input. */
export function callProblems(refusal: Refusal, otherwise: readonly string[]): readonly CommandRefusal[] {
  if (refusal.type !== "invalid_params") return [{ code: "INVALID", field: otherwise, message: refusalText(refusal) }];
  return refusal.issues.slice(0, ISSUES).map(({ path, message }) => ({
    code: "INVALID",
    field: fieldOf("input", path),
    message,
  }));
}

/** The refusal of a result that does not fit its schema, with a problem for each place. */
export function resultProblem([first, ...rest]: readonly ValidationIssue[]): CommandRefusal | null {
  const problem = (issue: ValidationIssue): CommandRefusal => ({
    code: "INVALID",
    field: fieldOf("result", issue.path),
    message: issueText(issue, "/result"),
  });
  return first === undefined ? null : { ...problem(first), others: rest.slice(0, ISSUES - 1).map(problem) };
}

function fieldOf(part: "input" | "result", path: string): readonly string[] {
  return [part, ...path.split("/").filter((name) => name !== "")];
}
