-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- "audit_call_duration" has the same order.
DROP INDEX CONCURRENTLY "audit_call_tenant_duration_ms_id_idx";
