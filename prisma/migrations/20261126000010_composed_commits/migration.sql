-- Servers of the version before may run beside it.

-- Written by `npm run migration` from src/db/functions/append_events.sql: change it there.
-- Appends events of one or several agents of a tenant, in the order in which they are given.
--
-- Answers a row an agent: whether it was fenced, the seq before its first event, and the position before the first event
-- of its events. A fenced agent's events are not written; the others' are. `fenced` is null for an agent whose row another
-- transaction holds: its events were not written either, and may be appended again, with the same p_append. So a row that
-- is locked for long concerns its agent only (invariant 13).
--
-- p_owner, p_epochs: an agent whose epoch is null is not fenced; of the others the lease must be p_owner's at that epoch.
-- p_event_agents:    for each event, the place of its agent in p_agents, from 1.
-- p_retry:           an answer was lost: what the append has written before is answered instead of being written again.
--
-- Locks: an advisory lock that stands for the append, so that a retry does not pass a first try that is still under way;
-- the agents' rows by id, then an advisory lock that stands for the tenant's log, last, until after COMMIT; nothing
-- is awaited between the two. Tenants whose names have the same hash share one, and only wait for each other.
-- Invariants 2 (positions without gaps, in commit order) and 4 (a stale lease writes nothing).
-- Neither seq nor position has a counter that each append would update: beside a snapshot that is kept open, a counter's
-- old versions pile up, and each append walks them (docs/adr/0014). Every statement of a VOLATILE function has a snapshot
-- of its own, so that what is read behind a lock is what was committed before it (isolation READ COMMITTED).
--
-- Errors: TP004 where a failover lost commits of the log: nothing is written before `npm run restored`; unique_violation where a first try that was delayed comes after its retry (event_append).
CREATE OR REPLACE FUNCTION append_events(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_owner text,
  p_agents text[],
  p_epochs int[],
  p_event_agents int[],
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_base bigint;
  v_count int := cardinality(p_kinds);
  v_lost timestamptz;
  v_locked text[];
  v_numbers int[];
  v_seqs int[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_append::text, 7270736901));

  -- The usual case: one agent.
  IF cardinality(p_agents) = 1 AND NOT p_retry THEN
    SELECT a.seq INTO base_seq FROM agent a
    WHERE a.id = p_agents[1] AND a.tenant = p_tenant AND (p_epochs[1] IS NULL OR (a.lease_epoch = p_epochs[1] AND a.lease_owner = p_owner))
    FOR NO KEY UPDATE SKIP LOCKED;
    agent := p_agents[1];
    fenced := false;
    IF NOT FOUND THEN
      fenced := NULLIF(NOT EXISTS (
        SELECT FROM agent a
        WHERE a.id = p_agents[1] AND a.tenant = p_tenant AND (p_epochs[1] IS NULL OR (a.lease_epoch = p_epochs[1] AND a.lease_owner = p_owner))
      ), false);
    ELSIF v_count > 0 THEN
      SELECT greatest(base_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agents[1] ORDER BY e.position DESC LIMIT 1)) INTO base_seq;
      PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
      SELECT greatest(l.floor, (SELECT max(e.position) FROM event e WHERE e.tenant = p_tenant)), l.lost_at INTO base_position, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
      IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
      END IF;
      IF v_count = 1 THEN
        INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
        VALUES (p_tenant, base_position + 1, p_agents[1], base_seq + 1, p_append, p_channels[1], p_kinds[1], p_payloads[1]::json, p_ats[1]);
      ELSE
        INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
        SELECT p_tenant, base_position + e.place, p_agents[1], base_seq + e.place, CASE WHEN e.place = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
        FROM unnest(p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(channel, kind, payload, at, place);
      END IF;
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = ANY (p_agents)) THEN
    RETURN QUERY
      SELECT a.id, NULLIF(e.seq IS NULL, true), e.seq - 1, e.position - 1
      FROM unnest(p_agents) AS a(id) LEFT JOIN event e ON e.append_id = p_append AND e.agent_id = a.id;
    RETURN;
  END IF;

  v_locked := ARRAY(SELECT id FROM agent WHERE id = ANY (p_agents) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED);

  SELECT array_agg(g.number::int), array_agg(greatest(a.seq, (SELECT e.seq FROM event e WHERE e.agent_id = a.id ORDER BY e.position DESC LIMIT 1))),
         sum((SELECT count(*) FROM unnest(p_event_agents) AS x(number) WHERE x.number = g.number))
  INTO v_numbers, v_seqs, v_count
  FROM unnest(p_agents, p_epochs) WITH ORDINALITY AS g(id, epoch, number)
  JOIN agent a ON a.id = g.id AND a.tenant = p_tenant AND (g.epoch IS NULL OR (a.lease_epoch = g.epoch AND a.lease_owner = p_owner))
  WHERE a.id = ANY (v_locked);

  IF v_count > 0 THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
    SELECT greatest(l.floor, (SELECT max(e.position) FROM event e WHERE e.tenant = p_tenant)), l.lost_at INTO v_base, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
    IF v_lost IS NOT NULL THEN
      RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
    END IF;
    INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
    SELECT p_tenant, v_base + row_number() OVER batch, p_agents[e.number], b.seq + row_number() OVER own,
           CASE WHEN row_number() OVER own = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
    FROM unnest(p_event_agents, p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(number, channel, kind, payload, at, place)
    JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = e.number
    WINDOW batch AS (ORDER BY e.place), own AS (PARTITION BY e.number ORDER BY e.place);
  END IF;

  RETURN QUERY
    SELECT p_agents[g.number], CASE WHEN b.number IS NOT NULL THEN false WHEN p_agents[g.number] = ANY (v_locked) THEN true END, b.seq, v_base
    FROM generate_subscripts(p_agents, 1) AS g(number) LEFT JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = g.number;
END
$function$;


-- Written by `npm run migration` from src/db/functions/commit_change.sql: change it there.
-- Changes rows of one agent, as p_change (src/db/change.ts) says, and appends the events that report it, or does neither.
-- Answers what append_events answers, and how often the agent had been signalled before.
--
-- Most changes of owners have a statement of their own (src/db/composed-commit.ts), which leaves the same rows: here is what
-- depends on what others have committed meanwhile, and why a change was refused. What $(…) stands for are the columns of
-- src/db/columns.ts, written out by `npm run migration`.
--
-- p_owner, p_epoch: what the owner of a lease writes; without an epoch it is not fenced.
-- p_retry:          an answer was lost: where the append has events, they are answered instead of being written again.
--
-- Locks: the agent's row first; new images, by digest; its approvals and calls, in the order of the change; the tenant's log, last.
-- Errors: TP001 the lease is another's; TP002 a row is not in the state that the change starts from, or what it would
-- start by does not stand any more; TP003 the idempotency key was used before. Each of them changes nothing.
-- Invariants 3 (rows and events in one transaction), 4 (fence), 5 (EXECUTING is committed before a tool starts),
-- 7 (what was allowed still stands when it starts) and 14 (nothing starts after an acknowledged interrupt or cancellation).
CREATE OR REPLACE FUNCTION commit_change(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_owner text,
  p_agent text,
  p_epoch int,
  p_change json,
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint, signal int)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_agent agent;
  v_change record;
  v_closing record;
  v_item record;
  v_state text;
  v_signal int;
  v_joined int;
BEGIN
  SELECT * INTO v_change FROM json_to_record(p_change) AS c(
    "idempotencyKey" json, "createAgent" json, fork json, "expectSignal" int, "queueLimit" json, agent json, wake boolean, interrupt json, retry json, cancel json, rename json, archive json, withdraw json, received json, images json, joins json, messages json,
    "stepEnd" json, "stepStart" json, "approvalTransitions" json, decision json, "expectDecisions" int, "toolCalls" json, transitions json, approvals json, todos json, "todosBy" text, "toldNote" text);

  IF v_change."createAgent" IS NULL THEN
    -- A row that others hold for long keeps a connection for a moment only: the caller tries again without one.
    PERFORM set_config('lock_timeout', '250ms', true);
    SELECT * INTO v_agent FROM agent WHERE id = p_agent AND tenant = p_tenant FOR NO KEY UPDATE;
    PERFORM set_config('lock_timeout', '2s', true);
    IF NOT FOUND THEN
      RAISE EXCEPTION 'agent % does not exist', p_agent USING ERRCODE = 'TP002';
    END IF;
    v_signal := v_agent.signal;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent) THEN
    RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
    RETURN;
  END IF;

  IF p_epoch IS NOT NULL AND (v_agent.lease_epoch, v_agent.lease_owner) IS DISTINCT FROM (p_epoch, p_owner) THEN
    RAISE EXCEPTION 'the lease of agent % is at epoch % of %, not at % of %', p_agent, v_agent.lease_epoch, v_agent.lease_owner, p_epoch, p_owner USING ERRCODE = 'TP001';
  END IF;

  IF v_change."idempotencyKey" IS NOT NULL THEN
    INSERT INTO idempotency_key SELECT * FROM json_populate_record(null::idempotency_key, v_change."idempotencyKey") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the idempotency key was used before' USING ERRCODE = 'TP003';
    END IF;
  END IF;

  IF v_change."createAgent" IS NOT NULL THEN
    INSERT INTO agent SELECT * FROM json_populate_record(null::agent, v_change."createAgent") ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      -- The first try of this append was still under way, and has committed by now.
      RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
      RETURN;
    END IF;
  END IF;

  -- A fork begins with what the agent it was forked from had up to a message that both share: the transcript, the steps
  -- and calls of its answers, and the todos as the last of those calls left them. Copies name the original: nothing has happened, or was paid for, twice.
  IF v_change.fork IS NOT NULL THEN
    INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, turn, step, created_by, created_by_kind, created_at, erased_at)
    SELECT gen_random_uuid()::text, m.tenant, p_agent, m.kind, m.content, m.bytes, m.ordinal, m.turn, m.step, m.created_by, m.created_by_kind, m.created_at, m.erased_at
    FROM message m WHERE m.agent_id = v_change.fork ->> 'from' AND m.tenant = p_tenant AND m.ordinal <= (v_change.fork ->> 'at')::int;
    INSERT INTO step
    SELECT (json_populate_record(s, json_build_object('agent_id', p_agent, 'copied_from', coalesce(s.copied_from, s.agent_id)))).*
    FROM step s WHERE s.agent_id = v_change.fork ->> 'from' AND s.step <= (SELECT max(m.step) FROM message m WHERE m.agent_id = p_agent AND m.kind = 'ASSISTANT');
    INSERT INTO tool_call
    SELECT (json_populate_record(t, json_build_object('id', gen_random_uuid(), 'agent_id', p_agent, 'copied_from', coalesce(t.copied_from, t.id)))).*
    FROM tool_call t JOIN step s ON s.agent_id = p_agent AND s.step = t.step WHERE t.agent_id = v_change.fork ->> 'from';
    INSERT INTO todo (agent_id, id, tenant, place, title, status, assignee, notes)
    SELECT p_agent, w.todo ->> 'id', p_tenant, w.place - 1, w.todo ->> 'title', w.todo ->> 'status', w.todo ->> 'assignee', w.todo ->> 'notes'
    -- Calls of before do not keep the list that they left: of those, todo_write has it in its input.
    FROM (SELECT coalesce(todos, effective_input -> 'todos') AS todos FROM tool_call
          WHERE agent_id = p_agent AND (todos IS NOT NULL OR (name = 'todo_write' AND state = 'COMPLETED' AND started_at IS NOT NULL))
          ORDER BY step DESC, ordinal DESC LIMIT 1) c, json_array_elements(c.todos) WITH ORDINALITY AS w(todo, place);
    UPDATE agent SET step_count = coalesce((SELECT max(step) FROM step WHERE agent_id = p_agent), 0),
                     turn = coalesce((SELECT max(turn) FROM message WHERE agent_id = p_agent), 0)
    WHERE id = p_agent;
  END IF;

  IF v_change."expectSignal" <> v_agent.signal THEN
    RAISE EXCEPTION 'agent % was signalled', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change.interrupt IS NOT NULL THEN
    IF v_agent.state = 'READY' AND v_agent.retry_turn IS NULL AND NOT EXISTS (SELECT FROM message WHERE agent_id = p_agent AND ordinal IS NULL AND withdrawn_at IS NULL) THEN
      RAISE EXCEPTION 'agent % has nothing to interrupt', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.agent IS NOT NULL THEN
    UPDATE agent a SET (state, breakpoint, turn, step_count, transcript_length, last_sfp_index, interrupt_at, interrupt_note, lease_owner, lease_until, runnable_at, needs, done_reason, last_activity_at, retry_turn) =
      (SELECT r.state, r.breakpoint, r.turn, r.step_count, r.transcript_length, r.last_sfp_index, r.interrupt_at, r.interrupt_note, r.lease_owner, r.lease_until, r.runnable_at, r.needs, r.done_reason, greatest(a.last_activity_at, r.last_activity_at), CASE WHEN r.turn = a.turn THEN a.retry_turn END
       FROM json_populate_record(a, v_change.agent) r)
    WHERE a.id = p_agent;
  END IF;

  -- A note that came since the owner looked is not told yet.
  IF v_change."toldNote" IS NOT NULL THEN
    UPDATE agent SET interrupt_note = nullif(ltrim(substr(interrupt_note, length(v_change."toldNote") + 1), E'\n'), '')
    WHERE id = p_agent AND starts_with(interrupt_note, v_change."toldNote");
  END IF;

  -- A turn that begins answers again what it was asked to.
  IF v_agent.retry_turn < (v_change.agent ->> 'turn')::int THEN
    UPDATE message SET turn = (v_change.agent ->> 'turn')::int
    WHERE agent_id = p_agent AND turn = v_agent.retry_turn AND kind = 'USER' AND created_by IS NOT NULL;
  END IF;

  IF v_change.retry IS NOT NULL THEN
    IF v_agent.state <> 'READY' OR v_agent.turn <> (v_change.retry ->> 'turn')::int OR v_agent.retry_turn IS NOT NULL OR v_agent.archived_at IS NOT NULL THEN
      RAISE EXCEPTION 'agent % does not stand after turn %', p_agent, v_change.retry ->> 'turn' USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET retry_turn = turn WHERE id = p_agent;
  END IF;

  IF v_change.cancel IS NOT NULL THEN
    UPDATE tool_call SET cancel_requested = v_change.cancel -> 'requested'
    WHERE id = v_change.cancel ->> 'id' AND agent_id = p_agent AND cancel_requested IS NULL
      AND state IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING');
    IF NOT FOUND THEN
      RAISE EXCEPTION 'tool call % has ended, or is cancelled already', v_change.cancel ->> 'id' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.withdraw IS NOT NULL THEN
    UPDATE message SET withdrawn_at = (v_change.withdraw ->> 'at')::timestamptz
    WHERE id = v_change.withdraw ->> 'id' AND agent_id = p_agent AND ordinal IS NULL AND withdrawn_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'message % does not wait', v_change.withdraw ->> 'id' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.wake THEN
    -- The column has milliseconds: one that was rounded up would lie in the future, and not be claimed yet.
    UPDATE agent SET signal = signal + 1, runnable_at = coalesce(runnable_at, date_trunc('milliseconds', clock_timestamp())), last_activity_at = CASE WHEN v_change.received IS NULL AND v_change.decision IS NULL AND v_change."approvalTransitions" IS NULL THEN last_activity_at ELSE greatest(last_activity_at, p_ats[1]) END WHERE id = p_agent;
  END IF;

  IF v_change.interrupt IS NOT NULL THEN
    UPDATE agent SET interrupt_at = coalesce(interrupt_at, (v_change.interrupt ->> 'at')::timestamptz),
                     -- Each person's note is told, if several interrupt.
                     interrupt_note = CASE WHEN position(E'\n' || (v_change.interrupt ->> 'note') || E'\n' IN E'\n' || interrupt_note || E'\n') > 0 THEN interrupt_note ELSE nullif(left(concat_ws(E'\n', interrupt_note, v_change.interrupt ->> 'note'), 20000), '') END
    WHERE id = p_agent;
  END IF;

  IF v_change.rename IS NOT NULL THEN
    IF v_agent.title IS DISTINCT FROM v_change.rename ->> 'from' THEN
      RAISE EXCEPTION 'agent % has another title', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET title = v_change.rename ->> 'to' WHERE id = p_agent;
  END IF;

  IF v_change.archive IS NOT NULL THEN
    IF (v_agent.archived_at IS NULL) = (v_change.archive ->> 'at' IS NULL) THEN
      RAISE EXCEPTION 'agent % is archived or not already', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET archived_at = (v_change.archive ->> 'at')::timestamptz WHERE id = p_agent;
  END IF;

  IF v_change.received IS NOT NULL AND v_agent.archived_at IS NOT NULL THEN
    RAISE EXCEPTION 'agent % is archived', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change."queueLimit" IS NOT NULL AND (
    SELECT count(*) >= (v_change."queueLimit" ->> 'messages')::int
        OR coalesce(sum(octet_length(m.content::text) + i.bytes), 0) + (v_change."queueLimit" ->> 'added')::int > (v_change."queueLimit" ->> 'bytes')::int
    FROM message m, LATERAL (SELECT coalesce(sum((b -> 'source' ->> 'bytes')::int), 0) AS bytes FROM json_array_elements(m.content) b) i
    WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL
  ) THEN
    RAISE EXCEPTION 'the queue of agent % is full', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change.received IS NOT NULL THEN
    UPDATE agent SET arrivals = arrivals + 1 WHERE id = p_agent RETURNING * INTO v_agent;
    INSERT INTO message
    SELECT (json_populate_record(r, json_build_object('arrival', v_agent.arrivals))).*
    FROM json_populate_record(null::message, v_change.received) r;
  END IF;

  IF v_change.images IS NOT NULL THEN
    INSERT INTO image (tenant, digest, data)
    SELECT p_tenant, i.digest, decode(i.data, 'base64') FROM json_to_recordset(v_change.images) AS i(digest text, data text)
    ORDER BY i.digest ON CONFLICT DO NOTHING;
  END IF;

  IF v_change.joins IS NOT NULL THEN
    UPDATE message m SET ordinal = j.ordinal, turn = j.turn, step = j.step
    FROM json_populate_recordset(null::message, v_change.joins) j
    WHERE m.id = j.id AND m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL;
    GET DIAGNOSTICS v_joined = ROW_COUNT;
    IF v_joined <> json_array_length(v_change.joins) THEN
      RAISE EXCEPTION 'a message of agent % was withdrawn before it joined', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.messages IS NOT NULL THEN
    INSERT INTO message SELECT * FROM json_populate_recordset(null::message, v_change.messages);
  END IF;

  IF v_change."stepEnd" IS NOT NULL THEN
    UPDATE step s SET (state, stop_reason, input_tokens, output_tokens, output_is_estimated, cache_read_tokens, cache_write_tokens, cost_usd, completed_at) =
      (SELECT r.state, r.stop_reason, r.input_tokens, r.output_tokens, r.output_is_estimated, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.completed_at
       FROM json_populate_record(s, v_change."stepEnd") r)
    WHERE s.agent_id = p_agent AND s.step = (v_change."stepEnd" ->> 'step')::int AND s.state = 'STARTED';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'step % of agent % is not open', v_change."stepEnd" ->> 'step', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."stepStart" IS NOT NULL THEN
    INSERT INTO step SELECT * FROM json_populate_record(null::step, v_change."stepStart");
  END IF;

  FOR v_closing IN SELECT * FROM json_to_recordset(v_change."approvalTransitions") AS t(id text, "from" text, "to" text, closed_at timestamptz) LOOP
    -- Only the last of those who must allow it closes an approval.
    IF v_closing."from" = 'PENDING' AND (v_closing."to" = 'ALLOWED' OR v_change.decision ->> 'decision' = 'RETRY' AND v_closing."to" = 'RESOLVED')
       AND (SELECT count(*) + 1 FROM decision WHERE approval_id = v_closing.id) < (SELECT coalesce(quorum, 1) FROM approval WHERE id = v_closing.id) THEN
      RAISE EXCEPTION 'approval % needs more people', v_closing.id USING ERRCODE = 'TP002';
    END IF;
    UPDATE approval SET state = (v_closing."to")::approval_state, closed_at = v_closing.closed_at
    WHERE id = v_closing.id AND agent_id IS NOT DISTINCT FROM p_agent AND state = (v_closing."from")::approval_state;
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM approval WHERE id = v_closing.id;
      RAISE EXCEPTION 'approval % is %', v_closing.id, v_state USING ERRCODE = 'TP002';
    END IF;
  END LOOP;

  IF v_change.decision IS NOT NULL THEN
    -- The quorum is counted by whoever decides: one who counted before another was done counts again.
    IF (SELECT count(*) FROM decision WHERE approval_id = v_change.decision ->> 'approval_id') <> coalesce(v_change."expectDecisions", 0) THEN
      RAISE EXCEPTION 'approval % was decided on by another', v_change.decision ->> 'approval_id' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO decision SELECT * FROM json_populate_record(null::decision, v_change.decision);
  END IF;

  IF v_change."toolCalls" IS NOT NULL THEN
    INSERT INTO tool_call SELECT * FROM json_populate_recordset(null::tool_call, v_change."toolCalls");
  END IF;

  FOR v_item IN SELECT * FROM json_to_recordset(v_change.transitions) AS t(id text, "from" text, "by" json, "set" json, audit json) LOOP
    -- What a call starts by must still stand: the decision for exactly this input, or the rule that a person stored.
    IF v_item."by" ->> 'approvalId' IS NOT NULL AND NOT EXISTS (
      SELECT FROM approval p WHERE p.id = v_item."by" ->> 'approvalId' AND p.tool_call_id = v_item.id
        AND (p.state = 'ALLOWED' OR (p.state = 'RESOLVED' AND EXISTS (SELECT FROM decision r WHERE r.approval_id = p.id AND r.decision = 'RETRY')))
        AND coalesce((SELECT d.input_hash FROM decision d WHERE d.approval_id = p.id AND d.input_hash IS NOT NULL), p.input_hash) = v_item."by" ->> 'inputHash'
    ) THEN
      RAISE EXCEPTION 'approval % does not stand any more', v_item."by" ->> 'approvalId' USING ERRCODE = 'TP002';
    END IF;
    IF v_item."by" ->> 'allowRuleId' IS NOT NULL AND NOT EXISTS (
      SELECT FROM allow_rule r WHERE r.id = v_item."by" ->> 'allowRuleId' AND r.tenant = p_tenant AND r.revoked_at IS NULL
    ) THEN
      RAISE EXCEPTION 'allow rule % was revoked', v_item."by" ->> 'allowRuleId' USING ERRCODE = 'TP002';
    END IF;
    -- Nothing starts after an interrupt was acknowledged: it was committed under the same lock.
    IF v_item."set" ->> 'state' = 'EXECUTING' AND v_agent.interrupt_at IS NOT NULL THEN
      RAISE EXCEPTION 'agent % was interrupted', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE tool_call t SET
      (state, attempt, effective_input, rule_values, input_hash, output, details, kept_output_bytes, error, is_error, explanation, verdict, hook_verdict, stages, started_at, completed_at, duration_ms, updated_at) =
      (SELECT r.state, r.attempt, r.effective_input, r.rule_values, r.input_hash, r.output, r.details, r.kept_output_bytes, r.error, r.is_error, r.explanation, r.verdict, r.hook_verdict, r.stages, r.started_at, r.completed_at, r.duration_ms, r.updated_at
       FROM json_populate_record(t, v_item."set") r),
      audit_trail = t.audit_trail || (v_item.audit)::jsonb
    WHERE t.id = v_item.id AND t.agent_id IS NOT DISTINCT FROM p_agent AND t.state = (v_item."from")::tool_call_state
      AND (v_item."set" ->> 'state' <> 'EXECUTING' OR t.cancel_requested IS NULL);
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM tool_call WHERE id = v_item.id;
      RAISE EXCEPTION 'tool call % is %, not %, or is cancelled', v_item.id, v_state, v_item."from" USING ERRCODE = 'TP002';
    END IF;
  END LOOP;

  IF v_change.approvals IS NOT NULL THEN
    INSERT INTO approval SELECT * FROM json_populate_recordset(null::approval, v_change.approvals);
  END IF;

  IF v_change.todos IS NOT NULL THEN
    DELETE FROM todo WHERE agent_id = p_agent;
    INSERT INTO todo SELECT * FROM json_populate_recordset(null::todo, v_change.todos);
    UPDATE tool_call SET todos = v_change.todos WHERE id = v_change."todosBy" AND agent_id IS NOT DISTINCT FROM p_agent;
  END IF;

  RETURN QUERY
    SELECT a.agent, a.fenced, a.base_seq, a.base_position, v_signal
    -- The fence was compared above, under the same lock: a change that gives the lease back reports that, too.
    FROM append_events(p_tenant, p_append, false, NULL, ARRAY[p_agent], ARRAY[NULL::int], array_fill(1, ARRAY[cardinality(p_kinds)]), p_channels, p_kinds, p_payloads, p_ats) a;
END
$function$;


-- Written by `npm run migration` from src/db/functions/place_events.sql: change it there.
-- Gives the place behind which the events of one agent are written: the seq and the position before the first of them.
-- A composed commit (src/db/composed-commit.ts) asks for it when its rows are written, with the agent's row locked.
--
-- p_seq:              the seq on the agent's row, which stands for events that were removed.
-- p_expected, p_rows: how many rows the commit was to write, and wrote.
--
-- Locks: an advisory lock that stands for the tenant's log, last, until after COMMIT, as append_events says.
-- Every statement of a VOLATILE function has a snapshot of its own, while the parts of the statement that asks share an
-- older one: what is read behind a lock must be read here. Invariant 2.
-- Errors: TP005 a row was not in the state that the change starts from, so that nothing is written; TP004 as append_events.
CREATE OR REPLACE FUNCTION place_events(p_tenant text, p_agent text, p_seq int, p_expected bigint, p_rows bigint)
RETURNS TABLE (base_seq int, base_position bigint)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_lost timestamptz;
BEGIN
  IF p_rows <> p_expected THEN
    RAISE EXCEPTION 'agent % has other rows than its commit starts from', p_agent USING ERRCODE = 'TP005';
  END IF;
  PERFORM set_config('lock_timeout', '2s', true);
  SELECT greatest(p_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agent ORDER BY e.position DESC LIMIT 1)) INTO base_seq;
  PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
  SELECT greatest(l.floor, (SELECT max(e.position) FROM event e WHERE e.tenant = p_tenant)), l.lost_at INTO base_position, v_lost
  FROM tenant_log l WHERE l.tenant = p_tenant;
  IF v_lost IS NOT NULL THEN
    RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
  END IF;
  RETURN NEXT;
END
$function$;
