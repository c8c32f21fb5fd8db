-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- message_arrival stands in its place.
DROP INDEX CONCURRENTLY "message_agent_id_arrival_key";
