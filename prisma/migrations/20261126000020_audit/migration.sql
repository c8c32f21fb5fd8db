-- Servers of the version before may run beside it.
--
-- The audit's own, narrow rows of tool calls and the counters of those that have ended (docs/adr/0023). They are empty here:
-- servers fill them, a few thousand calls at a time.

-- CreateTable
CREATE TABLE "audit_call" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "state" "tool_call_state" NOT NULL,
    "verdict" TEXT,
    "error_type" TEXT,
    "has_run" BOOLEAN NOT NULL,
    "duration_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "template_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "deciders" TEXT[],

    CONSTRAINT "audit_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_count" (
    "tenant" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "state" "tool_call_state" NOT NULL,
    "calls" INTEGER NOT NULL,
    "executed" INTEGER NOT NULL,
    "timed" INTEGER NOT NULL,
    "sum_ms" DOUBLE PRECISION NOT NULL,
    "most_ms" DOUBLE PRECISION,

    CONSTRAINT "audit_count_pkey" PRIMARY KEY ("tenant","hour","name","state")
);

-- CreateTable
CREATE TABLE "audit_fold" (
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "filled_at" TIMESTAMPTZ(3) NOT NULL,
    "filled_id" TEXT NOT NULL,
    "whole_at" BIGINT,

    CONSTRAINT "audit_fold_pkey" PRIMARY KEY ("tenant")
);

-- CreateIndex
CREATE INDEX "audit_call_tenant_created_at_id_idx" ON "audit_call"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_name_created_at_id_idx" ON "audit_call"("tenant", "name", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_duration_ms_id_idx" ON "audit_call"("tenant", "duration_ms", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_name_duration_ms_id_idx" ON "audit_call"("tenant", "name", "duration_ms", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_template_id_created_at_id_idx" ON "audit_call"("tenant", "template_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_agent_id_step_idx" ON "audit_call"("agent_id", "step");

-- Most calls are completed and were allowed without a question. Of the others, all that is asked is read from these indexes.
CREATE INDEX "audit_call_state" ON "audit_call" ("tenant", "state", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "verdict", "error_type") WHERE "state" <> 'COMPLETED';
CREATE INDEX "audit_call_open" ON "audit_call" ("agent_id") WHERE "state" IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING');
CREATE INDEX "audit_call_error_type" ON "audit_call" ("tenant", "error_type", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "state", "verdict") WHERE "error_type" IS NOT NULL;
CREATE INDEX "audit_call_verdict" ON "audit_call" ("tenant", "verdict", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "state", "error_type") WHERE "verdict" <> 'allow';
CREATE INDEX "audit_call_deciders" ON "audit_call" USING gin ("deciders") WHERE "deciders" IS NOT NULL;

-- What a person may see is read from the index alone, whatever they ask of it. All rows are in it: Prisma leaves partial indexes to us.
CREATE INDEX "audit_call_created_by" ON "audit_call" ("tenant", "created_by", "created_at", "id") INCLUDE ("name", "state", "verdict", "error_type", "has_run", "duration_ms", "agent_id", "template_id") WHERE "created_by" IS NOT NULL;

-- Calls that wait are updated when they end; what is inserted in the order of time is frozen early, so that indexes alone answer.
ALTER TABLE "audit_call" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000);
