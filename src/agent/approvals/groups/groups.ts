import {
  groupedSql,
  groupsOf,
  OF_ROWS,
  type Group,
  type GroupedRow,
  type GroupedSource,
  type Grouping,
  type Groups,
} from "../../../db/groups/grouped-rows.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";
import type { ApprovalKind, ApprovalState } from "../../../db/generated/enums.ts";
import { Parameters } from "../../calls/audit/rows.ts";
import { APPROVAL_DIMENSIONS, isOfAgent, type ApprovalDimension } from "./dimensions.ts";
import {
  APPROVAL_MEASURES,
  FIGURE_NAMES,
  figuresOf,
  figuresSql,
  NO_APPROVALS,
  type ApprovalFigures,
  type ApprovalMeasure,
  type FiguresRow,
} from "./figures.ts";

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

export type ApprovalGrouping = Grouping<ApprovalDimension, ApprovalMeasure> & {
  readonly hasPercentiles: boolean;
  /** Decisions within this time are quick, in ms. */
  readonly quickMs: number;
  /** Of the hours of the day. */
  readonly timeZone: string;
  /** Figures that need further reads. */
  readonly has: { readonly hoursWaited: boolean; readonly agentHours: boolean; readonly reversals: boolean };
};
export type ApprovalGroup = Group<ApprovalDimension, ApprovalFigures>;
export type ApprovalGroups = Groups<ApprovalDimension, ApprovalFigures>;

/** The approvals of the conditions in groups, in one snapshot. */
export async function approvalGroups(reads: Sql, filter: GroupedApprovals, grouping: ApprovalGrouping): Promise<ApprovalGroups> {
  const parameters = new Parameters(filter.tenant);
  const isByDecider = grouping.by.includes("DECIDER");
  const own = ["id", "agent_id", "state", "is_reversed", "requested_at", "waited_ms", "turn_ms"].map((name) => `c.${name}`);
  const decision = ["is_decided", "decision", "is_edited", "decision_ms"].map((name) => `${isByDecider ? "u" : "c"}.${name}`);
  const source: GroupedSource<ApprovalDimension, ApprovalMeasure> = {
    ...OF_ROWS,
    open: [],
    isKnown: "(SELECT) one",
    found: [foundSql(filter, grouping, parameters)],
    join: isByDecider ? `LEFT JOIN LATERAL (${DECISIONS}) u ON true` : "",
    columns: [...own, ...decision],
    time: "c.requested_at",
    dimensions: APPROVAL_DIMENSIONS,
    having: "count(id) > 0",
    figures: figuresSql(`${parameters.add(grouping.quickMs)}::float8`, grouping.hasPercentiles),
    names: FIGURE_NAMES,
    examples: "min(id) AS approval_id, min(agent_id) AS agent_id",
    actorKind,
    measures: APPROVAL_MEASURES,
  };
  const text = groupedSql(source, grouping, parameters);
  const rows = await reads.query<GroupedRow<FiguresRow>>(plannedForValues("approval_groups", text), parameters.values);
  const found = groupsOf(rows, source, grouping, { figuresOf, nothing: NO_APPROVALS });
  return found ?? { groups: [], groupCount: 0, total: null };
}

const DECISION = `d.decision::text AS decision, d.input_hash IS NOT NULL AS is_edited, extract(epoch FROM d.decided_at - c.requested_at)::float8 * 1000 AS decision_ms`;
/** The decisions on an approval `c`. */
const DECISIONS = `SELECT d.actor_id, true AS is_decided, ${DECISION} FROM decision d WHERE d.approval_id = c.id`;
const LAST_DECISION = `SELECT ${DECISION} FROM decision d WHERE d.approval_id = c.id ORDER BY d.decided_at DESC LIMIT 1`;

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
    WINDOW question AS (PARTITION BY n.agent_id, n.kind, CASE WHEN n.kind <> 'NETWORK_HOST' THEN coalesce(md5(n.input::text), n.id) END, n.host, n.port, k.name))`;
}

/** True if the same was asked again after the end of the approval `c`, with the opposite answer. */
const REVERSED =
  "coalesce(CASE c.state WHEN 'DENIED' THEN c.last_allowed WHEN 'ALLOWED' THEN c.last_denied END > c.closed_at, false)";

/**
 * The time during which the agent of `c` waited for it and for no earlier one: several may be open together. Null for
 * none.
 */
const WAITED = `greatest(0, extract(epoch FROM coalesce(c.closed_at, now()) - greatest(c.requested_at, max(coalesce(c.closed_at, now()))
  OVER (PARTITION BY c.agent_id ORDER BY c.requested_at, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)))::float8 * 1000)`;

const AGENT = "a.template_id, coalesce(a.root_id, a.id) AS root_id, a.created_by";

function foundSql(filter: GroupedApprovals, { by, timeZone, has }: ApprovalGrouping, parameters: Parameters): string {
  const agent = agentConditions(filter, parameters);
  const hour = by.includes("HOUR_OF_DAY")
    ? `to_char(c.requested_at AT TIME ZONE ${parameters.add(timeZone)}::text, 'HH24')`
    : "NULL::text";
  const approvals = `SELECT c.id, c.agent_id, c.kind::text AS kind, c.state::text AS state, c.risk, c.host, t.name AS tool, ${AGENT}, c.requested_at, ${hour} AS hour,
      c.state IN ('ALLOWED', 'DENIED', 'RESOLVED') AS is_decided, d.decision, d.is_edited, d.decision_ms, ${has.reversals ? REVERSED : "false"} AS is_reversed,
      ${has.hoursWaited ? WAITED : "0::float8"} AS waited_ms, NULL::float8 AS turn_ms
    FROM ${has.reversals ? withLastAnswers(filter, parameters) : "approval"} c JOIN agent a ON a.id = c.agent_id LEFT JOIN tool_call t ON t.id = c.tool_call_id LEFT JOIN LATERAL (${LAST_DECISION}) d ON true
    WHERE ${[...agent, ...approvalConditions(filter, parameters)].join(" AND ")}`;
  if (!has.agentHours || !by.every(isOfAgent)) return approvals;
  const range = timeConditions("s.started_at", filter, parameters);
  const turns = `SELECT NULL, s.agent_id, NULL, NULL, NULL, NULL, NULL, ${AGENT}, min(s.started_at), NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      extract(epoch FROM max(s.completed_at) - min(s.started_at))::float8 * 1000
    FROM step s JOIN agent a ON a.id = s.agent_id WHERE s.copied_from IS NULL AND ${[...agent, ...range].join(" AND ")} GROUP BY s.agent_id, s.turn, a.id`;
  return `${approvals} UNION ALL ${turns}`;
}

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

function approvalConditions(filter: GroupedApprovals, parameters: Parameters): readonly string[] {
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
    ...(decided.length === 0 ? [] : [`EXISTS (SELECT FROM decision e WHERE e.approval_id = c.id AND ${decided.join(" AND ")})`]),
    ...(snoozed === null
      ? []
      : [
          `${snoozed.is ? "" : "NOT "}EXISTS (SELECT FROM approval_snooze z WHERE z.approval_id = c.id AND z.actor_id = ${parameters.add(snoozed.by)}
            AND (z.until IS NULL OR z.until > ${parameters.add(snoozed.at)}::timestamptz))`,
        ]),
  ];
}

/** The kind of an actor, from one of the agents or approvals of the group `t`. */
function actorKind(dimension: ApprovalDimension, value: string): string {
  switch (dimension) {
    case "REQUESTER":
      return "(SELECT a.created_by_kind::text FROM agent a WHERE a.id = t.agent_id)";
    case "DECIDER":
      return `(SELECT d.actor_kind::text FROM decision d WHERE d.approval_id = t.approval_id AND d.actor_id = ${value})`;
    case "TOOL":
    case "HOST":
    case "KIND":
    case "STATE":
    case "RISK":
    case "TEMPLATE":
    case "AGENT":
    case "ROOT_AGENT":
    case "HOUR_OF_DAY":
      return "NULL";
  }
}
