-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Sweeps look for agents that could be advanced and that nobody holds: few, however many work.
CREATE INDEX CONCURRENTLY "agent_unowned" ON "agent" ("runnable_at") WHERE "runnable_at" IS NOT NULL AND "lease_owner" IS NULL;
