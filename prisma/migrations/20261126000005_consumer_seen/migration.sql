-- Servers of the version before may run beside it.

-- AlterTable
ALTER TABLE "consumer" ADD COLUMN     "seen_at" TIMESTAMPTZ(3);
