-- What a model call read from and wrote into its provider's cache, and what it cost; and a shorter way for one event alone.

-- AlterTable
ALTER TABLE "step" ADD COLUMN     "cache_read_tokens" INTEGER,
ADD COLUMN     "cache_write_tokens" INTEGER,
ADD COLUMN     "cost_usd" DOUBLE PRECISION;

-- Appends the events of one or more agents of one tenant and says where they lie. Locks the agents by id, then the
-- tenant's log row, which stays locked until COMMIT: so positions are gap-free and in commit order.
-- An agent whose lease epoch is not the given one is fenced: none of its events are written, the others commit.
-- p_event_agents gives each event's agent as an index into p_agents. With p_retry the append is first looked up by
-- its id, under the locks: what is found was committed before.
CREATE OR REPLACE FUNCTION append_events(
  p_tenant text, p_append uuid, p_retry boolean,
  p_agents text[], p_epochs int[],
  p_event_agents int[], p_channels text[], p_kinds text[], p_payloads text[], p_ats timestamptz[]
) RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_base bigint;
  v_count bigint;
  v_numbers int[];
  v_seqs int[];
BEGIN
  -- The usual case, one agent: its update is its lock.
  IF cardinality(p_agents) = 1 AND NOT p_retry THEN
    v_count := cardinality(p_kinds);
    UPDATE agent a SET seq = a.seq + v_count
    WHERE a.id = p_agents[1] AND a.tenant = p_tenant AND (p_epochs[1] IS NULL OR a.lease_epoch = p_epochs[1])
    RETURNING a.seq - v_count INTO base_seq;
    agent := p_agents[1];
    fenced := NOT FOUND;
    IF FOUND AND v_count > 0 THEN
      UPDATE tenant_log SET position = position + v_count WHERE tenant = p_tenant RETURNING position - v_count INTO base_position;
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

  PERFORM 1 FROM agent WHERE id = ANY (p_agents) ORDER BY id FOR NO KEY UPDATE;

  IF p_retry THEN
    SELECT min(e.position) - 1 INTO v_base FROM event e WHERE e.append_id = p_append;
    IF v_base IS NOT NULL THEN
      RETURN QUERY
        SELECT a.id, e.seq IS NULL, e.seq - 1, v_base
        FROM unnest(p_agents) AS a(id) LEFT JOIN event e ON e.append_id = p_append AND e.agent_id = a.id;
      RETURN;
    END IF;
  END IF;

  WITH given AS (
    SELECT number, id, epoch, (SELECT count(*)::int FROM unnest(p_event_agents) AS x(of) WHERE x.of = number) AS n
    FROM unnest(p_agents, p_epochs) WITH ORDINALITY AS g(id, epoch, number)
  ), moved AS (
    UPDATE agent a SET seq = a.seq + given.n
    FROM given
    WHERE a.id = given.id AND a.tenant = p_tenant AND (given.epoch IS NULL OR a.lease_epoch = given.epoch)
    RETURNING given.number, given.n, a.seq - given.n AS base
  )
  SELECT array_agg(number::int), array_agg(base), sum(n) INTO v_numbers, v_seqs, v_count FROM moved;

  IF v_count > 0 THEN
    UPDATE tenant_log SET position = position + v_count WHERE tenant = p_tenant RETURNING position - v_count INTO v_base;
    INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
    SELECT p_tenant, v_base + row_number() OVER batch, p_agents[e.number], b.seq + row_number() OVER own,
           CASE WHEN row_number() OVER own = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
    FROM unnest(p_event_agents, p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(number, channel, kind, payload, at, place)
    JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = e.number
    WINDOW batch AS (ORDER BY e.place), own AS (PARTITION BY e.number ORDER BY e.place);
  END IF;

  RETURN QUERY
    SELECT p_agents[g.number], b.number IS NULL, b.seq, v_base
    FROM generate_subscripts(p_agents, 1) AS g(number) LEFT JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = g.number;
END
$$;

-- Changes rows of one agent and appends the events that report it, as one statement: all of it commits, or nothing.
-- p_epoch fences the change (null: from a node that holds no lease). Raises TP001 when fenced, TP002 when a row is
-- not in the state that the change starts from, TP003 when the idempotency key was used before.
CREATE OR REPLACE FUNCTION commit_change(
  p_tenant text, p_append uuid, p_retry boolean, p_agent text, p_epoch int, p_change json,
  p_channels text[], p_kinds text[], p_payloads text[], p_ats timestamptz[]
) RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_agent agent;
  v_item json;
  v_state text;
BEGIN
  IF p_change -> 'createAgent' IS NULL THEN
    SELECT * INTO v_agent FROM agent WHERE id = p_agent AND tenant = p_tenant FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'agent % does not exist', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent) THEN
    RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1 FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
    RETURN;
  END IF;

  IF p_epoch IS NOT NULL AND v_agent.lease_epoch <> p_epoch THEN
    RAISE EXCEPTION 'the lease of agent % is at epoch %, not %', p_agent, v_agent.lease_epoch, p_epoch USING ERRCODE = 'TP001';
  END IF;

  IF p_change -> 'idempotencyKey' IS NOT NULL THEN
    INSERT INTO idempotency_key SELECT * FROM json_populate_record(null::idempotency_key, p_change -> 'idempotencyKey') ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the idempotency key was used before' USING ERRCODE = 'TP003';
    END IF;
  END IF;

  IF p_change -> 'createAgent' IS NOT NULL THEN
    INSERT INTO agent SELECT * FROM json_populate_record(null::agent, p_change -> 'createAgent') ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      -- The first try of this append was still under way, and has committed by now.
      RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1 FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
      RETURN;
    END IF;
  END IF;

  IF (p_change ->> 'expectSignal')::int <> v_agent.signal THEN
    RAISE EXCEPTION 'agent % was signalled', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF p_change -> 'interrupt' IS NOT NULL THEN
    IF v_agent.state = 'READY' AND NOT EXISTS (SELECT FROM message WHERE agent_id = p_agent AND ordinal IS NULL) THEN
      RAISE EXCEPTION 'agent % has nothing to interrupt', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF p_change -> 'agent' IS NOT NULL THEN
    UPDATE agent a SET (state, breakpoint, turn, step_count, transcript_length, last_sfp_index, interrupt_at, interrupt_note, lease_owner, lease_until, runnable_at) =
      (SELECT r.state, r.breakpoint, r.turn, r.step_count, r.transcript_length, r.last_sfp_index, r.interrupt_at, r.interrupt_note, r.lease_owner, r.lease_until, r.runnable_at
       FROM json_populate_record(a, p_change -> 'agent') r)
    WHERE a.id = p_agent;
  END IF;

  IF (p_change ->> 'wake')::boolean THEN
    UPDATE agent SET signal = signal + 1, runnable_at = coalesce(runnable_at, clock_timestamp()) WHERE id = p_agent;
  END IF;

  IF p_change -> 'interrupt' IS NOT NULL THEN
    UPDATE agent SET interrupt_at = coalesce(interrupt_at, (p_change -> 'interrupt' ->> 'at')::timestamptz),
                     interrupt_note = coalesce(interrupt_note, p_change -> 'interrupt' ->> 'note')
    WHERE id = p_agent;
  END IF;

  IF p_change -> 'received' IS NOT NULL THEN
    UPDATE agent SET arrivals = arrivals + 1 WHERE id = p_agent RETURNING * INTO v_agent;
    INSERT INTO message
    SELECT (json_populate_record(r, json_build_object('arrival', v_agent.arrivals))).*
    FROM json_populate_record(null::message, p_change -> 'received') r;
  END IF;

  IF p_change -> 'joins' IS NOT NULL THEN
    UPDATE message m SET ordinal = j.ordinal, turn = j.turn, step = j.step
    FROM json_populate_recordset(null::message, p_change -> 'joins') j
    WHERE m.id = j.id AND m.agent_id = p_agent AND m.ordinal IS NULL;
  END IF;

  IF p_change -> 'messages' IS NOT NULL THEN
    INSERT INTO message SELECT * FROM json_populate_recordset(null::message, p_change -> 'messages');
  END IF;

  IF p_change -> 'stepEnd' IS NOT NULL THEN
    UPDATE step s SET (state, stop_reason, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, completed_at) =
      (SELECT r.state, r.stop_reason, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.completed_at
       FROM json_populate_record(s, p_change -> 'stepEnd') r)
    WHERE s.agent_id = p_agent AND s.step = (p_change -> 'stepEnd' ->> 'step')::int AND s.state = 'STARTED';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'step % of agent % is not open', p_change -> 'stepEnd' ->> 'step', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF p_change -> 'stepStart' IS NOT NULL THEN
    INSERT INTO step SELECT * FROM json_populate_record(null::step, p_change -> 'stepStart');
  END IF;

  FOR v_item IN SELECT value FROM json_array_elements(p_change -> 'approvalTransitions') LOOP
    UPDATE approval SET state = (v_item ->> 'to')::approval_state, closed_at = (v_item ->> 'closed_at')::timestamptz
    WHERE id = v_item ->> 'id' AND agent_id = p_agent AND state = (v_item ->> 'from')::approval_state;
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM approval WHERE id = v_item ->> 'id';
      RAISE EXCEPTION 'approval % is %', v_item ->> 'id', v_state USING ERRCODE = 'TP002';
    END IF;
  END LOOP;

  IF p_change -> 'decision' IS NOT NULL THEN
    INSERT INTO decision SELECT * FROM json_populate_record(null::decision, p_change -> 'decision');
  END IF;

  IF p_change -> 'toolCalls' IS NOT NULL THEN
    INSERT INTO tool_call SELECT * FROM json_populate_recordset(null::tool_call, p_change -> 'toolCalls');
  END IF;

  FOR v_item IN SELECT value FROM json_array_elements(p_change -> 'transitions') LOOP
    UPDATE tool_call t SET
      (state, attempt, epoch, effective_input, rule_values, input_hash, output, details, error, is_error, explanation, stages, started_at, completed_at, duration_ms, updated_at) =
      (SELECT r.state, r.attempt, r.epoch, r.effective_input, r.rule_values, r.input_hash, r.output, r.details, r.error, r.is_error, r.explanation, r.stages, r.started_at, r.completed_at, r.duration_ms, r.updated_at
       FROM json_populate_record(t, v_item -> 'set') r),
      audit_trail = t.audit_trail || (v_item -> 'audit')::jsonb
    WHERE t.id = v_item ->> 'id' AND t.agent_id = p_agent AND t.state = (v_item ->> 'from')::tool_call_state;
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM tool_call WHERE id = v_item ->> 'id';
      RAISE EXCEPTION 'tool call % is %, not %', v_item ->> 'id', v_state, v_item ->> 'from' USING ERRCODE = 'TP002';
    END IF;
  END LOOP;

  IF p_change -> 'approvals' IS NOT NULL THEN
    INSERT INTO approval SELECT * FROM json_populate_recordset(null::approval, p_change -> 'approvals');
  END IF;

  IF p_change -> 'todos' IS NOT NULL THEN
    DELETE FROM todo WHERE agent_id = p_agent;
    INSERT INTO todo SELECT * FROM json_populate_recordset(null::todo, p_change -> 'todos');
  END IF;

  RETURN QUERY
    SELECT * FROM append_events(p_tenant, p_append, false, ARRAY[p_agent], ARRAY[p_epoch], array_fill(1, ARRAY[cardinality(p_kinds)]), p_channels, p_kinds, p_payloads, p_ats);
END
$$;
