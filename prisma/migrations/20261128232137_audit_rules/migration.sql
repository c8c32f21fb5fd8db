-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- What a rule has decided is found by it, wherever the rule stands or stood. By its digest: a rule may be longer than an entry.
CREATE INDEX CONCURRENTLY "audit_call_rule" ON "audit_call" ("tenant", md5("rule"), "created_at", "id") WHERE "rule" IS NOT NULL;
