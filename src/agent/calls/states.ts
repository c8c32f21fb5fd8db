import type { CancelRequest, ToolCallPatch, ToolCallTransition } from "../../db/commit/change.ts";
import type { ToolCallState } from "../../db/generated/enums.ts";
import type { Explanation } from "../policy/permission.ts";
import { hookVerdict } from "../policy/judge.ts";
import type { CallView } from "./call.ts";

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

const FINAL_STATES: ReadonlySet<ToolCallState> = new Set(["COMPLETED", "FAILED", "DENIED", "SEALED"]);

export function isFinal(state: ToolCallState): boolean {
  return FINAL_STATES.has(state);
}

export function hasRun(state: ToolCallState): boolean {
  return state === "EXECUTING" || state === "APPROVAL_REQUIRED";
}

export function isToRetry({ state, approval }: CallView): boolean {
  return state === "APPROVAL_REQUIRED" && approval?.state === "RESOLVED" && approval.decision === "RETRY";
}

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

export function explainedBy(explanation: Explanation): Pick<ToolCallPatch, "explanation" | "verdict" | "hookVerdict"> {
  return { explanation, verdict: explanation.verdict, hookVerdict: hookVerdict(explanation) };
}

export type CallStep = { readonly transition: ToolCallTransition; readonly call: CallView };

export type Trail = { readonly note?: string; readonly by?: CancelRequest["by"] };

/** Moves a call to its next state. Throws on a step that TRANSITIONS does not allow: an internal error. */
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
