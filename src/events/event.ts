import type { CallWait, DoneReason, ShapeFailure, ShapeProblem } from "../db/commit/change.ts";
import type { AgentState, ApprovalDecision, ApprovalState, Breakpoint } from "../db/generated/enums.ts";
import type { Json } from "../lib/json.ts";
import type { CacheMiss } from "./cache-miss.ts";
import type {
  ChildOutcome,
  ActorRef,
  ApprovalSnapshot,
  FileChangeSnapshot,
  ShellEndReason,
  TemplateVersionSnapshot,
  ToolCallSnapshot,
} from "./snapshots.ts";
import { BUDGET_CHANNELS, type BudgetEvent } from "./budgets/budget-event.ts";
import type { MemoryEvent } from "./memory-event.ts";
import type { ReminderEventBody } from "./reminder-event.ts";
import { TENANT_CHANNELS, type TenantEventBody } from "./tenant-event.ts";
import type { CompressionEvent } from "./compression-event.ts";
import type { TodoEvent } from "./todo-event.ts";
import type { TraceEventBody } from "./trace-event.ts";

export const CHANNELS = ["PROGRESS", "CONTROL", "MONITOR"] as const;

export type Channel = (typeof CHANNELS)[number];

/** The phase that an ERROR event is about, and how bad it is. */
export const ERROR_PHASES = ["MODEL", "TOOL", "SYSTEM", "LIFECYCLE"] as const;
export type ErrorPhase = (typeof ERROR_PHASES)[number];
export const ERROR_SEVERITIES = ["INFO", "WARN", "ERROR", "CRITICAL"] as const;
export type ErrorSeverity = (typeof ERROR_SEVERITIES)[number];

/** How an agent goes on: after its server died, after people were asked what came of calls, or after a planned stop. */
export const RESUME_STRATEGIES = ["CRASH", "MANUAL", "PLANNED"] as const;
export type ResumeStrategy = (typeof RESUME_STRATEGIES)[number];

/**
 * The body of an event of an agent, by kind. A field that may not fit into an event (64 KB) is null in the log and read from its row.
 * Erased texts are null, and pieces of a text are empty: `isErased` then, otherwise absent.
 */
export type AgentEventBody =
  | {
      readonly kind: "MESSAGE_RECEIVED";
      readonly messageId: string;
      readonly text: string | null;
      readonly images: number;
      readonly sentBy: ActorRef;
    }
  | { readonly kind: "MESSAGE_WITHDRAWN"; readonly messageId: string; readonly withdrawnBy: ActorRef }
  | { readonly kind: "TEXT_CHUNK_START"; readonly step: number; readonly block: number }
  | { readonly kind: "TEXT_CHUNK"; readonly step: number; readonly block: number; readonly delta: string }
  | {
      readonly kind: "TEXT_CHUNK_END";
      readonly step: number;
      readonly block: number;
      readonly text: string | null;
      readonly aborted: boolean;
      readonly isErased?: true;
    }
  | { readonly kind: "THINK_CHUNK_START"; readonly step: number; readonly block: number }
  | { readonly kind: "THINK_CHUNK"; readonly step: number; readonly block: number; readonly delta: string }
  | {
      readonly kind: "THINK_CHUNK_END";
      readonly step: number;
      readonly block: number;
      readonly text: string | null;
      readonly aborted: boolean;
      readonly isErased?: true;
    }
  | { readonly kind: "TOOL_START"; readonly call: ToolCallSnapshot }
  | { readonly kind: "TOOL_WAITING"; readonly call: ToolCallSnapshot; readonly waitsFor: CallWait; readonly dueAt: string | null }
  | { readonly kind: "TOOL_END"; readonly call: ToolCallSnapshot }
  | {
      readonly kind: "AGENT_SPAWNED";
      readonly callId: string;
      readonly childId: string;
      readonly templateId: string;
      readonly description: string | null;
      readonly isBackground: boolean;
    }
  | {
      readonly kind: "AGENT_RETURNED";
      readonly callId: string;
      readonly childId: string;
      readonly outcome: ChildOutcome;
      /** The beginning of its answer. */
      readonly text: string | null;
    }
  | { readonly kind: "TOOL_ERROR"; readonly call: ToolCallSnapshot; readonly error: string | null }
  | {
      readonly kind: "DONE";
      readonly turn: number;
      readonly step: number;
      readonly reason: DoneReason;
      /** `empty` if the last answer of the model was empty, or the failure of a shape. Absent otherwise. */
      readonly detail?: "empty" | ShapeFailure;
      /** The first parts of the last answer that did not fit. Absent if there are none. */
      readonly problems?: readonly ShapeProblem[];
      /** The value of an answer in a shape. Absent without a shape; null if it is too large for the event. */
      readonly value?: Json;
      /** The message with that value. */
      readonly valueMessageId?: string;
      readonly messageIds: readonly string[] | null;
    }
  | { readonly kind: "PERMISSION_REQUIRED"; readonly request: ApprovalSnapshot }
  | {
      readonly kind: "PERMISSION_DECIDED";
      readonly approvalId: string;
      /** The call that is decided on; null where something else is. */
      readonly callId: string | null;
      /** The tool of that call. Absent in older events. */
      readonly tool?: string | null;
      readonly decision: ApprovalDecision;
      readonly decidedBy: ActorRef;
      /** The actor in whose name it was decided; null for their own. */
      readonly onBehalfOf: ActorRef | null;
      readonly note: string | null;
      /** PENDING where more people must allow it. */
      readonly approvalState: ApprovalState;
      /** The number of people who must still allow it. */
      readonly missingDecisions: number;
      /** The hash of the input that was allowed; another than the request's if the person changed it. Null for a denial. */
      readonly allowedHash: string | null;
      /** The rule that the decision keeps for the agent; null for none. */
      readonly allowRuleId: string | null;
    }
  | {
      readonly kind: "PERMISSION_CLOSED";
      readonly approvalId: string;
      readonly callId: string | null;
      readonly approvalState: ApprovalState;
      readonly note: string | null;
    }
  | {
      readonly kind: "AGENT_CREATED";
      readonly templateId: string;
      readonly model: string;
      readonly createdBy: ActorRef;
      /** The agent that it was forked from; null for one that was not forked. */
      readonly forkedFrom: string | null;
      /** The folder in which it works. */
      readonly workspace: string;
      /** Names of hooks of its own. */
      readonly hooks: readonly string[];
      /** A permission of its own, with its scope; null for none, or for one that does not fit into the event. */
      readonly permission: Json;
    }
  | {
      readonly kind: "AGENT_RENAMED";
      readonly previousTitle: string | null;
      readonly title: string | null;
      readonly changedBy: ActorRef;
    }
  | { readonly kind: "AGENT_ARCHIVED"; readonly changedBy: ActorRef }
  | { readonly kind: "AGENT_UNARCHIVED"; readonly changedBy: ActorRef }
  | { readonly kind: "STATE_CHANGED"; readonly previousState: AgentState; readonly state: AgentState }
  | { readonly kind: "BREAKPOINT_CHANGED"; readonly previousBreakpoint: Breakpoint; readonly breakpoint: Breakpoint }
  | {
      readonly kind: "STEP_COMPLETE";
      readonly step: number;
      readonly durationMs: number;
      /** The time from the sent request to the first piece of output. Absent if there was none. */
      readonly firstTokenMs?: number;
      readonly stopReason: string;
      /** The size of the context with the answer, and the model's context window, in tokens; null if unknown, absent in older events. */
      readonly contextTokens?: number | null;
      readonly contextWindow?: number | null;
      /** The share of input tokens from the provider's cache; null without counts, absent in older events. */
      readonly cachedShare?: number | null;
      /** Null if the cache was not missed, absent in older events. */
      readonly cacheMiss?: CacheMiss | null;
    }
  | {
      readonly kind: "TOKEN_USAGE";
      readonly step: number;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cacheReadTokens: number;
      readonly cacheWriteTokens: number;
      readonly totalTokens: number;
      readonly costUsd: number | null;
      /** True if a call of the step broke off, so that its output was estimated. */
      readonly isEstimated: boolean;
    }
  | { readonly kind: "TOOL_EXECUTED"; readonly call: ToolCallSnapshot }
  | {
      readonly kind: "ERROR";
      readonly severity: ErrorSeverity;
      readonly phase: ErrorPhase;
      readonly message: string | null;
      readonly detail: string | null;
      /** When what failed is tried again, in ISO 8601. Absent if it is not. */
      readonly retryAt?: string;
    }
  | { readonly kind: "INTERRUPT_REQUESTED"; readonly requestedBy: ActorRef; readonly note: string | null }
  | { readonly kind: "TURN_RETRY_REQUESTED"; readonly turn: number; readonly requestedBy: ActorRef }
  | {
      readonly kind: "TOOL_CANCEL_REQUESTED";
      readonly callId: string;
      readonly requestedBy: ActorRef;
      readonly note: string | null;
    }
  | { readonly kind: "AGENT_RESUMED"; readonly strategy: ResumeStrategy; readonly sealed: readonly ToolCallSnapshot[] }
  | {
      readonly kind: "STORAGE_FAILURE";
      readonly severity: ErrorSeverity;
      /** ISO 8601. */
      readonly since: string;
      /** The kind of the first event that waited. */
      readonly failedEvent: EventKind | null;
      readonly bufferedCount: number;
      /** The number of them that were refused afterwards: another server had gone on with the agent. */
      readonly lostCount: number;
      readonly error: string;
    }
  | TodoEvent
  | CompressionEvent
  | { readonly kind: "TEMPLATE_CHANGED"; readonly from: TemplateVersionSnapshot; readonly to: TemplateVersionSnapshot }
  | {
      readonly kind: "SHELL_STARTED";
      readonly shellId: string;
      /** The call that started it. */
      readonly callId: string;
      /** The beginning of its command line. */
      readonly command: string | null;
    }
  | {
      readonly kind: "SHELL_ENDED";
      readonly shellId: string;
      readonly callId: string;
      readonly command: string | null;
      readonly endReason: ShellEndReason;
      /** Null if a signal ended it, or if nobody knows. */
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly durationMs: number;
    }
  | {
      readonly kind: "FILE_CHANGED";
      /** The first of them by path. */
      readonly files: readonly FileChangeSnapshot[];
      /** The number of all. */
      readonly fileCount: number;
    }
  /** The tools whose sections of the manual a notice tells the agent, by name. */
  | { readonly kind: "TOOL_MANUAL_UPDATED"; readonly tools: readonly string[] }
  | MemoryEvent
  | BudgetEvent
  | ReminderEventBody
  | TraceEventBody
  | {
      readonly kind: "TOOL_CUSTOM_EVENT";
      readonly callId: string;
      readonly tool: string;
      readonly eventType: string;
      readonly eventData: Json;
    };

/** The body of an event, by kind. */
export type EventBody = AgentEventBody | TenantEventBody;

/** The name of a kind of event. */
export type EventKind = EventBody["kind"];

/** The body of one kind of event. */
export type BodyOf<Kind extends EventKind> = Extract<EventBody, { readonly kind: Kind }>;

/** The one channel on which each kind appears. */
export const CHANNEL_OF: Readonly<Record<EventKind, Channel>> = {
  MESSAGE_RECEIVED: "PROGRESS",
  MESSAGE_WITHDRAWN: "PROGRESS",
  TEXT_CHUNK_START: "PROGRESS",
  TEXT_CHUNK: "PROGRESS",
  TEXT_CHUNK_END: "PROGRESS",
  THINK_CHUNK_START: "PROGRESS",
  THINK_CHUNK: "PROGRESS",
  THINK_CHUNK_END: "PROGRESS",
  TOOL_START: "PROGRESS",
  TOOL_WAITING: "PROGRESS",
  TOOL_END: "PROGRESS",
  AGENT_SPAWNED: "PROGRESS",
  AGENT_RETURNED: "PROGRESS",
  TOOL_ERROR: "PROGRESS",
  DONE: "PROGRESS",
  PERMISSION_REQUIRED: "CONTROL",
  PERMISSION_DECIDED: "CONTROL",
  PERMISSION_CLOSED: "CONTROL",
  AGENT_CREATED: "MONITOR",
  AGENT_RENAMED: "MONITOR",
  AGENT_ARCHIVED: "MONITOR",
  AGENT_UNARCHIVED: "MONITOR",
  STATE_CHANGED: "MONITOR",
  BREAKPOINT_CHANGED: "MONITOR",
  STEP_COMPLETE: "MONITOR",
  TOKEN_USAGE: "MONITOR",
  TOOL_EXECUTED: "MONITOR",
  ERROR: "MONITOR",
  INTERRUPT_REQUESTED: "MONITOR",
  TURN_RETRY_REQUESTED: "MONITOR",
  TOOL_CANCEL_REQUESTED: "MONITOR",
  AGENT_RESUMED: "MONITOR",
  STORAGE_FAILURE: "MONITOR",
  TODO_CHANGED: "MONITOR",
  SHELL_STARTED: "MONITOR",
  SHELL_ENDED: "MONITOR",
  FILE_CHANGED: "MONITOR",
  TODO_REMINDER: "MONITOR",
  TEMPLATE_CHANGED: "MONITOR",
  CONTEXT_COMPRESSION: "MONITOR",
  TOOL_MANUAL_UPDATED: "MONITOR",
  MEMORY_CHANGED: "MONITOR",
  REMINDER_SENT: "MONITOR",
  SCHEDULER_TRIGGERED: "MONITOR",
  SCHEDULE_CHANGED: "MONITOR",
  EXECUTION_STARTED: "MONITOR",
  STAGE_STARTED: "MONITOR",
  STAGE_COMPLETED: "MONITOR",
  EXECUTION_COMPLETED: "MONITOR",
  EXECUTION_FAILED: "MONITOR",
  EXECUTION_ABORTED: "MONITOR",
  TOOL_CUSTOM_EVENT: "MONITOR",
  ...BUDGET_CHANNELS,
  ...TENANT_CHANNELS,
};

/** Every kind, in the order of CHANNEL_OF. */
export const EVENT_KINDS = Object.keys(CHANNEL_OF) as readonly EventKind[];

/** An event of an agent, or of a tenant, that is not yet in the log. */
export type EventDraft<Body = AgentEventBody> = { readonly at: Date; readonly body: Body };
export type TenantEventDraft = EventDraft<TenantEventBody>;

/** An event of the log. */
export type TimelineEvent = {
  readonly tenant: string;
  /** Null for an event of the tenant itself. */
  readonly agentId: string | null;
  /** The creator of the agent: what a reader who may only see their own agents is checked against. Null for an event of the tenant itself, which such a reader never sees. */
  readonly createdBy: string | null;
  /** Ids of the agents above the agent, the first of its tree first. */
  readonly ancestors: readonly string[];
  /** Place in the tenant's log, from 1, without gaps. */
  readonly position: number;
  /** Place among the events of the agent, or of the tenant itself, from 1, without gaps. */
  readonly seq: number;
  readonly at: Date;
  readonly channel: Channel;
  /** Length of the stored payload: what memory bounds count. */
  readonly bytes: number;
  readonly body: EventBody;
};
