-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Beside agent_waiting PostgreSQL would take this one where nearly all agents are of one tenant, and go through all of those.
DROP INDEX CONCURRENTLY "agent_unowned";
