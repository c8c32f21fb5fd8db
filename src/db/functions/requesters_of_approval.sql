-- The requesters of an approval, as { id, kind }, some of them more than once: those of its call or of the calls that wait for it, and the
-- people who edited the call's input. For a budget those of the turn that it holds up, and of the call that started its agent; for a turn
-- without messages, the creator of the agent.
CREATE OR REPLACE FUNCTION requesters_of_approval(p_approval approval)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE
AS $function$
DECLARE
  v_turn int := CASE WHEN p_approval.kind = 'BUDGET' THEN (p_approval.input ->> 'turn')::int END;
  v_has_sender boolean := false;
  v_who jsonb;
BEGIN
  RETURN QUERY SELECT c FROM requesters_of_calls(ARRAY(
    SELECT p_approval.tool_call_id WHERE p_approval.tool_call_id IS NOT NULL
    UNION ALL SELECT r.call_id FROM wait r WHERE r.ref = p_approval.id AND r.call_id IS NOT NULL
    UNION ALL SELECT a.parent_call_id FROM agent a WHERE p_approval.kind = 'BUDGET' AND a.id = p_approval.agent_id AND a.parent_call_id IS NOT NULL)) c;

  IF p_approval.kind = 'BUDGET' THEN
    FOR v_who IN SELECT jsonb_build_object('id', s.created_by, 'kind', s.created_by_kind) FROM message s
      WHERE s.agent_id = p_approval.agent_id AND s.turn = v_turn AND s.kind IN ('USER', 'REMINDER') AND s.created_by IS NOT NULL AND s.created_by_kind <> 'SYSTEM' LOOP
      v_has_sender := true;
      RETURN NEXT v_who;
    END LOOP;
    IF NOT v_has_sender THEN
      RETURN QUERY SELECT jsonb_build_object('id', a.created_by, 'kind', a.created_by_kind) FROM agent a WHERE a.id = p_approval.agent_id;
    END IF;
  END IF;

  IF p_approval.tool_call_id IS NOT NULL THEN
    RETURN QUERY SELECT jsonb_build_object('id', e.id, 'kind', e.kind) FROM approval o JOIN decision d ON d.approval_id = o.id
      CROSS JOIN LATERAL (VALUES (d.actor_id, d.actor_kind), (d.on_behalf_of, d.on_behalf_of_kind)) e (id, kind)
      WHERE o.tool_call_id = p_approval.tool_call_id AND o.id <> p_approval.id AND o.kind <> 'TOOL_INPUT' AND d.input IS NOT NULL AND e.id IS NOT NULL;
  END IF;
END
$function$;
