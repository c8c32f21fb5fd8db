-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- All agents that work were in it; agent_unowned stands in its place.
DROP INDEX CONCURRENTLY "agent_runnable";
