import type { Statement } from "../db/sql.ts";
import { HOUR_MS } from "../lib/time.ts";
import { CHUNK, removeAll, type Removal } from "./removal.ts";

const REMOVE_SESSIONS: Statement<{ removed: number }, []> = {
  name: "remove_sessions",
  text: `WITH gone AS (DELETE FROM session WHERE id IN (
      SELECT s.id FROM session s WHERE s.last_used_at < policy_time() - interval '30 days' LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** Sessions without use for 30 days: they have long ended. */
export const OLD_SESSIONS: Removal = {
  rows: "old sessions",
  everyMs: 6 * HOUR_MS,
  remove: (sql, mayRemove) => removeAll(sql, REMOVE_SESSIONS, mayRemove),
};

const REMOVE_TOKENS: Statement<{ removed: number }, []> = {
  name: "remove_access_tokens",
  text: `WITH gone AS (DELETE FROM access_token WHERE id IN (
      SELECT t.id FROM access_token t WHERE t.expires_at < policy_time() - interval '400 days' LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** Access tokens that expired 400 days ago. */
export const OLD_ACCESS_TOKENS: Removal = {
  rows: "old access tokens",
  everyMs: 6 * HOUR_MS,
  remove: (sql, mayRemove) => removeAll(sql, REMOVE_TOKENS, mayRemove),
};
