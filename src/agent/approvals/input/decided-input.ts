import type { JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import type { CommandRefusal } from "../../actors/actor.ts";
import type { CallView } from "../../calls/call.ts";
import { formValues } from "../../tools/input-form.ts";
import type { FoundInput } from "../approval.ts";
import { decisionPart, type DecisionCommit, type DecisionMade } from "../decided.ts";
import type { DecideApproval } from "../decision.ts";

/** The values of a form as they are given to the tool; null for a decision without values. The refusal names each wrong field. */
export function givenValues(
  { question }: Pick<FoundInput, "question">,
  { decision, values }: Pick<DecideApproval, "decision" | "values">,
): Result<JsonObject | null, CommandRefusal> {
  if (decision !== "ALLOW" || values === null) return accepted(null);
  const checked = formValues(question.fields, values);
  if (checked.ok) return checked;
  const [first, ...others] = checked.refusal.map(({ field, message }) => ({
    code: "INVALID" as const,
    field: field === null ? ["values"] : ["values", field],
    message: field === null ? `\`values\` ${message}` : `${field} ${message}`,
  }));
  if (first === undefined) throw new Error("a refusal of values has a problem");
  return refused({ ...first, others });
}

/**
 * The commit of an answer to a tool's question. It moves no call. A running one receives the answer, and one that waits
 * for a task gives it to that. Another one is continued by its agent's owner. Null if the call waits no more.
 */
export function decidedInput(
  made: DecisionMade & { readonly approval: FoundInput },
  { state }: Pick<CallView, "state">,
  values: JsonObject | null,
): DecisionCommit | null {
  if (state !== "APPROVAL_REQUIRED" && state !== "EXECUTING" && state !== "WAITING") return null;
  return decisionPart(made, values === null ? null : { input: values, inputHash: null });
}
