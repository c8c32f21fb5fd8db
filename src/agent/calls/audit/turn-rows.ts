/**
 * SQL of the audit's rows of steps and turns (`audit_step`, `audit_turn`), which writers and readers share: docs/adr/0056.
 */

export const STEP_COLUMNS =
  "agent_id, step, tenant, turn, state, model, stop_reason, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, output_is_estimated, cost_usd, started_at, completed_at, duration_ms, first_token_ms, is_fallback, template_id, created_by, root_id, requested_by, requested_by_kind";

export const TURN_COLUMNS =
  "agent_id, turn, tenant, model, reason, steps, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, output_is_estimated, cost_usd, unpriced, started_at, ended_at, duration_ms, first_token_ms, is_fallback, template_id, created_by, root_id, requested_by, requested_by_kind";

/** The place of the tenant's ($1) complete rows in its log; no row if they are incomplete, or if later events were removed. */
export const TURN_FOLD =
  "SELECT f.position FROM audit_turn_fold f JOIN tenant_log l ON l.tenant = f.tenant WHERE f.tenant = $1 AND f.whole_at IS NOT NULL AND f.position >= l.floor";

/** The columns of an event that rows are made of. Only two kinds have facts that no row has. */
const OF_EVENT = "e.agent_id, e.kind, e.at, CASE WHEN e.kind IN ('DONE', 'STEP_COMPLETE') THEN e.payload END AS payload";

/** The events of agents after the place of `fold` up to a position, in the order of an index. */
export const SEEN = (upTo: string): string =>
  `SELECT ${OF_EVENT} FROM fold CROSS JOIN LATERAL (SELECT e.* FROM event e WHERE e.tenant = $1 AND e.position > fold.position${upTo} AND e.agent_id IS NOT NULL ORDER BY e.position OFFSET 0) e`;

/** All kept events of some agents that rows are made of. */
export const SEEN_OF = (agents: string): string =>
  `SELECT ${OF_EVENT} FROM ${agents} n CROSS JOIN LATERAL (SELECT e.* FROM event e WHERE e.agent_id = n.agent_id AND e.kind IN ('DONE', 'STEP_COMPLETE') OFFSET 0) e`;

/** The agents of `seen`, each with its first turn that may change: the turns end in their order. */
export const MOVED_TURNS = `SELECT a.agent_id, coalesce((SELECT t.turn + 1 FROM audit_turn t WHERE t.agent_id = a.agent_id AND t.ended_at IS NOT NULL ORDER BY t.turn DESC LIMIT 1), 0) AS from_turn
  FROM (SELECT DISTINCT agent_id FROM seen) a`;

/** Copies of a fork are left out. The model of a turn is that of its first step: another one is a fallback. */
const FRESH_STEPS = `SELECT s.agent_id, s.step, s.tenant, s.turn, s.state, s.model, s.stop_reason, s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens,
    s.output_is_estimated, s.cost_usd, s.started_at, s.completed_at, coalesce(c.duration_ms, o.duration_ms) AS duration_ms, coalesce(c.first_token_ms, o.first_token_ms) AS first_token_ms,
    s.model <> first_value(s.model) OVER (PARTITION BY s.agent_id, s.turn ORDER BY s.step) AS is_fallback, g.template_id, g.created_by, g.root_id
  FROM moved m
  CROSS JOIN LATERAL (SELECT a.template_id, a.created_by, coalesce(a.root_id, a.id) AS root_id FROM agent a WHERE a.id = m.agent_id AND a.tenant = $1 OFFSET 0) g
  CROSS JOIN LATERAL (SELECT t.* FROM step t WHERE t.agent_id = m.agent_id AND t.turn >= m.from_turn AND t.copied_from IS NULL OFFSET 0) s
  LEFT JOIN (SELECT agent_id, (payload ->> 'step')::int AS step, max((payload ->> 'durationMs')::float8) AS duration_ms, max((payload ->> 'firstTokenMs')::float8) AS first_token_ms
    FROM seen WHERE kind = 'STEP_COMPLETE' GROUP BY 1, 2) c ON c.agent_id = s.agent_id AND c.step = s.step
  LEFT JOIN audit_step o ON o.agent_id = s.agent_id AND o.step = s.step`;

/** The first person whose message a turn answers. A message that a retry answers again belongs to the newer turn. */
const ASKED = `SELECT k.agent_id, k.turn, q.created_by, q.created_by_kind
  FROM (SELECT agent_id, turn FROM stepped UNION SELECT agent_id, turn FROM done) k
  CROSS JOIN LATERAL (SELECT x.created_by, x.created_by_kind FROM message x WHERE x.agent_id = k.agent_id AND x.turn = k.turn AND x.kind = 'USER' AND x.created_by IS NOT NULL
    ORDER BY x.ordinal LIMIT 1) q`;

/** An agent's earlier turns have ended, and its newest one if it is idle: their events may be removed. */
const ENDED_BY_ROW = `CASE WHEN g.turn > k.turn OR g.state = 'READY' THEN coalesce(max(s.completed_at), max(s.started_at)) END`;

const FRESH_TURNS = (
  isFill: boolean,
): string => `SELECT k.agent_id, k.turn, g.tenant, (array_agg(s.model ORDER BY s.step) FILTER (WHERE s.step IS NOT NULL))[1] AS model,
    coalesce(max(d.reason)${isFill ? ", CASE WHEN g.turn = k.turn AND g.state = 'READY' THEN max(g.done_reason) END" : ""}) AS reason, count(s.step)::int AS steps,
    coalesce(sum(s.input_tokens), 0)::float8 AS input_tokens, coalesce(sum(s.output_tokens), 0)::float8 AS output_tokens,
    coalesce(sum(s.cache_read_tokens), 0)::float8 AS cache_read_tokens, coalesce(sum(s.cache_write_tokens), 0)::float8 AS cache_write_tokens,
    coalesce(bool_or(s.output_is_estimated), false) AS output_is_estimated, coalesce(sum(s.cost_usd), 0) AS cost_usd,
    (count(*) FILTER (WHERE s.input_tokens IS NOT NULL AND s.cost_usd IS NULL))::int AS unpriced,
    coalesce(min(s.started_at), max(d.at)) AS started_at, coalesce(max(d.at)${isFill ? `, ${ENDED_BY_ROW}` : ""}) AS ended_at,
    extract(epoch FROM coalesce(max(d.at)${isFill ? `, ${ENDED_BY_ROW}` : ""}) - coalesce(min(s.started_at), max(d.at)))::float8 * 1000 AS duration_ms,
    (array_agg(s.first_token_ms ORDER BY s.step) FILTER (WHERE s.first_token_ms IS NOT NULL))[1] AS first_token_ms,
    coalesce(bool_or(s.is_fallback), false) AS is_fallback, g.template_id, g.created_by, coalesce(g.root_id, g.id) AS root_id
  FROM (SELECT agent_id, turn FROM stepped UNION SELECT d.agent_id, d.turn FROM done d JOIN moved m ON m.agent_id = d.agent_id AND d.turn >= m.from_turn) k
  CROSS JOIN LATERAL (SELECT a.* FROM agent a WHERE a.id = k.agent_id AND a.tenant = $1 OFFSET 0) g
  LEFT JOIN stepped s ON s.agent_id = k.agent_id AND s.turn = k.turn
  LEFT JOIN done d ON d.agent_id = k.agent_id AND d.turn = k.turn
  GROUP BY k.agent_id, k.turn, g.tenant, g.turn, g.state, g.template_id, g.created_by, g.root_id, g.id`;

/**
 * The present rows of the agents of `seen`, from their first turn that may change on: `fresh_step` and `fresh_turn`, after
 * `seen`. `isFill`: the agents may have ended turns whose events were removed.
 */
export const FRESH_ROWS = (isFill = false): string => `moved AS MATERIALIZED (${MOVED_TURNS}),
    done AS MATERIALIZED (SELECT agent_id, (payload ->> 'turn')::int AS turn, max(payload ->> 'reason') AS reason, max(at) AS at FROM seen WHERE kind = 'DONE' GROUP BY 1, 2),
    stepped AS MATERIALIZED (${FRESH_STEPS}), asked AS MATERIALIZED (${ASKED}),
    fresh_step (${STEP_COLUMNS}) AS MATERIALIZED (
      SELECT s.*, coalesce(a.created_by, s.created_by), coalesce(a.created_by_kind, g.created_by_kind)
      FROM stepped s JOIN agent g ON g.id = s.agent_id LEFT JOIN asked a ON a.agent_id = s.agent_id AND a.turn = s.turn
    ),
    fresh_turn (${TURN_COLUMNS}) AS MATERIALIZED (
      SELECT t.*, coalesce(a.created_by, t.created_by), coalesce(a.created_by_kind, g.created_by_kind)
      FROM (${FRESH_TURNS(isFill)}) t JOIN agent g ON g.id = t.agent_id LEFT JOIN asked a ON a.agent_id = t.agent_id AND a.turn = t.turn
    )`;

/** The rows of a table that are up to date: those before the turns that may have changed. */
export const SETTLED = "NOT EXISTS (SELECT FROM moved m WHERE m.agent_id = r.agent_id AND r.turn >= m.from_turn)";
