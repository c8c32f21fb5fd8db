import type { Json, JsonObject } from "../../lib/json.ts";
import type { Prisma } from "../generated/client.ts";
import type { ActorKind, ApprovalState, ToolCallState } from "../generated/enums.ts";
import type { OutsideBudgetParts, OwnerBudgetParts } from "./budget-accounts.ts";
import type { CompactionMove, Compactions } from "./compaction-rows.ts";
import type { MemoryChange } from "./memory-change.ts";
import type { Patch, Row } from "./row.ts";
import type { RequestParts, SentRecord } from "./sent-rows.ts";

/** The columns of an agent that a commit may set. */
export type AgentPatch = Patch<
  Pick<
    Prisma.AgentUncheckedCreateInput,
    | "state"
    | "breakpoint"
    | "turn"
    | "stepCount"
    | "transcriptLength"
    | "lastSfpIndex"
    | "lastActivityAt"
    | "interruptAt"
    | "interruptNote"
    | "leaseOwner"
    | "leaseUntil"
    | "runnableAt"
    | "needs"
  >
> & { readonly doneReason?: DoneReason | null };

/** The columns of a tool call that a transition may set. */
export type ToolCallPatch = { readonly state: ToolCallState; readonly updatedAt: Date } & Patch<
  Pick<
    Prisma.ToolCallUncheckedCreateInput,
    | "attempt"
    | "effectiveInput"
    | "ruleValues"
    | "inputHash"
    | "output"
    | "details"
    | "images"
    | "keptOutputBytes"
    | "error"
    | "isError"
    | "explanation"
    | "verdict"
    | "hookVerdict"
    | "stages"
    | "startedAt"
    | "completedAt"
    | "durationMs"
    | "cachedFrom"
    | "exitCode"
    | "hosts"
  >
>;

/** The columns that the end of a step sets: all that its start left open. */
export type StepEnd = Row<
  Pick<
    Prisma.StepUncheckedCreateInput,
    | "state"
    | "stopReason"
    | "inputTokens"
    | "outputTokens"
    | "outputIsEstimated"
    | "cacheReadTokens"
    | "cacheWriteTokens"
    | "contextTokens"
    | "contextBytes"
    | "contextWindow"
    | "costUsd"
    | "completedAt"
    | "errorType"
  >
> & { readonly request: SentRecord | null };

/** Numbers of changes of the stored rules of a tenant, and of an agent. `until`: the first end of a rule (ISO 8601). */
export type RulesVersion = { readonly ofTenant: number; readonly ofAgent: number; readonly until: string | null };

/** The decision, or the version of the stored rules, by which a call starts: the start is refused if it no longer stands. */
export type StartsBy = { readonly approvalId: string; readonly inputHash: string } | { readonly rules: RulesVersion };

/** One step of a tool call from one state to the next: refused if the row is not in `from`. */
export type ToolCallTransition = {
  readonly id: string;
  readonly from: ToolCallState;
  readonly by?: StartsBy;
  readonly set: ToolCallPatch;
  readonly audit: ToolCallAudit;
};

/** A state of a tool call in its audit trail: since when (ISO 8601), why, and by whom. */
export type ToolCallAudit = {
  readonly state: ToolCallState;
  readonly timestamp: string;
  readonly note?: string;
  readonly by?: CancelRequest["by"];
};

/** The row of a new tool call. */
export type NewToolCall = Row<Omit<Prisma.ToolCallUncheckedCreateInput, "approvals" | "waits" | "auditTrail">> & {
  readonly auditTrail: readonly ToolCallAudit[];
};

/** One step of an approval from one state to the next: refused if the row is not in `from`. */
export type ApprovalTransition = {
  readonly id: string;
  readonly from: ApprovalState;
  readonly to: ApprovalState;
  readonly closedAt: Date | null;
};

/** The row of a file that an agent knows, as the end of a call writes it: nothing has changed the file since. */
export type KnownFileRow = Row<Omit<Prisma.KnownFileUncheckedCreateInput, "change">>;

/** A file that something else has changed since the call `callId` noted it. A file that another call has noted since stays as it is. */
export type FileChangeRow = Pick<KnownFileRow, "path" | "callId"> & { readonly change: string };

/** The sources of notices, in the order in which a step tells them. */
export const NOTICE_SOURCES = ["CHILD", "INTERRUPTED_CHILD", "SHELL", "FILE", "HOST", "TODO", "TOOL", "MEMORY"] as const;
export type NoticeSource = (typeof NOTICE_SOURCES)[number];

export type NoticeRow = Row<Prisma.NoticeUncheckedCreateInput> & { readonly source: NoticeSource };

/** The steps of calls and approvals from state to state: an owner makes some, people and expiry make others. */
type Transitions = {
  readonly transitions?: readonly ToolCallTransition[];
  /** The images of results, or of the message that is received, in base64; those that the tenant has already stay. */
  readonly images?: readonly { readonly digest: string; readonly data: string }[];
  readonly approvalTransitions?: readonly ApprovalTransition[];
};

/** The kinds of waits for a result that has to come in time: from another program, or from a client of the agent. */
export const TIMED_WAITS = ["LATER", "CLIENT_TOOL"] as const;
export type TimedWait = (typeof TIMED_WAITS)[number];

/** The kinds of waits for the result of a call: those in time, and that for an agent which the call has started. */
export const CALL_WAITS = [...TIMED_WAITS, "CHILD"] as const;
export type CallWait = (typeof CALL_WAITS)[number];

/**
 * The kinds of waits. For decisions: on a call, on a budget, on a host of a call, on a host of a background shell. For the result of a
 * call, for the task of an MCP server that makes it, and for a child without a call that waits. For an MCP server that is away. For the end of a delegation and of an allow rule, the next
 * time of a schedule, and the watch of an idle agent's files. For the next part of an export, or its removal.
 */
export const WAIT_KINDS = [
  "APPROVAL",
  "BUDGET",
  "HOST",
  "SHELL_HOST",
  ...CALL_WAITS,
  "MCP_TASK",
  "MCP_SERVER",
  "BACKGROUND_CHILD",
  "DELEGATION",
  "ALLOW_RULE",
  "SCHEDULE",
  "WATCH",
  "EXPORT",
] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

export type WaitRow = Row<Omit<Prisma.WaitUncheckedCreateInput, "kind">> & { readonly kind: WaitKind };

/**
 * A version of a template: the digest of its data, in hex, and the name that the configuration gives it. `sinceTurn` is the
 * agent's first turn with it; 0 for the version of a fork's original.
 */
export type TemplateVersion = {
  readonly digest: string;
  readonly version: string | null;
  readonly sinceTurn: number;
};

/** The questions to people, and the waits. */
type Questions = {
  /** Refused if the agent asks for the same already. */
  readonly approvals?: readonly Row<Omit<Prisma.ApprovalUncheckedCreateInput, "decisions" | "snoozes" | "requesters">>[];
  /** New waits. One that is there already stays. The transition of the approval or call that it refers to settles it. */
  readonly waits?: readonly WaitRow[];
};

export type ScheduleRow = Row<Prisma.ScheduleUncheckedCreateInput>;

/** A change of a schedule: refused if another has changed it since it had `moves`. `due`: the next look at it; null for none. */
export type ScheduleMove = {
  readonly id: string;
  readonly moves: number;
  readonly due: Date | null;
  readonly set: Patch<
    Pick<Prisma.ScheduleUncheckedCreateInput, "nextAt" | "nextStep" | "owed" | "triggered" | "lastTriggeredAt" | "pausedAt">
  >;
};

type Schedules = {
  /** A server watches the agent's files while it is idle: the wait is due if the commit leaves it so. */
  readonly watch?: true;
  readonly schedulesMoved?: readonly ScheduleMove[];
};

/** Notices for the next step. Each replaces an untold one of the same source and thing. */
type Notices = { readonly notices?: readonly NoticeRow[] };

/** None of these parts. */
type Without<Parts> = { readonly [Part in keyof Parts]?: never };

/** A part of an answer that does not fit its schema, or of an invalid schema. `path` is a JSON pointer; "/" for the whole. */
export type ShapeProblem = { readonly path: string; readonly message: string };

/** Why a turn ends without an answer in its shape: it does not fit after all corrections, was cut, or was refused. */
export const SHAPE_FAILURES = ["invalid", "max_tokens", "refusal"] as const;
export type ShapeFailure = (typeof SHAPE_FAILURES)[number];

/**
 * The shape on the row of a message. A person's has the schema that they ask for, and an answer its value. A note of the
 * server that asks for another answer has the problems of the last one.
 */
export type MessageShape =
  | { readonly kind: "ASKED"; readonly schema: JsonObject }
  | { readonly kind: "ANSWER"; readonly value: Json }
  | { readonly kind: "CORRECTION"; readonly problems: readonly ShapeProblem[] };

/** The row of a message. Most have no shape, and no statement writes the column then. Only a retry writes `joinedTurn`. */
export type NewMessage = Row<Omit<Prisma.MessageUncheckedCreateInput, "shape" | "joinedTurn">> & {
  readonly shape?: MessageShape;
};

type OwnerParts = OwnerBudgetParts &
  RequestParts & {
    /** The commit is refused unless the agent's signal is still this: nothing arrived since it was looked at. */
    readonly expectSignal?: number;
    readonly agent?: AgentPatch;
    /** Refused if one of them was withdrawn. */
    readonly joins?: readonly { readonly id: string; readonly ordinal: number; readonly turn: number; readonly step: number }[];
    readonly messages?: readonly NewMessage[];
    readonly stepStart?: Row<Omit<Prisma.StepUncheckedCreateInput, "request">> & { readonly request: null };
    readonly stepEnd?: { readonly step: number } & StepEnd;
    readonly toolCalls?: readonly NewToolCall[];
    /**
     * An interrupt ends with what it interrupted: the time of the one that the owner has seen (ISO 8601), null for none. One that came
     * since stays if messages wait that were sent between the two: it is theirs.
     */
    readonly interruptEnd?: { readonly seen: string | null };
    /** The note of an interrupt that the model is told of, or that nobody needs to be told of: what came since stays. */
    readonly toldNote?: string;
    /** The agent is a child whose turn ends: the wait of its parent is due. */
    readonly returns?: true;
    /** The agent's whole list. */
    readonly todos?: readonly Row<Prisma.TodoUncheckedCreateInput>[];
    /** The files that calls of the change have read or written, each once. */
    readonly knownFiles?: readonly KnownFileRow[];
    /** The files that something else has changed, each once. */
    readonly fileChanges?: readonly FileChangeRow[];
    /** A background shell, with its lease in ms. Refused if the agent has `limit` that run, was interrupted, or is archived. */
    readonly shellStart?: {
      readonly row: Row<Prisma.ShellUncheckedCreateInput>;
      readonly limit: number;
      readonly leaseMs: number;
    };
    /** The notices that a step tells. */
    readonly noticesTold?: { readonly step: number; readonly ids: readonly string[] };
    /** Notices that are not told, and will not be. */
    readonly noticesDropped?: readonly Pick<NoticeRow, "source" | "ref">[];
    /** The manual that the agent is given: it stays if the tenant has it already. */
    readonly manual?: Row<Omit<Prisma.ManualUncheckedCreateInput, "takenAt">>;
    readonly agentManual?: Row<Prisma.AgentManualUncheckedCreateInput>;
    /** The version of its template with which a turn begins. */
    readonly templateVersion?: TemplateVersion;
    /** The data of that version: it stays if the tenant has it already. */
    readonly versionData?: Row<Omit<Prisma.TemplateVersionUncheckedCreateInput, "takenAt">>;
    /** With todos: the call that wrote them. The call keeps them, for forks. */
    readonly todosBy?: string;
    readonly memory?: MemoryChange;
    /** A step of a compaction from one state to the next: refused if the row is not in `from`. */
    readonly compactionMoved?: CompactionMove;
  };

type OutsideParts = OutsideBudgetParts & {
  readonly idempotencyKey?: Row<Prisma.IdempotencyKeyUncheckedCreateInput>;
  readonly createAgent?: Row<Omit<Prisma.AgentUncheckedCreateInput, keyof Prisma.AgentCountOutputType | "manual">>;
  /** With createAgent: refused if more agents of the tree are at work then, with its first. */
  readonly treeLimit?: { readonly rootId: string; readonly agents: number };
  /** With createAgent: the messages of another agent, up to this ordinal, are the first of the new one's. */
  readonly fork?: { readonly from: string; readonly at: number };
  /** Counts a signal and makes the agent runnable. */
  readonly wake?: true;
  /** Asks the owner to interrupt; refused if there is nothing to interrupt, not even a turn that is to be retried. */
  readonly interrupt?: { readonly at: string; readonly note?: string };
  /** Asks for a turn that answers the messages of this one again; refused unless it was the last, has ended, and is not being retried. */
  readonly retry?: { readonly turn: number };
  /** Asks for the end of one call; refused if it has ended, or that was asked for before. */
  readonly cancel?: { readonly id: string; readonly requested: CancelRequest };
  /** Takes a message back that waits; refused if it does not. */
  readonly withdraw?: { readonly id: string; readonly at: string };
  /** The commit is refused if so many messages, or bytes with those `added`, wait for the agent already. Reminders count apart. */
  readonly queueLimit?: { readonly messages: number; readonly bytes: number; readonly added: number };
  /** Refused if the agent has another title than `from` by now. */
  readonly rename?: { readonly from: string | null; readonly to: string | null };
  /** Archives the agent at a time (ISO 8601), or takes that back with null; refused if it is so already. */
  readonly archive?: { readonly at: string | null };
  /** A message from a person; the commit gives it its arrival. Refused if the agent is archived. */
  readonly received?: Omit<NewMessage, "arrival">;
  /**
   * A background shell has ended: refused unless it runs on `server`; without a server, unless its lease has run out.
   */
  readonly shellEnd?: Pick<Row<Prisma.ShellUncheckedCreateInput>, "id" | "endReason" | "exitCode" | "signal" | "endedAt"> & {
    readonly server: string | null;
  };
  /** The wait for a child needs no look before its turn ends, if its `due` is still that of the claim. */
  readonly childAwaited?: { readonly ref: string; readonly due: string };
  /**
   * The wait for this child, or for this task of an MCP server, is over. Refused if it was before. `isUnmade`: refused if
   * the child was made.
   */
  readonly waitSettled?: { readonly ref: string; readonly at: string; readonly isUnmade?: true };
  /**
   * Changes by others of files of an agent that no server holds. Refused if one does, or if a file is not as it was found:
   * with that change by others, noted by that call.
   */
  readonly filesFound?: readonly (FileChangeRow & { readonly before: string | null })[];
  /** New schedules. Refused if the agent is archived, or has more than `mostSchedules` with them. */
  readonly schedulesMade?: readonly ScheduleRow[];
  readonly mostSchedules?: number;
  /** A schedule is over, and is removed. Refused if another has changed it since it had `moves`. */
  readonly scheduleEnded?: Pick<ScheduleMove, "id" | "moves">;
  readonly decision?: Row<Prisma.DecisionUncheckedCreateInput>;
  /** The decisions that the approval must have so far, with `decision`; none if omitted. */
  readonly expectDecisions?: number;
  /** Refused unless this many programs in the background have asked with the approval. */
  readonly expectAsking?: { readonly approvalId: string; readonly programs: number };
  /** With `decision`: the rule that it keeps for the agent. Refused if the same rule holds already. */
  readonly keepRule?: Row<Prisma.AllowRuleUncheckedCreateInput>;
};

/** A person's wish that a call ends: who said it, why, and when (ISO 8601). */
export type CancelRequest = {
  readonly by: { readonly id: string; readonly kind: ActorKind };
  readonly note: string | null;
  readonly at: string;
};

/** All that the owner of an agent may change in one commit, under its lease (invariant 4). Absent parts change nothing. */
export type OwnerChange = Transitions & Questions & Notices & Schedules & Compactions & OwnerParts & Without<OutsideParts>;

/** All that others may change of an agent in one commit: people by commands, and what nobody decided in time. */
export type OutsideChange = Transitions & Questions & Notices & Schedules & Compactions & OutsideParts & Without<OwnerParts>;

export const DONE_REASONS = ["COMPLETED", "INTERRUPTED", "ERROR", "MAX_STEPS", "SHAPE", "BUDGET"] as const;
export type DoneReason = (typeof DONE_REASONS)[number];
