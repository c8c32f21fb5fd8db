import { classSql } from "../../../db/groups/duration-classes.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { POSITION } from "../../../events/log-statements.ts";
import { foldTurns, turnsBehind } from "./turn-fold.ts";
import { COLUMNS, COUNTED, FRESH_OR_ALL, OF_CALL, OPEN, ROWS_OF } from "./rows.ts";

/**
 * The positions that one statement folds; fewer if it reads all calls of their agents. `calls`: the earlier calls that
 * one statement adds.
 */
const CHUNK = { positions: 2_000, positionsOfAll: 50, calls: 2_000 };

/**
 * New audits begin at the end of the log and add earlier calls afterwards. So do audits whose place lies below the
 * floor: the agents of the removed events are unknown.
 */
const BEGIN: Statement<object, []> = {
  name: "begin_audit",
  text: `WITH anew AS (
      UPDATE audit_fold f SET position = ${POSITION}, whole_at = NULL, filled_at = '-infinity', filled_id = '' FROM tenant_log l
      WHERE l.tenant = f.tenant AND f.position < l.floor
    ) INSERT INTO audit_fold (tenant, position, filled_at, filled_id)
    SELECT l.tenant, ${POSITION}, '-infinity', '' FROM tenant_log l
    WHERE NOT EXISTS (SELECT FROM audit_fold f WHERE f.tenant = l.tenant) ON CONFLICT DO NOTHING`,
};
const BEHIND: Statement<{ tenant: string }, []> = {
  name: "audits_behind",
  text: `SELECT f.tenant FROM audit_fold f JOIN tenant_log l ON l.tenant = f.tenant WHERE f.whole_at IS NULL OR f.position < ${POSITION}`,
};
/** The ids of the stored rules that allowed a call `c`, each once. */
const RULES_OF_CALL = `SELECT DISTINCT substr(e ->> 'place', length('allowRules.') + 1) AS id FROM json_array_elements(c.explanation -> 'considered') e
      WHERE starts_with(e ->> 'place', 'allowRules.') AND e ->> 'verdict' = 'allow'`;
/** The quarter of an hour of a call. Clocks of all zones agree on its edges. */
const QUARTER = "to_timestamp(floor(extract(epoch FROM created_at) / 900) * 900)";
/**
 * Stores the rows of FRESH, and counts newly ended calls and the uses of stored rules: all or nothing. Each call is
 * counted once, by the statement that stores its end.
 */
const PUT = `put AS (
      INSERT INTO audit_call AS c (${COLUMNS}) SELECT * FROM fresh
      ON CONFLICT (id) DO UPDATE SET (state, verdict, error_type, rule, place, has_run, duration_ms, deciders, risk, waited_ms, exit_code, hosts) = (excluded.state, excluded.verdict, excluded.error_type,
        excluded.rule, excluded.place, excluded.has_run, excluded.duration_ms, excluded.deciders, excluded.risk, excluded.waited_ms, excluded.exit_code, excluded.hosts)
      WHERE c.${OPEN} RETURNING c.*
    ), counted AS (
      INSERT INTO audit_count AS n (tenant, hour, name, state, calls, executed, timed, sum_ms, most_ms)
      SELECT tenant, date_trunc('hour', created_at, 'UTC'), name, state, ${COUNTED} FROM put WHERE NOT ${OPEN} GROUP BY 1, 2, 3, 4
      ON CONFLICT (tenant, hour, name, state) DO UPDATE SET calls = n.calls + excluded.calls, executed = n.executed + excluded.executed,
        timed = n.timed + excluded.timed, sum_ms = n.sum_ms + excluded.sum_ms, most_ms = greatest(n.most_ms, excluded.most_ms)
    ), quartered AS (
      INSERT INTO audit_quarter AS n (tenant, quarter, name, template_id, state, verdict, calls, executed, timed, sum_ms, most_ms, durations, waited, waited_ms, most_waited_ms, waits, last_at)
      SELECT tenant, ${QUARTER}, name, template_id, state, coalesce(verdict, ''), ${COUNTED}, coalesce(sum(${classSql("duration_ms")}) FILTER (WHERE has_run), 0),
        count(waited_ms)::int, coalesce(sum(waited_ms), 0), max(waited_ms), coalesce(sum(${classSql("waited_ms")}), 0), max(created_at)
      FROM put WHERE NOT ${OPEN} GROUP BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (tenant, quarter, name, template_id, state, verdict) DO UPDATE SET calls = n.calls + excluded.calls, executed = n.executed + excluded.executed,
        timed = n.timed + excluded.timed, sum_ms = n.sum_ms + excluded.sum_ms, most_ms = greatest(n.most_ms, excluded.most_ms), waited = n.waited + excluded.waited,
        waited_ms = n.waited_ms + excluded.waited_ms, most_waited_ms = greatest(n.most_waited_ms, excluded.most_waited_ms), last_at = greatest(n.last_at, excluded.last_at),
        durations = n.durations + excluded.durations, waits = n.waits + excluded.waits
    ), used AS (
      UPDATE allow_rule r SET use_count = r.use_count + u.calls, last_used_at = greatest(r.last_used_at, u.last)
      FROM (SELECT i.id, count(*)::int AS calls, max(c.started_at) AS last FROM put p
        CROSS JOIN LATERAL (SELECT t.started_at, t.explanation FROM tool_call t WHERE t.id = p.id AND t.explanation ->> 'allowRuleId' IS NOT NULL OFFSET 0) c
        CROSS JOIN LATERAL (${RULES_OF_CALL}) i WHERE NOT p.${OPEN} AND p.has_run AND p.verdict = 'allow' GROUP BY i.id) u
      WHERE r.id = u.id AND r.tenant = $1
    )`;
/**
 * Locks the tenant's row, unless another server has it, or had it after this statement's snapshot: the snapshot would
 * be older than that server's rows.
 */
const TAKEN = (condition: string): string => `taken AS MATERIALIZED (
      SELECT f.position, f.filled_at, f.filled_id, f.whole_at FROM audit_fold f JOIN tenant_log l ON l.tenant = f.tenant
      WHERE f.tenant = $1 AND ${condition} AND f.position >= l.floor FOR NO KEY UPDATE OF f SKIP LOCKED
    ), fold AS MATERIALIZED (
      SELECT t.* FROM taken t WHERE (t.position, t.filled_at, t.filled_id) = (SELECT s.position, s.filled_at, s.filled_id FROM audit_fold s WHERE s.tenant = $1)
    ), head AS MATERIALIZED (SELECT ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1)`;
/** Adds the next earlier calls. New calls meanwhile are added too, or are found by their events. */
const FILL: Statement<{ tenant: string }, [tenant: string]> = {
  name: "fill_audit",
  text: `WITH ${TAKEN("f.whole_at IS NULL")}, next AS MATERIALIZED (
      SELECT c.* FROM fold CROSS JOIN LATERAL (
        SELECT ${OF_CALL} FROM tool_call t WHERE t.tenant = $1 AND (t.created_at, t.id) > (fold.filled_at, fold.filled_id)
        ORDER BY t.created_at, t.id LIMIT ${CHUNK.calls}
      ) c
    ), fresh AS MATERIALIZED (${ROWS_OF("next")}), ${PUT}, last AS (
      SELECT created_at, id FROM next ORDER BY created_at DESC, id DESC LIMIT 1
    )
    UPDATE audit_fold f SET whole_at = CASE WHEN last.id IS NULL THEN head.position END,
      filled_at = coalesce(last.created_at, fold.filled_at), filled_id = coalesce(last.id, fold.filled_id)
    FROM head, fold LEFT JOIN last ON true WHERE f.tenant = $1 RETURNING f.tenant`,
};
const FOLD_ON: Statement<{ isAtEnd: boolean }, [tenant: string]> = {
  name: "fold_audit",
  text: `WITH ${TAKEN("f.whole_at IS NOT NULL")}, goal AS MATERIALIZED (
      SELECT head.position AS head, least(head.position, fold.position + CASE WHEN fold.position < fold.whole_at THEN ${CHUNK.positionsOfAll} ELSE ${CHUNK.positions} END) AS position, fold.position AS before
      FROM fold, head WHERE head.position > fold.position
    ), moved AS MATERIALIZED (
      SELECT DISTINCT e.agent_id FROM goal CROSS JOIN LATERAL (
        SELECT e.agent_id FROM event e WHERE e.tenant = $1 AND e.position > goal.before AND e.position <= goal.position AND e.agent_id IS NOT NULL OFFSET 0
      ) e
    ), fresh AS MATERIALIZED (${FRESH_OR_ALL}), ${PUT}
    UPDATE audit_fold f SET position = goal.position FROM goal WHERE f.tenant = $1 RETURNING goal.position = goal.head AS "isAtEnd"`,
};

/** Begins the audits of new tenants. */
export async function beginAudits(sql: Sql): Promise<void> {
  await sql.query(BEGIN, []);
}

/** Begins missing audits. Returns the tenants whose audit is behind their log. */
export async function auditsBehind(sql: Sql): Promise<readonly string[]> {
  await beginAudits(sql);
  const ofCalls = (await sql.query(BEHIND, [])).map(({ tenant }) => tenant);
  return [...new Set([...ofCalls, ...(await turnsBehind(sql))])];
}

/** Advances the tenant's audit by one bounded chunk. True if it is at the end of the log, or if another server advances it. */
export async function foldAudit(sql: Sql, tenant: string): Promise<boolean> {
  const calls = await foldCalls(sql, tenant);
  return (await foldTurns(sql, tenant)) && calls;
}

async function foldCalls(sql: Sql, tenant: string): Promise<boolean> {
  const [folded] = await sql.query(FOLD_ON, [tenant]);
  if (folded !== undefined) return folded.isAtEnd;
  const [filled] = await sql.query(FILL, [tenant]);
  return filled === undefined;
}
