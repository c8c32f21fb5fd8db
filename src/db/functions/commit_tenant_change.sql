-- Changes rows of a tenant that are no agent's, as p_change (TenantChange, src/db/commit/change.ts) says, and appends the events of the
-- tenant that report it, or does neither.
--
-- Answers the seq and the position before the first of the events.
--
-- p_retry: an answer was lost: where the append has events, they are answered instead of being written again.
--
-- Locks: an advisory lock that stands for the append; the rows, agents of a deleted tree by id behind a lock that stands for the tree; memory, as change_memory does it; the tenant's log, last, as append_events does it.
-- Errors: TP002 a row is not as the change expects it; TP003 the idempotency key was used before; TP004 a failover lost
-- commits of the log. Each of them changes nothing.
-- Invariants 2 (positions without gaps, in commit order), 3 (rows and events in one transaction) and 15 (every change of rights is an event).
CREATE OR REPLACE FUNCTION commit_tenant_change(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_change json,
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (base_seq int, base_position bigint)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_change record;
  v_lost timestamptz;
  v_rules_of text;
  v_revoked text;
  v_tree text[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_append::text, 7270736901));
  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id IS NULL) THEN
    RETURN QUERY SELECT e.seq - 1, e.position - 1 FROM event e WHERE e.append_id = p_append AND e.agent_id IS NULL;
    RETURN;
  END IF;

  SELECT * INTO v_change FROM json_to_record(p_change) AS c(
    "idempotencyKey" json, "storeAllowRule" json, "mostAllowRules" int, "revokeAllowRule" json, "startDelegation" json, waits json, "endDelegation" json, configuration json, "acceptTool" json, memory json, "setBudget" json, "revokeBudget" json, "createAccessToken" json, "mostAccessTokens" int, "revokeAccessToken" json, snooze json, "wakeApproval" json, "createExport" json, "mostExports" int, "endExport" json, "deleteAgent" json);

  IF v_change."idempotencyKey" IS NOT NULL THEN
    INSERT INTO idempotency_key SELECT * FROM json_populate_record(null::idempotency_key, v_change."idempotencyKey") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the idempotency key was used before' USING ERRCODE = 'TP003';
    END IF;
  END IF;

  -- Before the next one is stored: it may take the place of the same rule with an earlier end.
  IF v_change."revokeAllowRule" IS NOT NULL THEN
    UPDATE allow_rule a SET (revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(a, v_change."revokeAllowRule") r)
    WHERE a.id = v_change."revokeAllowRule" ->> 'id' AND a.tenant = p_tenant AND a.revoked_at IS NULL
    RETURNING coalesce(a.agent_id, '') INTO v_rules_of;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such rule, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET settled_at = (v_change."revokeAllowRule" ->> 'revoked_at')::timestamptz
    WHERE ref = v_change."revokeAllowRule" ->> 'id' AND settled_at IS NULL;
  END IF;

  IF v_change."storeAllowRule" IS NOT NULL THEN
    INSERT INTO allow_rule SELECT * FROM json_populate_record(null::allow_rule, v_change."storeAllowRule") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the rule is stored already' USING ERRCODE = 'TP002';
    END IF;
    v_rules_of := coalesce(v_change."storeAllowRule" ->> 'agent_id', '');
  END IF;

  IF v_change."acceptTool" IS NOT NULL THEN
    INSERT INTO tool_pin AS t SELECT * FROM json_populate_record(null::tool_pin, v_change."acceptTool")
    ON CONFLICT (tenant, server, tool) DO UPDATE SET (digest, definition, pinned_at, pinned_by, pinned_by_kind) =
      (EXCLUDED.digest, EXCLUDED.definition, EXCLUDED.pinned_at, EXCLUDED.pinned_by, EXCLUDED.pinned_by_kind)
    WHERE t.digest <> EXCLUDED.digest;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the definition is accepted already' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- Calls that were judged by other rules do not start by them.
  IF v_rules_of IS NOT NULL THEN
    INSERT INTO rule_version AS v (tenant, agent_id, version) VALUES (p_tenant, v_rules_of, 1)
    ON CONFLICT (tenant, agent_id) DO UPDATE SET version = v.version + 1;
  END IF;

  IF v_change."startDelegation" IS NOT NULL THEN
    INSERT INTO delegation SELECT * FROM json_populate_record(null::delegation, v_change."startDelegation");
  END IF;

  IF v_change.waits IS NOT NULL THEN
    INSERT INTO wait SELECT * FROM json_populate_recordset(null::wait, v_change.waits);
  END IF;

  IF v_change."endDelegation" IS NOT NULL THEN
    UPDATE delegation d SET (ended_at, revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.ended_at, r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(d, v_change."endDelegation") r)
    WHERE d.id = v_change."endDelegation" ->> 'id' AND d.tenant = p_tenant AND d.ended_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such delegation, or it has ended' USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET settled_at = (v_change."endDelegation" ->> 'ended_at')::timestamptz
    WHERE ref = v_change."endDelegation" ->> 'id' AND settled_at IS NULL;
  END IF;

  IF v_change.configuration IS NOT NULL THEN
    UPDATE known_configuration k SET (digest, parts, known_at) =
      (SELECT r.digest, r.parts, r.known_at FROM json_populate_record(k, v_change.configuration) r)
    WHERE k.tenant = p_tenant AND k.digest = v_change.configuration ->> 'previous_digest';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'another configuration is known by now' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."setBudget" IS NOT NULL THEN
    INSERT INTO budget AS b SELECT * FROM json_populate_record(null::budget, v_change."setBudget")
    ON CONFLICT (tenant, id) DO UPDATE SET (millionths, tokens, warn_at, created_by, created_by_kind, created_at, revoked_at, revoked_by, revoked_by_kind) =
      (EXCLUDED.millionths, EXCLUDED.tokens, EXCLUDED.warn_at, EXCLUDED.created_by, EXCLUDED.created_by_kind, EXCLUDED.created_at, NULL, NULL, NULL)
    WHERE (b.millionths, b.tokens, b.warn_at) IS DISTINCT FROM (EXCLUDED.millionths, EXCLUDED.tokens, EXCLUDED.warn_at) OR b.revoked_at IS NOT NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the budget is set already' USING ERRCODE = 'TP002';
    END IF;
    PERFORM look_again_at_budget(p_tenant, v_change."setBudget" ->> 'id', NULL);
  END IF;

  IF v_change."revokeBudget" IS NOT NULL THEN
    UPDATE budget b SET (revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(b, v_change."revokeBudget") r)
    WHERE b.id = v_change."revokeBudget" ->> 'id' AND b.tenant = p_tenant AND b.revoked_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such budget, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
    PERFORM look_again_at_budget(p_tenant, v_change."revokeBudget" ->> 'id', NULL);
  END IF;

  IF v_change."createAccessToken" IS NOT NULL THEN
    INSERT INTO access_token SELECT * FROM json_populate_record(null::access_token, v_change."createAccessToken");
  END IF;

  -- Sessions that began with the token end with it.
  IF v_change."revokeAccessToken" IS NOT NULL THEN
    WITH revoked AS (
      UPDATE access_token a SET (revoked_at, revoked_by, revoked_by_kind) =
        (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(a, v_change."revokeAccessToken") r)
      WHERE a.id = v_change."revokeAccessToken" ->> 'id' AND a.tenant = p_tenant AND a.revoked_at IS NULL
      RETURNING a.hash, a.revoked_at, a.revoked_by, a.revoked_by_kind
    ), ended AS (
      UPDATE session s SET (ended_at, ended_by, ended_by_kind) = (r.revoked_at, r.revoked_by, r.revoked_by_kind)
      FROM revoked r WHERE s.token_hash = r.hash AND s.ended_at IS NULL
    ) SELECT hash INTO v_revoked FROM revoked;
    IF v_revoked IS NULL THEN
      RAISE EXCEPTION 'there is no such token, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- The end of an approval removes its snoozes: one that is closed takes none.
  IF v_change.snooze IS NOT NULL THEN
    INSERT INTO approval_snooze AS s SELECT r.* FROM json_populate_record(null::approval_snooze, v_change.snooze) r
      JOIN approval p ON p.id = r.approval_id AND p.tenant = p_tenant AND p.state = 'PENDING' FOR SHARE OF p
    ON CONFLICT (approval_id, actor_id) DO UPDATE SET (until, snoozed_at) = (EXCLUDED.until, EXCLUDED.snoozed_at);
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the approval is closed' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."wakeApproval" IS NOT NULL THEN
    DELETE FROM approval_snooze s
    WHERE s.approval_id = v_change."wakeApproval" ->> 'approval_id' AND s.actor_id = v_change."wakeApproval" ->> 'actor_id' AND s.tenant = p_tenant;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such snooze' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."createExport" IS NOT NULL THEN
    INSERT INTO export SELECT * FROM json_populate_record(null::export, v_change."createExport");
  END IF;

  -- The file of one that did not succeed goes at once. Its row stays as long as that of others: its wait has that time.
  IF v_change."endExport" IS NOT NULL THEN
    UPDATE export x SET (state, problem, ended_at) =
      (SELECT r.state, r.problem, r.ended_at FROM json_populate_record(x, v_change."endExport") r)
    WHERE x.id = v_change."endExport" ->> 'id' AND x.tenant = p_tenant
      AND x.state IN (SELECT json_array_elements_text(v_change."endExport" -> 'from'));
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such export, or it has ended' USING ERRCODE = 'TP002';
    END IF;
    IF v_change."endExport" ->> 'state' <> 'DONE' THEN
      UPDATE export SET parts = 0, rows = 0, bytes = 0, kept_bytes = 0 WHERE id = v_change."endExport" ->> 'id';
      DELETE FROM export_part WHERE export_id = v_change."endExport" ->> 'id';
    END IF;
    UPDATE wait SET due = (v_change."endExport" ->> 'due')::timestamptz
    WHERE ref = v_change."endExport" ->> 'id' AND kind = 'EXPORT' AND settled_at IS NULL;
  END IF;

  -- The whole tree leaves the tenant at once: nobody reads, wakes or writes its agents from then on. It must be archived and idle,
  -- and the audit must have seen its last event: it cannot read the calls of an agent that is gone.
  IF v_change."deleteAgent" IS NOT NULL THEN
    -- As for the start of a child: none is made in the tree meanwhile.
    PERFORM pg_advisory_xact_lock(hashtextextended(v_change."deleteAgent" ->> 'root_id', 7270736902));
    v_tree := ARRAY(SELECT a.id FROM agent a WHERE a.tenant = p_tenant AND (a.id = v_change."deleteAgent" ->> 'root_id' OR a.root_id = v_change."deleteAgent" ->> 'root_id') ORDER BY a.id FOR UPDATE);
    IF NOT v_change."deleteAgent" ->> 'root_id' = ANY (v_tree) OR cardinality(v_tree) <> (v_change."deleteAgent" ->> 'agents')::int
       OR EXISTS (SELECT FROM agent a WHERE a.id = ANY (v_tree) AND (a.archived_at IS NULL OR a.state <> 'READY' OR a.runnable_at IS NOT NULL OR a.retry_turn IS NOT NULL OR a.lease_until >= policy_time()
         OR EXISTS (SELECT FROM approval p WHERE p.agent_id = a.id AND p.state = 'PENDING')
         OR EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING')
         OR EXISTS (SELECT FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL)))
       OR NOT EXISTS (SELECT FROM audit_fold f JOIN audit_turn_fold t ON t.tenant = f.tenant JOIN tenant_log l ON l.tenant = f.tenant
         WHERE f.tenant = p_tenant AND f.position >= f.whole_at AND t.position >= t.whole_at AND least(f.position, t.position) >= l.floor
           AND NOT EXISTS (SELECT FROM event e WHERE e.agent_id = ANY (v_tree) AND e.position > least(f.position, t.position))) THEN
      RAISE EXCEPTION 'agent % is not archived and idle, with its tree', v_change."deleteAgent" ->> 'root_id' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO deleted_agent (agent_id, tenant, root_id, template_id, created_by, created_by_kind, created_at, deleted_by, deleted_by_kind, deleted_at)
    SELECT a.id, p_tenant, v_change."deleteAgent" ->> 'root_id', a.template_id, a.created_by, a.created_by_kind, a.created_at, d.deleted_by, d.deleted_by_kind, d.deleted_at
    FROM agent a, json_populate_record(null::deleted_agent, v_change."deleteAgent") d WHERE a.id = ANY (v_tree);
    -- Groups of approvals stay. A question, and an answer that was reversed, are those of src/agent/approvals/groups/rows.ts.
    INSERT INTO deleted_approval (id, tenant, agent_id, tool_call_id, tool, host, kind, state, risk, quorum, requesters, requested_at, expires_at, closed_at, erased_at, is_reversed)
    SELECT q.id, p_tenant, q.agent_id, q.tool_call_id, q.tool, q.host, q.kind, q.state, q.risk, q.quorum, q.requesters, q.requested_at, q.expires_at, q.closed_at, q.erased_at,
      coalesce(CASE q.state WHEN 'DENIED' THEN q.last_allowed WHEN 'ALLOWED' THEN q.last_denied END > q.closed_at, false)
    FROM (SELECT p.*, t.name AS tool, max(p.requested_at) FILTER (WHERE p.state = 'ALLOWED') OVER question AS last_allowed, max(p.requested_at) FILTER (WHERE p.state = 'DENIED') OVER question AS last_denied
      FROM approval p LEFT JOIN tool_call t ON t.id = p.tool_call_id WHERE p.agent_id = ANY (v_tree)
      WINDOW question AS (PARTITION BY p.agent_id, p.kind, CASE WHEN p.kind <> 'NETWORK_HOST' THEN coalesce(p.input_digest, md5(p.agent_id || p.input::text), p.id) END, p.host, p.port, t.name)) q;
    INSERT INTO deleted_decision (approval_id, actor_id, actor_kind, on_behalf_of, on_behalf_of_kind, tenant, decision, is_edited, decided_at)
    SELECT d.approval_id, d.actor_id, d.actor_kind, d.on_behalf_of, d.on_behalf_of_kind, p_tenant, d.decision, d.input_hash IS NOT NULL, d.decided_at
    FROM approval p JOIN decision d ON d.approval_id = p.id WHERE p.agent_id = ANY (v_tree);
    -- Rules of agents of the tree alone, with the notes of their decisions. Rules of templates stay.
    DELETE FROM wait w WHERE w.ref = ANY (ARRAY(SELECT r.id FROM allow_rule r WHERE r.tenant = p_tenant AND r.agent_id = ANY (v_tree)));
    DELETE FROM allow_rule r WHERE r.tenant = p_tenant AND r.agent_id = ANY (v_tree);
    DELETE FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = ANY (v_tree);
    DELETE FROM wait w WHERE w.agent_id = ANY (v_tree);
    DELETE FROM schedule s WHERE s.agent_id = ANY (v_tree);
    UPDATE agent a SET tenant = '', lease_owner = NULL, lease_until = NULL, runnable_at = NULL WHERE a.id = ANY (v_tree);
  END IF;

  IF v_change.memory IS NOT NULL THEN
    PERFORM change_memory(p_tenant, NULL, v_change.memory);
  END IF;

  PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
  -- Behind the lock those that others store at the same time count as well.
  IF v_change."mostAllowRules" < (
    SELECT count(*) FROM allow_rule a
    WHERE a.tenant = p_tenant AND a.template_id = v_change."storeAllowRule" ->> 'template_id' AND a.agent_id IS NULL AND a.revoked_at IS NULL
  ) THEN
    RAISE EXCEPTION 'more rules hold for the template than may' USING ERRCODE = 'TP002';
  END IF;
  IF v_change."mostAccessTokens" < (
    SELECT count(*) FROM access_token a, json_populate_record(null::access_token, v_change."createAccessToken") c
    WHERE a.tenant = p_tenant AND a.actor_id = c.actor_id AND a.revoked_at IS NULL AND a.expires_at > c.created_at
  ) THEN
    RAISE EXCEPTION 'the person has more tokens than may be' USING ERRCODE = 'TP002';
  END IF;
  IF v_change."mostExports" < (SELECT count(*) FROM export x WHERE x.tenant = p_tenant AND x.state = 'RUNNING') THEN
    RAISE EXCEPTION 'more exports are made than may be' USING ERRCODE = 'TP002';
  END IF;
  -- One actor has half of them at most, rounded up.
  IF (v_change."mostExports" + 1) / 2 < (
    SELECT count(*) FROM export x, json_populate_record(null::export, v_change."createExport") c
    WHERE x.tenant = p_tenant AND x.state = 'RUNNING' AND x.created_by = c.created_by AND x.created_by_kind = c.created_by_kind
  ) THEN
    RAISE EXCEPTION 'more exports of one actor are made than may be' USING ERRCODE = 'TP002';
  END IF;
  SELECT greatest(l.floor, (SELECT max(e.position) FROM event e WHERE e.tenant = p_tenant)), greatest(l.seq, (SELECT max(e.seq) FROM event e WHERE e.tenant = p_tenant AND e.agent_id IS NULL)), l.lost_at
  INTO base_position, base_seq, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
  IF v_lost IS NOT NULL THEN
    RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
  END IF;
  INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
  SELECT p_tenant, base_position + e.place, NULL, base_seq + e.place, CASE WHEN e.place = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
  FROM unnest(p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(channel, kind, payload, at, place);
  -- Servers forget what they remember of events up to here.
  IF v_tree IS NOT NULL THEN
    UPDATE tenant_log l SET erased = base_position + cardinality(p_kinds) WHERE l.tenant = p_tenant;
  END IF;
  RETURN NEXT;
END
$function$;
