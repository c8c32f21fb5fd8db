import type { ApprovalDecision } from "../../db/generated/enums.ts";
import { callStep, type CallStep, type Trail } from "../calls/states.ts";
import type { CallView } from "../calls/call.ts";
import { sealCall } from "../calls/seal.ts";

export type OutcomeDecision = Extract<ApprovalDecision, "DONE" | "RETRY" | "FAIL">;

/** The longest result that a person may give, in characters. */
export const RESULT_CHARACTERS = 16_000;

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
