-- Servers of the version before may run beside it.
--
-- Calls that are in the audit already, and those that servers of the version before put there, have none.
ALTER TABLE "audit_call" ADD COLUMN "place" TEXT, ADD COLUMN "rule" TEXT;
