/** The secret of the tenant `other` in `analystRows`. */
export const SECRET = "secret-of-the-other";

/** SQL that writes rows for each query of docs/bi.md: 60 calls, steps and approvals of the tenant `local` in its week, one of `other`. */
export const ANALYST_ROWS = `
INSERT INTO tenant_log (tenant, epoch) VALUES ('local', 'a'), ('other', 'b') ON CONFLICT DO NOTHING;
CREATE TEMP TABLE row_of AS SELECT i, 'local' AS tenant, 'text-' || i AS said, timestamptz '2026-03-08 20:00Z' - i * interval '2 hours 37 minutes' AS at
  FROM generate_series(1, 60) i UNION ALL SELECT 61, 'other', '${SECRET}', '2026-03-05';
INSERT INTO agent (id, tenant, title, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
  SELECT 'agent-' || i, tenant, said, CASE tenant WHEN 'local' THEN 'assistant' ELSE 'template-other' END, 'model', '/', said, 'USER', at, at FROM row_of;
INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, error, explanation, verdict, output, stages, audit_trail, duration_ms, created_at, updated_at)
  SELECT 'call-' || i, tenant, 'agent-' || i, 1, 1, 0, 'p', (ARRAY['fs_read', 'fs_write', 'bash'])[i % 3 + 1] || CASE tenant WHEN 'other' THEN said ELSE '' END, (CASE WHEN i % 5 = 0 THEN 'FAILED' ELSE 'COMPLETED' END)::tool_call_state, 1, i % 5 = 0,
    CASE WHEN i % 5 = 0 THEN '{"type":"timeout"}'::json END, CASE WHEN i % 2 = 0 THEN '{"decidedBy":"allow bash","place":"permission.allow.0"}'::json END, 'allow', said, '[]', '[]', i * 12.25, at, at FROM row_of;
INSERT INTO step (agent_id, step, tenant, turn, state, model, input_tokens, cache_read_tokens, cost_usd, started_at, completed_at)
  SELECT 'agent-' || i, 1, tenant, 1, 'COMPLETED', 'model-' || i % 2, i * 10, i, i * 0.01, at, at + interval '2 seconds' FROM row_of;
INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at, completed_at, error_type)
  SELECT 'agent-' || i, 2, tenant, 1, 'ABORTED', 'model-' || i % 2, at, at + interval '3 seconds', 'overloaded' FROM row_of;
INSERT INTO approval (id, tenant, agent_id, kind, state, reason, risk, requested_at, closed_at)
  SELECT 'approval-' || i, tenant, 'agent-' || i, 'TOOL_CALL', 'ALLOWED', said, said, at, at + i * interval '1 second' FROM row_of;
INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at)
  SELECT 'approval-' || i, (ARRAY['ada', 'anna'])[i % 2 + 1], 'USER', tenant, CASE WHEN i % 4 = 0 THEN 'DENY' ELSE 'ALLOW' END::approval_decision, at + i * interval '1 second' FROM row_of;
INSERT INTO allow_rule (id, tenant, template_id, rule, approval_id, created_by, created_by_kind, created_at)
  SELECT 'rule-' || i, tenant, said, 'read', 'approval-' || i, 'ada', 'USER', at FROM row_of WHERE i % 10 = 1;
DROP TABLE row_of;`;
