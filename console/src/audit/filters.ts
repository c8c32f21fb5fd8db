import type {
  ApprovalFilter,
  ApprovalState,
  ExportSubject,
  PermissionVerdict,
  StepFilter,
  StepState,
  ToolCallErrorType,
  ToolCallFilter,
  ToolCallState,
  TurnFilter,
  TurnOrderField,
} from "../generated/documents.ts";

export const CALL_STATES = [
  "PENDING",
  "APPROVAL_REQUIRED",
  "APPROVED",
  "EXECUTING",
  "WAITING",
  "COMPLETED",
  "DENIED",
  "FAILED",
  "SEALED",
] as const satisfies readonly ToolCallState[];
/** The states in which calls end. */
export const FINAL_STATES = ["COMPLETED", "DENIED", "FAILED", "SEALED"] as const satisfies readonly ToolCallState[];
export const VERDICTS = ["ALLOW", "ASK", "DENY"] as const satisfies readonly PermissionVerdict[];
export const ERROR_TYPES = [
  "ABORTED",
  "APPROVAL_EXPIRED",
  "DISABLED",
  "EXECUTION_FAILED",
  "INVALID_PARAMS",
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "TIMEOUT",
  "TOOL_BUSY",
  "USER_REJECTED",
] as const satisfies readonly ToolCallErrorType[];
export const DECIDED_STATES = [
  "ALLOWED",
  "DENIED",
  "EXPIRED",
  "RESOLVED",
  "SEALED",
  "STALE",
] as const satisfies readonly ApprovalState[];

export const STEP_STATES = ["STARTED", "COMPLETED", "ABORTED"] as const satisfies readonly StepState[];
export const STEP_ORDERS = ["STARTED_AT", "DURATION", "COST"] as const satisfies readonly TurnOrderField[];

export const EXPORT_SUBJECTS = [
  "TOOL_CALLS",
  "APPROVALS",
  "DECISIONS",
  "MESSAGES",
  "STEPS",
  "TURNS",
  "EVENTS",
] as const satisfies readonly ExportSubject[];

/** The tables of the audit, the charts and the exports. */
export const AUDIT_VIEWS = ["calls", "decisions", "steps", "charts", "exports"] as const;
export type AuditView = (typeof AUDIT_VIEWS)[number];

/** The filters of the audit, as they stand in the address. A day is that of the person's time zone. */
export const AUDIT_FILTERS = [
  "tool",
  "state",
  "verdict",
  "error",
  "template",
  "model",
  "agent",
  "place",
  "person",
  "requester",
  "price",
  "from",
  "to",
  "order",
  "bucket",
  "call",
  "step",
  "what",
] as const;
export type AuditFilter = (typeof AUDIT_FILTERS)[number];
export type AuditSearch = { readonly [Name in AuditFilter]?: string };

/** The filters that all views know. */
const COMMON = ["template", "agent", "from", "to"] as const satisfies readonly AuditFilter[];

/** The filters of each view, besides those of all. */
const FILTERS_OF: Readonly<Record<Exclude<AuditView, "exports">, readonly AuditFilter[]>> = {
  calls: ["tool", "model", "state", "verdict", "error", "place", "person"],
  decisions: ["tool", "state", "requester", "person"],
  steps: ["model", "state", "price", "requester", "order"],
  charts: ["tool", "model", "verdict", "error", "place", "requester", "person"],
};

const EXPORT_FILTERS: Readonly<Record<ExportSubject, readonly AuditFilter[]>> = {
  TOOL_CALLS: ["tool", "model", "state", "verdict", "error", "place", "requester", "person"],
  APPROVALS: ["tool", "requester", "person"],
  DECISIONS: ["tool", "requester", "person"],
  MESSAGES: ["requester"],
  STEPS: ["model", "requester"],
  TURNS: ["requester"],
  EVENTS: ["requester"],
};

/** The rows of an export that a table leads to; calls for the others. */
const SUBJECT_OF: { readonly [View in AuditView]?: ExportSubject } = { decisions: "APPROVALS", steps: "STEPS" };

/** The filters that a view has. Those of an export depend on its rows. */
export function filtersOf(view: AuditView, search: AuditSearch): readonly AuditFilter[] {
  return [...COMMON, ...(view === "exports" ? EXPORT_FILTERS[exportSubject(search)] : FILTERS_OF[view])];
}

/** The address of another view with the filters that both have. The states of two views are different ones. */
export function searchOfView(view: AuditView, present: AuditView, search: AuditSearch): LookSearch {
  if (view === present) return view === "calls" ? {} : { view };
  const hasSameStates = view === "exports" ? present === "calls" : view === "calls" && present === "exports";
  const subject = SUBJECT_OF[present];
  const what = view === "exports" && subject !== undefined ? { what: subject } : {};
  const had = filtersOf(present, search);
  const kept = filtersOf(view, what).filter(
    (name) => had.includes(name) && search[name] !== undefined && (name !== "state" || hasSameStates),
  );
  return {
    ...(view === "calls" ? {} : { view }),
    ...Object.fromEntries(kept.map((name) => [name, search[name]])),
    ...what,
  };
}

export type LookSearch = AuditSearch & { readonly view?: string };

/** The rows of an export: calls, unless the address names others. */
export function exportSubject({ what }: AuditSearch): ExportSubject {
  return EXPORT_SUBJECTS.find((each) => each === what) ?? "TOOL_CALLS";
}

/** True if an export of these rows may have texts. */
export function haveTexts(what: ExportSubject): boolean {
  return what !== "STEPS" && what !== "TURNS";
}

/** The filter of an export: that of calls, without conditions that its rows do not have. */
export function exportFilter(search: AuditSearch): ToolCallFilter {
  const known = filtersOf("exports", search);
  const { requester, ...kept }: AuditSearch = Object.fromEntries(
    Object.entries(search).filter(([name]) => known.some((each) => each === name)),
  );
  return { ...callFilter(kept), createdBy: list(requester) };
}

/** The filter of tool calls. A value of the address that the API does not know filters nothing. */
export function callFilter(search: AuditSearch): ToolCallFilter {
  return {
    tools: list(search.tool),
    templateIds: list(search.template),
    agentIds: list(search.agent),
    decidedBy: list(search.person),
    models: list(search.model),
    states: known(CALL_STATES, search.state),
    places: list(search.place),
    verdicts: known(VERDICTS, search.verdict),
    errorTypes: known(ERROR_TYPES, search.error),
    created: days(search),
  };
}

/** The filter of closed approvals. */
export function decisionFilter(search: AuditSearch): ApprovalFilter {
  return {
    tools: list(search.tool),
    templateIds: list(search.template),
    agentIds: list(search.agent),
    decidedBy: list(search.person),
    requestedBy: list(search.requester),
    states: known(DECIDED_STATES, search.state) ?? [...DECIDED_STATES],
    requested: days(search),
  };
}

/** The filter of steps. */
export function stepFilter(search: AuditSearch): StepFilter {
  return {
    models: list(search.model),
    templateIds: list(search.template),
    agentIds: list(search.agent),
    requestedBy: list(search.requester),
    states: known(STEP_STATES, search.state),
    isUnpriced: search.price === "none" ? true : null,
    started: days(search),
  };
}

/** The filter of turns; the range is given with the groups. */
export function turnFilter(search: AuditSearch): TurnFilter {
  return {
    models: list(search.model),
    templateIds: list(search.template),
    agentIds: list(search.agent),
    requestedBy: list(search.requester),
  };
}

/** The order of steps: the newest first, unless the address says another one. */
export function stepOrder({ order }: AuditSearch): TurnOrderField {
  return STEP_ORDERS.find((each) => each === order) ?? "STARTED_AT";
}

function list(value: string | undefined): string[] | null {
  return value === undefined ? null : [value];
}

function known<Value extends string>(values: readonly Value[], given: string | undefined): Value[] | null {
  const value = values.find((each) => each === given);
  return value === undefined ? null : [value];
}

/** The range of the days of the address. Both count whole. */
export function days({ from, to }: AuditSearch): { readonly from: string | null; readonly to: string | null } | null {
  const begin = dayStart(from, 0);
  const end = dayStart(to, 1);
  return begin === null && end === null ? null : { from: begin, to: end };
}

function dayStart(day: string | undefined, add: number): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? "") ?? [];
  if (year === undefined) return null;
  const time = new Date(Number(year), Number(month) - 1, Number(date) + add);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
