/**
 * SQL of the audit's rows of steps and turns (`audit_step`, `audit_turn`), which writers and readers share: docs/adr/0056.
 */

export const STEP_COLUMNS = [
  "agent_id",
  "step",
  "tenant",
  "turn",
  "state",
  "model",
  "stop_reason",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_is_estimated",
  "cost_usd",
  "started_at",
  "completed_at",
  "duration_ms",
  "first_token_ms",
  "is_fallback",
  "template_id",
  "created_by",
  "root_id",
  "error_type",
  "requested_by",
  "requested_by_kind",
] as const;

export const TURN_COLUMNS = [
  "agent_id",
  "turn",
  "tenant",
  "model",
  "reason",
  "steps",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_is_estimated",
  "cost_usd",
  "unpriced",
  "started_at",
  "ended_at",
  "duration_ms",
  "first_token_ms",
  "is_fallback",
  "template_id",
  "created_by",
  "root_id",
  "error_type",
  "requested_by",
  "requested_by_kind",
  "requesters",
  "calls",
  "waiting_ms",
] as const;

/** The most senders that a row of a turn names. */
const MOST_REQUESTERS = 100;

/** The place of the tenant's ($1) complete rows in its log; no row if they are incomplete, or if later events were removed. */
export const TURN_FOLD =
  "SELECT f.position FROM audit_turn_fold f JOIN tenant_log l ON l.tenant = f.tenant WHERE f.tenant = $1 AND f.whole_at IS NOT NULL AND f.position >= l.floor";

/** The columns of an event that rows are made of. Only two kinds have facts that no row has. */
const OF_EVENT = "e.agent_id, e.kind, e.at, CASE WHEN e.kind IN ('DONE', 'STEP_COMPLETE') THEN e.payload END AS payload";

/** The events of agents after the place of `fold` up to a position, in the order of an index. */
export const SEEN = (upTo: string): string =>
  `SELECT ${OF_EVENT} FROM fold CROSS JOIN LATERAL (SELECT e.* FROM event e WHERE e.tenant = $1 AND e.position > fold.position${upTo} AND e.agent_id IS NOT NULL ORDER BY e.position OFFSET 0) e`;

/** Agents with all kept events that rows are made of. */
export const SEEN_OF = (agents: string): string =>
  `SELECT agent_id, NULL AS kind, NULL::timestamptz AS at, NULL::json AS payload FROM ${agents}
    UNION ALL SELECT ${OF_EVENT} FROM ${agents} n CROSS JOIN LATERAL (SELECT e.* FROM event e WHERE e.agent_id = n.agent_id AND e.kind IN ('DONE', 'STEP_COMPLETE') OFFSET 0) e`;

/**
 * The agents of `seen`, each with its first turn that may change and the last step before it. Turns end in their order; the
 * row of an ended turn never changes.
 */
const MOVED_TURNS = `SELECT a.agent_id, t.from_turn,
    coalesce((SELECT o.step FROM audit_step o WHERE o.agent_id = a.agent_id AND o.turn < t.from_turn ORDER BY o.step DESC LIMIT 1), 0) AS after_step
  FROM (SELECT DISTINCT agent_id FROM seen) a
  CROSS JOIN LATERAL (SELECT coalesce((SELECT t.turn + 1 FROM audit_turn t WHERE t.agent_id = a.agent_id AND t.ended_at IS NOT NULL ORDER BY t.turn DESC LIMIT 1), 0) AS from_turn) t`;

const DONE = `SELECT d.agent_id, d.turn, d.reason, d.at, d.message_ids FROM (
    SELECT agent_id, (payload ->> 'turn')::int AS turn, payload ->> 'reason' AS reason, at, payload -> 'messageIds' AS message_ids FROM seen WHERE kind = 'DONE'
  ) d JOIN moved m ON m.agent_id = d.agent_id AND d.turn >= m.from_turn`;

/** The ms between two times. The clock of a server that ends a step may be behind that of the one that began it. */
const MS = (from: string, to: string): string =>
  `CASE WHEN ${to} < ${from} THEN 0 ELSE extract(epoch FROM ${to} - ${from})::float8 * 1000 END`;

/** Copies of a fork are left out. The model of a turn is that of its first step: another one is a fallback. */
const FRESH_STEPS = `SELECT s.agent_id, s.step, s.tenant, s.turn, s.state, s.model, s.stop_reason, s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens,
    s.output_is_estimated, s.cost_usd, s.started_at, s.completed_at, ${MS("s.started_at", "s.completed_at")} AS duration_ms, coalesce(c.first_token_ms, o.first_token_ms) AS first_token_ms,
    s.model <> first_value(s.model) OVER (PARTITION BY s.agent_id, s.turn ORDER BY s.step) AS is_fallback, g.template_id, g.created_by, g.root_id, s.error_type
  FROM moved m
  CROSS JOIN LATERAL (SELECT a.template_id, a.created_by, coalesce(a.root_id, a.id) AS root_id FROM agent a WHERE a.id = m.agent_id AND a.tenant = $1 OFFSET 0) g
  CROSS JOIN LATERAL (SELECT t.* FROM step t WHERE t.agent_id = m.agent_id AND t.step > m.after_step AND t.turn >= m.from_turn AND t.copied_from IS NULL OFFSET 0) s
  LEFT JOIN (SELECT agent_id, (payload ->> 'step')::int AS step, max((payload ->> 'firstTokenMs')::float8) AS first_token_ms
    FROM seen WHERE kind = 'STEP_COMPLETE' GROUP BY 1, 2) c ON c.agent_id = s.agent_id AND c.step = s.step
  LEFT JOIN LATERAL (SELECT o.first_token_ms FROM audit_step o WHERE o.agent_id = s.agent_id AND o.step = s.step OFFSET 0) o ON true`;

const KEYS = "SELECT agent_id, turn FROM stepped UNION SELECT agent_id, turn FROM done";

/**
 * The people whose messages a turn answers, the first one first. A retry takes the messages of the turn before to its own, so
 * the DONE says which ones an ended turn had.
 */
const ASKED = `SELECT k.agent_id, k.turn, q.ids, q.kinds
  FROM (${KEYS}) k LEFT JOIN done d ON d.agent_id = k.agent_id AND d.turn = k.turn
  CROSS JOIN LATERAL (
    SELECT array_agg(p.created_by ORDER BY p.ordinal) AS ids, array_agg(p.created_by_kind ORDER BY p.ordinal) AS kinds FROM (
      SELECT x.created_by, x.created_by_kind, min(x.ordinal) AS ordinal FROM (
        SELECT m.created_by, m.created_by_kind, m.ordinal FROM json_array_elements_text(CASE WHEN json_typeof(d.message_ids) = 'array' THEN d.message_ids END) i
          CROSS JOIN LATERAL (SELECT m.* FROM message m WHERE m.id = i AND m.agent_id = k.agent_id OFFSET 0) m
        UNION ALL
        SELECT m.created_by, m.created_by_kind, m.ordinal FROM message m
        WHERE m.agent_id = k.agent_id AND m.turn = k.turn AND m.kind = 'USER' AND json_typeof(d.message_ids) IS DISTINCT FROM 'array'
      ) x WHERE x.created_by IS NOT NULL GROUP BY 1, 2
    ) p
  ) q WHERE q.ids IS NOT NULL`;

/** An agent's earlier turns have ended, and its newest one if it is idle: their events may be removed. */
const ENDED_BY_ROW = "CASE WHEN g.turn > k.turn OR g.state = 'READY' THEN coalesce(max(s.completed_at), max(s.started_at)) END";

const TURN_SUMS = (isFill: boolean): string => {
  const ended = `coalesce(max(d.at)${isFill ? `, ${ENDED_BY_ROW}` : ""})`;
  return `SELECT k.agent_id, k.turn, g.tenant, (array_agg(s.model ORDER BY s.step) FILTER (WHERE s.step IS NOT NULL))[1] AS model,
    coalesce(max(d.reason)${isFill ? ", CASE WHEN g.turn = k.turn AND g.state = 'READY' THEN max(g.done_reason) END" : ""}) AS reason, count(s.step)::int AS steps,
    coalesce(sum(s.input_tokens), 0)::float8 AS input_tokens, coalesce(sum(s.output_tokens), 0)::float8 AS output_tokens,
    coalesce(sum(s.cache_read_tokens), 0)::float8 AS cache_read_tokens, coalesce(sum(s.cache_write_tokens), 0)::float8 AS cache_write_tokens,
    coalesce(bool_or(s.output_is_estimated), false) AS output_is_estimated, coalesce(sum(s.cost_usd), 0) AS cost_usd,
    (count(*) FILTER (WHERE s.input_tokens IS NOT NULL AND s.cost_usd IS NULL))::int AS unpriced,
    coalesce(min(s.started_at), max(d.at)) AS started_at, ${ended} AS ended_at,
    ${MS("coalesce(min(s.started_at), max(d.at))", ended)} AS duration_ms,
    (array_agg(s.first_token_ms ORDER BY s.step) FILTER (WHERE s.first_token_ms IS NOT NULL))[1] AS first_token_ms,
    coalesce(bool_or(s.is_fallback), false) AS is_fallback, g.template_id, g.created_by, coalesce(g.root_id, g.id) AS root_id, (array_agg(s.error_type ORDER BY s.step DESC))[1] AS error_type
  FROM (${KEYS}) k
  CROSS JOIN LATERAL (SELECT a.* FROM agent a WHERE a.id = k.agent_id AND a.tenant = $1 OFFSET 0) g
  LEFT JOIN stepped s ON s.agent_id = k.agent_id AND s.turn = k.turn
  LEFT JOIN done d ON d.agent_id = k.agent_id AND d.turn = k.turn
  GROUP BY k.agent_id, k.turn, g.tenant, g.turn, g.state, g.template_id, g.created_by, g.root_id, g.id`;
};

/**
 * The questions of a turn `t`: those of its calls, and those of no call that came after the turn before. Questions of background
 * shells that come between turns hold no turn.
 */
const QUESTIONS = `SELECT p.requested_at AS "from", least(p.closed_at, t.ended_at) AS "to"
      FROM (SELECT p.* FROM approval p WHERE p.agent_id = t.agent_id OFFSET 0) p LEFT JOIN LATERAL (SELECT c.turn, c.copied_from FROM tool_call c WHERE c.id = p.tool_call_id OFFSET 0) c ON true
      WHERE CASE WHEN p.tool_call_id IS NOT NULL THEN c.turn = t.turn AND c.copied_from IS NULL
        ELSE p.requested_at > greatest('-infinity', (SELECT o.ended_at FROM audit_turn o WHERE o.agent_id = t.agent_id AND o.turn < t.turn ORDER BY o.turn DESC LIMIT 1),
            (SELECT max(e.ended_at) FROM summed e WHERE e.agent_id = t.agent_id AND e.turn < t.turn))
          AND (t.ended_at IS NULL OR p.requested_at <= t.ended_at) AND (p.kind <> 'NETWORK_HOST' OR p.requested_at >= t.started_at) END`;

/** Questions that are open at the same time count once. */
const WAITED = `SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0)::float8 * 1000 AS ms FROM (
    SELECT unnest(range_agg(tstzrange(q."from", q."to"))) AS r FROM (${QUESTIONS}) q WHERE q."to" > q."from"
  ) r`;

/** The calls of turns, counted together: for each turn by itself, all steps would be read each time. */
const CALLED =
  "SELECT s.agent_id, s.turn, count(*)::int AS calls FROM stepped s CROSS JOIN LATERAL (SELECT c.id FROM tool_call c WHERE c.agent_id = s.agent_id AND c.step = s.step OFFSET 0) c GROUP BY 1, 2";

/**
 * The present rows of the agents of `seen`, from their first turn that may change on: `fresh_step` and `fresh_turn`, after
 * `seen`. `isFill`: the agents may have ended turns whose events were removed.
 */
export const FRESH_ROWS = (isFill = false): string => `moved AS MATERIALIZED (${MOVED_TURNS}),
    done AS MATERIALIZED (${DONE}), stepped AS MATERIALIZED (${FRESH_STEPS}), asked AS MATERIALIZED (${ASKED}), summed AS MATERIALIZED (${TURN_SUMS(isFill)}), called AS MATERIALIZED (${CALLED}),
    fresh_step (${STEP_COLUMNS.join(", ")}) AS MATERIALIZED (
      SELECT s.*, coalesce(a.ids[1], s.created_by), coalesce(a.kinds[1], g.created_by_kind)
      FROM stepped s CROSS JOIN LATERAL (SELECT g.created_by_kind FROM agent g WHERE g.id = s.agent_id OFFSET 0) g LEFT JOIN asked a ON a.agent_id = s.agent_id AND a.turn = s.turn
    ),
    fresh_turn (${TURN_COLUMNS.join(", ")}) AS MATERIALIZED (
      SELECT t.*, coalesce(a.ids[1], t.created_by), coalesce(a.kinds[1], g.created_by_kind),
        ARRAY(SELECT u.kind || ':' || u.id FROM unnest(a.ids, a.kinds) WITH ORDINALITY AS u(id, kind, place) ORDER BY u.place LIMIT ${MOST_REQUESTERS}), coalesce(c.calls, 0), w.ms
      FROM summed t CROSS JOIN LATERAL (SELECT g.created_by_kind FROM agent g WHERE g.id = t.agent_id OFFSET 0) g LEFT JOIN asked a ON a.agent_id = t.agent_id AND a.turn = t.turn
      LEFT JOIN called c ON c.agent_id = t.agent_id AND c.turn = t.turn CROSS JOIN LATERAL (${WAITED}) w
    )`;

/** The rows `r` of a table that are up to date: those before the turns that may have changed. */
export const SETTLED =
  "NOT (r.agent_id IN (SELECT agent_id FROM moved) AND r.turn >= (SELECT m.from_turn FROM moved m WHERE m.agent_id = r.agent_id))";
