-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- The calls of a short span, or of a rare template, by their durations: the planner goes through the calls of all, and looks here at each, not at its row.
CREATE INDEX CONCURRENTLY "audit_call_duration" ON "audit_call"("tenant", "duration_ms", "id", "created_at", "state", "agent_id", "template_id");
