import type { ToolCallState } from "../../db/generated/enums.ts";

/** From which state a call may go to which. Everything else is refused. */
export const TRANSITIONS: Readonly<Record<ToolCallState, readonly ToolCallState[]>> = {
  PENDING: ["APPROVAL_REQUIRED", "EXECUTING", "DENIED", "FAILED", "COMPLETED", "SEALED"],
  APPROVAL_REQUIRED: ["APPROVED", "DENIED", "SEALED", "COMPLETED", "EXECUTING"],
  APPROVED: ["EXECUTING", "APPROVAL_REQUIRED", "DENIED", "FAILED", "SEALED"],
  EXECUTING: ["COMPLETED", "FAILED", "SEALED", "APPROVAL_REQUIRED", "EXECUTING"],
  COMPLETED: [],
  FAILED: [],
  DENIED: [],
  SEALED: [],
};
