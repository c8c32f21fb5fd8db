import type { Sql, Statement } from "../../../db/sql.ts";
import { POSITION } from "../../../events/log-statements.ts";
import { FRESH_ROWS, SEEN, SEEN_OF, STEP_COLUMNS, TURN_COLUMNS } from "./turn-rows.ts";

/** The positions that one statement folds, and the earlier agents that one adds. */
const CHUNK = { positions: 2_000, agents: 50 };

const BEGIN: Statement<object, []> = {
  name: "begin_turn_audit",
  text: `WITH anew AS (
      UPDATE audit_turn_fold f SET position = ${POSITION}, whole_at = NULL, filled_id = '' FROM tenant_log l
      WHERE l.tenant = f.tenant AND f.position < l.floor
    ) INSERT INTO audit_turn_fold (tenant, position, filled_id)
    SELECT l.tenant, ${POSITION}, '' FROM tenant_log l
    WHERE NOT EXISTS (SELECT FROM audit_turn_fold f WHERE f.tenant = l.tenant) ON CONFLICT DO NOTHING`,
};

const BEHIND: Statement<{ tenant: string }, []> = {
  name: "turn_audits_behind",
  text: `SELECT f.tenant FROM audit_turn_fold f JOIN tenant_log l ON l.tenant = f.tenant WHERE f.whole_at IS NULL OR f.position < ${POSITION}`,
};

/** As for calls: a statement skips a row that was changed after its snapshot. */
const TAKEN = (condition: string): string => `taken AS MATERIALIZED (
      SELECT f.position, f.filled_id FROM audit_turn_fold f JOIN tenant_log l ON l.tenant = f.tenant
      WHERE f.tenant = $1 AND ${condition} AND f.position >= l.floor FOR NO KEY UPDATE OF f SKIP LOCKED
    ), fold AS MATERIALIZED (
      SELECT t.* FROM taken t WHERE (t.position, t.filled_id) = (SELECT s.position, s.filled_id FROM audit_turn_fold s WHERE s.tenant = $1)
    ), head AS MATERIALIZED (SELECT ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1)`;

/** Stores the rows of `fresh_step` or `fresh_turn` that have changed. */
function put(what: "step" | "turn", columns: readonly string[]): string {
  const changing = columns.filter((column) => column !== "agent_id" && column !== what);
  return `put_${what} AS (
      INSERT INTO audit_${what} AS o (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM fresh_${what}
      ON CONFLICT (agent_id, ${what}) DO UPDATE SET (${changing.join(", ")}) = ROW(${changing.map((column) => `excluded.${column}`).join(", ")})
      WHERE (${changing.map((column) => `o.${column}`).join(", ")}) IS DISTINCT FROM (${changing.map((column) => `excluded.${column}`).join(", ")})
    )`;
}

const PUT = `${put("step", STEP_COLUMNS)}, ${put("turn", TURN_COLUMNS)}`;

const FILL: Statement<{ tenant: string }, [tenant: string]> = {
  name: "fill_turn_audit",
  text: `WITH ${TAKEN("f.whole_at IS NULL")}, next AS MATERIALIZED (
      SELECT a.id AS agent_id FROM fold CROSS JOIN LATERAL (
        SELECT a.id FROM agent a WHERE a.tenant = $1 AND a.id > fold.filled_id ORDER BY a.id LIMIT ${CHUNK.agents}
      ) a
    ), seen AS MATERIALIZED (${SEEN_OF("next")}), ${FRESH_ROWS(true)}, ${PUT}, last AS (SELECT max(agent_id) AS id FROM next)
    UPDATE audit_turn_fold f SET whole_at = CASE WHEN last.id IS NULL THEN head.position END, filled_id = coalesce(last.id, fold.filled_id)
    FROM head, fold, last WHERE f.tenant = $1 RETURNING f.tenant`,
};

const FOLD_ON: Statement<{ isAtEnd: boolean }, [tenant: string]> = {
  name: "fold_turn_audit",
  text: `WITH ${TAKEN("f.whole_at IS NOT NULL")}, goal AS MATERIALIZED (
      SELECT head.position AS head, least(head.position, fold.position + ${CHUNK.positions}) AS position FROM fold, head WHERE head.position > fold.position
    ), seen AS MATERIALIZED (${SEEN(" AND e.position <= (SELECT goal.position FROM goal)")}), ${FRESH_ROWS()}, ${PUT}
    UPDATE audit_turn_fold f SET position = goal.position FROM goal WHERE f.tenant = $1 RETURNING goal.position = goal.head AS "isAtEnd"`,
};

/** Begins missing rows of steps and turns. Returns the tenants whose rows are behind their log. */
export async function turnsBehind(sql: Sql): Promise<readonly string[]> {
  await sql.query(BEGIN, []);
  return (await sql.query(BEHIND, [])).map(({ tenant }) => tenant);
}

/** Advances the tenant's rows by one bounded chunk. True if they are at the end of the log, or if another server advances them. */
export async function foldTurns(sql: Sql, tenant: string): Promise<boolean> {
  const [folded] = await sql.query(FOLD_ON, [tenant]);
  if (folded !== undefined) return folded.isAtEnd;
  const [filled] = await sql.query(FILL, [tenant]);
  return filled === undefined;
}
