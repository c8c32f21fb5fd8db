import type { ToolCallState } from "../../../db/generated/enums.ts";
import type { Sql } from "../../../db/sql.ts";
import { conditions, Parameters, type AuditFilter } from "./filter.ts";
import { COLUMNS, COUNTED, CURRENT, FOLD, FRESH, MOVED, OPEN } from "./rows.ts";

/** The calls of a tool in a state: how many, of how many it is known how long they ran, and how long that was, in ms. */
export type AuditCount = {
  readonly name: string;
  readonly state: ToolCallState;
  readonly calls: number;
  readonly executed: number;
  readonly timed: number;
  readonly sumMs: number;
  readonly mostMs: number | null;
};

const HOUR_MS = 3_600_000;
const SUMS =
  "sum(calls)::float8 AS calls, sum(executed)::float8 AS executed, sum(timed)::float8 AS timed, sum(sum_ms) AS sum_ms, max(most_ms) AS most_ms";

/**
 * The calls of the filter by tool and state; null if the audit is not whole yet. Whole hours of a tenant come from the counters
 * of calls that have ended; parts of an hour, and what the counters do not tell apart, from the audit's rows; and what has
 * not ended, or has since the audit was last brought to the end of the log, from the calls. All in one snapshot.
 */
export async function auditCounts(reads: Sql, filter: AuditFilter): Promise<readonly AuditCount[] | null> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const text = `WITH fold AS MATERIALIZED (${FOLD}), moved AS MATERIALIZED (${MOVED}), fresh (${COLUMNS}) AS MATERIALIZED (${FRESH}), rest AS (
      SELECT * FROM fresh WHERE ${where} UNION ALL SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${CURRENT} AND (${uncounted(filter, parameters)})
    ), pieces AS (
      SELECT name, state, ${COUNTED} FROM rest GROUP BY 1, 2${counted(filter, parameters)}
    )
    SELECT t.name, t.state, t.calls, t.executed, t.timed, t.sum_ms AS "sumMs", t.most_ms AS "mostMs"
    FROM fold LEFT JOIN LATERAL (SELECT name, state, ${SUMS} FROM pieces GROUP BY 1, 2) t ON true`;
  const rows = await reads.query<{ [Column in keyof AuditCount]: AuditCount[Column] | null }>(
    { name: "", text },
    parameters.values,
  );
  if (rows.length === 0) return null;
  return rows.filter((row): row is AuditCount => row.name !== null);
}

/** True if the counters tell apart what the filter does. */
function isCounted({
  visible,
  agentIds,
  templateIds,
  errorTypes,
  verdicts,
  createdBy,
  decidedBy,
  minDurationMs,
  haveRun,
}: AuditFilter): boolean {
  const others = [visible, agentIds, templateIds, errorTypes, verdicts, createdBy, decidedBy, minDurationMs];
  return !haveRun && others.every((condition) => condition === null);
}

/** The whole hours of the span: from the first moment on, up to the second; null for an end that is open. Null if there are none. */
function hoursOf({ from, to }: AuditFilter): { readonly from: Date | null; readonly to: Date | null } | null {
  const first = from === null ? null : new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const last = to === null ? null : new Date(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS);
  return first !== null && last !== null && first >= last ? null : { from: first, to: last };
}

/** The rows that are not counted elsewhere, as a condition: of a span without a whole hour, all of them. */
function uncounted(filter: AuditFilter, parameters: Parameters): string {
  const hours = hoursOf(filter);
  if (!isCounted(filter) || hours === null) return "true";
  return [
    OPEN,
    ...(hours.from === null ? [] : [`created_at < ${parameters.add(hours.from)}::timestamptz`]),
    ...(hours.to === null ? [] : [`created_at >= ${parameters.add(hours.to)}::timestamptz`]),
  ].join(" OR ");
}

/** The counters of the whole hours, as one more piece. */
function counted(filter: AuditFilter, parameters: Parameters): string {
  const hours = hoursOf(filter);
  if (!isCounted(filter) || hours === null) return "";
  const { tools, states } = filter;
  const where = [
    "tenant = $1",
    ...(hours.from === null ? [] : [`hour >= ${parameters.add(hours.from)}::timestamptz`]),
    ...(hours.to === null ? [] : [`hour < ${parameters.add(hours.to)}::timestamptz`]),
    ...(tools === null ? [] : [`name = ANY (${parameters.add(tools)}::text[])`]),
    ...(states === null ? [] : [`state = ANY (${parameters.add(states)}::tool_call_state[])`]),
  ];
  return ` UNION ALL SELECT name, state, calls, executed, timed, sum_ms, most_ms FROM audit_count WHERE ${where.join(" AND ")}`;
}
