-- Servers of the version before may run beside it.
-- They store rules for templates only, each once.
--
-- A rule is stored once for a template, and once for each of its agents.
CREATE UNIQUE INDEX CONCURRENTLY "allow_rule_once" ON "allow_rule" ("tenant", "template_id", coalesce("agent_id", ''), md5("rule")) WHERE "revoked_at" IS NULL;
