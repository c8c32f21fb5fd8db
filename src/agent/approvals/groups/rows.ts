import type { ApprovalKind, ApprovalState } from "../../../db/generated/enums.ts";
import type { Parameters } from "../../calls/audit/rows.ts";
import { isOfAgent, type ApprovalDimension } from "./dimensions.ts";

/** Conditions of approvals; null for none. */
export type GroupedApprovals = {
  readonly tenant: string;
  /** The creators whose agents are visible. */
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly states: readonly ApprovalState[] | null;
  readonly kinds: readonly ApprovalKind[] | null;
  readonly risks: readonly string[] | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly createdBy: readonly string[] | null;
  readonly requestedBy: readonly string[] | null;
  readonly decidedBy: readonly string[] | null;
  readonly decidedFrom: Date | null;
  readonly decidedTo: Date | null;
  /** Snoozed by this actor at present, or not. */
  readonly snoozed: { readonly by: string; readonly is: boolean; readonly at: Date } | null;
};

/** The figures that need further reads. */
export type FurtherReads = { readonly hoursWaited: boolean; readonly agentHours: boolean; readonly reversals: boolean };

type Wanted = { readonly by: readonly ApprovalDimension[]; readonly timeZone: string; readonly has: FurtherReads };

/** Where approvals are, with their agents, tools, decisions and steps. */
type Origin = {
  readonly approvals: string;
  readonly agents: string;
  /** Joins `t`, with the name of the tool. */
  readonly tools: string;
  readonly decisions: string;
  readonly isEdited: string;
  readonly isReversed: string;
  readonly isDeleted: boolean;
  readonly steps: string;
};

/** Decisions on all approvals, for a join. Those of a deleted agent are there twice until the former rows are removed. */
export const DECISIONS = `SELECT approval_id, false AS is_deleted, actor_id, actor_kind::text AS actor_kind, true AS is_decided, decision::text AS decision, input_hash IS NOT NULL AS is_edited, decided_at FROM decision
  UNION ALL SELECT approval_id, true, actor_id, actor_kind::text, true, decision::text, is_edited, decided_at FROM deleted_decision`;

export function msFrom(start: string, end: string): string {
  return `extract(epoch FROM ${end} - ${start})::float8 * 1000`;
}

/** Selects that together have each approval once, and with hours of work the turns of their agents. */
export function foundSql(filter: GroupedApprovals, wanted: Wanted, parameters: Parameters): string[] {
  const { hoursWaited, reversals } = wanted.has;
  const present: Origin = {
    approvals: reversals ? withLastAnswers(filter, parameters) : "approval",
    agents: "(SELECT id, tenant, coalesce(root_id, id) AS root_id, template_id, created_by FROM agent)",
    tools: "LEFT JOIN tool_call t ON t.id = c.tool_call_id",
    decisions: "decision",
    isEdited: "d.input_hash IS NOT NULL",
    isReversed: REVERSED,
    isDeleted: false,
    steps: "(SELECT * FROM step WHERE copied_from IS NULL)",
  };
  const deleted: Origin = {
    approvals: "deleted_approval",
    agents: "(SELECT agent_id AS id, tenant, root_id, template_id, created_by FROM deleted_agent)",
    tools: "CROSS JOIN LATERAL (SELECT c.tool AS name) t",
    decisions: "deleted_decision",
    isEdited: "d.is_edited",
    isReversed: "c.is_reversed",
    isDeleted: true,
    steps: "audit_step",
  };
  const hour = wanted.by.includes("HOUR_OF_DAY")
    ? `to_char(c.requested_at AT TIME ZONE ${parameters.add(wanted.timeZone)}::text, 'HH24')`
    : "NULL::text";
  const approvalsOf = ({ approvals, agents, tools, decisions, isEdited, isReversed, isDeleted }: Origin): string =>
    `SELECT c.id, c.agent_id, c.kind::text AS kind, c.state::text AS state, c.risk, c.host, t.name AS tool, ${OF_AGENT}, c.requested_at, ${hour} AS hour,
      c.state IN ('ALLOWED', 'DENIED', 'RESOLVED') AS is_decided, d.decision, d.is_edited, d.decision_ms, ${reversals ? isReversed : "false"} AS is_reversed,
      ${hoursWaited ? WAITED : "0::float8"} AS waited_ms, NULL::float8 AS turn_ms, ${isDeleted} AS is_deleted
    FROM ${approvals} c JOIN ${agents} a ON a.id = c.agent_id ${tools} LEFT JOIN LATERAL (
      SELECT d.decision::text AS decision, ${isEdited} AS is_edited, ${msFrom("c.requested_at", "d.decided_at")} AS decision_ms
      FROM ${decisions} d WHERE d.approval_id = c.id ORDER BY d.decided_at DESC LIMIT 1) d ON true
    WHERE ${[...agentConditions(filter, parameters), ...approvalConditions(filter, decisions, parameters)].join(" AND ")}`;
  const turnsOf = ({ agents, steps }: Origin): string =>
    `SELECT NULL, s.agent_id, NULL, NULL, NULL, NULL, NULL, ${OF_AGENT}, min(s.started_at), NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      ${msFrom("min(s.started_at)", "max(s.completed_at)")}, NULL
    FROM ${steps} s JOIN ${agents} a ON a.id = s.agent_id
    WHERE ${[...agentConditions(filter, parameters), ...timeConditions("s.started_at", filter, parameters)].join(" AND ")} GROUP BY s.agent_id, s.turn, ${OF_AGENT}`;
  const hasTurns = wanted.has.agentHours && wanted.by.every(isOfAgent);
  const origins = [present, deleted];
  return [...origins.map(approvalsOf), ...(hasTurns ? origins.map(turnsOf) : [])];
}

const OF_AGENT = "a.template_id, a.root_id, a.created_by";

const OF_APPROVAL = [
  "id",
  "tenant",
  "agent_id",
  "tool_call_id",
  "kind",
  "state",
  "risk",
  "host",
  "requesters",
  "requested_at",
  "closed_at",
];

/**
 * Approvals, each with the last times at which the same was asked and then allowed, or denied. A filter on the rows comes
 * later, since those times may be of rows that it leaves out. A window sorts them once, with any statistics. `input_hash`
 * is of one call alone, so equal inputs have other hashes.
 */
function withLastAnswers(filter: GroupedApprovals, parameters: Parameters): string {
  const last = (state: ApprovalState): string => `max(n.requested_at) FILTER (WHERE n.state = '${state}') OVER question`;
  const range = timeConditions("n.requested_at", { from: filter.from, to: null }, parameters);
  return `(SELECT ${OF_APPROVAL.map((name) => `n.${name}`).join(", ")}, ${last("ALLOWED")} AS last_allowed, ${last("DENIED")} AS last_denied
    FROM approval n JOIN agent a ON a.id = n.agent_id LEFT JOIN tool_call k ON k.id = n.tool_call_id
    WHERE ${["n.tenant = $1", ...agentConditions(filter, parameters), ...range].join(" AND ")}
    WINDOW question AS (PARTITION BY n.agent_id, n.kind, CASE WHEN n.kind <> 'NETWORK_HOST' THEN coalesce(n.input_digest, md5(n.agent_id || n.input::text), n.id) END, n.host, n.port, k.name))`;
}

/**
 * True if the same was asked again after the end of the approval `c`, with the opposite answer. Of a deleted agent it is
 * known: no later question comes.
 */
const REVERSED =
  "coalesce(CASE c.state WHEN 'DENIED' THEN c.last_allowed WHEN 'ALLOWED' THEN c.last_denied END > c.closed_at, false)";

/**
 * The time during which the agent of `c` waited for it and for no earlier one: several may be open together. Null for
 * none.
 */
const WAITED = `greatest(0, extract(epoch FROM coalesce(c.closed_at, now()) - greatest(c.requested_at, max(coalesce(c.closed_at, now()))
  OVER (PARTITION BY c.agent_id ORDER BY c.requested_at, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)))::float8 * 1000)`;

function among(column: string, values: readonly string[] | null, parameters: Parameters): readonly string[] {
  return values === null ? [] : [`${column} = ANY (${parameters.add(values)}::text[])`];
}

function timeConditions(
  column: string,
  { from, to }: { readonly from: Date | null; readonly to: Date | null },
  parameters: Parameters,
): readonly string[] {
  return [
    ...(from === null ? [] : [`${column} >= ${parameters.add(from)}::timestamptz`]),
    ...(to === null ? [] : [`${column} < ${parameters.add(to)}::timestamptz`]),
  ];
}

function agentConditions(filter: GroupedApprovals, parameters: Parameters): readonly string[] {
  return [
    "a.tenant = $1",
    ...among("a.created_by", filter.visible, parameters),
    ...among("a.id", filter.agentIds, parameters),
    ...among("a.template_id", filter.templateIds, parameters),
    ...among("a.created_by", filter.createdBy, parameters),
  ];
}

function approvalConditions(filter: GroupedApprovals, decisions: string, parameters: Parameters): readonly string[] {
  const { requestedBy, decidedBy, decidedFrom, decidedTo, snoozed } = filter;
  const decided = [
    ...among("e.actor_id", decidedBy, parameters),
    ...timeConditions("e.decided_at", { from: decidedFrom, to: decidedTo }, parameters),
  ];
  return [
    "c.tenant = $1",
    ...timeConditions("c.requested_at", filter, parameters),
    ...among("c.state::text", filter.states, parameters),
    ...among("c.kind::text", filter.kinds, parameters),
    ...among("c.risk", filter.risks, parameters),
    ...among("t.name", filter.tools, parameters),
    ...(requestedBy === null ? [] : [`c.requesters && ${parameters.add(requestedBy)}::text[]`]),
    ...(decided.length === 0
      ? []
      : [`EXISTS (SELECT FROM ${decisions} e WHERE e.approval_id = c.id AND ${decided.join(" AND ")})`]),
    ...(snoozed === null
      ? []
      : [
          `${snoozed.is ? "" : "NOT "}EXISTS (SELECT FROM approval_snooze z WHERE z.approval_id = c.id AND z.actor_id = ${parameters.add(snoozed.by)}
            AND (z.until IS NULL OR z.until > ${parameters.add(snoozed.at)}::timestamptz))`,
        ]),
  ];
}
