import type { Statement } from "../db/sql.ts";
import { HOUR_MS } from "../lib/time.ts";
import { CHUNK, removeAll, type Removal } from "./removal.ts";

/** The periods of turns, days and months without any use for long. Those without an end are counted for ever. */
const REMOVE: Statement<{ removed: number }, []> = {
  name: "remove_budget_periods",
  text: `WITH gone AS (DELETE FROM budget_period WHERE (tenant, budget_id, ref, starts_at) IN (
      SELECT p.tenant, p.budget_id, p.ref, p.starts_at FROM budget_period p
      WHERE p.used_at < policy_time() - interval '400 days' AND (p.ends_at IS NOT NULL OR strpos(p.ref, '#') > 0) AND p.held_tokens = 0 AND p.held_millionths = 0 LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** The periods of budgets whose time is over. */
export const OLD_BUDGET_PERIODS: Removal = {
  rows: "old periods of budgets",
  everyMs: 6 * HOUR_MS,
  remove: (sql, mayRemove) => removeAll(sql, REMOVE, mayRemove),
};
