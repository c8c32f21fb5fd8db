import type { ApprovalDecision } from "../../db/generated/enums.ts";
import type { BudgetQuestion } from "../../events/budgets/budget-question.ts";
import type { Json } from "../../lib/json.ts";
import { noteProblem, type CommandRefusal } from "../actors/actor.ts";
import { type CallView, sealCall, callStep, type CallStep, type Trail } from "../calls/call.ts";
import type { FoundApproval } from "./approval.ts";
import { raiseProblem } from "./budgets/ask-budget.ts";

export type DecideApproval = {
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note: string | null;
  readonly inputHash: string | null;
  /** The input to run in place of the requested one; null for the requested one. */
  readonly input: Json | null;
  /** With ALLOW of a TOOL_INPUT: the values of its form, by field. */
  readonly values: Json | null;
  /** With ALLOW of a BUDGET: the new limits; null for those that the question suggests. */
  readonly raiseTo: BudgetQuestion["raiseTo"] | null;
  /** With DONE: the call's result, for the model. */
  readonly result: string | null;
};

/** The approval, the position that the decision reached (null for an earlier one), and the agent to wake. */
export type Decided = { readonly id: string; readonly position: number | null; readonly agentId: string };

export type OutcomeDecision = Extract<ApprovalDecision, "DONE" | "RETRY" | "FAIL">;

/** The longest result that a person may give, in characters. */
const RESULT_CHARACTERS = 16_000;

export function isOutcomeDecision(decision: ApprovalDecision): decision is OutcomeDecision {
  return decision === "DONE" || decision === "RETRY" || decision === "FAIL";
}

/**
 * The call's step after a person decided its outcome: done with their result, or failed. A retry takes no step here:
 * only the agent's owner starts calls.
 */
export function settleOutcome(
  call: CallView,
  decision: OutcomeDecision,
  result: string,
  trail: Trail & { readonly note: string },
  at: Date,
): CallStep | null {
  switch (decision) {
    case "DONE":
      return callStep(
        call,
        "COMPLETED",
        at,
        { output: result, isError: false, completedAt: at.toISOString() },
        { details: null },
        trail,
      );
    case "FAIL":
      return sealCall(call, trail, at);
    case "RETRY":
      return null;
  }
}

/** The problem with a decision, whatever the approval's state; null if there is none. */
export function decisionProblem(
  { decision, inputHash, input, values, raiseTo, note, result }: DecideApproval,
  approval: FoundApproval,
): CommandRefusal | null {
  const tooLong = noteProblem(note);
  if (tooLong !== null) return tooLong;
  if (approval.kind !== "OUTCOME_UNKNOWN" && decision !== "ALLOW" && decision !== "DENY")
    return {
      code: "INVALID",
      field: ["decision"],
      message: "decide this approval with ALLOW or DENY; DONE, RETRY and FAIL are for the kind OUTCOME_UNKNOWN",
    };
  if (approval.kind === "OUTCOME_UNKNOWN" && !isOutcomeDecision(decision))
    return {
      code: "INVALID",
      field: ["decision"],
      message: "the call ran and its outcome is unknown: decide DONE with its result, RETRY to run it again, or FAIL",
    };
  if (decision === "DONE" && (result === null || result.trim() === ""))
    return {
      code: "INVALID",
      field: ["result"],
      message: "DONE needs a result: describe the outcome of the call for the model",
    };
  if (result !== null && decision !== "DONE")
    return { code: "INVALID", field: ["result"], message: "`result` is allowed only with DONE" };
  if (result !== null && result.length > RESULT_CHARACTERS)
    return { code: "TOO_LARGE", field: ["result"], message: `a result has at most ${RESULT_CHARACTERS} characters` };
  if ((decision === "ALLOW" || decision === "RETRY") && inputHash === null)
    return {
      code: "INVALID",
      field: ["inputHash"],
      message: `${decision} needs the \`inputHash\` of the approval that you saw`,
    };
  if (inputHash !== null && inputHash !== approval.inputHash)
    return {
      code: "HASH_MISMATCH",
      field: ["inputHash"],
      message: "`inputHash` does not match this approval: read the approval again, then decide",
    };
  if (values === null && decision === "ALLOW" && approval.kind === "TOOL_INPUT")
    return {
      code: "INVALID",
      field: ["values"],
      message: "ALLOW needs the `values` of the form: an empty object for its defaults. DENY declines the question",
    };
  if (values !== null && (decision !== "ALLOW" || approval.kind !== "TOOL_INPUT"))
    return { code: "INVALID", field: ["values"], message: "`values` is allowed only with ALLOW of a TOOL_INPUT" };
  if (raiseTo !== null) {
    const problem = problemOfRaise(decision, raiseTo, approval);
    if (problem !== null) return problem;
  }
  if (input !== null && approval.kind === "BUDGET")
    return { code: "INVALID", field: ["input"], message: "a budget has no input: give other limits in `raiseTo`" };
  if (input !== null && approval.kind === "TOOL_INPUT")
    return {
      code: "INVALID",
      field: ["input"],
      message: "the call has begun, and its input stands: give the answer in `values`",
    };
  if (input !== null && approval.kind === "NETWORK_HOST")
    return {
      code: "INVALID",
      field: ["input"],
      message: "the host of an approval cannot be changed: deny it, and name the allowed host in the note",
    };
  if (input !== null && decision !== "ALLOW")
    return {
      code: "INVALID",
      field: ["input"],
      message: "`input` is allowed only with ALLOW: describe the change in the note instead",
    };
  if (input !== null && approval.quorum > 1)
    return {
      code: "INVALID",
      field: ["input"],
      message: `${approval.quorum} people must allow the same input, so it cannot be changed: deny it, and describe the change in the note`,
    };
  return null;
}

function problemOfRaise(
  decision: ApprovalDecision,
  raiseTo: NonNullable<DecideApproval["raiseTo"]>,
  approval: FoundApproval,
): CommandRefusal | null {
  if (decision !== "ALLOW" || approval.kind !== "BUDGET")
    return { code: "INVALID", field: ["raiseTo"], message: "`raiseTo` is allowed only with ALLOW of a BUDGET" };
  if (approval.quorum > 1)
    return {
      code: "INVALID",
      field: ["raiseTo"],
      message: `${approval.quorum} people must allow the same limits: those that the approval suggests`,
    };
  const problem = raiseProblem(approval.budget, raiseTo);
  return problem === null ? null : { code: "INVALID", field: ["raiseTo", problem.field], message: problem.message };
}

/** Why an approval is no longer open, before its decision is looked at; null for an open one. */
export function closedProblem({ state, isOverdue }: FoundApproval): CommandRefusal | null {
  const closed = (code: CommandRefusal["code"], message: string): CommandRefusal => ({ code, field: ["approvalId"], message });
  switch (state) {
    case "PENDING":
      return isOverdue ? closed("EXPIRED", "the approval has expired") : null;
    case "ALLOWED":
    case "DENIED":
    case "RESOLVED":
      return closed("ALREADY_DECIDED", "already decided: see `decidedBy` of the approval");
    case "EXPIRED":
      return closed("EXPIRED", "the approval has expired");
    case "SEALED":
      return closed("SEALED", "the turn ended before a decision");
    case "STALE":
      return closed("STALE", "the action has changed: there is a newer approval of the same call");
  }
}
