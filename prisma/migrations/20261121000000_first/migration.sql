
-- CreateEnum
CREATE TYPE "agent_state" AS ENUM ('READY', 'WORKING', 'PAUSED');

-- CreateEnum
CREATE TYPE "breakpoint" AS ENUM ('READY', 'PRE_MODEL', 'STREAMING_MODEL', 'TOOL_PENDING', 'AWAITING_APPROVAL', 'PRE_TOOL', 'TOOL_EXECUTING', 'POST_TOOL');

-- CreateEnum
CREATE TYPE "tool_call_state" AS ENUM ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'COMPLETED', 'FAILED', 'DENIED', 'SEALED');

-- CreateEnum
CREATE TYPE "approval_kind" AS ENUM ('TOOL_CALL', 'OUTCOME_UNKNOWN', 'BUDGET');

-- CreateEnum
CREATE TYPE "approval_state" AS ENUM ('PENDING', 'ALLOWED', 'DENIED', 'RESOLVED', 'EXPIRED', 'SEALED', 'STALE');

-- CreateEnum
CREATE TYPE "approval_decision" AS ENUM ('ALLOW', 'DENY', 'DONE', 'RETRY', 'FAIL');

-- CreateEnum
CREATE TYPE "actor_kind" AS ENUM ('USER', 'SERVICE', 'SYSTEM');

-- CreateEnum
CREATE TYPE "message_kind" AS ENUM ('USER', 'ASSISTANT', 'TOOL_RESULTS');

-- CreateEnum
CREATE TYPE "step_state" AS ENUM ('STARTED', 'COMPLETED', 'ABORTED');

-- CreateTable
CREATE TABLE "tenant_log" (
    "tenant" TEXT NOT NULL,
    "epoch" TEXT NOT NULL,
    "position" BIGINT NOT NULL DEFAULT 0,
    "floor" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "tenant_log_pkey" PRIMARY KEY ("tenant")
);

-- CreateTable
CREATE TABLE "agent" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "workspace" TEXT NOT NULL,
    "tool_timeout_ms" INTEGER,
    "state" "agent_state" NOT NULL DEFAULT 'READY',
    "breakpoint" "breakpoint" NOT NULL DEFAULT 'READY',
    "turn" INTEGER NOT NULL DEFAULT 0,
    "step_count" INTEGER NOT NULL DEFAULT 0,
    "arrivals" INTEGER NOT NULL DEFAULT 0,
    "transcript_length" INTEGER NOT NULL DEFAULT 0,
    "last_sfp_index" INTEGER NOT NULL DEFAULT -1,
    "seq" INTEGER NOT NULL DEFAULT 0,
    "signal" INTEGER NOT NULL DEFAULT 0,
    "interrupt_at" TIMESTAMPTZ(3),
    "interrupt_note" TEXT,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "lease_owner" TEXT,
    "lease_epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "runnable_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "step" (
    "agent_id" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "state" "step_state" NOT NULL,
    "model" TEXT NOT NULL,
    "stop_reason" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "step_pkey" PRIMARY KEY ("agent_id","step")
);

-- CreateTable
CREATE TABLE "message" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "kind" "message_kind" NOT NULL,
    "content" JSON NOT NULL,
    "arrival" INTEGER,
    "ordinal" INTEGER,
    "turn" INTEGER,
    "step" INTEGER,
    "created_by" TEXT,
    "created_by_kind" "actor_kind",
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_call" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "step" INTEGER NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" "tool_call_state" NOT NULL,
    "attempt" INTEGER NOT NULL,
    "epoch" INTEGER,
    "requested_input" JSON NOT NULL,
    "effective_input" JSON,
    "rule_values" JSON,
    "input_hash" TEXT,
    "output" TEXT,
    "details" JSON,
    "error" JSON,
    "is_error" BOOLEAN NOT NULL,
    "explanation" JSON,
    "stages" JSON NOT NULL,
    "audit_trail" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "tool_call_id" TEXT NOT NULL,
    "kind" "approval_kind" NOT NULL,
    "state" "approval_state" NOT NULL,
    "input" JSON NOT NULL,
    "input_hash" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "risk" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "decision" (
    "approval_id" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "on_behalf_of" TEXT,
    "tenant" TEXT NOT NULL,
    "decision" "approval_decision" NOT NULL,
    "note" TEXT,
    "decided_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "decision_pkey" PRIMARY KEY ("approval_id","actor_id")
);

-- CreateTable
CREATE TABLE "event" (
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "append_id" UUID,
    "channel" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("tenant","position")
);

-- CreateTable
CREATE TABLE "todo" (
    "agent_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "assignee" TEXT,
    "notes" TEXT,

    CONSTRAINT "todo_pkey" PRIMARY KEY ("agent_id","id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "tenant" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "result_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("tenant","actor_id","operation","key")
);

-- CreateIndex
CREATE INDEX "agent_tenant_created_at_id_idx" ON "agent"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "agent_tenant_created_by_created_at_id_idx" ON "agent"("tenant", "created_by", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "message_agent_id_ordinal_key" ON "message"("agent_id", "ordinal");

-- CreateIndex
CREATE UNIQUE INDEX "message_agent_id_arrival_key" ON "message"("agent_id", "arrival");

-- CreateIndex
CREATE INDEX "tool_call_tenant_created_at_id_idx" ON "tool_call"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "tool_call_tenant_name_created_at_idx" ON "tool_call"("tenant", "name", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "tool_call_agent_id_step_ordinal_key" ON "tool_call"("agent_id", "step", "ordinal");

-- CreateIndex
CREATE INDEX "approval_tenant_state_requested_at_id_idx" ON "approval"("tenant", "state", "requested_at", "id");

-- CreateIndex
CREATE INDEX "approval_agent_id_state_idx" ON "approval"("agent_id", "state");

-- CreateIndex
CREATE INDEX "approval_tool_call_id_idx" ON "approval"("tool_call_id");

-- CreateIndex
CREATE INDEX "event_agent_id_position_idx" ON "event"("agent_id", "position");

-- CreateIndex
CREATE INDEX "event_tenant_channel_position_idx" ON "event"("tenant", "channel", "position");

-- CreateIndex
CREATE UNIQUE INDEX "event_agent_id_seq_key" ON "event"("agent_id", "seq");

-- AddForeignKey
ALTER TABLE "step" ADD CONSTRAINT "step_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_tool_call_id_fkey" FOREIGN KEY ("tool_call_id") REFERENCES "tool_call"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approval"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "todo" ADD CONSTRAINT "todo_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma does not describe: storage, partial indexes, functions. scripts/check-drift.ts compares these by name and text.

ALTER TABLE "tenant_log" SET (fillfactor = 20);
ALTER TABLE "agent" SET (fillfactor = 50);
ALTER TABLE "tool_call" SET (fillfactor = 60);

CREATE UNIQUE INDEX "approval_one_pending" ON "approval" ("tool_call_id") WHERE "state" = 'PENDING';
CREATE UNIQUE INDEX "event_append" ON "event" ("append_id", "agent_id") WHERE "append_id" IS NOT NULL;
CREATE INDEX "event_permission_required" ON "event" (("payload" #>> '{request,approvalId}')) WHERE "kind" = 'PERMISSION_REQUIRED';
CREATE INDEX "agent_runnable" ON "agent" ("runnable_at") WHERE "runnable_at" IS NOT NULL;
CREATE INDEX "agent_leased" ON "agent" ("lease_owner") WHERE "lease_owner" IS NOT NULL;
CREATE INDEX "message_waiting" ON "message" ("agent_id", "arrival") WHERE "ordinal" IS NULL;
CREATE INDEX "message_turn" ON "message" ("agent_id", "turn") WHERE "kind" = 'USER';

-- Appends the events of one or more agents of one tenant and says where they lie. Locks the agents by id, then the
-- tenant's log row, which stays locked until COMMIT: so positions are gap-free and in commit order.
-- An agent whose lease epoch is not the given one is fenced: none of its events are written, the others commit.
-- p_event_agents gives each event's agent as an index into p_agents. With p_retry the append is first looked up by
-- its id, under the locks: what is found was committed before.
CREATE FUNCTION append_events(
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
      INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
      SELECT p_tenant, base_position + e.place, p_agents[1], base_seq + e.place, CASE WHEN e.place = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
      FROM unnest(p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(channel, kind, payload, at, place);
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
CREATE FUNCTION commit_change(
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
    UPDATE step s SET (state, stop_reason, input_tokens, output_tokens, completed_at) =
      (SELECT r.state, r.stop_reason, r.input_tokens, r.output_tokens, r.completed_at FROM json_populate_record(s, p_change -> 'stepEnd') r)
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
