-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Messages of the agent itself have no arrival: they are most of all.
CREATE UNIQUE INDEX CONCURRENTLY "message_arrival" ON "message" ("agent_id", "arrival") WHERE "arrival" IS NOT NULL;
