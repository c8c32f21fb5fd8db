import type { CancelRequest, ToolCallPatch, ToolCallTransition } from "../../db/commit/change.ts";
import type { ToolCallState } from "../../db/generated/enums.ts";
import type { Explanation } from "../policy/permission.ts";
import { hookVerdict } from "../policy/judge.ts";
import type { CallView } from "./call.ts";

/**
 * The states to which a call may go from each. Every other step is refused.
 *
 *     PENDING ────────────────────────────────▶ EXECUTING ──▶ COMPLETED, FAILED
 *        │                                          ▲
 *        └──▶ APPROVAL_REQUIRED ──▶ APPROVED ───────┘
 *                     │
 *                     └──▶ DENIED
 *
 * A rule or a hook may deny or answer a call until it is EXECUTING. A person is asked again about an APPROVED call if another
 * input would run by then, and another person about a call to which somebody gave another input. A call whose server died while
 * it was EXECUTING may run again, or a person is asked what came of it. Every call that is not final is SEALED if its turn ends,
 * and FAILED if a person cancels that call.
 */
export const TRANSITIONS: Readonly<Record<ToolCallState, readonly ToolCallState[]>> = {
  PENDING: ["APPROVAL_REQUIRED", "EXECUTING", "DENIED", "FAILED", "COMPLETED", "SEALED"],
  APPROVAL_REQUIRED: ["APPROVAL_REQUIRED", "APPROVED", "DENIED", "SEALED", "COMPLETED", "EXECUTING", "FAILED"],
  APPROVED: ["EXECUTING", "APPROVAL_REQUIRED", "DENIED", "FAILED", "SEALED"],
  EXECUTING: ["COMPLETED", "FAILED", "SEALED", "APPROVAL_REQUIRED", "EXECUTING"],
  COMPLETED: [],
  FAILED: [],
  DENIED: [],
  SEALED: [],
};

/** The states in which a call stays. */
const FINAL_STATES: ReadonlySet<ToolCallState> = new Set(["COMPLETED", "FAILED", "DENIED", "SEALED"]);

/** True if a call in this state has its result. */
export function isFinal(state: ToolCallState): boolean {
  return FINAL_STATES.has(state);
}

/** True if a call that is to be judged has run before, and nobody knows what came of it. */
export function hasRun(state: ToolCallState): boolean {
  return state === "EXECUTING" || state === "APPROVAL_REQUIRED";
}

/** True if a person said that a call whose outcome is unknown shall run again. */
export function isToRetry({ state, approval }: CallView): boolean {
  return state === "APPROVAL_REQUIRED" && approval?.state === "RESOLVED" && approval.decision === "RETRY";
}

/** The columns that a transition sets besides the state, of those that a view shows. */
export type CallFacts = Partial<
  Pick<
    CallView,
    | "output"
    | "isError"
    | "error"
    | "stages"
    | "startedAt"
    | "completedAt"
    | "durationMs"
    | "attempt"
    | "effectiveInput"
    | "ruleValues"
    | "inputHash"
    | "cachedFrom"
  >
>;

/** The columns that keep why a call was allowed, asked or denied. */
export function explainedBy(explanation: Explanation): Pick<ToolCallPatch, "explanation" | "verdict" | "hookVerdict"> {
  return { explanation, verdict: explanation.verdict, hookVerdict: hookVerdict(explanation) };
}

/** A transition to commit, and the call as it stands after it. */
export type CallStep = { readonly transition: ToolCallTransition; readonly call: CallView };

/** The words of the audit trail on a step: why, and by whom. */
export type Trail = { readonly note?: string; readonly by?: CancelRequest["by"] };

/** The step of a call to its next state. A step that the state table does not have is a mistake of ours, and throws. */
export function callStep(
  call: CallView,
  to: ToolCallState,
  at: Date,
  facts: CallFacts,
  columns: Partial<ToolCallPatch> = {},
  trail: Trail = {},
): CallStep {
  if (!TRANSITIONS[call.state].includes(to)) throw new Error(`a call cannot go from ${call.state} to ${to}`);
  const timestamp = at.toISOString();
  return {
    transition: {
      id: call.id,
      from: call.state,
      set: { ...facts, ...columns, state: to, updatedAt: at },
      audit: { state: to, timestamp, ...trail },
    },
    call: { ...call, ...facts, state: to },
  };
}
