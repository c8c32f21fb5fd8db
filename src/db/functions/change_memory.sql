-- Changes entries of the memory of a template's agents, as p_memory (MemoryChange, src/db/commit/memory-change.ts) says: for commit_change
-- and commit_tenant_change, which append the events that report it.
--
-- Locks: an advisory lock that stands for the memory, so that its limits hold and no write is lost; the entries; the call that writes.
-- Errors: TP002 an entry has another version than the writer has seen, a path is taken, the memory is full, or the call has ended.
CREATE OR REPLACE FUNCTION change_memory(p_tenant text, p_agent text, p_memory json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_memory record;
  v_op record;
  v_entry memory_entry;
  v_full boolean;
  v_most record;
BEGIN
  SELECT * INTO v_memory FROM json_to_record(p_memory) AS m(
    "templateId" text, requester text, at timestamptz, "writtenBy" text, "writtenByKind" actor_kind, "callId" text, "agentId" text,
    ops json, claims json, limits json, answer json);
  SELECT * INTO v_most FROM json_to_record(v_memory.limits) AS l(entries int, bytes int, versions int, deleted int);
  PERFORM pg_advisory_xact_lock(hashtextextended(json_build_array(p_tenant, v_memory."templateId", v_memory.requester)::text, 7270736903));

  -- An entry is no folder: nothing that is there may be at, above or below a new path.
  IF EXISTS (
    SELECT FROM memory_entry e, json_array_elements_text(v_memory.claims) AS c(path)
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NULL
      AND (e.path = c.path OR starts_with(e.path, c.path || '/') OR starts_with(c.path, e.path || '/'))
  ) THEN
    RAISE EXCEPTION 'a path of memory is taken' USING ERRCODE = 'TP002';
  END IF;

  FOR v_op IN SELECT * FROM json_to_recordset(v_memory.ops) AS o(kind text, id text, path text, "to" text, expected int, text text, bytes int, lineage text) LOOP
    SELECT * INTO v_entry FROM memory_entry e
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.path = v_op.path;
    IF v_entry.id IS DISTINCT FROM v_op.id AND (v_entry.id IS NOT NULL OR v_op.kind <> 'PUT') THEN
      RAISE EXCEPTION 'another entry of memory is at %', v_op.path USING ERRCODE = 'TP002';
    END IF;
    IF v_op.expected <> (CASE WHEN v_entry.deleted_at IS NULL THEN coalesce(v_entry.version, 0) ELSE 0 END) THEN
      RAISE EXCEPTION 'entry % of memory has another version than %', v_op.path, v_op.expected USING ERRCODE = 'TP002';
    END IF;

    IF v_entry.text IS NOT NULL AND v_op.kind <> 'ERASE' THEN
      INSERT INTO memory_version (entry_id, version, tenant, path, text, bytes, lineage, written_by, written_by_kind, call_id, agent_id, at, replaced_at)
      VALUES (v_entry.id, v_entry.version, p_tenant, v_entry.path, v_entry.text, v_entry.bytes, v_entry.lineage, v_entry.written_by, v_entry.written_by_kind, v_entry.call_id, v_entry.agent_id, v_entry.updated_at, v_memory.at);
      DELETE FROM memory_version WHERE entry_id = v_entry.id AND version <= v_entry.version - v_most.versions;
    END IF;

    CASE v_op.kind
      WHEN 'PUT' THEN
        INSERT INTO memory_entry AS e (id, tenant, template_id, requester, path, text, bytes, version, lineage, written_by, written_by_kind, call_id, agent_id, created_at, updated_at)
        VALUES (v_op.id, p_tenant, v_memory."templateId", v_memory.requester, v_op.path, v_op.text, v_op.bytes, 1, v_op.lineage, v_memory."writtenBy", v_memory."writtenByKind", v_memory."callId", v_memory."agentId", v_memory.at, v_memory.at)
        ON CONFLICT (tenant, template_id, requester, path) DO UPDATE SET
          text = EXCLUDED.text, bytes = EXCLUDED.bytes, version = e.version + 1, lineage = EXCLUDED.lineage, written_by = EXCLUDED.written_by, written_by_kind = EXCLUDED.written_by_kind,
          call_id = EXCLUDED.call_id, agent_id = EXCLUDED.agent_id, created_at = CASE WHEN e.deleted_at IS NULL THEN e.created_at ELSE EXCLUDED.created_at END,
          updated_at = EXCLUDED.updated_at, deleted_at = NULL, erased_at = NULL;
      WHEN 'MOVE' THEN
        DELETE FROM memory_entry e
        WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.path = v_op."to" AND e.deleted_at IS NOT NULL;
        UPDATE memory_entry SET path = v_op."to", version = version + 1, lineage = v_op.lineage, written_by = v_memory."writtenBy", written_by_kind = v_memory."writtenByKind",
          call_id = v_memory."callId", agent_id = v_memory."agentId", updated_at = v_memory.at
        WHERE id = v_entry.id;
      WHEN 'DELETE', 'ERASE' THEN
        UPDATE memory_entry SET text = NULL, bytes = 0, version = version + 1, written_by = v_memory."writtenBy", written_by_kind = v_memory."writtenByKind",
          call_id = v_memory."callId", agent_id = v_memory."agentId", updated_at = v_memory.at, deleted_at = coalesce(deleted_at, v_memory.at),
          erased_at = CASE WHEN v_op.kind = 'ERASE' THEN v_memory.at END
        WHERE id = v_entry.id;
        IF v_op.kind = 'ERASE' THEN
          UPDATE memory_version SET text = NULL, bytes = 0, erased_at = v_memory.at WHERE entry_id = v_entry.id AND text IS NOT NULL;
        END IF;
    END CASE;
  END LOOP;

  SELECT count(*) > v_most.entries OR sum(e.bytes) > v_most.bytes INTO v_full FROM memory_entry e
  WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NULL;
  IF v_full AND EXISTS (SELECT FROM json_to_recordset(v_memory.ops) AS o(kind text) WHERE o.kind = 'PUT') THEN
    RAISE EXCEPTION 'the memory is full' USING ERRCODE = 'TP002';
  END IF;

  DELETE FROM memory_entry WHERE id IN (
    SELECT e.id FROM memory_entry e
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NOT NULL
    ORDER BY e.deleted_at DESC, e.id OFFSET v_most.deleted);

  -- The call that runs again after a crash finds its answer: it has written once.
  IF v_memory.answer IS NOT NULL THEN
    UPDATE tool_call SET output = v_memory.answer ->> 'output', details = v_memory.answer -> 'details'
    WHERE id = v_memory."callId" AND agent_id = p_agent AND state = 'EXECUTING' AND details IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'call % has ended', v_memory."callId" USING ERRCODE = 'TP002';
    END IF;
  END IF;
END
$function$;
