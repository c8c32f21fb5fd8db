-- Servers of the version before may run beside it.
--
-- allow_rule_once stands in its place.
DROP INDEX CONCURRENTLY "allow_rule_same";
