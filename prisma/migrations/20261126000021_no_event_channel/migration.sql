-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Who reads events of approvals alone finds them by "event_control", and so do the statements of the version before; all others read by position.
DROP INDEX CONCURRENTLY "event_tenant_channel_position_idx";
