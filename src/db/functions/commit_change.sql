-- Changes rows of one agent, as p_change (src/db/commit/change.ts) says, and appends the events that report it, or does neither.
-- Answers what append_events answers, and how often the agent had been signalled before.
--
-- Most changes of owners have a statement of their own (src/db/commit/composed-commit.ts), which leaves the same rows: here is what
-- depends on what others have committed meanwhile, and why a change was refused. What $(…) stands for are the columns of
-- src/db/commit/columns.ts, written out by `npm run migration`.
--
-- p_owner, p_epoch: what the owner of a lease writes; without an epoch it is not fenced.
-- p_retry:          an answer was lost: where the append has events, they are answered instead of being written again. A write
--                   without events that starts a step is known by the step: at one epoch, nobody else writes it.
--
-- Locks: the agent's row first; of a new child, of an archived agent and of a child that is not made, an advisory lock that stands for the tree; new images, by digest; its approvals, calls, their waits, schedules, shells, notices and compactions, in the order of the change; a new manual, by digest; a version of a template, by digest; memory, as change_memory does it; periods of budgets, as account_budgets does it; the tenant's log, last.
-- Errors: TP001 the lease is another's; TP002 a row is not in the state that the change starts from, or what it would
-- start by no longer stands; TP003 the idempotency key was used before. Each of them changes nothing.
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
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint, signal int, ancestors text[])
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
  v_is_idle boolean := false;
  v_has_shells boolean := false;
  v_written int;
  v_rules json;
BEGIN
  SELECT * INTO v_change FROM json_to_record(p_change) AS c(
    "idempotencyKey" json, "createAgent" json, "treeLimit" json, fork json, "expectSignal" int, "queueLimit" json, agent json, wake boolean, interrupt json, retry json, cancel json, rename json, archive json, withdraw json, received json, images json, joins json, messages json,
    "stepEnd" json, "stepStart" json, "approvalTransitions" json, decision json, "expectDecisions" int, "keepRule" json, "toolCalls" json, transitions json, approvals json, waits json, "expectAsking" json, notices json, "noticesDropped" json, "noticesTold" json, manual json, "agentManual" json, "templateVersion" json, "versionData" json, todos json, "todosBy" text, "knownFiles" json, "fileChanges" json, "interruptEnd" json, "toldNote" text, "shellStart" json, "shellEnd" json, returns boolean, "childAwaited" json, "waitSettled" json, watch boolean, "filesFound" json, "schedulesMade" json, "mostSchedules" int, "schedulesMoved" json, "scheduleEnded" json, memory json, budgets json, "budgetRaise" json, compactions json, "compactionMoved" json, "requestParts" json);

  IF v_change."createAgent" IS NULL THEN
    -- A row that others hold for long keeps a connection for a moment only: the caller tries again without one.
    PERFORM set_config('lock_timeout', '250ms', true);
    SELECT * INTO v_agent FROM agent WHERE id = p_agent AND tenant = p_tenant FOR NO KEY UPDATE;
    PERFORM set_config('lock_timeout', '2s', true);
    IF v_agent.id IS NULL THEN
      RAISE EXCEPTION 'agent % does not exist', p_agent USING ERRCODE = 'TP002';
    END IF;
    v_signal := v_agent.signal;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent) THEN
    RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal, (SELECT a.ancestors FROM agent a WHERE a.id = p_agent) FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
    RETURN;
  END IF;

  IF p_epoch IS NOT NULL AND (v_agent.lease_epoch, v_agent.lease_owner) IS DISTINCT FROM (p_epoch, p_owner) THEN
    RAISE EXCEPTION 'the lease of agent % is at epoch % of %, not at % of %', p_agent, v_agent.lease_epoch, v_agent.lease_owner, p_epoch, p_owner USING ERRCODE = 'TP001';
  END IF;

  IF p_retry AND cardinality(p_kinds) = 0 AND EXISTS (SELECT FROM step s WHERE s.agent_id = p_agent AND s.step = (v_change."stepStart" ->> 'step')::int) THEN
    RETURN QUERY SELECT p_agent, false, v_agent.seq, 0::bigint, v_signal, v_agent.ancestors;
    RETURN;
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
      RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal, (SELECT a.ancestors FROM agent a WHERE a.id = p_agent) FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
      RETURN;
    END IF;
  END IF;

  -- Two parents may start a child at the same time: those of one tree are made one after the other, each with its own count.
  IF v_change."treeLimit" IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(v_change."treeLimit" ->> 'rootId', 7270736902));
    -- Behind that lock: since the caller looked, an agent above may have been archived, or the wait or its call have ended.
    IF EXISTS (SELECT FROM agent c JOIN agent o ON o.id = ANY (c.ancestors) WHERE c.id = p_agent AND o.archived_at IS NOT NULL)
       OR NOT EXISTS (SELECT FROM wait w JOIN tool_call t ON t.id = w.call_id WHERE w.ref = p_agent AND w.settled_at IS NULL AND (w.kind = 'BACKGROUND_CHILD' OR w.kind = 'CHILD' AND t.state = 'WAITING')) THEN
      RAISE EXCEPTION 'nobody waits for agent % any more', p_agent USING ERRCODE = 'TP002';
    END IF;
    IF 1 + (SELECT count(*) FROM agent c JOIN wait w ON w.ref = c.id AND w.kind IN ('CHILD', 'BACKGROUND_CHILD') AND w.settled_at IS NULL
            WHERE c.root_id = v_change."treeLimit" ->> 'rootId') > (v_change."treeLimit" ->> 'agents')::int THEN
      RAISE EXCEPTION 'the tree of agent % is full', v_change."treeLimit" ->> 'rootId' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- A fork begins with what the agent it was forked from had up to a message that both share: the transcript, the steps
  -- and calls of its answers, and the todos as the last of those calls left them. Copies name the original: nothing has happened, or was paid for, twice.
  -- Each row is made once, beside its original: where a query answers it, its function would be called for each column.
  IF v_change.fork IS NOT NULL THEN
    -- An agent that is deleted meanwhile leaves the tenant.
    PERFORM FROM agent o WHERE o.id = v_change.fork ->> 'from' AND o.tenant = p_tenant FOR SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'agent % does not exist', v_change.fork ->> 'from' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, turn, joined_turn, step, created_by, created_by_kind, created_at, erased_at, reminder, shape)
    SELECT gen_random_uuid()::text, m.tenant, p_agent, m.kind, m.content, m.bytes, m.ordinal, m.turn, m.joined_turn, m.step, m.created_by, m.created_by_kind, m.created_at, m.erased_at, m.reminder, m.shape
    FROM message m WHERE m.agent_id = v_change.fork ->> 'from' AND m.tenant = p_tenant AND m.ordinal <= (v_change.fork ->> 'at')::int;
    INSERT INTO step
    SELECT r.* FROM step s, LATERAL json_populate_record(s, json_build_object('agent_id', p_agent, 'copied_from', coalesce(s.copied_from, s.agent_id))) r
    WHERE s.agent_id = v_change.fork ->> 'from' AND s.step <= (SELECT max(m.step) FROM message m WHERE m.agent_id = p_agent AND m.kind = 'ASSISTANT');
    INSERT INTO tool_call
    SELECT r.* FROM tool_call t JOIN step s ON s.agent_id = p_agent AND s.step = t.step,
      LATERAL json_populate_record(t, json_build_object('id', gen_random_uuid(), 'agent_id', p_agent, 'copied_from', coalesce(t.copied_from, t.id))) r
    WHERE t.agent_id = v_change.fork ->> 'from';
    -- A copy of a call that was given the result of another names the copy of that one.
    UPDATE tool_call t SET cached_from = c.id FROM tool_call o JOIN tool_call c ON c.agent_id = p_agent AND c.step = o.step AND c.ordinal = o.ordinal
    WHERE t.agent_id = p_agent AND o.id = t.cached_from;
    INSERT INTO todo (agent_id, id, tenant, place, title, status, assignee, notes)
    SELECT p_agent, w.todo ->> 'id', p_tenant, w.place - 1, w.todo ->> 'title', w.todo ->> 'status', w.todo ->> 'assignee', w.todo ->> 'notes'
    FROM (SELECT todos FROM tool_call WHERE agent_id = p_agent AND todos IS NOT NULL
          ORDER BY step DESC, ordinal DESC LIMIT 1) c, json_array_elements(c.todos) WITH ORDINALITY AS w(todo, place);
    -- The fork knows the files that it has seen: those which calls of the other read or wrote later, the fork must read again.
    -- What has changed in them since, the fork looks for and is told itself.
    INSERT INTO known_file
    SELECT r.* FROM known_file k JOIN tool_call o ON o.id = k.call_id
      JOIN tool_call t ON t.agent_id = p_agent AND t.step = o.step AND t.ordinal = o.ordinal,
      LATERAL json_populate_record(k, json_build_object('agent_id', p_agent, 'call_id', t.id, 'change', null)) r
    WHERE k.agent_id = v_change.fork ->> 'from';
    -- What the other's next step would tell, if the fork begins where the other stands. The copies keep the order of the ids.
    INSERT INTO notice (id, tenant, agent_id, source, ref, text, at)
    SELECT left(n.id, 15) || substr(gen_random_uuid()::text, 16), n.tenant, p_agent, n.source, n.ref, n.text, n.at
    FROM agent o JOIN notice n ON n.agent_id = o.id AND n.told_at_step IS NULL AND n.source <> 'FILE'
    WHERE o.id = v_change.fork ->> 'from' AND o.tenant = p_tenant AND o.transcript_length = (v_change.fork ->> 'at')::int + 1;
    -- A fork with steps has the manual of the other, with the sections that it was told in the messages that both share.
    INSERT INTO agent_manual (agent_id, tenant, digest, told)
    SELECT p_agent, m.tenant, m.digest, (SELECT coalesce(json_agg(s.section ORDER BY s.place), '[]')
      FROM json_array_elements(m.told) WITH ORDINALITY AS s(section, place) WHERE (s.section ->> 'ordinal')::int <= (v_change.fork ->> 'at')::int)
    FROM agent_manual m WHERE m.agent_id = v_change.fork ->> 'from' AND EXISTS (SELECT FROM step WHERE agent_id = p_agent);
    INSERT INTO agent_request_part (agent_id, digest, tenant)
    SELECT p_agent, r.digest, r.tenant FROM agent_request_part r WHERE r.agent_id = v_change.fork ->> 'from' AND EXISTS (SELECT FROM step WHERE agent_id = p_agent);
    -- The images that the copies show.
    INSERT INTO agent_image (agent_id, digest, tenant)
    SELECT p_agent, r.digest, r.tenant FROM agent_image r WHERE r.agent_id = v_change.fork ->> 'from' AND r.digest = ANY ((SELECT images_of_agent(p_agent))::text[]);
    -- The compactions that were applied before the fork point: a fork from before one sees what was there then.
    INSERT INTO compaction
    SELECT r.* FROM compaction c, LATERAL json_populate_record(c, json_build_object('id', gen_random_uuid(), 'agent_id', p_agent, 'copied_from', coalesce(c.copied_from, c.agent_id))) r
    WHERE c.agent_id = v_change.fork ->> 'from' AND c.state = 'APPLIED' AND c.applied_at_step <= coalesce((SELECT max(step) FROM message WHERE agent_id = p_agent), 0);
    UPDATE agent SET step_count = coalesce((SELECT max(step) FROM step WHERE agent_id = p_agent), 0),
                     turn = coalesce((SELECT max(turn) FROM message WHERE agent_id = p_agent), 0)
    WHERE id = p_agent;
  END IF;

  IF v_change."expectSignal" <> v_agent.signal THEN
    RAISE EXCEPTION 'agent % was signalled', p_agent USING ERRCODE = 'TP002';
  END IF;

  -- What an agent left running ends with its turn, and when it is archived: its server looks for this.
  IF v_change.interrupt IS NOT NULL OR v_change.archive ->> 'at' IS NOT NULL THEN
    UPDATE shell SET end_wanted = coalesce(end_wanted, CASE WHEN v_change.interrupt IS NULL THEN 'ARCHIVED' ELSE 'INTERRUPTED' END)
    WHERE id IN (SELECT id FROM shell WHERE agent_id = p_agent AND state = 'RUNNING' ORDER BY id FOR NO KEY UPDATE);
    v_has_shells := FOUND;
  END IF;

  IF v_change.interrupt IS NOT NULL THEN
    v_is_idle := v_agent.state = 'READY' AND v_agent.retry_turn IS NULL AND NOT EXISTS (SELECT FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean));
    IF v_is_idle AND NOT v_has_shells THEN
      -- Whoever waits for an agent that will never begin looks at it.
      UPDATE wait SET due = policy_time() WHERE ref = p_agent AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL AND v_agent.turn = 0;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'agent % has nothing to interrupt', p_agent USING ERRCODE = 'TP002';
      END IF;
    END IF;
  END IF;

  IF v_change.agent IS NOT NULL THEN
    UPDATE agent a SET ($(agent_patch), last_activity_at, retry_turn) =
      (SELECT $(r.agent_patch), greatest(a.last_activity_at, r.last_activity_at), CASE WHEN r.turn = a.turn THEN a.retry_turn END
       FROM json_populate_record(a, v_change.agent) r)
    WHERE a.id = p_agent;
  END IF;

  -- An interrupt that came since the owner looked is for the messages that were sent before it, and since the one that the owner has
  -- seen: as if it had come an instant later. If none of them wait, it came too late.
  IF v_change."interruptEnd" IS NOT NULL THEN
    UPDATE agent a SET interrupt_at = NULL WHERE a.id = p_agent AND NOT EXISTS (
      SELECT FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL
        AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean) AND m.created_at <= a.interrupt_at AND m.created_at > coalesce((v_change."interruptEnd" ->> 'seen')::timestamptz, '-infinity'));
  END IF;

  -- A note that came since the owner looked is not told yet.
  IF v_change."toldNote" IS NOT NULL THEN
    UPDATE agent SET interrupt_note = nullif(ltrim(substr(interrupt_note, length(v_change."toldNote") + 1), E'\n'), '')
    WHERE id = p_agent AND starts_with(interrupt_note, v_change."toldNote");
  END IF;

  -- A turn that begins answers again what it was asked to.
  IF v_agent.retry_turn < (v_change.agent ->> 'turn')::int THEN
    UPDATE message SET turn = (v_change.agent ->> 'turn')::int, joined_turn = coalesce(joined_turn, turn)
    WHERE agent_id = p_agent AND turn = v_agent.retry_turn AND kind IN ('USER', 'REMINDER') AND created_by IS NOT NULL;
    UPDATE notice n SET retry_turn = (v_change.agent ->> 'turn')::int FROM step s
    WHERE n.agent_id = p_agent AND n.source IN ('CHILD', 'INTERRUPTED_CHILD') AND s.agent_id = n.agent_id AND s.step = n.told_at_step
      AND coalesce(n.retry_turn, s.turn) = v_agent.retry_turn;
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
      AND state IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING');
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

  -- An agent that only has shells has no turn to interrupt: the next one must not end for that.
  IF v_change.interrupt IS NOT NULL AND NOT v_is_idle THEN
    -- Each server has a clock of its own: an interrupt is later than one before it, and not earlier than the messages that it is for.
    UPDATE agent SET interrupt_at = greatest((v_change.interrupt ->> 'at')::timestamptz, interrupt_at + interval '1 millisecond',
                       (SELECT max(m.created_at) FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL)),
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
    -- No child is made below it from here on.
    PERFORM pg_advisory_xact_lock(hashtextextended(coalesce(v_agent.root_id, p_agent), 7270736902)) WHERE v_change.archive ->> 'at' IS NOT NULL;
    UPDATE agent SET archived_at = (v_change.archive ->> 'at')::timestamptz WHERE id = p_agent;
    -- Nothing is sent to an archived agent. Once it is back, a look at each schedule finds its next time.
    UPDATE schedule SET counts_after = policy_time() WHERE agent_id = p_agent AND v_change.archive ->> 'at' IS NULL;
    UPDATE wait w SET due = CASE WHEN v_change.archive ->> 'at' IS NULL AND s.paused_at IS NULL THEN policy_time() END
    FROM schedule s WHERE s.agent_id = p_agent AND w.ref = s.id AND w.kind = 'SCHEDULE';
    UPDATE wait SET due = CASE WHEN v_change.archive ->> 'at' IS NULL AND v_agent.state = 'READY' THEN policy_time() END WHERE id = 'watch:' || p_agent;
  END IF;

  IF v_change.received IS NOT NULL AND v_agent.archived_at IS NOT NULL THEN
    RAISE EXCEPTION 'agent % is archived', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change."queueLimit" IS NOT NULL AND (
    SELECT count(*) >= (v_change."queueLimit" ->> 'messages')::int
        OR coalesce(sum(octet_length(m.content::text) + i.bytes), 0) + (v_change."queueLimit" ->> 'added')::int > (v_change."queueLimit" ->> 'bytes')::int
    FROM message m, LATERAL (SELECT coalesce(sum((b -> 'source' ->> 'bytes')::int), 0) AS bytes FROM json_array_elements(m.content) b) i
    WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.kind = 'REMINDER') = (v_change.received ->> 'kind' = 'REMINDER')
  ) THEN
    RAISE EXCEPTION 'the queue of agent % is full', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change.received IS NOT NULL THEN
    UPDATE agent SET arrivals = arrivals + 1 WHERE id = p_agent RETURNING * INTO v_agent;
    -- A message that comes after an interrupt is later than the interrupt also by its time.
    INSERT INTO message
    SELECT q.* FROM json_populate_record(null::message, v_change.received) r,
      LATERAL json_populate_record(r, json_build_object('arrival', v_agent.arrivals, 'created_at', greatest(r.created_at, v_agent.interrupt_at + interval '1 millisecond'))) q;
  END IF;

  -- An image is stored once a tenant. Its time keeps it from removal until this commit is seen; that an agent shows it keeps it.
  IF v_change.images IS NOT NULL THEN
    INSERT INTO image (tenant, digest, data, taken_at)
    SELECT DISTINCT ON (i.digest) p_tenant, i.digest, decode(i.data, 'base64'), policy_time() FROM json_to_recordset(v_change.images) AS i(digest text, data text)
    WHERE NOT EXISTS (SELECT FROM image o WHERE o.tenant = p_tenant AND o.digest = i.digest AND o.taken_at > policy_time() - interval '1 hour')
    ORDER BY i.digest
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
    INSERT INTO agent_image (agent_id, digest, tenant)
    SELECT DISTINCT p_agent, i.digest, p_tenant FROM json_to_recordset(v_change.images) AS i(digest text)
    ON CONFLICT DO NOTHING;
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
    UPDATE step s SET ($(step_end)) =
      (SELECT $(r.step_end)
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
    IF v_closing."to" <> 'PENDING' THEN
      UPDATE wait SET settled_at = coalesce(v_closing.closed_at, p_ats[1]) WHERE ref = v_closing.id AND settled_at IS NULL;
      -- A task that asked gets the answer by the look at its wait.
      UPDATE wait SET due = policy_time() WHERE kind = 'MCP_TASK' AND settled_at IS NULL
        AND call_id = (SELECT tool_call_id FROM approval WHERE id = v_closing.id AND kind = 'TOOL_INPUT');
    END IF;
    -- An approval that has changed is put off no more.
    DELETE FROM approval_snooze WHERE approval_id = v_closing.id;
  END LOOP;

  IF v_change.decision IS NOT NULL THEN
    DELETE FROM approval_snooze WHERE approval_id = v_change.decision ->> 'approval_id';
    -- The quorum is counted by whoever decides: one who counted before another was done counts again.
    IF (SELECT count(*) FROM decision WHERE approval_id = v_change.decision ->> 'approval_id') <> coalesce(v_change."expectDecisions", 0) THEN
      RAISE EXCEPTION 'approval % was decided on by another', v_change.decision ->> 'approval_id' USING ERRCODE = 'TP002';
    END IF;
    -- Each server has a clock of its own: a later decision is the later one also by its time.
    INSERT INTO decision
    SELECT q.* FROM json_populate_record(null::decision, v_change.decision) r,
      LATERAL json_populate_record(r, json_build_object('decided_at', greatest(r.decided_at, (SELECT max(d.decided_at) + interval '1 millisecond' FROM decision d WHERE d.approval_id = r.approval_id)))) q;
  END IF;

  IF v_change."keepRule" IS NOT NULL THEN
    INSERT INTO allow_rule SELECT * FROM json_populate_record(null::allow_rule, v_change."keepRule") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the rule is kept already' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO rule_version AS v (tenant, agent_id, version) VALUES (p_tenant, coalesce(v_change."keepRule" ->> 'agent_id', ''), 1)
    ON CONFLICT (tenant, agent_id) DO UPDATE SET version = v.version + 1;
  END IF;

  IF v_change."toolCalls" IS NOT NULL THEN
    INSERT INTO tool_call SELECT * FROM json_populate_recordset(null::tool_call, v_change."toolCalls");
  END IF;

  FOR v_item IN SELECT * FROM json_to_recordset(v_change.transitions) AS t(id text, "from" text, "by" json, "set" json, audit json) LOOP
    -- What a call starts by must still stand: the decision for exactly this input, or the version of the stored rules.
    IF v_item."by" ->> 'approvalId' IS NOT NULL AND NOT EXISTS (
      SELECT FROM approval p WHERE p.id = v_item."by" ->> 'approvalId' AND p.tool_call_id = v_item.id
        AND (p.state = 'ALLOWED' OR (p.state = 'RESOLVED' AND EXISTS (SELECT FROM decision r WHERE r.approval_id = p.id AND r.decision = 'RETRY')))
        AND coalesce((SELECT d.input_hash FROM decision d WHERE d.approval_id = p.id AND d.input_hash IS NOT NULL), p.input_hash) = v_item."by" ->> 'inputHash'
    ) THEN
      RAISE EXCEPTION 'approval % no longer stands', v_item."by" ->> 'approvalId' USING ERRCODE = 'TP002';
    END IF;
    IF v_item."by" -> 'rules' IS NOT NULL THEN
      IF v_rules::text <> (v_item."by" -> 'rules')::text THEN
        RAISE EXCEPTION 'call % was judged by other stored rules than another one', v_item.id USING ERRCODE = 'TP002';
      END IF;
      v_rules := v_item."by" -> 'rules';
    END IF;
    -- Nothing starts after an interrupt was acknowledged: it was committed under the same lock.
    IF v_item."set" ->> 'state' = 'EXECUTING' AND v_agent.interrupt_at IS NOT NULL THEN
      RAISE EXCEPTION 'agent % was interrupted', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE tool_call t SET
      ($(tool_call_patch)) =
      (SELECT $(r.tool_call_patch)
       FROM json_populate_record(t, v_item."set") r),
      audit_trail = t.audit_trail || (v_item.audit)::jsonb
    WHERE t.id = v_item.id AND t.agent_id IS NOT DISTINCT FROM p_agent AND t.state = (v_item."from")::tool_call_state
      AND (v_item."set" ->> 'state' <> 'EXECUTING' OR t.cancel_requested IS NULL);
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM tool_call WHERE id = v_item.id;
      RAISE EXCEPTION 'tool call % is %, not %, or is cancelled', v_item.id, v_state, v_item."from" USING ERRCODE = 'TP002';
    END IF;
    IF v_item."from" IN ('APPROVAL_REQUIRED', 'APPROVED') THEN
      UPDATE wait SET settled_at = (v_item."set" ->> 'updated_at')::timestamptz WHERE call_id = v_item.id AND kind = 'MCP_SERVER' AND settled_at IS NULL;
    END IF;
    IF v_item."from" = 'WAITING' AND v_item."set" ->> 'state' <> 'WAITING' THEN
      -- A task that works on may have asked a person since the caller looked.
      IF EXISTS (SELECT FROM approval WHERE tool_call_id = v_item.id AND kind = 'TOOL_INPUT' AND state = 'PENDING') THEN
        RAISE EXCEPTION 'tool call % has an open question', v_item.id USING ERRCODE = 'TP002';
      END IF;
      UPDATE wait SET settled_at = (v_item."set" ->> 'updated_at')::timestamptz WHERE call_id = v_item.id AND kind NOT IN ('HOST', 'CHILD', 'MCP_TASK') AND settled_at IS NULL;
      -- A child or task that nobody waits for any more is ended by the look at its wait.
      UPDATE wait SET due = policy_time() WHERE call_id = v_item.id AND kind IN ('CHILD', 'MCP_TASK') AND settled_at IS NULL;
    END IF;
  END LOOP;

  IF v_change.approvals IS NOT NULL THEN
    -- Others may have asked for the same host since the caller looked: it joins their question then.
    INSERT INTO approval SELECT * FROM json_populate_recordset(null::approval, v_change.approvals) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change.approvals) THEN
      RAISE EXCEPTION 'agent % asks for one of these already', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.waits IS NOT NULL THEN
    -- A program that has ended asks for nothing: nobody would close its question. A question that was answered is joined by none.
    IF EXISTS (
      SELECT FROM json_populate_recordset(null::wait, v_change.waits) w WHERE w.kind = 'SHELL_HOST'
        AND (NOT EXISTS (SELECT FROM shell s WHERE s.agent_id = p_agent AND s.state = 'RUNNING' AND s.call_id = w.call_id)
          OR NOT EXISTS (SELECT FROM approval p WHERE p.id = w.ref AND p.state = 'PENDING'))
    ) THEN
      RAISE EXCEPTION 'a program of agent %, or the question that it joins, is over', p_agent USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO wait SELECT * FROM json_populate_recordset(null::wait, v_change.waits) ON CONFLICT DO NOTHING;
  END IF;

  -- Of new questions, of those that more calls wait for, and of those in whose turn a message joins.
  IF v_change.approvals IS NOT NULL OR v_change.waits IS NOT NULL OR v_change.joins IS NOT NULL THEN
    UPDATE approval p SET requesters = ARRAY(SELECT DISTINCT who ->> 'id' FROM requesters_of_approval(p) who)
    WHERE p.agent_id = p_agent AND p.state = 'PENDING' AND (v_change.joins IS NOT NULL
      OR p.id IN (SELECT q.id FROM json_populate_recordset(null::approval, v_change.approvals) q)
      OR p.id IN (SELECT w.ref FROM json_populate_recordset(null::wait, v_change.waits) w WHERE w.kind IN ('HOST', 'SHELL_HOST')));
  END IF;

  IF v_change.returns THEN
    UPDATE wait SET due = policy_time() WHERE ref = p_agent AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL;
  END IF;

  IF v_change."childAwaited" IS NOT NULL THEN
    -- The child may have ended since the caller looked: then the wait is due again.
    UPDATE wait SET due = NULL WHERE ref = v_change."childAwaited" ->> 'ref' AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL
      AND due = (v_change."childAwaited" ->> 'due')::timestamptz;
  END IF;

  IF v_change."waitSettled" IS NOT NULL THEN
    IF (v_change."waitSettled" ->> 'isUnmade')::boolean THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(coalesce(v_agent.root_id, p_agent), 7270736902));
      IF EXISTS (SELECT FROM agent WHERE id = v_change."waitSettled" ->> 'ref') THEN
        RAISE EXCEPTION 'the child % was made', v_change."waitSettled" ->> 'ref' USING ERRCODE = 'TP002';
      END IF;
    END IF;
    UPDATE wait SET settled_at = (v_change."waitSettled" ->> 'at')::timestamptz
    WHERE ref = v_change."waitSettled" ->> 'ref' AND kind IN ('CHILD', 'BACKGROUND_CHILD', 'MCP_TASK', 'MCP_SERVER') AND settled_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the wait for % is over', v_change."waitSettled" ->> 'ref' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."schedulesMade" IS NOT NULL THEN
    INSERT INTO schedule SELECT * FROM json_populate_recordset(null::schedule, v_change."schedulesMade");
    IF v_agent.archived_at IS NOT NULL OR (SELECT count(*) FROM schedule WHERE agent_id = p_agent) > v_change."mostSchedules" THEN
      RAISE EXCEPTION 'agent % may have no more schedules', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  FOR v_item IN SELECT * FROM json_to_recordset(v_change."schedulesMoved") AS m(id text, moves int, due timestamptz, "set" json) LOOP
    UPDATE schedule s SET (next_at, next_step, owed, triggered, last_triggered_at, paused_at, moves) =
      (SELECT r.next_at, r.next_step, r.owed, r.triggered, r.last_triggered_at, r.paused_at, s.moves + 1 FROM json_populate_record(s, v_item."set") r)
    WHERE s.id = v_item.id AND s.agent_id = p_agent AND s.moves = v_item.moves;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'schedule % was changed by another', v_item.id USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET due = CASE WHEN v_agent.archived_at IS NULL THEN v_item.due END WHERE ref = v_item.id AND kind = 'SCHEDULE';
  END LOOP;

  IF v_change."scheduleEnded" IS NOT NULL THEN
    DELETE FROM schedule WHERE id = v_change."scheduleEnded" ->> 'id' AND agent_id = p_agent AND moves = (v_change."scheduleEnded" ->> 'moves')::int;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'schedule % was changed by another', v_change."scheduleEnded" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    DELETE FROM wait WHERE ref = v_change."scheduleEnded" ->> 'id' AND kind = 'SCHEDULE';
  END IF;

  IF v_change.watch THEN
    INSERT INTO wait AS w (id, tenant, agent_id, kind, ref, due)
    SELECT 'watch:' || a.id, a.tenant, a.id, 'WATCH', a.id, CASE WHEN a.state = 'READY' AND a.archived_at IS NULL THEN policy_time() END FROM agent a WHERE a.id = p_agent
    ON CONFLICT (id) DO UPDATE SET due = EXCLUDED.due;
  END IF;

  IF v_change."filesFound" IS NOT NULL THEN
    UPDATE known_file k SET change = f.change
    FROM json_to_recordset(v_change."filesFound") AS f(path text, "callId" text, "before" text, change text)
    WHERE k.agent_id = p_agent AND k.path = f.path AND k.call_id = f."callId" AND k.change IS NOT DISTINCT FROM f."before" AND v_agent.lease_owner IS NULL;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change."filesFound") THEN
      RAISE EXCEPTION 'files of agent % are looked at by another', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- The notice of an answer names the programs that asked: one that has joined since the caller looked is named, too.
  IF v_change."expectAsking" IS NOT NULL AND (v_change."expectAsking" ->> 'programs')::int
     <> (SELECT count(*) FROM wait WHERE ref = v_change."expectAsking" ->> 'approvalId' AND kind = 'SHELL_HOST') THEN
    RAISE EXCEPTION 'another program has asked with approval %', v_change."expectAsking" ->> 'approvalId' USING ERRCODE = 'TP002';
  END IF;

  -- A newer notice of the same thing has an id of its own: a step that read the older one does not mark it as told.
  IF v_change.notices IS NOT NULL THEN
    INSERT INTO notice SELECT * FROM json_populate_recordset(null::notice, v_change.notices)
    ON CONFLICT (agent_id, source, ref) WHERE told_at_step IS NULL DO UPDATE SET id = EXCLUDED.id, text = EXCLUDED.text, at = EXCLUDED.at;
  END IF;

  IF v_change."noticesDropped" IS NOT NULL THEN
    DELETE FROM notice n USING json_to_recordset(v_change."noticesDropped") AS d(source text, ref text)
    WHERE n.agent_id = p_agent AND n.source = d.source AND n.ref = d.ref AND n.told_at_step IS NULL;
  END IF;

  IF v_change."noticesTold" IS NOT NULL THEN
    UPDATE notice SET told_at_step = (v_change."noticesTold" ->> 'step')::int
    WHERE id IN (SELECT json_array_elements_text(v_change."noticesTold" -> 'ids')) AND agent_id IS NOT DISTINCT FROM p_agent AND told_at_step IS NULL;
  END IF;

  -- The text of a manual is stored once a tenant, whoever is given it first. Its time keeps it from removal until this commit is seen.
  IF v_change.manual IS NOT NULL THEN
    INSERT INTO manual (tenant, digest, text, sections, tools, taken_at)
    SELECT m.tenant, m.digest, m.text, m.sections, m.tools, policy_time() FROM json_populate_record(null::manual, v_change.manual) m
    WHERE NOT EXISTS (SELECT FROM manual o WHERE o.tenant = m.tenant AND o.digest = m.digest AND o.taken_at > policy_time() - interval '1 hour')
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
  END IF;

  -- So are the parts of requests; that an agent had one keeps it.
  IF v_change."requestParts" IS NOT NULL THEN
    INSERT INTO request_part (tenant, digest, body, taken_at)
    SELECT DISTINCT ON (n.digest) p_tenant, n.digest, n.body, policy_time() FROM json_to_recordset(v_change."requestParts") AS n(digest text, body text)
    WHERE NOT EXISTS (SELECT FROM request_part r WHERE r.tenant = p_tenant AND r.digest = n.digest AND r.taken_at > policy_time() - interval '1 hour')
    ORDER BY n.digest
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
    INSERT INTO agent_request_part (agent_id, digest, tenant)
    SELECT DISTINCT p_agent, n.digest, p_tenant FROM json_to_recordset(v_change."requestParts") AS n(digest text)
    ON CONFLICT DO NOTHING;
  END IF;

  IF v_change."agentManual" IS NOT NULL THEN
    INSERT INTO agent_manual SELECT * FROM json_populate_record(null::agent_manual, v_change."agentManual")
    ON CONFLICT (agent_id) DO UPDATE SET digest = EXCLUDED.digest, told = EXCLUDED.told;
  END IF;

  IF v_change."templateVersion" IS NOT NULL THEN
    UPDATE agent SET template_version = v_change."templateVersion" WHERE id = p_agent;
  END IF;

  -- The data of a version is stored once a tenant. Its time keeps it from removal until this commit is seen.
  IF v_change."versionData" IS NOT NULL THEN
    INSERT INTO template_version (tenant, digest, data, taken_at)
    SELECT d.tenant, d.digest, d.data, policy_time() FROM json_populate_record(null::template_version, v_change."versionData") d
    WHERE NOT EXISTS (SELECT FROM template_version v WHERE v.tenant = d.tenant AND v.digest = d.digest AND v.taken_at > policy_time() - interval '1 hour')
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
  END IF;

  IF v_change.compactions IS NOT NULL THEN
    INSERT INTO compaction SELECT * FROM json_populate_recordset(null::compaction, v_change.compactions) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change.compactions) THEN
      RAISE EXCEPTION 'agent % has a compaction that is asked for or under way', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."compactionMoved" IS NOT NULL THEN
    UPDATE compaction c SET ($(compaction_patch)) =
      (SELECT $(r.compaction_patch) FROM json_populate_record(c, v_change."compactionMoved" -> 'set') r)
    WHERE c.id = v_change."compactionMoved" ->> 'id' AND c.agent_id = p_agent AND c.state = v_change."compactionMoved" ->> 'from';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'compaction % is not %', v_change."compactionMoved" ->> 'id', v_change."compactionMoved" ->> 'from' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."knownFiles" IS NOT NULL THEN
    INSERT INTO known_file AS k SELECT * FROM json_populate_recordset(null::known_file, v_change."knownFiles")
    ON CONFLICT (agent_id, path) DO UPDATE SET ($(known_file_patch), is_whole, change) =
      ROW($(EXCLUDED.known_file_patch), EXCLUDED.is_whole OR k.is_whole AND k.digest = EXCLUDED.digest, NULL);
  END IF;

  IF v_change."fileChanges" IS NOT NULL THEN
    UPDATE known_file k SET change = f.change
    FROM json_to_recordset(v_change."fileChanges") AS f(path text, call_id text, change text)
    WHERE k.agent_id = p_agent AND k.path = f.path AND k.call_id = f.call_id;
  END IF;

  IF v_change.todos IS NOT NULL THEN
    DELETE FROM todo WHERE agent_id = p_agent;
    INSERT INTO todo SELECT * FROM json_populate_recordset(null::todo, v_change.todos);
    UPDATE tool_call SET todos = v_change.todos WHERE id = v_change."todosBy" AND agent_id IS NOT DISTINCT FROM p_agent;
  END IF;

  IF v_change.memory IS NOT NULL THEN
    PERFORM change_memory(p_tenant, p_agent, v_change.memory);
  END IF;

  IF v_change."shellStart" IS NOT NULL THEN
    IF v_agent.interrupt_at IS NOT NULL OR v_agent.archived_at IS NOT NULL
       OR (SELECT count(*) FROM shell WHERE agent_id = p_agent AND state = 'RUNNING') >= (v_change."shellStart" ->> 'limit')::int THEN
      RAISE EXCEPTION 'agent % may start no shell now', p_agent USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO shell SELECT * FROM json_populate_record(null::shell, v_change."shellStart" -> 'row');
    UPDATE shell SET lease_until = clock_timestamp() + make_interval(secs => (v_change."shellStart" ->> 'leaseMs')::float8 / 1000)
    WHERE id = v_change."shellStart" -> 'row' ->> 'id';
    -- Servers of versions that know no shells must not own an agent that has one.
    UPDATE agent SET needs = greatest(needs, 1) WHERE id = p_agent;
  END IF;

  -- Its server ends a shell; without a server named, only one whose lease has run out ends.
  IF v_change."shellEnd" IS NOT NULL THEN
    UPDATE shell s SET state = 'ENDED', lease_until = NULL, end_reason = e.end_reason, exit_code = e.exit_code, signal = e.signal, ended_at = e.ended_at
    FROM json_populate_record(null::shell, v_change."shellEnd") e
    WHERE s.id = e.id AND s.agent_id = p_agent AND s.state = 'RUNNING'
      AND CASE WHEN e.server IS NULL THEN s.lease_until < clock_timestamp() ELSE s.server = e.server END;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'shell % has ended, or is another server''s', v_change."shellEnd" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    -- A question that is closed with it is asked by nobody else.
    IF EXISTS (
      SELECT FROM json_to_recordset(v_change."approvalTransitions") AS t(id text) JOIN wait w ON w.ref = t.id
      WHERE w.kind = 'HOST' OR EXISTS (SELECT FROM shell s WHERE s.agent_id = p_agent AND s.state = 'RUNNING' AND s.call_id = w.call_id)
    ) THEN
      RAISE EXCEPTION 'another asks for a host that shell % has asked for', v_change."shellEnd" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET needs = 0 WHERE id = p_agent AND needs = 1 AND NOT EXISTS (SELECT FROM shell WHERE agent_id = p_agent AND state = 'RUNNING');
  END IF;

  IF v_change.budgets IS NOT NULL THEN
    PERFORM account_budgets(p_tenant, p_agent, v_change.budgets);
  END IF;

  IF v_change."budgetRaise" IS NOT NULL THEN
    PERFORM raise_budget(p_tenant, v_change."budgetRaise");
  END IF;

  -- Behind the lock of the log: a change of the stored rules is in the log before these calls start, or behind it. No other row is locked.
  IF v_rules IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
    IF (v_rules ->> 'ofTenant')::int <> coalesce((SELECT v.version FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = ''), 0)
      OR (v_rules ->> 'ofAgent')::int <> coalesce((SELECT v.version FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = p_agent), 0)
      OR (v_rules ->> 'until')::timestamptz <= policy_time() THEN
      RAISE EXCEPTION 'the stored rules have changed since calls of agent % were judged', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  RETURN QUERY
    SELECT a.agent, a.fenced, a.base_seq, a.base_position, v_signal, a.ancestors
    -- The fence was compared above, under the same lock: a change that gives the lease back reports that, too.
    FROM append_events(p_tenant, p_append, false, NULL, ARRAY[p_agent], ARRAY[NULL::int], array_fill(1, ARRAY[cardinality(p_kinds)]), p_channels, p_kinds, p_payloads, p_ats) a;
END
$function$;
