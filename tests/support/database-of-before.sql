-- Rows of every table, and events of every kind, as the version before 20261126000008_contract wrote them. The ids are of one form, so that tests can name them.
INSERT INTO tenant_log (tenant, epoch) VALUES ('local', '0badcafe');
INSERT INTO agent (id, tenant, template_id, model, workspace, tool_timeout_ms, permission, state, breakpoint, turn, step_count, arrivals, transcript_length, last_sfp_index, created_by, created_by_kind, created_at, lineage, forked_at) VALUES
  ('00000000-0000-4000-8000-00000000000a', 'local', 'assistant', 'test', '/tmp', 1000, '{"scope":"TIGHTEN","source":{"denyTools":["fs_write"]}}', 'PAUSED', 'AWAITING_APPROVAL', 1, 1, 1, 2, 0, 'anna', 'USER', '2026-01-01T00:00:00Z', NULL, NULL),
  ('00000000-0000-4000-8000-00000000000f', 'local', 'assistant', 'test', '/tmp', NULL, NULL, 'READY', 'READY', 0, 0, 0, 1, 0, 'anna', 'USER', '2026-01-02T00:00:00Z', '["00000000-0000-4000-8000-00000000000a"]', 0);
INSERT INTO step (agent_id, step, tenant, turn, state, model, stop_reason, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, started_at, completed_at) VALUES
  ('00000000-0000-4000-8000-00000000000a', 1, 'local', 1, 'COMPLETED', 'test', 'tool_use', 10, 5, 0, 0, 0.25, '2026-01-01T00:00:02Z', '2026-01-01T00:00:03Z');
INSERT INTO message (id, tenant, agent_id, kind, content, bytes, arrival, ordinal, turn, step, created_by, created_by_kind, created_at) VALUES
  ('00000000-0000-4000-8000-000000000001', 'local', '00000000-0000-4000-8000-00000000000a', 'USER', '[{"type":"text","text":"write it"}]', 35, 1, 0, 1, 1, 'anna', 'USER', '2026-01-03T00:00:00Z'),
  ('00000000-0000-4000-8000-000000000002', 'local', '00000000-0000-4000-8000-00000000000a', 'ASSISTANT', '[{"type":"tool_use","id":"p1","name":"fs_write","input":{"path":"a"}}]', 70, NULL, 1, 1, 1, NULL, NULL, '2026-01-01T00:00:03Z'),
  ('00000000-0000-4000-8000-000000000003', 'local', '00000000-0000-4000-8000-00000000000f', 'USER', '[{"type":"text","text":"write it"}]', 35, NULL, 0, NULL, NULL, 'anna', 'USER', '2026-01-02T00:00:00Z');
INSERT INTO image (tenant, digest, data) VALUES ('local', 'd', '\x00');
INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, epoch, requested_input, effective_input, rule_values, input_hash, output, details, kept_output_bytes, error, is_error, explanation, verdict, hook_verdict, stages, audit_trail, started_at, completed_at, duration_ms, created_at, updated_at) VALUES
  ('00000000-0000-4000-8000-000000000011', 'local', '00000000-0000-4000-8000-00000000000a', 1, 1, 0, 'p1', 'fs_write', 'APPROVAL_REQUIRED', 0, NULL, '{"path":"a","content":"b"}', '{"path":"a","content":"b"}', '{}', 'hash', NULL, NULL, NULL, NULL, false, '{"verdict":"ask","decidedBy":"mode default","place":"templates.assistant.permission.mode","reason":"it writes","considered":[{"rule":"mode default","place":"templates.assistant.permission.mode","verdict":"ask"}]}', 'ask', NULL, '{"discovery":0.1,"validation":0.2,"permission":0.3}', '[{"state":"PENDING","timestamp":"2026-01-01T00:00:03.000Z"}]', NULL, NULL, NULL, '2026-01-01T00:00:03Z', '2026-01-01T00:00:04Z'),
  ('00000000-0000-4000-8000-000000000012', 'local', '00000000-0000-4000-8000-00000000000a', 1, 1, 1, 'p2', 'fs_read', 'FAILED', 1, 3, '"not JSON"', NULL, NULL, NULL, 'The tool failed: x', NULL, 70000, '{"type":"execution_failed","stage":"execution","message":"The tool failed: x"}', true, NULL, NULL, NULL, '{}', '[]', '2026-01-01T00:00:04Z', '2026-01-01T00:00:05Z', 1000, '2026-01-01T00:00:03Z', '2026-01-01T00:00:05Z');
INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, input, input_hash, reason, risk, quorum, requested_at, expires_at, closed_at) VALUES
  ('00000000-0000-4000-8000-000000000021', 'local', '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000011', 'TOOL_CALL', 'PENDING', '{"path":"a","content":"b"}', 'hash', 'it writes', 'MEDIUM', 2, '2026-01-01T00:00:04Z', NULL, NULL),
  ('00000000-0000-4000-8000-000000000022', 'local', '00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-000000000012', 'OUTCOME_UNKNOWN', 'RESOLVED', '{}', 'hash', 'it ran', 'LOW', NULL, '2026-01-01T00:00:04Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:05Z');
INSERT INTO delegation (id, tenant, from_id, from_kind, to_id, note, starts_at, ends_at, created_at, revoked_at, revoked_by) VALUES
  ('00000000-0000-4000-8000-000000000031', 'local', 'paul', 'SERVICE', 'vera', 'away', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', NULL, NULL),
  ('00000000-0000-4000-8000-000000000032', 'local', 'petra', 'USER', 'vera', NULL, '2026-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T12:00:00Z', 'ada'),
  ('00000000-0000-4000-8000-000000000033', 'local', 'petra', 'USER', 'vera', NULL, '2026-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '2026-01-01T00:00:00Z', NULL, NULL);
INSERT INTO decision (approval_id, actor_id, actor_kind, on_behalf_of, tenant, decision, note, input, input_hash, decided_at) VALUES
  ('00000000-0000-4000-8000-000000000021', 'vera', 'USER', 'paul', 'local', 'ALLOW', 'fine', NULL, NULL, '2026-01-01T00:00:04.5Z'),
  ('00000000-0000-4000-8000-000000000022', 'petra', 'USER', NULL, 'local', 'FAIL', NULL, NULL, NULL, '2026-01-01T00:00:05Z');
INSERT INTO allow_rule (id, tenant, template_id, rule, approval_id, note, created_by, created_by_kind, created_at, revoked_at, revoked_by) VALUES
  ('00000000-0000-4000-8000-000000000041', 'local', 'assistant', 'fs_write(path:/docs)', '00000000-0000-4000-8000-000000000021', NULL, 'paul', 'SERVICE', '2026-01-01T00:00:00Z', NULL, NULL),
  ('00000000-0000-4000-8000-000000000042', 'local', 'assistant', 'fs_write(path:/docs)', '00000000-0000-4000-8000-000000000021', NULL, 'petra', 'USER', '2026-01-01T00:00:01Z', NULL, NULL),
  ('00000000-0000-4000-8000-000000000043', 'local', 'assistant', 'fs_read', '00000000-0000-4000-8000-000000000021', 'why', 'paul', 'SERVICE', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 'paul');
INSERT INTO consumer (name, tenant, position) VALUES ('webhook.inbox', '', 0), ('webhook.inbox', 'local', 3);
INSERT INTO todo (agent_id, id, tenant, place, title, status, assignee, notes) VALUES ('00000000-0000-4000-8000-00000000000a', '1', 'local', 0, 'look', 'pending', NULL, NULL);
INSERT INTO idempotency_key (tenant, actor_id, operation, key, body_hash, result_id, created_at) VALUES ('local', 'anna', 'createAgent', 'once', 'h', '00000000-0000-4000-8000-00000000000a', '2026-01-01T00:00:00Z');
INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
SELECT 'local', n, '00000000-0000-4000-8000-00000000000a', n, NULL, e.channel, e.kind, replace(e.payload, '@CALL', '{"callId":"00000000-0000-4000-8000-000000000011","name":"fs_write","state":"PENDING","inputPreview":"{}","output":null,"isError":true,"error":{"type":"timeout","stage":"execution","message":"m"},"approval":{"approvalId":"00000000-0000-4000-8000-000000000021","state":"ALLOWED","decision":"ALLOW","decidedBy":{"id":"vera","kind":"USER"},"decidedAt":"2026-01-01T00:00:00.000Z","note":null},"startedAt":null,"completedAt":null,"durationMs":null}')::json, '2026-01-01T00:00:05Z'
FROM (VALUES
  (1, 'MONITOR', 'AGENT_CREATED', '{"templateId":"assistant","model":"test","createdBy":{"id":"anna","kind":"USER"}}'),
  (2, 'PROGRESS', 'MESSAGE_RECEIVED', '{"messageId":"00000000-0000-4000-8000-000000000001","text":"write it","sentBy":{"id":"anna","kind":"USER"}}'),
  (3, 'PROGRESS', 'TEXT_CHUNK_START', '{"step":1,"block":0}'),
  (4, 'PROGRESS', 'TEXT_CHUNK', '{"step":1,"block":0,"delta":"I "}'),
  (5, 'PROGRESS', 'TEXT_CHUNK_END', '{"step":1,"block":0,"text":"I ","aborted":false}'),
  (6, 'PROGRESS', 'THINK_CHUNK_START', '{"step":1,"block":1}'),
  (7, 'PROGRESS', 'THINK_CHUNK', '{"step":1,"block":1,"delta":"Hm"}'),
  (8, 'PROGRESS', 'THINK_CHUNK_END', '{"step":1,"block":1,"text":"Hm","aborted":false}'),
  (9, 'PROGRESS', 'TOOL_START', '{"call":@CALL}'),
  (10, 'PROGRESS', 'TOOL_END', '{"call":@CALL}'),
  (11, 'PROGRESS', 'TOOL_ERROR', '{"call":@CALL,"error":"x"}'),
  (12, 'PROGRESS', 'DONE', '{"turn":1,"step":1,"reason":"COMPLETED","messageIds":["00000000-0000-4000-8000-000000000001"]}'),
  (13, 'CONTROL', 'PERMISSION_REQUIRED', '{"request":{"approvalId":"00000000-0000-4000-8000-000000000021","kind":"TOOL_CALL","call":@CALL,"inputHash":"hash","reason":"it writes","risk":"MEDIUM","expiresAt":null}}'),
  (14, 'CONTROL', 'PERMISSION_DECIDED', '{"approvalId":"00000000-0000-4000-8000-000000000021","callId":"00000000-0000-4000-8000-000000000011","decision":"ALLOW","decidedBy":{"id":"vera","kind":"USER"},"onBehalfOf":"paul","note":null,"approvalState":"PENDING","missingDecisions":1,"allowedHash":"hash"}'),
  (15, 'CONTROL', 'PERMISSION_CLOSED', '{"approvalId":"00000000-0000-4000-8000-000000000022","callId":"00000000-0000-4000-8000-000000000012","approvalState":"SEALED","note":null}'),
  (16, 'MONITOR', 'STATE_CHANGED', '{"previousState":"READY","state":"WORKING"}'),
  (17, 'MONITOR', 'BREAKPOINT_CHANGED', '{"previousBreakpoint":"READY","breakpoint":"PRE_MODEL"}'),
  (18, 'MONITOR', 'STEP_COMPLETE', '{"step":1,"durationMs":1.5,"stopReason":"tool_use"}'),
  (19, 'MONITOR', 'TOKEN_USAGE', '{"step":1,"inputTokens":10,"outputTokens":5,"totalTokens":15}'),
  (20, 'MONITOR', 'TOOL_EXECUTED', '{"call":@CALL}'),
  (21, 'MONITOR', 'ERROR', '{"severity":"WARN","phase":"TOOL","message":"slow","detail":"slow_tool"}'),
  (22, 'MONITOR', 'INTERRUPT_REQUESTED', '{"requestedBy":{"id":"anna","kind":"USER"},"note":null}'),
  (23, 'MONITOR', 'AGENT_RESUMED', '{"strategy":"CRASH","sealed":[@CALL]}'),
  (24, 'MONITOR', 'STORAGE_FAILURE', '{"severity":"CRITICAL","since":"2026-01-01T00:00:00.000Z","failedEvent":"DONE","bufferedCount":1,"lostCount":0,"error":"gone"}'),
  (25, 'MONITOR', 'TODO_CHANGED', '{"previousTodos":[],"todos":[{"id":"1","title":"look","status":"pending","assignee":null,"notes":null}]}'),
  (26, 'MONITOR', 'EXECUTION_STARTED', '{"callId":"00000000-0000-4000-8000-000000000011","toolName":"fs_write","inputPreview":"{}"}'),
  (27, 'MONITOR', 'STAGE_STARTED', '{"callId":"00000000-0000-4000-8000-000000000011","stage":"discovery"}'),
  (28, 'MONITOR', 'STAGE_COMPLETED', '{"callId":"00000000-0000-4000-8000-000000000011","stage":"discovery","durationMs":0.1}'),
  (29, 'MONITOR', 'EXECUTION_COMPLETED', '{"callId":"00000000-0000-4000-8000-000000000011","toolName":"fs_write","durationMs":1}'),
  (30, 'MONITOR', 'EXECUTION_FAILED', '{"callId":"00000000-0000-4000-8000-000000000011","toolName":"fs_write","durationMs":1,"failure":"permission_denied"}'),
  (31, 'MONITOR', 'EXECUTION_ABORTED', '{"callId":"00000000-0000-4000-8000-000000000011","toolName":"fs_write","durationMs":1,"failure":"sealed"}'),
  (32, 'MONITOR', 'TOOL_CUSTOM_EVENT', '{"callId":"00000000-0000-4000-8000-000000000011","toolName":"fs_write","eventType":"progress","eventData":{"percent":50}}')
) AS e(n, channel, kind, payload);
