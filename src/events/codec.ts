import { mapStrings, storableJsonText, type Json, type JsonObject } from "../lib/json.ts";
import { byteLength, marked } from "../lib/text.ts";
import { CALL_WAITS, DONE_REASONS } from "../db/commit/change.ts";
import { COMPACTION_METHODS } from "../db/commit/compaction-rows.ts";
import { EXPORT_FORMATS, EXPORT_STATES, EXPORT_SUBJECTS } from "../db/commit/export-rows.ts";
import { MEMORY_LINEAGES } from "../db/commit/memory-change.ts";
import {
  ActorKind,
  AgentState,
  ApprovalDecision,
  ApprovalKind,
  ApprovalState,
  Breakpoint,
  ToolCallState,
} from "../db/generated/enums.ts";
import {
  CHANNEL_OF,
  ERROR_PHASES,
  ERROR_SEVERITIES,
  type EventBody,
  type EventDraft,
  type EventKind,
  type TenantEventDraft,
  type TimelineEvent,
  type Channel,
} from "./event.ts";
import { BUDGET_PERS } from "./budgets/budget-question.ts";
import { MEMORY_ACTIONS } from "./memory-event.ts";
import {
  CHILD_OUTCOMES,
  FILE_CHANGE_KINDS,
  GATE_STAGES,
  REMINDER_CATEGORIES,
  REMINDER_PRIORITIES,
  SCHEDULE_CHANGES,
  SHELL_END_REASONS,
  TOOL_CALL_ERROR_TYPES,
  TRIGGER_KINDS,
} from "./snapshots.ts";

/** The largest payload of one event in bytes. */
const EVENT_BYTES = 64 * 1024;

export type EncodedEvent = {
  readonly channel: Channel;
  readonly kind: EventKind;
  readonly payload: string;
  readonly at: Date;
  readonly body: EventBody;
};

export type EventRow = {
  readonly agent_id: string | null;
  readonly created_by: string | null;
  readonly ancestors: readonly string[] | null;
  readonly position: string | number | bigint;
  readonly seq: number;
  readonly at: Date;
  readonly channel: string;
  readonly kind: string;
  readonly payload: string;
};

/** The draft as it is stored: NUL and lone surrogates are replaced. Throws if it exceeds EVENT_BYTES. */
export function encodeEvent(draft: EventDraft | TenantEventDraft): EncodedEvent {
  const { kind, ...payload } = draft.body;
  const said = JSON.stringify(payload);
  const stored = fitting(storableJsonText(said));
  const body = stored === said ? draft.body : decodeBody(kind, stored);
  return { channel: CHANNEL_OF[kind], kind, payload: stored, at: draft.at, body };
}

type Values = readonly { readonly path: readonly string[]; readonly known: object }[];

const CALL = valuesOf({
  "call.state": ToolCallState,
  "call.approval.state": ApprovalState,
  "call.approval.decision": ApprovalDecision,
  "call.error.type": named(TOOL_CALL_ERROR_TYPES),
  "call.error.stage": named(GATE_STAGES),
});
const EXECUTION_ENDED = valuesOf({ "error.type": named(TOOL_CALL_ERROR_TYPES), "error.stage": named(GATE_STAGES) });
const BUDGET = valuesOf({ per: named(BUDGET_PERS), "changedBy.kind": ActorKind });
const CHANGED_BY = valuesOf({ "changedBy.kind": ActorKind });
const ACCESS_TOKEN = valuesOf({ "changedBy.kind": ActorKind, "accessToken.owner.kind": ActorKind });

const EXPORT = valuesOf({
  "changedBy.kind": ActorKind,
  "exported.state": named(EXPORT_STATES),
  "exported.what": named(EXPORT_SUBJECTS),
  "exported.format": named(EXPORT_FORMATS),
});

/** The fields with values that a newer version may extend; absent and null are known. */
const VALUES: { readonly [Kind in EventKind]?: Values } = {
  TOOL_START: CALL,
  TOOL_WAITING: [...CALL, ...valuesOf({ waitsFor: named(CALL_WAITS) })],
  TOOL_END: CALL,
  AGENT_RETURNED: valuesOf({ outcome: named(CHILD_OUTCOMES) }),
  TOOL_ERROR: CALL,
  TOOL_EXECUTED: CALL,
  DONE: valuesOf({ reason: named(DONE_REASONS) }),
  PERMISSION_REQUIRED: valuesOf({ "request.kind": ApprovalKind, "request.call.state": ToolCallState }),
  PERMISSION_DECIDED: valuesOf({ decision: ApprovalDecision, approvalState: ApprovalState }),
  PERMISSION_CLOSED: valuesOf({ approvalState: ApprovalState }),
  STATE_CHANGED: valuesOf({ previousState: AgentState, state: AgentState }),
  BREAKPOINT_CHANGED: valuesOf({ previousBreakpoint: Breakpoint, breakpoint: Breakpoint }),
  STAGE_STARTED: valuesOf({ stage: named(GATE_STAGES) }),
  STAGE_COMPLETED: valuesOf({ stage: named(GATE_STAGES) }),
  CONTEXT_COMPRESSION: valuesOf({ method: named(COMPACTION_METHODS), "askedBy.kind": ActorKind }),
  SHELL_ENDED: valuesOf({ endReason: named(SHELL_END_REASONS) }),
  FILE_CHANGED: valuesOf({ "files.change": named(FILE_CHANGE_KINDS) }),
  REMINDER_SENT: valuesOf({ category: named(REMINDER_CATEGORIES), priority: named(REMINDER_PRIORITIES) }),
  SCHEDULER_TRIGGERED: valuesOf({ trigger: named(TRIGGER_KINDS) }),
  SCHEDULE_CHANGED: valuesOf({ scheduleChange: named(SCHEDULE_CHANGES), "changedBy.kind": ActorKind }),
  MEMORY_CHANGED: valuesOf({
    memoryAction: named(MEMORY_ACTIONS),
    lineage: named(MEMORY_LINEAGES),
    "changedBy.kind": ActorKind,
  }),
  BUDGET_WARNED: BUDGET,
  BUDGET_ASKED: BUDGET,
  BUDGET_RAISED: BUDGET,
  BUDGET_STOPPED: BUDGET,
  BUDGET_SET: BUDGET,
  BUDGET_REVOKED: BUDGET,
  EXECUTION_FAILED: EXECUTION_ENDED,
  EXECUTION_ABORTED: EXECUTION_ENDED,
  ALLOW_RULE_STORED: CHANGED_BY,
  ALLOW_RULE_REVOKED: CHANGED_BY,
  DELEGATION_STARTED: CHANGED_BY,
  DELEGATION_ENDED: CHANGED_BY,
  TOOL_ACCEPTED: CHANGED_BY,
  AGENT_DELETED: valuesOf({ "changedBy.kind": ActorKind, "createdBy.kind": ActorKind }),
  ACCESS_TOKEN_CREATED: ACCESS_TOKEN,
  ACCESS_TOKEN_REVOKED: ACCESS_TOKEN,
  EXPORT_CREATED: EXPORT,
  EXPORT_ENDED: EXPORT,
  CONFIGURATION_CHANGED: CHANGED_BY,
  SNOOZE_CHANGED: CHANGED_BY,
  ERROR: valuesOf({ severity: named(ERROR_SEVERITIES), phase: named(ERROR_PHASES) }),
};

function valuesOf(known: Readonly<Record<string, object>>): Values {
  return Object.entries(known).map(([path, values]) => ({ path: path.split("."), known: values }));
}

function named(values: readonly string[]): object {
  return Object.fromEntries(values.map((value) => [value, value]));
}

/** The event of a row; null if a newer server wrote it, with an unknown kind or value. */
export function decodeKnownEvent(tenant: string, row: EventRow): TimelineEvent | null {
  if (!Object.hasOwn(CHANNEL_OF, row.kind)) return null;
  const event = decodeEvent(tenant, row);
  const values = VALUES[event.body.kind] ?? [];
  return values.every(({ path, known }) => isKnownAt(event.body, path, known)) ? event : null;
}

function isKnownAt(value: unknown, path: readonly string[], known: object): boolean {
  if (Array.isArray(value)) return value.every((item) => isKnownAt(item, path, known));
  const [field, ...rest] = path;
  if (field !== undefined)
    return (
      typeof value !== "object" || value === null || isKnownAt((value as Readonly<Record<string, unknown>>)[field], rest, known)
    );
  return value === null || value === undefined || (typeof value === "string" && Object.hasOwn(known, value));
}

function decodeEvent(tenant: string, row: EventRow): TimelineEvent {
  return {
    tenant,
    agentId: row.agent_id,
    createdBy: row.created_by,
    ancestors: row.ancestors ?? [],
    position: Number(row.position),
    seq: row.seq,
    at: row.at,
    channel: row.channel as Channel,
    bytes: row.payload.length,
    body: decodeBody(row.kind, row.payload),
  };
}

function decodeBody(kind: string, stored: string): EventBody {
  return { kind, ...(JSON.parse(stored) as JsonObject) } as EventBody;
}

function fitting(stored: string): string {
  if (stored.length * 3 <= EVENT_BYTES || byteLength(stored) <= EVENT_BYTES) return stored;
  for (let longest = EVENT_BYTES / 8; longest > 64; longest /= 2) {
    const cut = JSON.stringify(
      mapStrings(JSON.parse(stored) as Json, (field) => marked(field, longest, "cut to fit into an event")),
    );
    if (byteLength(cut) <= EVENT_BYTES) return cut;
  }
  throw new Error(`an event of ${byteLength(stored)} bytes has too many fields to fit into ${EVENT_BYTES}`);
}
