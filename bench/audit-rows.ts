import pg from "pg";

/** The tenant of the audit, and what is asked about it. */
export const AUDIT = { tenant: "local", agents: 1_000, calls: 3_000_000, days: 30, smallAgents: 100_000, users: 100 } as const;

/** The newest call is some minutes old. */
const SECONDS_APART = (AUDIT.days * 86_400 * 0.9995) / AUDIT.calls;

/** A number below `most` of row `i`, by chance, and the same each time: one for each `seed`. */
const chance = (seed: number, most: number): string => `((hashint8extended(i, ${seed}) & 2147483647) % ${most})`;
const idOf = (kind: string, number: string): string => `md5('${kind}' || ${number})::uuid::text`;

/** Agents that worked, and others with nothing to show; each hundredth is of the same person, and of a template that few have. */
const AGENTS = `INSERT INTO agent (id, tenant, template_id, model, workspace, state, created_by, created_by_kind, created_at, last_activity_at)
  SELECT ${idOf("agent", "i")}, '${AUDIT.tenant}', (ARRAY['assistant', 'reviewer', 'writer', 'operator'])[1 + ${chance(1, 4)}] || CASE WHEN i % 101 = 0 THEN '-rare' ELSE '' END,
    'model', '/srv', 'READY', 'user-' || i % ${AUDIT.users}, 'USER', now() - i * interval '20 seconds', now() - ${chance(2, 1_000_000)} * interval '1 second'
  FROM generate_series(0, ${AUDIT.agents + AUDIT.smallAgents - 1}) i`;

/**
 * Calls of twenty tools, of which some are always fast and others always slow, evenly over all days. What is refused is
 * refused at once; what waits is old.
 */
const CALLS = (
  from: number,
  to: number,
): string => `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input,
    rule_values, input_hash, output, error, is_error, explanation, verdict, stages, audit_trail, started_at, completed_at, duration_ms, created_at, updated_at)
  SELECT ${idOf("call", "i")}, '${AUDIT.tenant}', ${idOf("agent", "i % 1000")}, 1, i, 0, 'toolu_' || i, 'tool_' || tool, state::tool_call_state, 1, input, input,
    json_build_object('path', json_build_array(json_build_object('kind', 'file', 'names', json_build_array('folder/file-' || i || '.ts'), 'access', 'read'))),
    md5(i::text) || md5(i::text), CASE WHEN is_final THEN left(text || text, 330) END,
    CASE WHEN error IS NOT NULL THEN json_build_object('type', error, 'stage', 'execution', 'message', left(text, 80)) END, error IS NOT NULL,
    json_build_object('verdict', verdict, 'decidedBy', 'rule', 'place', 'templates.assistant.permission.allow.3', 'reason', 'the rule allows it'),
    verdict, '[{"stage":"discovery","startedAt":1790000000000,"durationMs":0.01},{"stage":"execution","startedAt":1790000000000,"durationMs":12.5}]',
    '[{"at":"2026-11-24T00:00:00.000Z","from":null,"to":"PENDING"},{"at":"2026-11-24T00:00:01.000Z","from":"EXECUTING","to":"COMPLETED"}]',
    CASE WHEN has_run THEN at END, CASE WHEN is_final THEN at + interval '1 second' END, CASE WHEN has_run AND is_final THEN took WHEN is_final THEN 0.1 + ${chance(3, 1_000)} / 1000.0 END, at, at
  FROM (
    SELECT *, state IN ('COMPLETED', 'FAILED', 'DENIED', 'SEALED') AS is_final, state IN ('COMPLETED', 'SEALED', 'EXECUTING') OR error IN ('execution_failed', 'timeout') AS has_run,
      CASE error WHEN 'timeout' THEN 30000 + ${chance(4, 1_000)} WHEN 'execution_failed' THEN usual * 3 ELSE usual END::float8 AS took,
      CASE WHEN error = 'permission_denied' THEN 'deny' WHEN error IN ('user_rejected', 'approval_expired') OR state IN ('APPROVAL_REQUIRED', 'APPROVED') THEN 'ask'
        WHEN error = 'not_found' THEN NULL WHEN ${chance(5, 100)} < 7 THEN 'ask' ELSE 'allow' END AS verdict
    FROM (
      SELECT *, CASE state
        WHEN 'DENIED' THEN CASE WHEN ${chance(6, 100)} < 50 THEN 'permission_denied' WHEN ${chance(6, 100)} < 95 THEN 'user_rejected' ELSE 'approval_expired' END
        WHEN 'FAILED' THEN CASE WHEN ${chance(6, 100)} < 70 THEN 'execution_failed' WHEN ${chance(6, 100)} < 90 THEN 'invalid_params' WHEN ${chance(6, 100)} < 95 THEN 'timeout'
          WHEN ${chance(6, 100)} < 98 THEN 'not_found' ELSE 'tool_busy' END
        WHEN 'SEALED' THEN 'aborted' END AS error
      FROM (
        SELECT i, now() - interval '${AUDIT.days} days' + i * interval '${SECONDS_APART} seconds' AS at, tool, (1 + tool * tool * 5) * (0.5 + ${chance(7, 1_000)} / 1000.0) AS usual,
          json_build_object('path', 'folder/file-' || i || '.ts', 'content', text) AS input, text || text || text AS text,
          CASE WHEN i < 20000 AND ${chance(8, 100)} < 5 THEN 'EXECUTING' WHEN ${chance(8, 10_000)} < 200 THEN 'DENIED' WHEN ${chance(8, 10_000)} < 600 THEN 'FAILED'
            WHEN ${chance(8, 10_000)} < 650 THEN 'SEALED' WHEN ${chance(8, 10_000)} < 750 THEN 'APPROVAL_REQUIRED' WHEN ${chance(8, 10_000)} < 760 THEN 'APPROVED'
            WHEN ${chance(8, 10_000)} < 770 THEN 'PENDING' ELSE 'COMPLETED' END AS state
        FROM (SELECT i::bigint, (ARRAY[0,0,0,0,0,0,1,1,1,1,2,2,2,3,3,4,4,5,6,7])[1 + ${chance(9, 20)}] + CASE WHEN ${chance(10, 1_000)} < 1 THEN 12 WHEN ${chance(10, 100)} < 10 THEN 8 ELSE 0 END AS tool,
          md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) || md5((i + 3)::text) || md5((i + 4)::text) AS text
          FROM generate_series(${from}, ${to}) i) numbered
      ) made
    ) erred
  ) timed`;

/** A question about each call that was asked about; those that wait are open. */
const APPROVALS = `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, input, input_hash, requested_at, closed_at)
  SELECT md5('approval' || id)::uuid::text, tenant, agent_id, id, 'TOOL_CALL',
    (CASE WHEN state = 'APPROVAL_REQUIRED' THEN 'PENDING' WHEN error ->> 'type' = 'user_rejected' THEN 'DENIED' WHEN error ->> 'type' = 'approval_expired' THEN 'EXPIRED' ELSE 'ALLOWED' END)::approval_state,
    'mode approval asks for it', 'MEDIUM', effective_input, input_hash, created_at, CASE WHEN state <> 'APPROVAL_REQUIRED' THEN created_at + interval '1 minute' END
  FROM tool_call WHERE verdict = 'ask'`;
const DECISIONS = `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at)
  SELECT id, CASE WHEN n < 5 THEN 'stand-in' WHEN n < 300 THEN 'second' ELSE 'chief' END, 'USER', tenant, (CASE state WHEN 'DENIED' THEN 'DENY' ELSE 'ALLOW' END)::approval_decision, closed_at
  FROM (SELECT *, (hashtextextended(id, 1) & 2147483647) % 1000 AS n FROM approval WHERE state IN ('ALLOWED', 'DENIED')) i`;

/** Two connections fill at once. */
const FILLERS = 2;

/** Fills the migrated database of the URL with the rows of an old tenant. The indexes of its calls are made once, afterwards. */
export async function fillAudit(url: string): Promise<void> {
  const clients = Array.from({ length: FILLERS }, () => new pg.Client({ connectionString: url }));
  const [client] = clients;
  if (client === undefined) throw new Error("nobody fills");
  try {
    for (const each of clients) {
      await each.connect();
      await each.query(
        "SET maintenance_work_mem = '256MB'; SET synchronous_commit = off; SET session_replication_role = replica",
      );
    }
    const calls = await withoutIndexes(client, "tool_call");
    await client.query("INSERT INTO tenant_log (tenant, epoch) VALUES ($1, 'audit') ON CONFLICT DO NOTHING", [AUDIT.tenant]);
    await client.query(AGENTS);
    await client.query("ANALYZE agent");
    const share = AUDIT.calls / FILLERS;
    await Promise.all(clients.map((each, index) => each.query(CALLS(index * share + 1, (index + 1) * share))));
    await remake(clients, calls);
    await client.query(APPROVALS);
    await client.query(DECISIONS);
    await client.query("ANALYZE");
  } finally {
    await Promise.all(clients.map((each) => each.end()));
  }
}

/** Drops the indexes of a table but that of its key. Answers how they are made. */
export async function withoutIndexes(client: pg.Client, table: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; text: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
      WHERE indrelid = $1::regclass AND NOT indisprimary`,
    [table],
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  return rows.map(({ text }) => text);
}

/** Makes indexes again, on all connections at once. */
export async function remake(clients: readonly pg.Client[], indexes: readonly string[]): Promise<void> {
  const waiting = [...indexes];
  await Promise.all(
    clients.map(async (client) => {
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await client.query(text);
    }),
  );
}
