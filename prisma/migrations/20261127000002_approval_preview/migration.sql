-- Servers of the version before may run beside it.

-- AlterTable
ALTER TABLE "approval" ADD COLUMN     "preview" JSON;
