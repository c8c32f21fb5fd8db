-- Appends events of one or several agents of a tenant, in the order in which they are given.
--
-- Answers a row an agent: whether it was fenced, the seq before its first event, and the position before the first event
-- of its events, and the agents above it. A fenced agent's events are not written; the others' are. `fenced` is null for an agent whose row another
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
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint, ancestors text[])
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_base bigint;
  v_count int := cardinality(p_kinds);
  v_is_locked boolean;
  v_lost timestamptz;
  v_locked text[];
  v_numbers int[];
  v_seqs int[];
BEGIN
  -- PERFORM would be a statement of SQL; PL/pgSQL evaluates an assignment by itself.
  v_is_locked := pg_advisory_xact_lock(hashtextextended(p_append::text, 7270736901)) IS NOT NULL;

  -- The usual case: one agent.
  IF cardinality(p_agents) = 1 AND NOT p_retry THEN
    SELECT a.seq, a.ancestors INTO base_seq, ancestors FROM agent a
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
      v_is_locked := pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL;
      SELECT greatest(base_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agents[1] ORDER BY e.position DESC LIMIT 1)),
             greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at
      INTO base_seq, base_position, v_lost
      FROM tenant_log l WHERE l.tenant = p_tenant;
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
      SELECT a.id, NULLIF(e.seq IS NULL, true), e.seq - 1, e.position - 1, (SELECT g.ancestors FROM agent g WHERE g.id = a.id)
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
    v_is_locked := pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL;
    SELECT greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at INTO v_base, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
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
    SELECT p_agents[g.number], CASE WHEN b.number IS NOT NULL THEN false WHEN p_agents[g.number] = ANY (v_locked) THEN true END, b.seq, v_base, (SELECT a.ancestors FROM agent a WHERE a.id = p_agents[g.number])
    FROM generate_subscripts(p_agents, 1) AS g(number) LEFT JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = g.number;
END
$function$;
