import type { ActorKind, ApprovalDecision, ApprovalKind, ApprovalState, ToolCallState } from "../db/generated/enums.ts";
import type { JsonObject } from "../lib/json.ts";
import type { BudgetQuestion } from "./budgets/budget-question.ts";
import type { ToolQuestion } from "./tool-question.ts";

/** The actor of a change: a person, a service, an agent or the server. */
export type ActorRef = { readonly id: string; readonly kind: ActorKind };

export const SERVER: ActorRef = { id: "triplane", kind: "SYSTEM" };

export const REMINDER_CATEGORIES = ["FILE", "TODO", "SECURITY", "PERFORMANCE", "GENERAL"] as const;
export type ReminderCategory = (typeof REMINDER_CATEGORIES)[number];
export const REMINDER_PRIORITIES = ["LOW", "MEDIUM", "HIGH"] as const;
export type ReminderPriority = (typeof REMINDER_PRIORITIES)[number];

/** The triggers of schedules: steps of the agent, a time, an interval, times of a wall clock, or changed files. */
export const TRIGGER_KINDS = ["STEPS", "TIME", "INTERVAL", "CRON", "FILES"] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

export const SCHEDULE_CHANGES = ["CREATED", "PAUSED", "RESUMED", "DELETED", "ENDED"] as const;
export type ScheduleChange = (typeof SCHEDULE_CHANGES)[number];

export const GATE_STAGES = ["discovery", "validation", "permission", "confirmation", "execution", "formatting"] as const;
export type GateStage = (typeof GATE_STAGES)[number];

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

export type ToolCallError = { readonly type: ToolCallErrorType; readonly stage: GateStage; readonly message: string };
/** The same as rows and events have it: the message is null if it was erased. */
export type KeptError = Omit<ToolCallError, "message"> & { readonly message: string | null };

export type CallApproval = {
  readonly approvalId: string;
  readonly state: ApprovalState;
  readonly decision: ApprovalDecision | null;
  readonly decidedBy: ActorRef | null;
  readonly decidedAt: string | null;
  readonly note: string | null;
};

export type ToolCallSnapshot = {
  readonly callId: string;
  readonly name: string;
  readonly state: ToolCallState;
  /** JSON text of the input, cut at 200 characters. Null if it was erased. */
  readonly inputPreview: string | null;
  readonly output: string | null;
  readonly isError: boolean;
  readonly error: KeptError | null;
  readonly approval: CallApproval | null;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  /** The call whose earlier result it was given; null for none. */
  readonly cachedFrom: string | null;
};

/** An approval when it was requested. Its subject is in one of its fields; the others are null. */
export type ApprovalSnapshot = {
  readonly approvalId: string;
  readonly kind: ApprovalKind;
  readonly call: ToolCallSnapshot | null;
  readonly host: string | null;
  readonly port: number | null;
  readonly inputHash: string | null;
  /** Null if it was erased. */
  readonly reason: string | null;
  readonly risk: string;
  /** Hooks' words for people who decide; null for none. */
  readonly meta: JsonObject | null;
  readonly quorum: number;
  readonly expiresAt: string | null;
  /** The question of a tool to people; other kinds have none. */
  readonly question?: ToolQuestion;
  /** The question whether a budget may be raised; other kinds have none. */
  readonly budget?: BudgetQuestion;
};

/** A todo as events have it: the title is null if it was erased. */
export type TodoSnapshot = Omit<TodoItem, "title"> & { readonly title: string | null };

export type TodoItem = {
  readonly id: string;
  readonly title: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly assignee: string | null;
  readonly notes: string | null;
};

/** A version of a template: the digest of its data, in hex, and its name in the configuration. */
export type TemplateVersionSnapshot = { readonly digest: string; readonly version: string | null };

export const SHELL_STATES = ["RUNNING", "ENDED"] as const;
export type ShellState = (typeof SHELL_STATES)[number];

/** Changes of files by others: new content, removal, or a new file after a removal. */
export const FILE_CHANGE_KINDS = ["CHANGED", "REMOVED", "MADE_AGAIN"] as const;
export type FileChangeKind = (typeof FILE_CHANGE_KINDS)[number];

export type FileChangeSnapshot = {
  /** Relative to the workspace. Null if it was erased. */
  readonly path: string | null;
  readonly change: FileChangeKind;
  /** The time of the change, in ISO 8601; null if it was removed. */
  readonly modifiedAt: string | null;
  /** Null if it was removed. */
  readonly bytes: number | null;
};

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

/** How the first turn of a child ended. */
export const CHILD_OUTCOMES = ["ok", "error", "interrupted"] as const;
export type ChildOutcome = (typeof CHILD_OUTCOMES)[number];
