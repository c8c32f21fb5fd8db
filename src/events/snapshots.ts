import type { ApprovalDecision, ApprovalKind, ApprovalState, ToolCallState } from "../db/generated/enums.ts";
import type { JsonObject } from "../lib/json.ts";
import type { ActorRef } from "./actor-ref.ts";

/** The six stages of the gate through which every tool call goes, in order. */
export const GATE_STAGES = ["discovery", "validation", "permission", "confirmation", "execution", "formatting"] as const;
export type GateStage = (typeof GATE_STAGES)[number];

/** The kinds of refusals and failures of tool calls. */
export const TOOL_CALL_ERROR_TYPES = [
  "not_found",
  "disabled",
  "invalid_params",
  "permission_denied",
  "user_rejected",
  "approval_expired",
  "tool_busy",
  "execution_failed",
  "timeout",
  "aborted",
] as const;
export type ToolCallErrorType = (typeof TOOL_CALL_ERROR_TYPES)[number];

/** Why a tool call was refused or failed: the stage of the gate and the kind of refusal. */
export type ToolCallError = { readonly type: ToolCallErrorType; readonly stage: GateStage; readonly message: string };

/** The outcome of the question whether a call may run. */
export type CallApproval = {
  readonly approvalId: string;
  readonly state: ApprovalState;
  readonly decision: ApprovalDecision | null;
  readonly decidedBy: ActorRef | null;
  readonly decidedAt: string | null;
  readonly note: string | null;
};

/** A tool call as it stood when the event was committed. Times are ISO 8601. */
export type ToolCallSnapshot = {
  readonly callId: string;
  readonly name: string;
  readonly state: ToolCallState;
  /** JSON text of the input, cut at 200 characters. */
  readonly inputPreview: string;
  readonly output: string | null;
  readonly isError: boolean;
  readonly error: ToolCallError | null;
  readonly approval: CallApproval | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  /** The call whose result it was given in the place of a run; null for none. */
  readonly cachedFrom: string | null;
};

/** An approval as it stood when it was asked for. What it is about stands in one of its fields; the others are null. */
export type ApprovalSnapshot = {
  readonly approvalId: string;
  readonly kind: ApprovalKind;
  readonly call: ToolCallSnapshot | null;
  readonly host: string | null;
  readonly port: number | null;
  readonly inputHash: string | null;
  readonly reason: string;
  readonly risk: string;
  /** The words of hooks for the people who decide; null for none. */
  readonly meta: JsonObject | null;
  /** The number of people who must allow it. */
  readonly quorum: number;
  readonly expiresAt: string | null;
};

/** One entry of the agent's todo list. */
export type TodoItem = {
  readonly id: string;
  readonly title: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly assignee: string | null;
  readonly notes: string | null;
};

/** A background shell runs, or has ended for good. */
export const SHELL_STATES = ["RUNNING", "ENDED"] as const;
export type ShellState = (typeof SHELL_STATES)[number];

/** The changes of files that something else makes: another content, no file, and a file where it was removed before. */
export const FILE_CHANGE_KINDS = ["CHANGED", "REMOVED", "MADE_AGAIN"] as const;
export type FileChangeKind = (typeof FILE_CHANGE_KINDS)[number];

/** A file that something else has changed, as it was found. */
export type FileChangeSnapshot = {
  /** Relative to the workspace. */
  readonly path: string;
  readonly change: FileChangeKind;
  /** When its content was changed, in ISO 8601; null if it was removed. */
  readonly modifiedAt: string | null;
  /** Null if it was removed. */
  readonly bytes: number | null;
};

/** The reasons for which a background shell ends. */
export const SHELL_END_REASONS = [
  "EXITED",
  "KILLED",
  "TIME_UP",
  "INTERRUPTED",
  "ARCHIVED",
  "TAKEN_OVER",
  "SERVER_CLOSED",
  "SERVER_LOST",
  "NOT_STARTED",
] as const;
export type ShellEndReason = (typeof SHELL_END_REASONS)[number];
