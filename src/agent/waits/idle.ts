/**
 * The condition that agent `a` is idle: it has no open or wanted turn, no server that holds it, and no open shell or
 * question. Most of it is on its row: a statement that locks the row sees the commits before the lock.
 */
export const IS_IDLE = `a.state = 'READY' AND a.runnable_at IS NULL AND a.retry_turn IS NULL AND (a.lease_owner IS NULL OR a.lease_until < policy_time())
    AND NOT EXISTS (SELECT FROM approval p WHERE p.agent_id = a.id AND p.state = 'PENDING')
    AND NOT EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING')`;

/** Locks agent $1 if it is idle: whoever sends it a message then waits for the statement. `version` is that of its row. */
export const LOCKED_IDLE = `idle AS MATERIALIZED (SELECT a.id, a.xmin AS version FROM agent a WHERE a.id = $1 AND ${IS_IDLE} FOR NO KEY UPDATE)`;
