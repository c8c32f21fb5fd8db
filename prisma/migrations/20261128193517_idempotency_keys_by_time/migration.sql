-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Keys that are too old to be asked for are found by it, once an hour.
CREATE INDEX CONCURRENTLY "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");
