-- Servers of the version before may run beside it.
-- They ask for no host.
--
-- An agent has one open question for a host and port: whoever asks for the same joins it.
CREATE UNIQUE INDEX CONCURRENTLY "approval_one_open_host" ON "approval" ("agent_id", "host", "port") WHERE "state" = 'PENDING' AND "host" IS NOT NULL;
