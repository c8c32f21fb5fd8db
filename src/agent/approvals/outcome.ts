import type { ApprovalDecision } from "../../db/generated/enums.ts";
import { callStep, type CallStep, type Trail } from "../calls/states.ts";
import type { CallView } from "../calls/call.ts";
import { sealCall } from "../calls/seal.ts";

/** A person's answer on a call whose outcome is unknown. */
export type OutcomeDecision = Extract<ApprovalDecision, "DONE" | "RETRY" | "FAIL">;

/** The longest result that a person may give, in characters. */
export const RESULT_CHARACTERS = 16_000;

/** True if the decision answers an OUTCOME_UNKNOWN, and not a TOOL_CALL. */
export function isOutcomeDecision(decision: ApprovalDecision): decision is OutcomeDecision {
  return decision === "DONE" || decision === "RETRY" || decision === "FAIL";
}

/**
 * The step of a call whose outcome a person has settled: done, with the result that they give, or failed. A call that
 * is to run again takes no step here: only the agent's owner begins to execute.
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
