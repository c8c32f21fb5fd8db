-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- What was decided at one place of the configuration, or by a stored rule, is found by it.
CREATE INDEX CONCURRENTLY "audit_call_place" ON "audit_call" ("tenant", "place", "created_at", "id") WHERE "place" IS NOT NULL;
