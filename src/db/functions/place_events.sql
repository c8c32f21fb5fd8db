-- Gives the place behind which the events of one agent are written: the seq and the position before the first of them.
-- A composed commit (src/db/commit/composed-commit.ts) asks for it when its rows are written, with the agent's row locked.
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
  v_is_locked boolean;
  v_lost timestamptz;
BEGIN
  IF p_rows <> p_expected THEN
    RAISE EXCEPTION 'agent % has other rows than its commit starts from', p_agent USING ERRCODE = 'TP005';
  END IF;
  -- The timeout, then the lock. PERFORM would be a statement of SQL; PL/pgSQL evaluates an assignment by itself.
  v_is_locked := CASE WHEN set_config('lock_timeout', '2s', true) IS NOT NULL THEN pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL END;
  SELECT greatest(p_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agent ORDER BY e.position DESC LIMIT 1)),
         greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at
  INTO base_seq, base_position, v_lost
  FROM tenant_log l WHERE l.tenant = p_tenant;
  IF v_lost IS NOT NULL THEN
    RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
  END IF;
  RETURN NEXT;
END
$function$;
