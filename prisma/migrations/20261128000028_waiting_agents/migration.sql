-- Servers of the version before may run beside it.
--
-- Looks go from tenant to tenant and take the first agents of each that nobody holds: none stands behind all of another's. Servers
-- of the version before find all of them by this index as well.
CREATE INDEX "agent_waiting" ON "agent" ("tenant", "runnable_at") WHERE "runnable_at" IS NOT NULL AND "lease_owner" IS NULL;
