import type { ToolCallState } from "../../../db/generated/enums.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { countersOf, uncounted } from "./counters.ts";
import { conditions, Parameters, type AuditFilter } from "./filter.ts";
import { COLUMNS, COUNTED, CURRENT, FOLD, FRESH, MOVED } from "./rows.ts";

/** Calls of one tool in one state: their number, how many have a known duration, and the sum of durations in ms. */
export type AuditCount = {
  readonly name: string;
  readonly state: ToolCallState;
  readonly calls: number;
  readonly executed: number;
  readonly timed: number;
  readonly sumMs: number;
  readonly mostMs: number | null;
};

const SUMS =
  "sum(calls)::float8 AS calls, sum(executed)::float8 AS executed, sum(timed)::float8 AS timed, sum(sum_ms) AS sum_ms, max(most_ms) AS most_ms";

/**
 * The calls of the filter by tool and state, in one snapshot; null if the audit is incomplete. Whole hours come from
 * counters of ended calls. Parts of an hour, and filters that the counters do not distinguish, come from the audit's
 * rows. Open calls, and those that ended since the last fold, come from the calls.
 */
export async function auditCounts(reads: Sql, filter: AuditFilter): Promise<readonly AuditCount[] | null> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const counters = countersOf(filter, parameters);
  const counted =
    counters === null
      ? ""
      : ` UNION ALL SELECT name, state, calls, executed, timed, sum_ms, most_ms FROM audit_count WHERE ${counters}`;
  const text = `WITH fold AS MATERIALIZED (${FOLD}), moved AS MATERIALIZED (${MOVED}), fresh (${COLUMNS}) AS MATERIALIZED (${FRESH}), rest AS (
      SELECT * FROM fresh WHERE ${where} UNION ALL SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${CURRENT} AND (${uncounted(filter, parameters)})
    ), pieces AS (
      SELECT name, state, ${COUNTED} FROM rest GROUP BY 1, 2${counted}
    )
    SELECT t.name, t.state, t.calls, t.executed, t.timed, t.sum_ms AS "sumMs", t.most_ms AS "mostMs"
    FROM fold LEFT JOIN LATERAL (SELECT name, state, ${SUMS} FROM pieces GROUP BY 1, 2) t ON true`;
  const rows = await reads.query<{ [Column in keyof AuditCount]: AuditCount[Column] | null }>(
    plannedForValues("audit_counts", text),
    parameters.values,
  );
  if (rows.length === 0) return null;
  return rows.filter((row): row is AuditCount => row.name !== null);
}
