import { createHash } from "node:crypto";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { ToolCallState } from "../../../db/generated/enums.ts";
import type { ToolCallErrorType } from "../../../events/snapshots.ts";

/**
 * The rows of the audit (`audit_call`) are behind the log, and readers add the difference: docs/adr/0023. SQL that
 * writers and readers of the rows share.
 */

export const OPEN = "state IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING')";

export const COLUMNS =
  "id, tenant, agent_id, step, name, state, verdict, error_type, rule, place, has_run, duration_ms, created_at, template_id, created_by, deciders, root_id, risk, waited_ms, exit_code, hosts, model";

/**
 * The columns of a row, from a call `c` with the columns OF_CALL and its agent `g`. `OFFSET 0` keeps the planner from
 * reading whole tables.
 */
export const OF_CALL = `t.id, t.tenant, t.agent_id, t.step, t.name, t.state, t.verdict, t.error ->> 'type' AS error_type,
  CASE WHEN t.verdict IS NOT NULL THEN t.explanation ->> 'decidedBy' END AS rule, CASE WHEN t.verdict IS NOT NULL THEN t.explanation ->> 'place' END AS place, t.started_at IS NOT NULL AS has_run,
  t.duration_ms, t.created_at, t.copied_from, t.exit_code, t.hosts`;
const ROW = `c.id, c.tenant, c.agent_id, c.step, c.name, c.state, c.verdict, c.error_type, c.rule, c.place, c.has_run, c.duration_ms, c.created_at, g.template_id, g.created_by,
    (SELECT array_agg(DISTINCT d.actor_id) FROM approval p CROSS JOIN LATERAL (SELECT d.actor_id FROM decision d WHERE d.approval_id = p.id OFFSET 0) d
      WHERE p.tool_call_id = c.id) AS deciders,
    g.root_id, q.risk, q.waited_ms, c.exit_code,
    CASE WHEN c.hosts IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(c.hosts)) END AS hosts,
    (SELECT s.model FROM step s WHERE s.agent_id = c.agent_id AND s.step = c.step) AS model`;

export const ROWS_OF = (calls: string): string => `SELECT ${ROW} FROM ${calls} c
  CROSS JOIN LATERAL (SELECT a.template_id, a.created_by, a.root_id FROM agent a WHERE a.id = c.agent_id OFFSET 0) g
  CROSS JOIN LATERAL (SELECT (array_agg(p.risk ORDER BY p.risk_rank DESC))[1] AS risk,
      sum(extract(epoch FROM p.closed_at - p.requested_at)::float8 * 1000) AS waited_ms FROM approval p WHERE p.tool_call_id = c.id) q
  WHERE c.copied_from IS NULL`;

/**
 * The present calls of the agents of `moved`: those after a step, and those that are open in the audit. The calls of a
 * step are committed together, and steps are numbered upwards, so missing calls come after the newest known step.
 */
const SINCE = (step: string): string =>
  ROWS_OF(`moved m CROSS JOIN LATERAL (
    SELECT ${OF_CALL} FROM tool_call t WHERE t.agent_id = m.agent_id AND t.step > ${step}
    UNION ALL
    SELECT t.* FROM (SELECT a.id FROM audit_call a WHERE a.agent_id = m.agent_id AND a.${OPEN} OFFSET 0) o
    CROSS JOIN LATERAL (SELECT ${OF_CALL} FROM tool_call t WHERE t.id = o.id OFFSET 0) t
    OFFSET 0
  )`);
const NEWEST_STEP = "coalesce((SELECT max(a.step) FROM audit_call a WHERE a.agent_id = m.agent_id), -1)";

export const FRESH = SINCE(NEWEST_STEP);
/**
 * The same for an audit that may be incomplete at the place of `fold`. All calls of those agents, since an incomplete
 * audit is filled in another order.
 */
export const FRESH_OR_ALL = `SELECT DISTINCT ON (r.id) r.* FROM (${SINCE(`(CASE WHEN (SELECT position < whole_at FROM fold) THEN -1 ELSE ${NEWEST_STEP} END)`)}) r`;

/**
 * The place of the tenant's ($1) complete audit in its log; no row if it is incomplete, or if events after its place
 * were removed.
 */
export const FOLD = `SELECT f.position FROM audit_fold f JOIN tenant_log l ON l.tenant = f.tenant WHERE f.tenant = $1 AND f.position >= f.whole_at AND f.position >= l.floor`;

/**
 * The agents of the tenant $1 with commits after the place of `fold`: every change of a call has an event. In the order
 * of an index, since the planner would otherwise read all events.
 */
export const MOVED = `SELECT DISTINCT e.agent_id FROM fold CROSS JOIN LATERAL (
    SELECT e.agent_id FROM event e WHERE e.tenant = $1 AND e.position > fold.position AND e.agent_id IS NOT NULL ORDER BY e.position OFFSET 0
  ) e`;

/** The tables that readers of the rows begin with: the place of the audit, the agents that moved since, and their calls. */
export const BEHIND = [
  `fold AS MATERIALIZED (${FOLD})`,
  `moved AS MATERIALIZED (${MOVED})`,
  `fresh (${COLUMNS}) AS MATERIALIZED (${FRESH})`,
];

/** The condition that a row of `audit_call` is up to date: an open call may have changed if its agent has moved. */
export const CURRENT = `NOT (${OPEN} AND agent_id IN (SELECT agent_id FROM moved))`;

/**
 * The tables of readers, and the condition that a row of `audit_call` counts. `fold` has no row if the readers must look
 * elsewhere. `isWhole`: counters and rows have all ended calls, apart from those of `fresh`.
 */
export type Behind = { readonly tables: readonly string[]; readonly current: string; readonly isWhole: boolean };

/** Rows of the audit, with the difference to the log. */
export const OF_AUDIT: Behind = { tables: BEHIND, current: CURRENT, isWhole: true };

/** The rows of all calls of present agents. */
export const PRESENT_CALLS = ROWS_OF(
  `(SELECT ${OF_CALL} FROM tool_call t WHERE t.tenant = $1 AND EXISTS (SELECT FROM agent a WHERE a.id = t.agent_id AND a.tenant = $1))`,
);
/** The condition that a row of `audit_call` is of a deleted agent: it is complete, whatever the rest of the audit is. */
export const OF_DELETED = "agent_id IN (SELECT d.agent_id FROM deleted_agent d WHERE d.tenant = $1)";

/** All calls as they are, while the audit is incomplete. */
export const OF_CALLS: Behind = {
  tables: ["fold AS (SELECT 0 AS position)", `fresh (${COLUMNS}) AS NOT MATERIALIZED (${PRESENT_CALLS})`],
  current: "false",
  isWhole: false,
};

/**
 * An answer from the audit, or from all calls while it is incomplete. Null if the columns of calls have what the filter asks
 * for, so that the caller may read them. The model of a call is that of its step.
 */
export async function fromRows<Answer>(
  { models }: Pick<AuditFilter, "models">,
  read: (behind: Behind) => Promise<Answer | null>,
): Promise<Answer | null> {
  return (await read(OF_AUDIT)) ?? (models === null ? null : read(OF_CALLS));
}

/** The kind of the creator of a group's example `t.agent_id`, as text, also of a deleted agent. */
export const CREATOR_KIND = `coalesce((SELECT a.created_by_kind FROM agent a WHERE a.id = t.agent_id), (SELECT a.created_by_kind FROM deleted_agent a WHERE a.agent_id = t.agent_id))::text`;

const READ_HAS_DELETED: Statement<{ hasDeleted: boolean }, [tenant: string]> = {
  name: "has_deleted_agents",
  text: `SELECT EXISTS (SELECT FROM deleted_agent WHERE tenant = $1) AS "hasDeleted"`,
};

/** True if the tenant has deleted agents: their rows stay for groups and counters alone. */
export async function hasDeletedAgents(reads: Sql, tenant: string): Promise<boolean> {
  const [row] = await reads.query(READ_HAS_DELETED, [tenant]);
  return row?.hasDeleted === true;
}

/** A further condition of lists, which leave out deleted agents. Without any it is empty: the planner takes it for a strong one. */
export async function listedAlone(reads: Sql, tenant: string, agentId: string): Promise<string> {
  const left = `(SELECT true FROM deleted_agent d WHERE d.agent_id = ${agentId} LIMIT 1) IS NOT TRUE`;
  return (await hasDeletedAgents(reads, tenant)) ? ` AND ${left}` : "";
}

export const COUNTED = `count(*)::int AS calls, (count(*) FILTER (WHERE has_run))::int AS executed,
  (count(duration_ms) FILTER (WHERE has_run))::int AS timed, coalesce(sum(duration_ms) FILTER (WHERE has_run), 0) AS sum_ms, max(duration_ms) FILTER (WHERE has_run) AS most_ms`;

export type AuditFilter = {
  readonly tenant: string;
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly tools: readonly string[] | null;
  readonly states: readonly ToolCallState[] | null;
  readonly errorTypes: readonly ToolCallErrorType[] | null;
  readonly verdicts: readonly string[] | null;
  readonly rules: readonly string[] | null;
  readonly places: readonly string[] | null;
  readonly createdBy: readonly string[] | null;
  readonly decidedBy: readonly string[] | null;
  readonly minDurationMs: number | null;
  readonly haveRun: boolean;
  readonly exitCodes: readonly number[] | null;
  readonly hosts: readonly string[] | null;
  readonly models: readonly string[] | null;
};

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

export class Parameters {
  readonly values: unknown[];

  constructor(tenant: string) {
    this.values = [tenant];
  }

  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

export function conditions(filter: AuditFilter, parameters: Parameters): string {
  const among = (column: string, values: readonly (string | number)[] | null, type = "text"): string[] => {
    if (values === null) return [];
    const [only] = values;
    return only !== undefined && values.length === 1
      ? [`${column} = ${parameters.add(only)}::${type}`]
      : [`${column} = ANY (${parameters.add(values)}::${type}[])`];
  };
  return [
    "tenant = $1",
    ...among("created_by", filter.visible),
    ...(filter.from === null ? [] : [`created_at >= ${parameters.add(filter.from)}::timestamptz`]),
    ...(filter.to === null ? [] : [`created_at < ${parameters.add(filter.to)}::timestamptz`]),
    ...among("agent_id", filter.agentIds),
    ...among("template_id", filter.templateIds),
    ...among("name", filter.tools),
    ...among("state", filter.states, "tool_call_state"),
    ...among("error_type", filter.errorTypes),
    ...among("verdict", filter.verdicts),
    // Rules may be longer than an index entry.
    ...(filter.rules === null ? [] : ["rule IS NOT NULL", ...among("md5(rule)", filter.rules.map(md5))]),
    ...among("place", filter.places),
    ...among("created_by", filter.createdBy),
    ...(filter.decidedBy === null ? [] : [`deciders && ${parameters.add(filter.decidedBy)}::text[]`]),
    ...(filter.minDurationMs === null ? [] : [`duration_ms >= ${parameters.add(filter.minDurationMs)}::float8`]),
    ...(filter.haveRun ? ["has_run", "duration_ms IS NOT NULL"] : []),
    ...among("exit_code", filter.exitCodes, "int"),
    ...among("model", filter.models),
    ...(filter.hosts === null ? [] : [`hosts && ${parameters.add(filter.hosts)}::text[]`]),
  ].join(" AND ");
}
