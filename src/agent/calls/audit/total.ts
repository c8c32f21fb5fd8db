import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { countersOf, uncounted } from "./counters.ts";
import { conditions, Parameters, type AuditFilter } from "./filter.ts";
import { COLUMNS, CURRENT, FOLD, FRESH, MOVED } from "./rows.ts";

/**
 * The number of calls of the filter, counted up to `most`; null if the audit is incomplete. It comes from the counters
 * if they distinguish the filter's calls, otherwise from the rows. Only as many of each are read as `most` requires.
 */
export async function auditTotal(reads: Sql, filter: AuditFilter, most: number): Promise<number | null> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const counters = countersOf(filter, parameters);
  const bound = parameters.add(most);
  // Each counter stands for at least one call.
  const counted = counters === null ? "" : ` UNION ALL (SELECT calls FROM audit_count WHERE ${counters} LIMIT ${bound})`;
  const text = `WITH fold AS MATERIALIZED (${FOLD}), moved AS MATERIALIZED (${MOVED}), fresh (${COLUMNS}) AS MATERIALIZED (${FRESH}), found AS (
      SELECT 1 AS calls FROM fresh WHERE ${where}
      UNION ALL (SELECT 1 FROM audit_call WHERE ${where} AND ${CURRENT} AND (${uncounted(filter, parameters)}) LIMIT ${bound})${counted}
    )
    SELECT least((SELECT coalesce(sum(calls), 0) FROM found), ${bound})::int AS calls FROM fold`;
  const [row] = await reads.query<{ calls: number }>(plannedForValues("audit_total", text), parameters.values);
  return row?.calls ?? null;
}
