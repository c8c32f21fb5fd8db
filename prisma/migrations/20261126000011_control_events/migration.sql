-- Servers of the version before may run beside it.
-- It only makes things faster.
--
-- Who reads events of approvals alone passes all others by.
CREATE INDEX CONCURRENTLY "event_control" ON "event" ("tenant", "position") WHERE "channel" = 'CONTROL';
