-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Seqs are given behind the lock of the agent's row, and looked up by position, in whose order they are.
DROP INDEX CONCURRENTLY "event_agent_id_seq_key";
