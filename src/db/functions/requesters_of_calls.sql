-- The requesters of calls, as { id, kind }: the senders of the messages that their turns answer. For a child, those of the calls that started
-- the agents above it as well. The end of a child in the background may begin a turn: those of the child's call are requesters of it and of its
-- retries.
--
-- The turn of the messages that a call's turn answers is the first one at or after it with messages: a retry carries its turn's messages into
-- the next turn, with those that join there. A message keeps the step at which it first joined.
CREATE OR REPLACE FUNCTION requesters_of_calls(p_calls text[])
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE
AS $function$
BEGIN
  RETURN QUERY SELECT jsonb_build_object('id', m.created_by, 'kind', m.created_by_kind) FROM (
      WITH RECURSIVE asked (id) AS (SELECT g.id FROM unnest(p_calls) AS g(id) WHERE g.id IS NOT NULL
        UNION SELECT u.parent_call_id FROM asked CROSS JOIN LATERAL (SELECT o.agent_id, o.turn FROM tool_call o WHERE o.id = asked.id OFFSET 0) o
          CROSS JOIN LATERAL (SELECT a.parent_call_id FROM agent a WHERE a.id = o.agent_id AND a.parent_call_id IS NOT NULL
            UNION ALL SELECT b.parent_call_id FROM notice n JOIN step s ON s.agent_id = n.agent_id AND s.step = n.told_at_step JOIN agent b ON b.id = n.ref
              WHERE n.agent_id = o.agent_id AND n.source IN ('CHILD', 'INTERRUPTED_CHILD') AND b.parent_call_id IS NOT NULL AND o.turn BETWEEN s.turn AND coalesce(n.retry_turn, s.turn) OFFSET 0) u) SELECT asked.id FROM asked) c
      CROSS JOIN LATERAL (SELECT t.agent_id, t.turn FROM tool_call t WHERE t.id = c.id OFFSET 0) t
      CROSS JOIN LATERAL (SELECT m.created_by, m.created_by_kind FROM message m
        WHERE m.agent_id = t.agent_id AND m.kind IN ('USER', 'REMINDER') AND m.created_by IS NOT NULL AND m.created_by_kind <> 'SYSTEM'
          AND m.turn = (SELECT min(a.turn) FROM message a WHERE a.agent_id = t.agent_id AND a.turn >= t.turn AND a.kind IN ('USER', 'REMINDER') AND a.created_by IS NOT NULL)
          AND (m.turn = t.turn OR (SELECT s.turn FROM step s WHERE s.agent_id = m.agent_id AND s.step = m.step) <= t.turn) OFFSET 0) m;
END
$function$;
