-- Servers of the version before may run beside it.

-- AlterEnum
ALTER TYPE "approval_kind" ADD VALUE 'NETWORK_HOST';
