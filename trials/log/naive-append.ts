/** The fault of trial:log: positions from a sequence, so that a later one may be visible before an earlier one. */
export const NAIVE_APPEND = `
CREATE SEQUENCE naive_position;
CREATE OR REPLACE FUNCTION append_events(p_tenant text, p_append uuid, p_retry boolean, p_owner text, p_agents text[], p_epochs integer[], p_event_agents integer[], p_channels text[], p_kinds text[], p_payloads text[], p_ats timestamp with time zone[])
 RETURNS TABLE(agent text, fenced boolean, base_seq integer, base_position bigint, ancestors text[])
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
BEGIN
  UPDATE agent a SET seq = a.seq + 1 WHERE a.id = p_agents[1] RETURNING a.seq - 1, a.ancestors INTO base_seq, ancestors;
  agent := p_agents[1];
  fenced := false;
  base_position := nextval('naive_position') - 1;
  PERFORM pg_sleep(random() * 0.1);
  INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
  VALUES (p_tenant, base_position + 1, p_agents[1], base_seq + 1, p_append, p_channels[1], p_kinds[1], p_payloads[1]::json, p_ats[1]);
  RETURN NEXT;
END
$function$`;
