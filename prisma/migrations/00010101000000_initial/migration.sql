-- Servers of the version before may run beside it.

-- CreateEnum
CREATE TYPE "agent_state" AS ENUM ('READY', 'WORKING', 'PAUSED');

-- CreateEnum
CREATE TYPE "breakpoint" AS ENUM ('READY', 'PRE_MODEL', 'STREAMING_MODEL', 'TOOL_PENDING', 'AWAITING_APPROVAL', 'PRE_TOOL', 'TOOL_EXECUTING', 'POST_TOOL');

-- CreateEnum
CREATE TYPE "tool_call_state" AS ENUM ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING', 'COMPLETED', 'FAILED', 'DENIED', 'SEALED');

-- CreateEnum
CREATE TYPE "approval_kind" AS ENUM ('TOOL_CALL', 'OUTCOME_UNKNOWN', 'BUDGET', 'NETWORK_HOST', 'TOOL_INPUT');

-- CreateEnum
CREATE TYPE "approval_state" AS ENUM ('PENDING', 'ALLOWED', 'DENIED', 'RESOLVED', 'EXPIRED', 'SEALED', 'STALE');

-- CreateEnum
CREATE TYPE "approval_decision" AS ENUM ('ALLOW', 'DENY', 'DONE', 'RETRY', 'FAIL');

-- CreateEnum
CREATE TYPE "actor_kind" AS ENUM ('USER', 'SERVICE', 'SYSTEM');

-- CreateEnum
CREATE TYPE "message_kind" AS ENUM ('USER', 'ASSISTANT', 'TOOL_RESULTS', 'REMINDER');

-- CreateEnum
CREATE TYPE "step_state" AS ENUM ('STARTED', 'COMPLETED', 'ABORTED');

-- CreateTable
CREATE TABLE "tenant_log" (
    "tenant" TEXT NOT NULL,
    "log_id" TEXT,
    "epoch" TEXT NOT NULL,
    "lost_at" TIMESTAMPTZ(3),
    "floor" BIGINT NOT NULL DEFAULT 0,
    "compacted" BIGINT NOT NULL DEFAULT 0,
    "erased" BIGINT NOT NULL DEFAULT 0,
    "seq" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "tenant_log_pkey" PRIMARY KEY ("tenant")
);

-- CreateTable
CREATE TABLE "agent" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "title" TEXT,
    "template_id" TEXT NOT NULL,
    "template_version" JSON,
    "model" TEXT NOT NULL,
    "workspace" TEXT NOT NULL,
    "tool_timeout_ms" INTEGER,
    "permission" JSON,
    "hooks" JSON,
    "state" "agent_state" NOT NULL DEFAULT 'READY',
    "breakpoint" "breakpoint" NOT NULL DEFAULT 'READY',
    "turn" INTEGER NOT NULL DEFAULT 0,
    "step_count" INTEGER NOT NULL DEFAULT 0,
    "arrivals" INTEGER NOT NULL DEFAULT 0,
    "transcript_length" INTEGER NOT NULL DEFAULT 0,
    "last_sfp_index" INTEGER NOT NULL DEFAULT -1,
    "seq" INTEGER NOT NULL DEFAULT 0,
    "needs" INTEGER NOT NULL DEFAULT 0,
    "signal" INTEGER NOT NULL DEFAULT 0,
    "interrupt_at" TIMESTAMPTZ(3),
    "interrupt_note" TEXT,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "lease_owner" TEXT,
    "lease_epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "runnable_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_activity_at" TIMESTAMPTZ(3) NOT NULL,
    "archived_at" TIMESTAMPTZ(3),
    "retry_turn" INTEGER,
    "done_reason" TEXT,
    "parent_id" TEXT,
    "parent_call_id" TEXT,
    "depth" INTEGER NOT NULL DEFAULT 0,
    "root_id" TEXT,
    "ancestors" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "lineage" JSON,
    "forked_at" INTEGER,

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "step" (
    "agent_id" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "state" "step_state" NOT NULL,
    "model" TEXT NOT NULL,
    "stop_reason" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "output_is_estimated" BOOLEAN NOT NULL DEFAULT false,
    "cache_read_tokens" INTEGER,
    "cache_write_tokens" INTEGER,
    "context_tokens" INTEGER,
    "context_bytes" INTEGER,
    "context_window" INTEGER,
    "request" JSON,
    "cost_usd" DOUBLE PRECISION,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "copied_from" TEXT,
    "error_type" TEXT,

    CONSTRAINT "step_pkey" PRIMARY KEY ("agent_id","step")
);

-- CreateTable
CREATE TABLE "message" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "kind" "message_kind" NOT NULL,
    "content" JSON,
    "bytes" INTEGER NOT NULL,
    "arrival" INTEGER,
    "ordinal" INTEGER,
    "turn" INTEGER,
    "joined_turn" INTEGER,
    "step" INTEGER,
    "created_by" TEXT,
    "created_by_kind" "actor_kind",
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "erased_at" TIMESTAMPTZ(3),
    "withdrawn_at" TIMESTAMPTZ(3),
    "reminder" JSON,
    "shape" JSON,

    CONSTRAINT "message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "image" (
    "tenant" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "data" BYTEA NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "image_pkey" PRIMARY KEY ("tenant","digest")
);

-- CreateTable
CREATE TABLE "agent_image" (
    "agent_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,

    CONSTRAINT "agent_image_pkey" PRIMARY KEY ("agent_id","digest")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "name" TEXT NOT NULL,
    "key" BYTEA NOT NULL,

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "tool_call" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "step" INTEGER NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "provider_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "state" "tool_call_state" NOT NULL,
    "attempt" INTEGER NOT NULL,
    "requested_input" JSON,
    "effective_input" JSON,
    "rule_values" JSON,
    "input_hash" TEXT,
    "output" TEXT,
    "details" JSON,
    "images" JSON,
    "kept_output_bytes" INTEGER,
    "error" JSON,
    "is_error" BOOLEAN NOT NULL,
    "explanation" JSON,
    "verdict" TEXT,
    "hook_verdict" TEXT,
    "stages" JSON NOT NULL,
    "audit_trail" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "cancel_requested" JSON,
    "copied_from" TEXT,
    "cached_from" TEXT,
    "todos" JSON,
    "erased_at" TIMESTAMPTZ(3),
    "exit_code" INTEGER,
    "hosts" JSONB,

    CONSTRAINT "tool_call_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "approval" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "tool_call_id" TEXT,
    "host" TEXT,
    "port" INTEGER,
    "kind" "approval_kind" NOT NULL,
    "state" "approval_state" NOT NULL,
    "input" JSON,
    "input_hash" TEXT,
    "reason" TEXT NOT NULL,
    "risk" TEXT NOT NULL,
    "risk_rank" SMALLINT NOT NULL DEFAULT 1,
    "meta" JSON,
    "preview" JSON,
    "quorum" INTEGER,
    "requesters" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "erased_at" TIMESTAMPTZ(3),
    "question" JSON,
    "continuation" JSON,
    "input_digest" TEXT,

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "wait" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT,
    "call_id" TEXT,
    "kind" TEXT NOT NULL,
    "ref" TEXT NOT NULL,
    "due" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),
    "process" TEXT,

    CONSTRAINT "wait_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "schedule" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "trigger" JSON NOT NULL,
    "missed" TEXT NOT NULL,
    "next_at" TIMESTAMPTZ(3),
    "next_step" INTEGER,
    "owed" INTEGER NOT NULL DEFAULT 0,
    "triggered" INTEGER NOT NULL DEFAULT 0,
    "last_triggered_at" TIMESTAMPTZ(3),
    "paused_at" TIMESTAMPTZ(3),
    "counts_after" TIMESTAMPTZ(3),
    "moves" INTEGER NOT NULL DEFAULT 0,
    "is_of_template" BOOLEAN NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "schedule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "decision" (
    "approval_id" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "on_behalf_of" TEXT,
    "on_behalf_of_kind" "actor_kind",
    "tenant" TEXT NOT NULL,
    "decision" "approval_decision" NOT NULL,
    "note" TEXT,
    "input" JSON,
    "input_hash" TEXT,
    "decided_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "decision_pkey" PRIMARY KEY ("approval_id","actor_id")
);

-- CreateTable
CREATE TABLE "approval_snooze" (
    "approval_id" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "until" TIMESTAMPTZ(3),
    "snoozed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "approval_snooze_pkey" PRIMARY KEY ("approval_id","actor_id")
);

-- CreateTable
CREATE TABLE "delegation" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "from_id" TEXT NOT NULL,
    "from_kind" "actor_kind" NOT NULL,
    "to_id" TEXT NOT NULL,
    "to_kind" "actor_kind" NOT NULL DEFAULT 'USER',
    "note" TEXT,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,
    "revoked_by_kind" "actor_kind",
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "delegation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "allow_rule" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "rule" TEXT NOT NULL,
    "approval_id" TEXT NOT NULL,
    "note" TEXT,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,
    "revoked_by_kind" "actor_kind",
    "agent_id" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "use_count" INTEGER NOT NULL DEFAULT 0,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "allow_rule_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_pin" (
    "tenant" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "definition" TEXT NOT NULL,
    "pinned_at" TIMESTAMPTZ(3) NOT NULL,
    "pinned_by" TEXT,
    "pinned_by_kind" "actor_kind",

    CONSTRAINT "tool_pin_pkey" PRIMARY KEY ("tenant","server","tool")
);

-- CreateTable
CREATE TABLE "mcp_verdict" (
    "tenant" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "settings" TEXT NOT NULL,
    "era" TEXT NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mcp_verdict_pkey" PRIMARY KEY ("tenant","server")
);

-- CreateTable
CREATE TABLE "rule_version" (
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "rule_version_pkey" PRIMARY KEY ("tenant","agent_id")
);

-- CreateTable
CREATE TABLE "consumer" (
    "name" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "seen_at" TIMESTAMPTZ(3),

    CONSTRAINT "consumer_pkey" PRIMARY KEY ("name","tenant")
);

-- CreateTable
CREATE TABLE "actor" (
    "tenant" TEXT NOT NULL,
    "kind" "actor_kind" NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT,
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "actor_pkey" PRIMARY KEY ("tenant","kind","id")
);

-- CreateTable
CREATE TABLE "access_token" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "roles" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,
    "revoked_by_kind" "actor_kind",

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "export" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "what" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "has_texts" BOOLEAN NOT NULL,
    "filter" JSON NOT NULL,
    "since" BIGINT,
    "as_of" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "place" JSON,
    "parts" INTEGER NOT NULL DEFAULT 0,
    "rows" INTEGER NOT NULL DEFAULT 0,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "kept_bytes" BIGINT NOT NULL DEFAULT 0,
    "problem" TEXT,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "export_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deleted_agent" (
    "agent_id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "root_id" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_by" TEXT NOT NULL,
    "deleted_by_kind" "actor_kind" NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "deleted_agent_pkey" PRIMARY KEY ("agent_id")
);

-- CreateTable
CREATE TABLE "deleted_approval" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "tool_call_id" TEXT,
    "tool" TEXT,
    "host" TEXT,
    "kind" "approval_kind" NOT NULL,
    "state" "approval_state" NOT NULL,
    "risk" TEXT NOT NULL,
    "quorum" INTEGER,
    "requesters" TEXT[],
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "erased_at" TIMESTAMPTZ(3),
    "is_reversed" BOOLEAN NOT NULL,

    CONSTRAINT "deleted_approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deleted_decision" (
    "approval_id" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "on_behalf_of" TEXT,
    "on_behalf_of_kind" "actor_kind",
    "tenant" TEXT NOT NULL,
    "decision" "approval_decision" NOT NULL,
    "is_edited" BOOLEAN NOT NULL,
    "decided_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deleted_decision_pkey" PRIMARY KEY ("approval_id","actor_id")
);

-- CreateTable
CREATE TABLE "erasure" (
    "agent_id" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("agent_id","content")
);

-- CreateTable
CREATE TABLE "export_part" (
    "tenant" TEXT NOT NULL,
    "export_id" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "data" BYTEA NOT NULL,

    CONSTRAINT "export_part_pkey" PRIMARY KEY ("export_id","part")
);

-- CreateTable
CREATE TABLE "session" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "hash" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" TEXT,
    "ended_by_kind" "actor_kind",

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_configuration" (
    "tenant" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "parts" JSON NOT NULL,
    "known_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_configuration_pkey" PRIMARY KEY ("tenant")
);

-- CreateTable
CREATE TABLE "event" (
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "agent_id" TEXT,
    "seq" INTEGER NOT NULL,
    "append_id" UUID,
    "channel" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("tenant","position")
);

-- CreateTable
CREATE TABLE "todo" (
    "agent_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "title" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "assignee" TEXT,
    "notes" TEXT,

    CONSTRAINT "todo_pkey" PRIMARY KEY ("agent_id","id")
);

-- CreateTable
CREATE TABLE "known_file" (
    "agent_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "access" TEXT NOT NULL,
    "is_whole" BOOLEAN NOT NULL,
    "digest" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "modified_at" TIMESTAMPTZ(3) NOT NULL,
    "stamp" TEXT NOT NULL,
    "call_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "change" TEXT,

    CONSTRAINT "known_file_pkey" PRIMARY KEY ("agent_id","path")
);

-- CreateTable
CREATE TABLE "shell" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "call_id" TEXT NOT NULL,
    "command" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "lease_until" TIMESTAMPTZ(3),
    "state" TEXT NOT NULL,
    "end_wanted" TEXT,
    "end_reason" TEXT,
    "exit_code" INTEGER,
    "signal" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "shell_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notice" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "ref" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "told_at_step" INTEGER,
    "retry_turn" INTEGER,

    CONSTRAINT "notice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "manual" (
    "tenant" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "sections" JSON NOT NULL,
    "tools" JSON,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "manual_pkey" PRIMARY KEY ("tenant","digest")
);

-- CreateTable
CREATE TABLE "template_version" (
    "tenant" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "data" JSON NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "template_version_pkey" PRIMARY KEY ("tenant","digest")
);

-- CreateTable
CREATE TABLE "request_part" (
    "tenant" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "request_part_pkey" PRIMARY KEY ("tenant","digest")
);

-- CreateTable
CREATE TABLE "agent_request_part" (
    "agent_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,

    CONSTRAINT "agent_request_part_pkey" PRIMARY KEY ("agent_id","digest")
);

-- CreateTable
CREATE TABLE "memory_entry" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "requester" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "text" TEXT,
    "bytes" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,
    "lineage" TEXT NOT NULL,
    "written_by" TEXT,
    "written_by_kind" "actor_kind",
    "call_id" TEXT,
    "agent_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "memory_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memory_version" (
    "entry_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "text" TEXT,
    "bytes" INTEGER NOT NULL,
    "lineage" TEXT NOT NULL,
    "written_by" TEXT,
    "written_by_kind" "actor_kind",
    "call_id" TEXT,
    "agent_id" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "replaced_at" TIMESTAMPTZ(3) NOT NULL,
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "memory_version_pkey" PRIMARY KEY ("entry_id","version")
);

-- CreateTable
CREATE TABLE "budget" (
    "tenant" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "per" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "millionths" BIGINT,
    "tokens" BIGINT,
    "window" TEXT NOT NULL,
    "time_zone" TEXT NOT NULL,
    "warn_at" DOUBLE PRECISION NOT NULL,
    "action" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_by_kind" "actor_kind" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,
    "revoked_by_kind" "actor_kind",

    CONSTRAINT "budget_pkey" PRIMARY KEY ("tenant","id")
);

-- CreateTable
CREATE TABLE "budget_period" (
    "tenant" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,
    "ref" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "spent_millionths" BIGINT NOT NULL DEFAULT 0,
    "spent_tokens" BIGINT NOT NULL DEFAULT 0,
    "estimated_millionths" BIGINT NOT NULL DEFAULT 0,
    "held_millionths" BIGINT NOT NULL DEFAULT 0,
    "held_tokens" BIGINT NOT NULL DEFAULT 0,
    "is_unpriced" BOOLEAN NOT NULL DEFAULT false,
    "has_warned" BOOLEAN NOT NULL DEFAULT false,
    "raised_millionths" BIGINT,
    "raised_tokens" BIGINT,
    "raised_by" TEXT,
    "used_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "budget_period_pkey" PRIMARY KEY ("tenant","budget_id","ref","starts_at")
);

-- CreateTable
CREATE TABLE "budget_hold" (
    "agent_id" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "budget_id" TEXT NOT NULL,
    "ref" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "millionths" BIGINT NOT NULL,
    "tokens" BIGINT NOT NULL,

    CONSTRAINT "budget_hold_pkey" PRIMARY KEY ("agent_id","step","budget_id","ref","starts_at")
);

-- CreateTable
CREATE TABLE "agent_manual" (
    "agent_id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "digest" TEXT,
    "told" JSON NOT NULL,

    CONSTRAINT "agent_manual_pkey" PRIMARY KEY ("agent_id")
);

-- CreateTable
CREATE TABLE "compaction" (
    "id" TEXT NOT NULL,
    "tenant" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "from_ordinal" INTEGER,
    "to_ordinal" INTEGER,
    "words_from" INTEGER,
    "summary" TEXT,
    "restated" TEXT,
    "model" TEXT,
    "tokens_before" INTEGER,
    "tokens_after" INTEGER,
    "content_hash" TEXT,
    "instruction" TEXT,
    "requested_by" TEXT,
    "requested_by_kind" "actor_kind",
    "failure" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "output_is_estimated" BOOLEAN NOT NULL DEFAULT false,
    "cache_read_tokens" INTEGER,
    "cache_write_tokens" INTEGER,
    "cost_usd" DOUBLE PRECISION,
    "epoch" INTEGER,
    "applied_at_step" INTEGER,
    "asked_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "erased_at" TIMESTAMPTZ(3),
    "copied_from" TEXT,

    CONSTRAINT "compaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "tenant" TEXT NOT NULL,
    "actor_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "result_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("tenant","actor_id","operation","key")
);

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
    "rule" TEXT,
    "place" TEXT,
    "has_run" BOOLEAN NOT NULL,
    "duration_ms" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "template_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "deciders" TEXT[],
    "root_id" TEXT,
    "risk" TEXT,
    "waited_ms" DOUBLE PRECISION,
    "exit_code" INTEGER,
    "hosts" TEXT[],
    "model" TEXT,

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
CREATE TABLE "audit_quarter" (
    "tenant" TEXT NOT NULL,
    "quarter" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "template_id" TEXT NOT NULL,
    "state" "tool_call_state" NOT NULL,
    "verdict" TEXT NOT NULL,
    "calls" INTEGER NOT NULL,
    "executed" INTEGER NOT NULL,
    "timed" INTEGER NOT NULL,
    "sum_ms" DOUBLE PRECISION NOT NULL,
    "most_ms" DOUBLE PRECISION,
    "durations" DECIMAL NOT NULL,
    "waited" INTEGER NOT NULL,
    "waited_ms" DOUBLE PRECISION NOT NULL,
    "most_waited_ms" DOUBLE PRECISION,
    "waits" DECIMAL NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_quarter_pkey" PRIMARY KEY ("tenant","quarter","name","template_id","state","verdict")
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

-- CreateTable
CREATE TABLE "audit_step" (
    "agent_id" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "state" "step_state" NOT NULL,
    "model" TEXT NOT NULL,
    "stop_reason" TEXT,
    "input_tokens" INTEGER,
    "output_tokens" INTEGER,
    "cache_read_tokens" INTEGER,
    "cache_write_tokens" INTEGER,
    "output_is_estimated" BOOLEAN NOT NULL,
    "cost_usd" DOUBLE PRECISION,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" DOUBLE PRECISION,
    "first_token_ms" DOUBLE PRECISION,
    "is_fallback" BOOLEAN NOT NULL,
    "template_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "root_id" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "requested_by_kind" "actor_kind" NOT NULL,
    "error_type" TEXT,

    CONSTRAINT "audit_step_pkey" PRIMARY KEY ("agent_id","step")
);

-- CreateTable
CREATE TABLE "audit_turn" (
    "agent_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "tenant" TEXT NOT NULL,
    "model" TEXT,
    "reason" TEXT,
    "steps" INTEGER NOT NULL,
    "calls" INTEGER NOT NULL,
    "input_tokens" DOUBLE PRECISION NOT NULL,
    "output_tokens" DOUBLE PRECISION NOT NULL,
    "cache_read_tokens" DOUBLE PRECISION NOT NULL,
    "cache_write_tokens" DOUBLE PRECISION NOT NULL,
    "output_is_estimated" BOOLEAN NOT NULL,
    "cost_usd" DOUBLE PRECISION NOT NULL,
    "unpriced" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "duration_ms" DOUBLE PRECISION,
    "waiting_ms" DOUBLE PRECISION NOT NULL,
    "first_token_ms" DOUBLE PRECISION,
    "is_fallback" BOOLEAN NOT NULL,
    "template_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "root_id" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "requested_by_kind" "actor_kind" NOT NULL,
    "requesters" TEXT[],
    "error_type" TEXT,

    CONSTRAINT "audit_turn_pkey" PRIMARY KEY ("agent_id","turn")
);

-- CreateTable
CREATE TABLE "audit_turn_fold" (
    "tenant" TEXT NOT NULL,
    "position" BIGINT NOT NULL,
    "filled_id" TEXT NOT NULL,
    "whole_at" BIGINT,

    CONSTRAINT "audit_turn_fold_pkey" PRIMARY KEY ("tenant")
);

-- CreateIndex
CREATE INDEX "agent_tenant_created_at_id_idx" ON "agent"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "agent_tenant_created_by_created_at_id_idx" ON "agent"("tenant", "created_by", "created_at", "id");

-- CreateIndex
CREATE INDEX "agent_tenant_last_activity_at_id_idx" ON "agent"("tenant", "last_activity_at", "id");

-- CreateIndex
CREATE INDEX "agent_parent_id_idx" ON "agent"("parent_id");

-- CreateIndex
CREATE INDEX "agent_root_id_idx" ON "agent"("root_id");

-- CreateIndex
CREATE UNIQUE INDEX "message_agent_id_ordinal_key" ON "message"("agent_id", "ordinal");

-- CreateIndex
CREATE INDEX "tool_call_tenant_created_at_id_idx" ON "tool_call"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "tool_call_tenant_name_created_at_idx" ON "tool_call"("tenant", "name", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "tool_call_agent_id_step_ordinal_key" ON "tool_call"("agent_id", "step", "ordinal");

-- CreateIndex
CREATE INDEX "approval_tenant_state_requested_at_id_idx" ON "approval"("tenant", "state", "requested_at", "id");

-- CreateIndex
CREATE INDEX "approval_tenant_state_risk_rank_expires_at_requested_at_id_idx" ON "approval"("tenant", "state", "risk_rank" DESC, "expires_at", "requested_at", "id");

-- CreateIndex
CREATE INDEX "approval_tenant_requested_at_id_idx" ON "approval"("tenant", "requested_at", "id");

-- CreateIndex
CREATE INDEX "approval_tenant_closed_at_id_idx" ON "approval"("tenant", "closed_at", "id");

-- CreateIndex
CREATE INDEX "approval_agent_id_state_idx" ON "approval"("agent_id", "state");

-- CreateIndex
CREATE INDEX "approval_tool_call_id_idx" ON "approval"("tool_call_id");

-- CreateIndex
CREATE INDEX "approval_requesters_idx" ON "approval" USING GIN ("requesters");

-- CreateIndex
CREATE INDEX "wait_call_id_idx" ON "wait"("call_id");

-- CreateIndex
CREATE INDEX "wait_agent_id_idx" ON "wait"("agent_id");

-- CreateIndex
CREATE INDEX "deleted_agent_tenant_deleted_at_agent_id_idx" ON "deleted_agent"("tenant", "deleted_at", "agent_id");

-- CreateIndex
CREATE INDEX "deleted_approval_tenant_requested_at_id_idx" ON "deleted_approval"("tenant", "requested_at", "id");

-- CreateIndex
CREATE INDEX "deleted_approval_agent_id_idx" ON "deleted_approval"("agent_id");

-- CreateIndex
CREATE INDEX "deleted_approval_tool_call_id_idx" ON "deleted_approval"("tool_call_id");

-- CreateIndex
CREATE UNIQUE INDEX "wait_ref_kind_call_id_key" ON "wait"("ref", "kind", "call_id");

-- CreateIndex
CREATE INDEX "schedule_agent_id_idx" ON "schedule"("agent_id");

-- CreateIndex
CREATE INDEX "schedule_tenant_id_idx" ON "schedule"("tenant", "id");

-- CreateIndex
CREATE UNIQUE INDEX "access_token_hash_key" ON "access_token"("hash");

-- CreateIndex
CREATE INDEX "access_token_tenant_created_at_id_idx" ON "access_token"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "access_token_tenant_actor_id_created_at_id_idx" ON "access_token"("tenant", "actor_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "export_tenant_created_at_id_idx" ON "export"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "export_tenant_created_by_created_at_id_idx" ON "export"("tenant", "created_by", "created_at", "id");

-- CreateIndex
CREATE INDEX "access_token_expires_at_idx" ON "access_token"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "session_hash_key" ON "session"("hash");

-- CreateIndex
CREATE INDEX "session_tenant_created_at_id_idx" ON "session"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "session_tenant_actor_id_created_at_id_idx" ON "session"("tenant", "actor_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "session_token_hash_idx" ON "session"("token_hash");

-- CreateIndex
CREATE INDEX "session_last_used_at_idx" ON "session"("last_used_at");

-- CreateIndex
CREATE INDEX "delegation_tenant_to_id_ends_at_idx" ON "delegation"("tenant", "to_id", "ends_at");

-- CreateIndex
CREATE INDEX "delegation_tenant_created_at_id_idx" ON "delegation"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "allow_rule_tenant_template_id_idx" ON "allow_rule"("tenant", "template_id");

-- CreateIndex
CREATE INDEX "allow_rule_tenant_created_at_id_idx" ON "allow_rule"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "allow_rule_approval_id_idx" ON "allow_rule"("approval_id");

-- CreateIndex
CREATE INDEX "event_agent_id_position_idx" ON "event"("agent_id", "position");

-- CreateIndex
CREATE INDEX "shell_agent_id_started_at_id_idx" ON "shell"("agent_id", "started_at", "id");

-- CreateIndex
CREATE INDEX "agent_image_tenant_digest_idx" ON "agent_image"("tenant", "digest");

-- CreateIndex
CREATE INDEX "agent_request_part_tenant_digest_idx" ON "agent_request_part"("tenant", "digest");

-- CreateIndex
CREATE INDEX "compaction_agent_id_to_ordinal_idx" ON "compaction"("agent_id", "to_ordinal");

-- CreateIndex
CREATE INDEX "notice_agent_id_source_ref_idx" ON "notice"("agent_id", "source", "ref");

-- CreateIndex
CREATE UNIQUE INDEX "memory_entry_tenant_template_id_requester_path_key" ON "memory_entry"("tenant", "template_id", "requester", "path");

-- CreateIndex
CREATE INDEX "memory_version_replaced_at_idx" ON "memory_version"("replaced_at");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE INDEX "audit_call_tenant_created_at_id_idx" ON "audit_call"("tenant", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_name_created_at_id_idx" ON "audit_call"("tenant", "name", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_duration" ON "audit_call"("tenant", "duration_ms", "id", "created_at", "state", "agent_id", "template_id");

-- CreateIndex
CREATE INDEX "audit_call_tool_duration" ON "audit_call"("tenant", "name", "duration_ms", "id", "template_id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_template_id_created_at_id_idx" ON "audit_call"("tenant", "template_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_tenant_model_created_at_id_idx" ON "audit_call"("tenant", "model", "created_at", "id");

-- CreateIndex
CREATE INDEX "audit_call_agent_id_step_idx" ON "audit_call"("agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_started_at_agent_id_step_idx" ON "audit_step"("tenant", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_duration_ms_agent_id_step_idx" ON "audit_step"("tenant", "duration_ms", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_cost_usd_agent_id_step_idx" ON "audit_step"("tenant", "cost_usd", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_model_started_at_agent_id_step_idx" ON "audit_step"("tenant", "model", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_template_id_started_at_agent_id_step_idx" ON "audit_step"("tenant", "template_id", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_created_by_started_at_agent_id_step_idx" ON "audit_step"("tenant", "created_by", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_requested_by_started_at_agent_id_step_idx" ON "audit_step"("tenant", "requested_by", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_root_id_started_at_agent_id_step_idx" ON "audit_step"("tenant", "root_id", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_step_tenant_state_started_at_agent_id_step_idx" ON "audit_step"("tenant", "state", "started_at", "agent_id", "step");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_duration_ms_agent_id_turn_idx" ON "audit_turn"("tenant", "duration_ms", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_cost_usd_agent_id_turn_idx" ON "audit_turn"("tenant", "cost_usd", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_model_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "model", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_template_id_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "template_id", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_created_by_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "created_by", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_requested_by_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "requested_by", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_root_id_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "root_id", "started_at", "agent_id", "turn");

-- CreateIndex
CREATE INDEX "audit_turn_tenant_reason_started_at_agent_id_turn_idx" ON "audit_turn"("tenant", "reason", "started_at", "agent_id", "turn");

-- AddForeignKey
ALTER TABLE "step" ADD CONSTRAINT "step_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_call" ADD CONSTRAINT "tool_call_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_tool_call_id_fkey" FOREIGN KEY ("tool_call_id") REFERENCES "tool_call"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wait" ADD CONSTRAINT "wait_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wait" ADD CONSTRAINT "wait_call_id_fkey" FOREIGN KEY ("call_id") REFERENCES "tool_call"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "schedule" ADD CONSTRAINT "schedule_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "decision" ADD CONSTRAINT "decision_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approval"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval_snooze" ADD CONSTRAINT "approval_snooze_approval_id_fkey" FOREIGN KEY ("approval_id") REFERENCES "approval"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "todo" ADD CONSTRAINT "todo_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "known_file" ADD CONSTRAINT "known_file_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "shell" ADD CONSTRAINT "shell_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "erasure" ADD CONSTRAINT "erasure_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_image" ADD CONSTRAINT "agent_image_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_request_part" ADD CONSTRAINT "agent_request_part_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "compaction" ADD CONSTRAINT "compaction_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notice" ADD CONSTRAINT "notice_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_manual" ADD CONSTRAINT "agent_manual_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memory_version" ADD CONSTRAINT "memory_version_entry_id_fkey" FOREIGN KEY ("entry_id") REFERENCES "memory_entry"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "budget_hold" ADD CONSTRAINT "budget_hold_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma does not describe follows.

-- Checks, where a text has a few values.
ALTER TABLE "known_file" ADD CONSTRAINT "known_file_access_check" CHECK ("access" IN ('READ', 'WRITTEN'));
-- A time that servers can compute with.
ALTER TABLE "wait" ADD CONSTRAINT "wait_due" CHECK (isfinite("due"));
ALTER TABLE "schedule" ADD CONSTRAINT "schedule_missed" CHECK ("missed" IN ('SKIP', 'ONCE', 'ALL'));
ALTER TABLE "schedule" ADD CONSTRAINT "schedule_next" CHECK (isfinite("next_at"));
ALTER TABLE "shell" ADD CONSTRAINT "shell_state" CHECK ("state" IN ('RUNNING', 'ENDED'));
ALTER TABLE "memory_entry" ADD CONSTRAINT "memory_entry_lineage" CHECK ("lineage" IN ('PERSON', 'MODEL', 'OUTSIDE'));
ALTER TABLE "budget" ADD CONSTRAINT "budget_per" CHECK ("per" IN ('TURN', 'AGENT', 'TREE', 'TEMPLATE', 'TENANT', 'REQUESTER'));
ALTER TABLE "budget" ADD CONSTRAINT "budget_window" CHECK ("window" IN ('NONE', 'DAY', 'MONTH'));
ALTER TABLE "budget" ADD CONSTRAINT "budget_action" CHECK ("action" IN ('WARN', 'ASK', 'STOP'));
-- A hold that is settled is taken away once: an amount below zero would be a fault of the accounting.
ALTER TABLE "budget_period" ADD CONSTRAINT "budget_period_amounts" CHECK ("spent_millionths" >= 0 AND "spent_tokens" >= 0 AND "held_millionths" >= 0 AND "held_tokens" >= 0);
ALTER TABLE "memory_entry" ADD CONSTRAINT "memory_entry_text" CHECK (("text" IS NULL) = ("deleted_at" IS NOT NULL));

-- Rows that many commits update: their old versions go before the table has grown by them.
ALTER TABLE "agent" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE "tool_call" SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Events are never updated: rows are frozen soon after their insert, a few at a time, so that no vacuum of the whole table is ever
-- due against wraparound (each commit takes a transaction id).
ALTER TABLE "event" SET (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000, autovacuum_freeze_min_age = 0);
ALTER TABLE "message" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_freeze_min_age = 0);

ALTER TABLE "budget_period" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);

-- Calls that wait are updated when they end; rows that are inserted in the order of time are frozen early, so that indexes alone answer.
ALTER TABLE "audit_call" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE "audit_step" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE "audit_turn" SET (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000);

-- Images are compressed already.
ALTER TABLE "image" ALTER COLUMN "data" SET STORAGE EXTERNAL;

-- A server looks from tenant to tenant, and takes the first agents of each that have no owner: no tenant's agents wait behind all of another's.
CREATE INDEX "agent_waiting" ON "agent" ("tenant", "runnable_at") WHERE "runnable_at" IS NOT NULL AND "lease_owner" IS NULL;
CREATE INDEX "agent_leased" ON "agent" ("lease_owner") WHERE "lease_owner" IS NOT NULL;

-- The agents of a version: its data is removed when there are none.
CREATE INDEX "agent_of_version" ON "agent" ("tenant", ("template_version" ->> 'digest')) WHERE "template_version" IS NOT NULL;

-- The agents of a manual: it is removed when there are none.
CREATE INDEX "agent_of_manual" ON "agent_manual" ("tenant", "digest") WHERE "digest" IS NOT NULL;

-- Messages of the agent itself, which are the most, have no arrival.
CREATE UNIQUE INDEX "message_arrival" ON "message" ("agent_id", "arrival") WHERE "arrival" IS NOT NULL;
CREATE INDEX "message_waiting" ON "message" ("agent_id", "arrival") WHERE "ordinal" IS NULL;
CREATE INDEX "message_turn" ON "message" ("agent_id", "turn") WHERE "kind" = 'USER';

CREATE UNIQUE INDEX "approval_one_pending" ON "approval" ("tool_call_id") WHERE "state" = 'PENDING';
-- An agent has one open question for a host and port: further calls that ask for the same join it.
CREATE UNIQUE INDEX "approval_one_open_host" ON "approval" ("agent_id", "host", "port") WHERE "state" = 'PENDING' AND "host" IS NOT NULL;
-- Rows are searched by the ends of their ids. Without the tenant, so that no list is read by these indexes.
CREATE INDEX "agent_id_end" ON "agent" (reverse("id") text_pattern_ops);
CREATE INDEX "approval_id_end" ON "approval" (reverse("id") text_pattern_ops);
CREATE INDEX "audit_call_id_end" ON "audit_call" (reverse("id") text_pattern_ops);
-- An agent's open waits, and the only times that servers look for: tenant by tenant, so that none waits behind another.
CREATE INDEX "wait_open" ON "wait" ("agent_id") WHERE "settled_at" IS NULL;
CREATE INDEX "deleted_agent_left" ON "deleted_agent" ("deleted_at", "agent_id") WHERE "removed_at" IS NULL;
CREATE INDEX "wait_due" ON "wait" ("tenant", "due") WHERE "settled_at" IS NULL AND "due" IS NOT NULL;
CREATE INDEX "wait_process" ON "wait" ("process") WHERE "settled_at" IS NULL AND "process" IS NOT NULL;
-- A rule is stored once for a template, and once for each of its agents.
CREATE UNIQUE INDEX "allow_rule_once" ON "allow_rule" ("tenant", "template_id", coalesce("agent_id", ''), md5("rule")) WHERE "revoked_at" IS NULL;

-- Appends whose answer was lost are looked up by these.
CREATE UNIQUE INDEX "event_append" ON "event" ("append_id", "agent_id") WHERE "append_id" IS NOT NULL;
CREATE UNIQUE INDEX "event_append_of_tenant" ON "event" ("append_id") WHERE "append_id" IS NOT NULL AND "agent_id" IS NULL;
CREATE UNIQUE INDEX "event_seq_of_tenant" ON "event" ("tenant", "seq") WHERE "agent_id" IS NULL;
-- Readers of the events of approvals alone pass all others by.
CREATE INDEX "event_control" ON "event" ("tenant", "position") WHERE "channel" = 'CONTROL';
CREATE INDEX "event_permission_required" ON "event" (("payload" #>> '{request,approvalId}')) WHERE "kind" = 'PERMISSION_REQUIRED';

-- Shells that run, by the end of their lease, and by their agent.
CREATE INDEX "shell_running" ON "shell" ("lease_until") WHERE "state" = 'RUNNING';
CREATE INDEX "shell_running_of_agent" ON "shell" ("agent_id") WHERE "state" = 'RUNNING';

-- Deleted entries of memory: the oldest are removed.
CREATE INDEX "memory_entry_deleted" ON "memory_entry" ("deleted_at") WHERE "deleted_at" IS NOT NULL;

-- An agent has one compaction that is asked for or under way.
CREATE UNIQUE INDEX "compaction_open" ON "compaction" ("agent_id") WHERE "state" IN ('ASKED', 'STARTED');

-- What the next step tells: a newer notice of the same thing replaces one that is not told yet.
CREATE UNIQUE INDEX "notice_untold" ON "notice" ("agent_id", "source", "ref") WHERE "told_at_step" IS NULL;

-- Most calls are completed and were allowed without a question. Questions about the others are answered from these indexes alone.
CREATE INDEX "audit_call_state" ON "audit_call" ("tenant", "state", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "verdict", "error_type", "deciders") WHERE "state" <> 'COMPLETED';
CREATE INDEX "audit_call_state_duration" ON "audit_call" ("tenant", "state", "duration_ms", "id") INCLUDE ("name", "agent_id", "created_at", "has_run", "template_id", "created_by", "verdict", "error_type", "deciders") WHERE "state" <> 'COMPLETED';
CREATE INDEX "audit_call_open" ON "audit_call" ("agent_id") WHERE "state" IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING');
CREATE INDEX "audit_call_error_type" ON "audit_call" ("tenant", "error_type", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "state", "verdict", "deciders") WHERE "error_type" IS NOT NULL;
CREATE INDEX "audit_call_verdict" ON "audit_call" ("tenant", "verdict", "created_at", "id") INCLUDE ("name", "agent_id", "duration_ms", "has_run", "template_id", "created_by", "state", "error_type", "deciders") WHERE "verdict" <> 'allow';
CREATE INDEX "audit_call_deciders" ON "audit_call" USING gin ("deciders") WHERE "deciders" IS NOT NULL;
CREATE INDEX "audit_call_hosts" ON "audit_call" USING gin ("hosts") WHERE "hosts" IS NOT NULL;
CREATE INDEX "audit_call_exit_code" ON "audit_call" ("tenant", "exit_code", "created_at", "id") WHERE "exit_code" IS NOT NULL;
-- Calls by the place of the configuration, or the stored rule, that decided; and by the rule's text, wherever it stands. By its digest: a rule may be longer than an entry.
CREATE INDEX "audit_call_place" ON "audit_call" ("tenant", "place", "created_at", "id") WHERE "place" IS NOT NULL;
CREATE INDEX "audit_call_rule" ON "audit_call" ("tenant", md5("rule"), "created_at", "id") WHERE "rule" IS NOT NULL;
-- All questions about the calls that a person may see are answered from this index alone. All rows are in it: Prisma leaves partial indexes to us.
CREATE INDEX "audit_call_created_by" ON "audit_call" ("tenant", "created_by", "created_at", "id") INCLUDE ("name", "state", "verdict", "error_type", "has_run", "duration_ms", "agent_id", "template_id", "deciders") WHERE "created_by" IS NOT NULL;

-- Failed model calls are few.
CREATE INDEX "audit_step_error_type" ON "audit_step" ("tenant", "error_type", "started_at", "agent_id", "step") WHERE "error_type" IS NOT NULL;
CREATE INDEX "audit_turn_error_type" ON "audit_turn" ("tenant", "error_type", "started_at", "agent_id", "turn") WHERE "error_type" IS NOT NULL;

-- Parts of exports are compressed already.
ALTER TABLE "export_part" ALTER COLUMN "data" SET STORAGE EXTERNAL;

-- The keys of this database, of random UUIDs: 366 bits.
INSERT INTO "signing_key" ("name", "key") VALUES
  ('images', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))),
  ('calls', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))),
  ('exports', sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

-- Written by `npm run migration` from src/db/functions/account_budgets.sql: change it there.
-- Accounts for the model calls of one agent on its budgets, as p_accounts (BudgetAccounts, src/db/commit/budget-accounts.ts) says: for commit_change.
--
-- settled: the end of a step. Its real cost replaces its holds. A step of unknown cost costs at least as much as was held (isLost).
-- charges: model calls without a hold of their own, on the periods that they name.
-- holds:   a step that starts. Refused if the expected cost does not fit by now, or if another step has warned meanwhile.
--
-- Locks: the periods of all these budgets, by id: after the rows of the agent, before the tenant's log.
-- Errors: TP002 a budget does not allow the step, or has warned by now.
CREATE OR REPLACE FUNCTION account_budgets(p_tenant text, p_agent text, p_accounts json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_settled record;
  v_step int := (p_accounts -> 'holds' ->> 'step')::int;
BEGIN
  SELECT * INTO v_settled FROM json_to_record(p_accounts -> 'settled') AS s(step int, millionths bigint, tokens bigint, "isEstimated" boolean, "isLost" boolean);

  INSERT INTO budget_period (tenant, budget_id, ref, starts_at, ends_at, used_at)
  SELECT DISTINCT ON (h."budgetId", h.ref, h."startsAt") p_tenant, h."budgetId", h.ref, h."startsAt", h."endsAt", policy_time()
  FROM (SELECT * FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS p("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz)
        UNION ALL SELECT p.* FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json), json_to_recordset(c.periods) AS p("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz)) h
  ORDER BY h."budgetId", h.ref, h."startsAt" ON CONFLICT DO NOTHING;

  PERFORM FROM budget_period p
  WHERE p.tenant = p_tenant AND (p.budget_id, p.ref, p.starts_at) IN (
    SELECT h.budget_id, h.ref, h.starts_at FROM budget_hold h WHERE h.agent_id = p_agent AND h.step = v_settled.step
    UNION ALL SELECT h."budgetId", h.ref, h."startsAt" FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz)
    UNION ALL SELECT h."budgetId", h.ref, h."startsAt" FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json), json_to_recordset(c.periods) AS h("budgetId" text, ref text, "startsAt" timestamptz))
  ORDER BY p.budget_id, p.ref, p.starts_at FOR NO KEY UPDATE;

  IF v_settled.step IS NOT NULL THEN
    UPDATE budget_period p SET
      held_millionths = p.held_millionths - h.millionths, held_tokens = p.held_tokens - h.tokens,
      spent_millionths = p.spent_millionths + c.millionths, spent_tokens = p.spent_tokens + c.tokens,
      estimated_millionths = p.estimated_millionths + CASE WHEN v_settled."isEstimated" OR v_settled."isLost" THEN c.millionths ELSE 0 END,
      is_unpriced = p.is_unpriced OR v_settled.millionths IS NULL AND c.tokens > 0, used_at = policy_time()
    FROM budget_hold h, LATERAL (SELECT
        CASE WHEN v_settled."isLost" THEN greatest(h.millionths, coalesce(v_settled.millionths, 0)) ELSE coalesce(v_settled.millionths, 0) END AS millionths,
        CASE WHEN v_settled."isLost" THEN greatest(h.tokens, v_settled.tokens) ELSE v_settled.tokens END AS tokens) c
    WHERE h.agent_id = p_agent AND h.step = v_settled.step AND p.tenant = h.tenant AND p.budget_id = h.budget_id AND p.ref = h.ref AND p.starts_at = h.starts_at;
    DELETE FROM budget_hold WHERE agent_id = p_agent AND step = v_settled.step;
  END IF;

  UPDATE budget_period p SET
    spent_millionths = p.spent_millionths + c.millionths, spent_tokens = p.spent_tokens + c.tokens,
    estimated_millionths = p.estimated_millionths + c.estimated, is_unpriced = p.is_unpriced OR c.unpriced, used_at = policy_time()
  FROM (SELECT h."budgetId", h.ref, h."startsAt", sum(coalesce(c.millionths, 0))::bigint AS millionths, sum(c.tokens)::bigint AS tokens,
          sum(CASE WHEN c."isEstimated" THEN coalesce(c.millionths, 0) ELSE 0 END)::bigint AS estimated, bool_or(c.millionths IS NULL) AS unpriced
        FROM json_to_recordset(p_accounts -> 'charges') AS c(periods json, millionths bigint, tokens bigint, "isEstimated" boolean),
          json_to_recordset(c.periods) AS h("budgetId" text, ref text, "startsAt" timestamptz) GROUP BY 1, 2, 3) c
  WHERE p.tenant = p_tenant AND p.budget_id = c."budgetId" AND p.ref = c.ref AND p.starts_at = c."startsAt";

  IF v_step IS NULL THEN
    RETURN;
  END IF;
  -- All of them are locked: what is read here is what stands when the step starts.
  IF EXISTS (
    SELECT FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint, "mostMillionths" bigint, "mostTokens" bigint, warns boolean)
    JOIN budget_period p ON p.tenant = p_tenant AND p.budget_id = h."budgetId" AND p.ref = h.ref AND p.starts_at = h."startsAt"
    WHERE h.millionths > 0 AND p.spent_millionths + p.held_millionths + h.millionths > h."mostMillionths" OR h.tokens > 0 AND p.spent_tokens + p.held_tokens + h.tokens > h."mostTokens" OR h.warns AND p.has_warned
  ) THEN
    RAISE EXCEPTION 'the budgets of agent % have changed since step % was admitted', p_agent, v_step USING ERRCODE = 'TP002';
  END IF;
  INSERT INTO budget_hold (agent_id, step, tenant, budget_id, ref, starts_at, millionths, tokens)
  SELECT p_agent, v_step, p_tenant, h."budgetId", h.ref, h."startsAt", h.millionths, h.tokens
  FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint);
  UPDATE budget_period p SET held_millionths = p.held_millionths + h.millionths, held_tokens = p.held_tokens + h.tokens, has_warned = p.has_warned OR h.warns, used_at = policy_time()
  FROM json_to_recordset(p_accounts -> 'holds' -> 'periods') AS h("budgetId" text, ref text, "startsAt" timestamptz, millionths bigint, tokens bigint, warns boolean)
  WHERE p.tenant = p_tenant AND p.budget_id = h."budgetId" AND p.ref = h.ref AND p.starts_at = h."startsAt";
END
$function$;


-- Written by `npm run migration` from src/db/functions/append_events.sql: change it there.
-- Appends events of one or several agents of a tenant, in the order in which they are given.
--
-- Answers a row an agent: whether it was fenced, the seq before its first event, and the position before the first event
-- of its events, and the agents above it. A fenced agent's events are not written; the others' are. `fenced` is null for an agent whose row another
-- transaction holds: its events were not written either, and may be appended again, with the same p_append. So a row that
-- is locked for long concerns its agent only (invariant 13).
--
-- p_owner, p_epochs: an agent whose epoch is null is not fenced; of the others the lease must be p_owner's at that epoch.
-- p_event_agents:    for each event, the place of its agent in p_agents, from 1.
-- p_retry:           an answer was lost: what the append has written before is answered instead of being written again.
--
-- Locks: an advisory lock that stands for the append, so that a retry does not pass a first try that is still under way;
-- the agents' rows by id, then an advisory lock that stands for the tenant's log, last, until after COMMIT; nothing
-- is awaited between the two. Tenants whose names have the same hash share one, and only wait for each other.
-- Invariants 2 (positions without gaps, in commit order) and 4 (a stale lease writes nothing).
-- Neither seq nor position has a counter that each append would update: beside a snapshot that is kept open, a counter's
-- old versions pile up, and each append walks them (docs/adr/0014). Every statement of a VOLATILE function has a snapshot
-- of its own, so that what is read behind a lock is what was committed before it (isolation READ COMMITTED).
--
-- Errors: TP004 where a failover lost commits of the log: nothing is written before `npm run restored`; unique_violation where a first try that was delayed comes after its retry (event_append).
CREATE OR REPLACE FUNCTION append_events(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_owner text,
  p_agents text[],
  p_epochs int[],
  p_event_agents int[],
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint, ancestors text[])
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_base bigint;
  v_count int := cardinality(p_kinds);
  v_is_locked boolean;
  v_lost timestamptz;
  v_locked text[];
  v_numbers int[];
  v_seqs int[];
BEGIN
  -- PERFORM would be a statement of SQL; PL/pgSQL evaluates an assignment by itself.
  v_is_locked := pg_advisory_xact_lock(hashtextextended(p_append::text, 7270736901)) IS NOT NULL;

  -- The usual case: one agent.
  IF cardinality(p_agents) = 1 AND NOT p_retry THEN
    SELECT a.seq, a.ancestors INTO base_seq, ancestors FROM agent a
    WHERE a.id = p_agents[1] AND a.tenant = p_tenant AND (p_epochs[1] IS NULL OR (a.lease_epoch = p_epochs[1] AND a.lease_owner = p_owner))
    FOR NO KEY UPDATE SKIP LOCKED;
    agent := p_agents[1];
    fenced := false;
    IF NOT FOUND THEN
      fenced := NULLIF(NOT EXISTS (
        SELECT FROM agent a
        WHERE a.id = p_agents[1] AND a.tenant = p_tenant AND (p_epochs[1] IS NULL OR (a.lease_epoch = p_epochs[1] AND a.lease_owner = p_owner))
      ), false);
    ELSIF v_count > 0 THEN
      v_is_locked := pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL;
      SELECT greatest(base_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agents[1] ORDER BY e.position DESC LIMIT 1)),
             greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at
      INTO base_seq, base_position, v_lost
      FROM tenant_log l WHERE l.tenant = p_tenant;
      IF v_lost IS NOT NULL THEN
        RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
      END IF;
      IF v_count = 1 THEN
        INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
        VALUES (p_tenant, base_position + 1, p_agents[1], base_seq + 1, p_append, p_channels[1], p_kinds[1], p_payloads[1]::json, p_ats[1]);
      ELSE
        INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
        SELECT p_tenant, base_position + e.place, p_agents[1], base_seq + e.place, CASE WHEN e.place = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
        FROM unnest(p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(channel, kind, payload, at, place);
      END IF;
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = ANY (p_agents)) THEN
    RETURN QUERY
      SELECT a.id, NULLIF(e.seq IS NULL, true), e.seq - 1, e.position - 1, (SELECT g.ancestors FROM agent g WHERE g.id = a.id)
      FROM unnest(p_agents) AS a(id) LEFT JOIN event e ON e.append_id = p_append AND e.agent_id = a.id;
    RETURN;
  END IF;

  v_locked := ARRAY(SELECT id FROM agent WHERE id = ANY (p_agents) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED);

  SELECT array_agg(g.number::int), array_agg(greatest(a.seq, (SELECT e.seq FROM event e WHERE e.agent_id = a.id ORDER BY e.position DESC LIMIT 1))),
         sum((SELECT count(*) FROM unnest(p_event_agents) AS x(number) WHERE x.number = g.number))
  INTO v_numbers, v_seqs, v_count
  FROM unnest(p_agents, p_epochs) WITH ORDINALITY AS g(id, epoch, number)
  JOIN agent a ON a.id = g.id AND a.tenant = p_tenant AND (g.epoch IS NULL OR (a.lease_epoch = g.epoch AND a.lease_owner = p_owner))
  WHERE a.id = ANY (v_locked);

  IF v_count > 0 THEN
    v_is_locked := pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL;
    SELECT greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at INTO v_base, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
    IF v_lost IS NOT NULL THEN
      RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
    END IF;
    INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
    SELECT p_tenant, v_base + row_number() OVER batch, p_agents[e.number], b.seq + row_number() OVER own,
           CASE WHEN row_number() OVER own = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
    FROM unnest(p_event_agents, p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(number, channel, kind, payload, at, place)
    JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = e.number
    WINDOW batch AS (ORDER BY e.place), own AS (PARTITION BY e.number ORDER BY e.place);
  END IF;

  RETURN QUERY
    SELECT p_agents[g.number], CASE WHEN b.number IS NOT NULL THEN false WHEN p_agents[g.number] = ANY (v_locked) THEN true END, b.seq, v_base, (SELECT a.ancestors FROM agent a WHERE a.id = p_agents[g.number])
    FROM generate_subscripts(p_agents, 1) AS g(number) LEFT JOIN unnest(v_numbers, v_seqs) AS b(number, seq) ON b.number = g.number;
END
$function$;


-- Written by `npm run migration` from src/db/functions/change_memory.sql: change it there.
-- Changes entries of the memory of a template's agents, as p_memory (MemoryChange, src/db/commit/memory-change.ts) says: for commit_change
-- and commit_tenant_change, which append the events that report it.
--
-- Locks: an advisory lock that stands for the memory, so that its limits hold and no write is lost; the entries; the call that writes.
-- Errors: TP002 an entry has another version than the writer has seen, a path is taken, the memory is full, or the call has ended.
CREATE OR REPLACE FUNCTION change_memory(p_tenant text, p_agent text, p_memory json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_memory record;
  v_op record;
  v_entry memory_entry;
  v_full boolean;
  v_most record;
BEGIN
  SELECT * INTO v_memory FROM json_to_record(p_memory) AS m(
    "templateId" text, requester text, at timestamptz, "writtenBy" text, "writtenByKind" actor_kind, "callId" text, "agentId" text,
    ops json, claims json, limits json, answer json);
  SELECT * INTO v_most FROM json_to_record(v_memory.limits) AS l(entries int, bytes int, versions int, deleted int);
  PERFORM pg_advisory_xact_lock(hashtextextended(json_build_array(p_tenant, v_memory."templateId", v_memory.requester)::text, 7270736903));

  -- An entry is no folder: nothing that is there may be at, above or below a new path.
  IF EXISTS (
    SELECT FROM memory_entry e, json_array_elements_text(v_memory.claims) AS c(path)
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NULL
      AND (e.path = c.path OR starts_with(e.path, c.path || '/') OR starts_with(c.path, e.path || '/'))
  ) THEN
    RAISE EXCEPTION 'a path of memory is taken' USING ERRCODE = 'TP002';
  END IF;

  FOR v_op IN SELECT * FROM json_to_recordset(v_memory.ops) AS o(kind text, id text, path text, "to" text, expected int, text text, bytes int, lineage text) LOOP
    SELECT * INTO v_entry FROM memory_entry e
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.path = v_op.path;
    IF v_entry.id IS DISTINCT FROM v_op.id AND (v_entry.id IS NOT NULL OR v_op.kind <> 'PUT') THEN
      RAISE EXCEPTION 'another entry of memory is at %', v_op.path USING ERRCODE = 'TP002';
    END IF;
    IF v_op.expected <> (CASE WHEN v_entry.deleted_at IS NULL THEN coalesce(v_entry.version, 0) ELSE 0 END) THEN
      RAISE EXCEPTION 'entry % of memory has another version than %', v_op.path, v_op.expected USING ERRCODE = 'TP002';
    END IF;

    IF v_entry.text IS NOT NULL AND v_op.kind <> 'ERASE' THEN
      INSERT INTO memory_version (entry_id, version, tenant, path, text, bytes, lineage, written_by, written_by_kind, call_id, agent_id, at, replaced_at)
      VALUES (v_entry.id, v_entry.version, p_tenant, v_entry.path, v_entry.text, v_entry.bytes, v_entry.lineage, v_entry.written_by, v_entry.written_by_kind, v_entry.call_id, v_entry.agent_id, v_entry.updated_at, v_memory.at);
      DELETE FROM memory_version WHERE entry_id = v_entry.id AND version <= v_entry.version - v_most.versions;
    END IF;

    CASE v_op.kind
      WHEN 'PUT' THEN
        INSERT INTO memory_entry AS e (id, tenant, template_id, requester, path, text, bytes, version, lineage, written_by, written_by_kind, call_id, agent_id, created_at, updated_at)
        VALUES (v_op.id, p_tenant, v_memory."templateId", v_memory.requester, v_op.path, v_op.text, v_op.bytes, 1, v_op.lineage, v_memory."writtenBy", v_memory."writtenByKind", v_memory."callId", v_memory."agentId", v_memory.at, v_memory.at)
        ON CONFLICT (tenant, template_id, requester, path) DO UPDATE SET
          text = EXCLUDED.text, bytes = EXCLUDED.bytes, version = e.version + 1, lineage = EXCLUDED.lineage, written_by = EXCLUDED.written_by, written_by_kind = EXCLUDED.written_by_kind,
          call_id = EXCLUDED.call_id, agent_id = EXCLUDED.agent_id, created_at = CASE WHEN e.deleted_at IS NULL THEN e.created_at ELSE EXCLUDED.created_at END,
          updated_at = EXCLUDED.updated_at, deleted_at = NULL, erased_at = NULL;
      WHEN 'MOVE' THEN
        DELETE FROM memory_entry e
        WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.path = v_op."to" AND e.deleted_at IS NOT NULL;
        UPDATE memory_entry SET path = v_op."to", version = version + 1, lineage = v_op.lineage, written_by = v_memory."writtenBy", written_by_kind = v_memory."writtenByKind",
          call_id = v_memory."callId", agent_id = v_memory."agentId", updated_at = v_memory.at
        WHERE id = v_entry.id;
      WHEN 'DELETE', 'ERASE' THEN
        UPDATE memory_entry SET text = NULL, bytes = 0, version = version + 1, written_by = v_memory."writtenBy", written_by_kind = v_memory."writtenByKind",
          call_id = v_memory."callId", agent_id = v_memory."agentId", updated_at = v_memory.at, deleted_at = coalesce(deleted_at, v_memory.at),
          erased_at = CASE WHEN v_op.kind = 'ERASE' THEN v_memory.at END
        WHERE id = v_entry.id;
        IF v_op.kind = 'ERASE' THEN
          UPDATE memory_version SET text = NULL, bytes = 0, erased_at = v_memory.at WHERE entry_id = v_entry.id AND text IS NOT NULL;
        END IF;
    END CASE;
  END LOOP;

  SELECT count(*) > v_most.entries OR sum(e.bytes) > v_most.bytes INTO v_full FROM memory_entry e
  WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NULL;
  IF v_full AND EXISTS (SELECT FROM json_to_recordset(v_memory.ops) AS o(kind text) WHERE o.kind = 'PUT') THEN
    RAISE EXCEPTION 'the memory is full' USING ERRCODE = 'TP002';
  END IF;

  DELETE FROM memory_entry WHERE id IN (
    SELECT e.id FROM memory_entry e
    WHERE e.tenant = p_tenant AND e.template_id = v_memory."templateId" AND e.requester = v_memory.requester AND e.deleted_at IS NOT NULL
    ORDER BY e.deleted_at DESC, e.id OFFSET v_most.deleted);

  -- The call that runs again after a crash finds its answer: it has written once.
  IF v_memory.answer IS NOT NULL THEN
    UPDATE tool_call SET output = v_memory.answer ->> 'output', details = v_memory.answer -> 'details'
    WHERE id = v_memory."callId" AND agent_id = p_agent AND state = 'EXECUTING' AND details IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'call % has ended', v_memory."callId" USING ERRCODE = 'TP002';
    END IF;
  END IF;
END
$function$;


-- Written by `npm run migration` from src/db/functions/commit_change.sql: change it there.
-- Changes rows of one agent, as p_change (src/db/commit/change.ts) says, and appends the events that report it, or does neither.
-- Answers what append_events answers, and how often the agent had been signalled before.
--
-- Most changes of owners have a statement of their own (src/db/commit/composed-commit.ts), which leaves the same rows: here is what
-- depends on what others have committed meanwhile, and why a change was refused. What $(…) stands for are the columns of
-- src/db/commit/columns.ts, written out by `npm run migration`.
--
-- p_owner, p_epoch: what the owner of a lease writes; without an epoch it is not fenced.
-- p_retry:          an answer was lost: where the append has events, they are answered instead of being written again. A write
--                   without events that starts a step is known by the step: at one epoch, nobody else writes it.
--
-- Locks: the agent's row first; of a new child, of an archived agent and of a child that is not made, an advisory lock that stands for the tree; new images, by digest; its approvals, calls, their waits, schedules, shells, notices and compactions, in the order of the change; a new manual, by digest; a version of a template, by digest; memory, as change_memory does it; periods of budgets, as account_budgets does it; the tenant's log, last.
-- Errors: TP001 the lease is another's; TP002 a row is not in the state that the change starts from, or what it would
-- start by no longer stands; TP003 the idempotency key was used before. Each of them changes nothing.
-- Invariants 3 (rows and events in one transaction), 4 (fence), 5 (EXECUTING is committed before a tool starts),
-- 7 (what was allowed still stands when it starts) and 14 (nothing starts after an acknowledged interrupt or cancellation).
CREATE OR REPLACE FUNCTION commit_change(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_owner text,
  p_agent text,
  p_epoch int,
  p_change json,
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (agent text, fenced boolean, base_seq int, base_position bigint, signal int, ancestors text[])
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_agent agent;
  v_change record;
  v_closing record;
  v_item record;
  v_state text;
  v_signal int;
  v_joined int;
  v_is_idle boolean := false;
  v_has_shells boolean := false;
  v_written int;
  v_rules json;
BEGIN
  SELECT * INTO v_change FROM json_to_record(p_change) AS c(
    "idempotencyKey" json, "createAgent" json, "treeLimit" json, fork json, "expectSignal" int, "queueLimit" json, agent json, wake boolean, interrupt json, retry json, cancel json, rename json, archive json, withdraw json, received json, images json, joins json, messages json,
    "stepEnd" json, "stepStart" json, "approvalTransitions" json, decision json, "expectDecisions" int, "keepRule" json, "toolCalls" json, transitions json, approvals json, waits json, "expectAsking" json, notices json, "noticesDropped" json, "noticesTold" json, manual json, "agentManual" json, "templateVersion" json, "versionData" json, todos json, "todosBy" text, "knownFiles" json, "fileChanges" json, "interruptEnd" json, "toldNote" text, "shellStart" json, "shellEnd" json, returns boolean, "childAwaited" json, "waitSettled" json, watch boolean, "filesFound" json, "schedulesMade" json, "mostSchedules" int, "schedulesMoved" json, "scheduleEnded" json, memory json, budgets json, "budgetRaise" json, compactions json, "compactionMoved" json, "requestParts" json);

  IF v_change."createAgent" IS NULL THEN
    -- A row that others hold for long keeps a connection for a moment only: the caller tries again without one.
    PERFORM set_config('lock_timeout', '250ms', true);
    SELECT * INTO v_agent FROM agent WHERE id = p_agent AND tenant = p_tenant FOR NO KEY UPDATE;
    PERFORM set_config('lock_timeout', '2s', true);
    IF v_agent.id IS NULL THEN
      RAISE EXCEPTION 'agent % does not exist', p_agent USING ERRCODE = 'TP002';
    END IF;
    v_signal := v_agent.signal;
  END IF;

  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent) THEN
    RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal, (SELECT a.ancestors FROM agent a WHERE a.id = p_agent) FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
    RETURN;
  END IF;

  IF p_epoch IS NOT NULL AND (v_agent.lease_epoch, v_agent.lease_owner) IS DISTINCT FROM (p_epoch, p_owner) THEN
    RAISE EXCEPTION 'the lease of agent % is at epoch % of %, not at % of %', p_agent, v_agent.lease_epoch, v_agent.lease_owner, p_epoch, p_owner USING ERRCODE = 'TP001';
  END IF;

  IF p_retry AND cardinality(p_kinds) = 0 AND EXISTS (SELECT FROM step s WHERE s.agent_id = p_agent AND s.step = (v_change."stepStart" ->> 'step')::int) THEN
    RETURN QUERY SELECT p_agent, false, v_agent.seq, 0::bigint, v_signal, v_agent.ancestors;
    RETURN;
  END IF;

  IF v_change."idempotencyKey" IS NOT NULL THEN
    INSERT INTO idempotency_key SELECT * FROM json_populate_record(null::idempotency_key, v_change."idempotencyKey") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the idempotency key was used before' USING ERRCODE = 'TP003';
    END IF;
  END IF;

  IF v_change."createAgent" IS NOT NULL THEN
    INSERT INTO agent SELECT * FROM json_populate_record(null::agent, v_change."createAgent") ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      -- The first try of this append was still under way, and has committed by now.
      RETURN QUERY SELECT e.agent_id, false, e.seq - 1, e.position - 1, v_signal, (SELECT a.ancestors FROM agent a WHERE a.id = p_agent) FROM event e WHERE e.append_id = p_append AND e.agent_id = p_agent;
      RETURN;
    END IF;
  END IF;

  -- Two parents may start a child at the same time: those of one tree are made one after the other, each with its own count.
  IF v_change."treeLimit" IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(v_change."treeLimit" ->> 'rootId', 7270736902));
    -- Behind that lock: since the caller looked, an agent above may have been archived, or the wait or its call have ended.
    IF EXISTS (SELECT FROM agent c JOIN agent o ON o.id = ANY (c.ancestors) WHERE c.id = p_agent AND o.archived_at IS NOT NULL)
       OR NOT EXISTS (SELECT FROM wait w JOIN tool_call t ON t.id = w.call_id WHERE w.ref = p_agent AND w.settled_at IS NULL AND (w.kind = 'BACKGROUND_CHILD' OR w.kind = 'CHILD' AND t.state = 'WAITING')) THEN
      RAISE EXCEPTION 'nobody waits for agent % any more', p_agent USING ERRCODE = 'TP002';
    END IF;
    IF 1 + (SELECT count(*) FROM agent c JOIN wait w ON w.ref = c.id AND w.kind IN ('CHILD', 'BACKGROUND_CHILD') AND w.settled_at IS NULL
            WHERE c.root_id = v_change."treeLimit" ->> 'rootId') > (v_change."treeLimit" ->> 'agents')::int THEN
      RAISE EXCEPTION 'the tree of agent % is full', v_change."treeLimit" ->> 'rootId' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- A fork begins with what the agent it was forked from had up to a message that both share: the transcript, the steps
  -- and calls of its answers, and the todos as the last of those calls left them. Copies name the original: nothing has happened, or was paid for, twice.
  -- Each row is made once, beside its original: where a query answers it, its function would be called for each column.
  IF v_change.fork IS NOT NULL THEN
    -- An agent that is deleted meanwhile leaves the tenant.
    PERFORM FROM agent o WHERE o.id = v_change.fork ->> 'from' AND o.tenant = p_tenant FOR SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'agent % does not exist', v_change.fork ->> 'from' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, turn, joined_turn, step, created_by, created_by_kind, created_at, erased_at, reminder, shape)
    SELECT gen_random_uuid()::text, m.tenant, p_agent, m.kind, m.content, m.bytes, m.ordinal, m.turn, m.joined_turn, m.step, m.created_by, m.created_by_kind, m.created_at, m.erased_at, m.reminder, m.shape
    FROM message m WHERE m.agent_id = v_change.fork ->> 'from' AND m.tenant = p_tenant AND m.ordinal <= (v_change.fork ->> 'at')::int;
    INSERT INTO step
    SELECT r.* FROM step s, LATERAL json_populate_record(s, json_build_object('agent_id', p_agent, 'copied_from', coalesce(s.copied_from, s.agent_id))) r
    WHERE s.agent_id = v_change.fork ->> 'from' AND s.step <= (SELECT max(m.step) FROM message m WHERE m.agent_id = p_agent AND m.kind = 'ASSISTANT');
    INSERT INTO tool_call
    SELECT r.* FROM tool_call t JOIN step s ON s.agent_id = p_agent AND s.step = t.step,
      LATERAL json_populate_record(t, json_build_object('id', gen_random_uuid(), 'agent_id', p_agent, 'copied_from', coalesce(t.copied_from, t.id))) r
    WHERE t.agent_id = v_change.fork ->> 'from';
    -- A copy of a call that was given the result of another names the copy of that one.
    UPDATE tool_call t SET cached_from = c.id FROM tool_call o JOIN tool_call c ON c.agent_id = p_agent AND c.step = o.step AND c.ordinal = o.ordinal
    WHERE t.agent_id = p_agent AND o.id = t.cached_from;
    INSERT INTO todo (agent_id, id, tenant, place, title, status, assignee, notes)
    SELECT p_agent, w.todo ->> 'id', p_tenant, w.place - 1, w.todo ->> 'title', w.todo ->> 'status', w.todo ->> 'assignee', w.todo ->> 'notes'
    FROM (SELECT todos FROM tool_call WHERE agent_id = p_agent AND todos IS NOT NULL
          ORDER BY step DESC, ordinal DESC LIMIT 1) c, json_array_elements(c.todos) WITH ORDINALITY AS w(todo, place);
    -- The fork knows the files that it has seen: those which calls of the other read or wrote later, the fork must read again.
    -- What has changed in them since, the fork looks for and is told itself.
    INSERT INTO known_file
    SELECT r.* FROM known_file k JOIN tool_call o ON o.id = k.call_id
      JOIN tool_call t ON t.agent_id = p_agent AND t.step = o.step AND t.ordinal = o.ordinal,
      LATERAL json_populate_record(k, json_build_object('agent_id', p_agent, 'call_id', t.id, 'change', null)) r
    WHERE k.agent_id = v_change.fork ->> 'from';
    -- What the other's next step would tell, if the fork begins where the other stands. The copies keep the order of the ids.
    INSERT INTO notice (id, tenant, agent_id, source, ref, text, at)
    SELECT left(n.id, 15) || substr(gen_random_uuid()::text, 16), n.tenant, p_agent, n.source, n.ref, n.text, n.at
    FROM agent o JOIN notice n ON n.agent_id = o.id AND n.told_at_step IS NULL AND n.source <> 'FILE'
    WHERE o.id = v_change.fork ->> 'from' AND o.tenant = p_tenant AND o.transcript_length = (v_change.fork ->> 'at')::int + 1;
    -- A fork with steps has the manual of the other, with the sections that it was told in the messages that both share.
    INSERT INTO agent_manual (agent_id, tenant, digest, told)
    SELECT p_agent, m.tenant, m.digest, (SELECT coalesce(json_agg(s.section ORDER BY s.place), '[]')
      FROM json_array_elements(m.told) WITH ORDINALITY AS s(section, place) WHERE (s.section ->> 'ordinal')::int <= (v_change.fork ->> 'at')::int)
    FROM agent_manual m WHERE m.agent_id = v_change.fork ->> 'from' AND EXISTS (SELECT FROM step WHERE agent_id = p_agent);
    INSERT INTO agent_request_part (agent_id, digest, tenant)
    SELECT p_agent, r.digest, r.tenant FROM agent_request_part r WHERE r.agent_id = v_change.fork ->> 'from' AND EXISTS (SELECT FROM step WHERE agent_id = p_agent);
    -- The images that the copies show.
    INSERT INTO agent_image (agent_id, digest, tenant)
    SELECT p_agent, r.digest, r.tenant FROM agent_image r WHERE r.agent_id = v_change.fork ->> 'from' AND r.digest = ANY ((SELECT images_of_agent(p_agent))::text[]);
    -- The compactions that were applied before the fork point: a fork from before one sees what was there then.
    INSERT INTO compaction
    SELECT r.* FROM compaction c, LATERAL json_populate_record(c, json_build_object('id', gen_random_uuid(), 'agent_id', p_agent, 'copied_from', coalesce(c.copied_from, c.agent_id))) r
    WHERE c.agent_id = v_change.fork ->> 'from' AND c.state = 'APPLIED' AND c.applied_at_step <= coalesce((SELECT max(step) FROM message WHERE agent_id = p_agent), 0);
    UPDATE agent SET step_count = coalesce((SELECT max(step) FROM step WHERE agent_id = p_agent), 0),
                     turn = coalesce((SELECT max(turn) FROM message WHERE agent_id = p_agent), 0)
    WHERE id = p_agent;
  END IF;

  IF v_change."expectSignal" <> v_agent.signal THEN
    RAISE EXCEPTION 'agent % was signalled', p_agent USING ERRCODE = 'TP002';
  END IF;

  -- What an agent left running ends with its turn, and when it is archived: its server looks for this.
  IF v_change.interrupt IS NOT NULL OR v_change.archive ->> 'at' IS NOT NULL THEN
    UPDATE shell SET end_wanted = coalesce(end_wanted, CASE WHEN v_change.interrupt IS NULL THEN 'ARCHIVED' ELSE 'INTERRUPTED' END)
    WHERE id IN (SELECT id FROM shell WHERE agent_id = p_agent AND state = 'RUNNING' ORDER BY id FOR NO KEY UPDATE);
    v_has_shells := FOUND;
  END IF;

  IF v_change.interrupt IS NOT NULL THEN
    v_is_idle := v_agent.state = 'READY' AND v_agent.retry_turn IS NULL AND NOT EXISTS (SELECT FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean));
    IF v_is_idle AND NOT v_has_shells THEN
      -- Whoever waits for an agent that will never begin looks at it.
      UPDATE wait SET due = policy_time() WHERE ref = p_agent AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL AND v_agent.turn = 0;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'agent % has nothing to interrupt', p_agent USING ERRCODE = 'TP002';
      END IF;
    END IF;
  END IF;

  IF v_change.agent IS NOT NULL THEN
    UPDATE agent a SET (state, breakpoint, turn, step_count, transcript_length, last_sfp_index, interrupt_at, interrupt_note, lease_owner, lease_until, runnable_at, needs, done_reason, last_activity_at, retry_turn) =
      (SELECT r.state, r.breakpoint, r.turn, r.step_count, r.transcript_length, r.last_sfp_index, r.interrupt_at, r.interrupt_note, r.lease_owner, r.lease_until, r.runnable_at, r.needs, r.done_reason, greatest(a.last_activity_at, r.last_activity_at), CASE WHEN r.turn = a.turn THEN a.retry_turn END
       FROM json_populate_record(a, v_change.agent) r)
    WHERE a.id = p_agent;
  END IF;

  -- An interrupt that came since the owner looked is for the messages that were sent before it, and since the one that the owner has
  -- seen: as if it had come an instant later. If none of them wait, it came too late.
  IF v_change."interruptEnd" IS NOT NULL THEN
    UPDATE agent a SET interrupt_at = NULL WHERE a.id = p_agent AND NOT EXISTS (
      SELECT FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL
        AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean) AND m.created_at <= a.interrupt_at AND m.created_at > coalesce((v_change."interruptEnd" ->> 'seen')::timestamptz, '-infinity'));
  END IF;

  -- A note that came since the owner looked is not told yet.
  IF v_change."toldNote" IS NOT NULL THEN
    UPDATE agent SET interrupt_note = nullif(ltrim(substr(interrupt_note, length(v_change."toldNote") + 1), E'\n'), '')
    WHERE id = p_agent AND starts_with(interrupt_note, v_change."toldNote");
  END IF;

  -- A turn that begins answers again what it was asked to.
  IF v_agent.retry_turn < (v_change.agent ->> 'turn')::int THEN
    UPDATE message SET turn = (v_change.agent ->> 'turn')::int, joined_turn = coalesce(joined_turn, turn)
    WHERE agent_id = p_agent AND turn = v_agent.retry_turn AND kind IN ('USER', 'REMINDER') AND created_by IS NOT NULL;
    UPDATE notice n SET retry_turn = (v_change.agent ->> 'turn')::int FROM step s
    WHERE n.agent_id = p_agent AND n.source IN ('CHILD', 'INTERRUPTED_CHILD') AND s.agent_id = n.agent_id AND s.step = n.told_at_step
      AND coalesce(n.retry_turn, s.turn) = v_agent.retry_turn;
  END IF;

  IF v_change.retry IS NOT NULL THEN
    IF v_agent.state <> 'READY' OR v_agent.turn <> (v_change.retry ->> 'turn')::int OR v_agent.retry_turn IS NOT NULL OR v_agent.archived_at IS NOT NULL THEN
      RAISE EXCEPTION 'agent % does not stand after turn %', p_agent, v_change.retry ->> 'turn' USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET retry_turn = turn WHERE id = p_agent;
  END IF;

  IF v_change.cancel IS NOT NULL THEN
    UPDATE tool_call SET cancel_requested = v_change.cancel -> 'requested'
    WHERE id = v_change.cancel ->> 'id' AND agent_id = p_agent AND cancel_requested IS NULL
      AND state IN ('PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'WAITING');
    IF NOT FOUND THEN
      RAISE EXCEPTION 'tool call % has ended, or is cancelled already', v_change.cancel ->> 'id' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.withdraw IS NOT NULL THEN
    UPDATE message SET withdrawn_at = (v_change.withdraw ->> 'at')::timestamptz
    WHERE id = v_change.withdraw ->> 'id' AND agent_id = p_agent AND ordinal IS NULL AND withdrawn_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'message % does not wait', v_change.withdraw ->> 'id' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.wake THEN
    -- The column has milliseconds: one that was rounded up would lie in the future, and not be claimed yet.
    UPDATE agent SET signal = signal + 1, runnable_at = coalesce(runnable_at, date_trunc('milliseconds', clock_timestamp())), last_activity_at = CASE WHEN v_change.received IS NULL AND v_change.decision IS NULL AND v_change."approvalTransitions" IS NULL THEN last_activity_at ELSE greatest(last_activity_at, p_ats[1]) END WHERE id = p_agent;
  END IF;

  -- An agent that only has shells has no turn to interrupt: the next one must not end for that.
  IF v_change.interrupt IS NOT NULL AND NOT v_is_idle THEN
    -- Each server has a clock of its own: an interrupt is later than one before it, and not earlier than the messages that it is for.
    UPDATE agent SET interrupt_at = greatest((v_change.interrupt ->> 'at')::timestamptz, interrupt_at + interval '1 millisecond',
                       (SELECT max(m.created_at) FROM message m WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL)),
                     -- Each person's note is told, if several interrupt.
                     interrupt_note = CASE WHEN position(E'\n' || (v_change.interrupt ->> 'note') || E'\n' IN E'\n' || interrupt_note || E'\n') > 0 THEN interrupt_note ELSE nullif(left(concat_ws(E'\n', interrupt_note, v_change.interrupt ->> 'note'), 20000), '') END
    WHERE id = p_agent;
  END IF;

  IF v_change.rename IS NOT NULL THEN
    IF v_agent.title IS DISTINCT FROM v_change.rename ->> 'from' THEN
      RAISE EXCEPTION 'agent % has another title', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET title = v_change.rename ->> 'to' WHERE id = p_agent;
  END IF;

  IF v_change.archive IS NOT NULL THEN
    IF (v_agent.archived_at IS NULL) = (v_change.archive ->> 'at' IS NULL) THEN
      RAISE EXCEPTION 'agent % is archived or not already', p_agent USING ERRCODE = 'TP002';
    END IF;
    -- No child is made below it from here on.
    PERFORM pg_advisory_xact_lock(hashtextextended(coalesce(v_agent.root_id, p_agent), 7270736902)) WHERE v_change.archive ->> 'at' IS NOT NULL;
    UPDATE agent SET archived_at = (v_change.archive ->> 'at')::timestamptz WHERE id = p_agent;
    -- Nothing is sent to an archived agent. Once it is back, a look at each schedule finds its next time.
    UPDATE schedule SET counts_after = policy_time() WHERE agent_id = p_agent AND v_change.archive ->> 'at' IS NULL;
    UPDATE wait w SET due = CASE WHEN v_change.archive ->> 'at' IS NULL AND s.paused_at IS NULL THEN policy_time() END
    FROM schedule s WHERE s.agent_id = p_agent AND w.ref = s.id AND w.kind = 'SCHEDULE';
    UPDATE wait SET due = CASE WHEN v_change.archive ->> 'at' IS NULL AND v_agent.state = 'READY' THEN policy_time() END WHERE id = 'watch:' || p_agent;
  END IF;

  IF v_change.received IS NOT NULL AND v_agent.archived_at IS NOT NULL THEN
    RAISE EXCEPTION 'agent % is archived', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change."queueLimit" IS NOT NULL AND (
    SELECT count(*) >= (v_change."queueLimit" ->> 'messages')::int
        OR coalesce(sum(octet_length(m.content::text) + i.bytes), 0) + (v_change."queueLimit" ->> 'added')::int > (v_change."queueLimit" ->> 'bytes')::int
    FROM message m, LATERAL (SELECT coalesce(sum((b -> 'source' ->> 'bytes')::int), 0) AS bytes FROM json_array_elements(m.content) b) i
    WHERE m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.kind = 'REMINDER') = (v_change.received ->> 'kind' = 'REMINDER')
  ) THEN
    RAISE EXCEPTION 'the queue of agent % is full', p_agent USING ERRCODE = 'TP002';
  END IF;

  IF v_change.received IS NOT NULL THEN
    UPDATE agent SET arrivals = arrivals + 1 WHERE id = p_agent RETURNING * INTO v_agent;
    -- A message that comes after an interrupt is later than the interrupt also by its time.
    INSERT INTO message
    SELECT q.* FROM json_populate_record(null::message, v_change.received) r,
      LATERAL json_populate_record(r, json_build_object('arrival', v_agent.arrivals, 'created_at', greatest(r.created_at, v_agent.interrupt_at + interval '1 millisecond'))) q;
  END IF;

  -- An image is stored once a tenant. Its time keeps it from removal until this commit is seen; that an agent shows it keeps it.
  IF v_change.images IS NOT NULL THEN
    INSERT INTO image (tenant, digest, data, taken_at)
    SELECT DISTINCT ON (i.digest) p_tenant, i.digest, decode(i.data, 'base64'), policy_time() FROM json_to_recordset(v_change.images) AS i(digest text, data text)
    WHERE NOT EXISTS (SELECT FROM image o WHERE o.tenant = p_tenant AND o.digest = i.digest AND o.taken_at > policy_time() - interval '1 hour')
    ORDER BY i.digest
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
    INSERT INTO agent_image (agent_id, digest, tenant)
    SELECT DISTINCT p_agent, i.digest, p_tenant FROM json_to_recordset(v_change.images) AS i(digest text)
    ON CONFLICT DO NOTHING;
  END IF;

  IF v_change.joins IS NOT NULL THEN
    UPDATE message m SET ordinal = j.ordinal, turn = j.turn, step = j.step
    FROM json_populate_recordset(null::message, v_change.joins) j
    WHERE m.id = j.id AND m.agent_id = p_agent AND m.ordinal IS NULL AND m.withdrawn_at IS NULL;
    GET DIAGNOSTICS v_joined = ROW_COUNT;
    IF v_joined <> json_array_length(v_change.joins) THEN
      RAISE EXCEPTION 'a message of agent % was withdrawn before it joined', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.messages IS NOT NULL THEN
    INSERT INTO message SELECT * FROM json_populate_recordset(null::message, v_change.messages);
  END IF;

  IF v_change."stepEnd" IS NOT NULL THEN
    UPDATE step s SET (state, stop_reason, input_tokens, output_tokens, output_is_estimated, cache_read_tokens, cache_write_tokens, context_tokens, context_bytes, context_window, request, cost_usd, completed_at, error_type) =
      (SELECT r.state, r.stop_reason, r.input_tokens, r.output_tokens, r.output_is_estimated, r.cache_read_tokens, r.cache_write_tokens, r.context_tokens, r.context_bytes, r.context_window, r.request, r.cost_usd, r.completed_at, r.error_type
       FROM json_populate_record(s, v_change."stepEnd") r)
    WHERE s.agent_id = p_agent AND s.step = (v_change."stepEnd" ->> 'step')::int AND s.state = 'STARTED';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'step % of agent % is not open', v_change."stepEnd" ->> 'step', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."stepStart" IS NOT NULL THEN
    INSERT INTO step SELECT * FROM json_populate_record(null::step, v_change."stepStart");
  END IF;

  FOR v_closing IN SELECT * FROM json_to_recordset(v_change."approvalTransitions") AS t(id text, "from" text, "to" text, closed_at timestamptz) LOOP
    -- Only the last of those who must allow it closes an approval.
    IF v_closing."from" = 'PENDING' AND (v_closing."to" = 'ALLOWED' OR v_change.decision ->> 'decision' = 'RETRY' AND v_closing."to" = 'RESOLVED')
       AND (SELECT count(*) + 1 FROM decision WHERE approval_id = v_closing.id) < (SELECT coalesce(quorum, 1) FROM approval WHERE id = v_closing.id) THEN
      RAISE EXCEPTION 'approval % needs more people', v_closing.id USING ERRCODE = 'TP002';
    END IF;
    UPDATE approval SET state = (v_closing."to")::approval_state, closed_at = v_closing.closed_at
    WHERE id = v_closing.id AND agent_id IS NOT DISTINCT FROM p_agent AND state = (v_closing."from")::approval_state;
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM approval WHERE id = v_closing.id;
      RAISE EXCEPTION 'approval % is %', v_closing.id, v_state USING ERRCODE = 'TP002';
    END IF;
    IF v_closing."to" <> 'PENDING' THEN
      UPDATE wait SET settled_at = coalesce(v_closing.closed_at, p_ats[1]) WHERE ref = v_closing.id AND settled_at IS NULL;
      -- A task that asked gets the answer by the look at its wait.
      UPDATE wait SET due = policy_time() WHERE kind = 'MCP_TASK' AND settled_at IS NULL
        AND call_id = (SELECT tool_call_id FROM approval WHERE id = v_closing.id AND kind = 'TOOL_INPUT');
    END IF;
    -- An approval that has changed is put off no more.
    DELETE FROM approval_snooze WHERE approval_id = v_closing.id;
  END LOOP;

  IF v_change.decision IS NOT NULL THEN
    DELETE FROM approval_snooze WHERE approval_id = v_change.decision ->> 'approval_id';
    -- The quorum is counted by whoever decides: one who counted before another was done counts again.
    IF (SELECT count(*) FROM decision WHERE approval_id = v_change.decision ->> 'approval_id') <> coalesce(v_change."expectDecisions", 0) THEN
      RAISE EXCEPTION 'approval % was decided on by another', v_change.decision ->> 'approval_id' USING ERRCODE = 'TP002';
    END IF;
    -- Each server has a clock of its own: a later decision is the later one also by its time.
    INSERT INTO decision
    SELECT q.* FROM json_populate_record(null::decision, v_change.decision) r,
      LATERAL json_populate_record(r, json_build_object('decided_at', greatest(r.decided_at, (SELECT max(d.decided_at) + interval '1 millisecond' FROM decision d WHERE d.approval_id = r.approval_id)))) q;
  END IF;

  IF v_change."keepRule" IS NOT NULL THEN
    INSERT INTO allow_rule SELECT * FROM json_populate_record(null::allow_rule, v_change."keepRule") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the rule is kept already' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO rule_version AS v (tenant, agent_id, version) VALUES (p_tenant, coalesce(v_change."keepRule" ->> 'agent_id', ''), 1)
    ON CONFLICT (tenant, agent_id) DO UPDATE SET version = v.version + 1;
  END IF;

  IF v_change."toolCalls" IS NOT NULL THEN
    INSERT INTO tool_call SELECT * FROM json_populate_recordset(null::tool_call, v_change."toolCalls");
  END IF;

  FOR v_item IN SELECT * FROM json_to_recordset(v_change.transitions) AS t(id text, "from" text, "by" json, "set" json, audit json) LOOP
    -- What a call starts by must still stand: the decision for exactly this input, or the version of the stored rules.
    IF v_item."by" ->> 'approvalId' IS NOT NULL AND NOT EXISTS (
      SELECT FROM approval p WHERE p.id = v_item."by" ->> 'approvalId' AND p.tool_call_id = v_item.id
        AND (p.state = 'ALLOWED' OR (p.state = 'RESOLVED' AND EXISTS (SELECT FROM decision r WHERE r.approval_id = p.id AND r.decision = 'RETRY')))
        AND coalesce((SELECT d.input_hash FROM decision d WHERE d.approval_id = p.id AND d.input_hash IS NOT NULL), p.input_hash) = v_item."by" ->> 'inputHash'
    ) THEN
      RAISE EXCEPTION 'approval % no longer stands', v_item."by" ->> 'approvalId' USING ERRCODE = 'TP002';
    END IF;
    IF v_item."by" -> 'rules' IS NOT NULL THEN
      IF v_rules::text <> (v_item."by" -> 'rules')::text THEN
        RAISE EXCEPTION 'call % was judged by other stored rules than another one', v_item.id USING ERRCODE = 'TP002';
      END IF;
      v_rules := v_item."by" -> 'rules';
    END IF;
    -- Nothing starts after an interrupt was acknowledged: it was committed under the same lock.
    IF v_item."set" ->> 'state' = 'EXECUTING' AND v_agent.interrupt_at IS NOT NULL THEN
      RAISE EXCEPTION 'agent % was interrupted', p_agent USING ERRCODE = 'TP002';
    END IF;
    UPDATE tool_call t SET
      (state, attempt, effective_input, rule_values, input_hash, output, details, images, kept_output_bytes, error, is_error, explanation, verdict, hook_verdict, stages, started_at, completed_at, duration_ms, cached_from, exit_code, hosts, updated_at) =
      (SELECT r.state, r.attempt, r.effective_input, r.rule_values, r.input_hash, r.output, r.details, r.images, r.kept_output_bytes, r.error, r.is_error, r.explanation, r.verdict, r.hook_verdict, r.stages, r.started_at, r.completed_at, r.duration_ms, r.cached_from, r.exit_code, r.hosts, r.updated_at
       FROM json_populate_record(t, v_item."set") r),
      audit_trail = t.audit_trail || (v_item.audit)::jsonb
    WHERE t.id = v_item.id AND t.agent_id IS NOT DISTINCT FROM p_agent AND t.state = (v_item."from")::tool_call_state
      AND (v_item."set" ->> 'state' <> 'EXECUTING' OR t.cancel_requested IS NULL);
    IF NOT FOUND THEN
      SELECT state INTO v_state FROM tool_call WHERE id = v_item.id;
      RAISE EXCEPTION 'tool call % is %, not %, or is cancelled', v_item.id, v_state, v_item."from" USING ERRCODE = 'TP002';
    END IF;
    IF v_item."from" IN ('APPROVAL_REQUIRED', 'APPROVED') THEN
      UPDATE wait SET settled_at = (v_item."set" ->> 'updated_at')::timestamptz WHERE call_id = v_item.id AND kind = 'MCP_SERVER' AND settled_at IS NULL;
    END IF;
    IF v_item."from" = 'WAITING' AND v_item."set" ->> 'state' <> 'WAITING' THEN
      -- A task that works on may have asked a person since the caller looked.
      IF EXISTS (SELECT FROM approval WHERE tool_call_id = v_item.id AND kind = 'TOOL_INPUT' AND state = 'PENDING') THEN
        RAISE EXCEPTION 'tool call % has an open question', v_item.id USING ERRCODE = 'TP002';
      END IF;
      UPDATE wait SET settled_at = (v_item."set" ->> 'updated_at')::timestamptz WHERE call_id = v_item.id AND kind NOT IN ('HOST', 'CHILD', 'MCP_TASK') AND settled_at IS NULL;
      -- A child or task that nobody waits for any more is ended by the look at its wait.
      UPDATE wait SET due = policy_time() WHERE call_id = v_item.id AND kind IN ('CHILD', 'MCP_TASK') AND settled_at IS NULL;
    END IF;
  END LOOP;

  IF v_change.approvals IS NOT NULL THEN
    -- Others may have asked for the same host since the caller looked: it joins their question then.
    INSERT INTO approval SELECT * FROM json_populate_recordset(null::approval, v_change.approvals) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change.approvals) THEN
      RAISE EXCEPTION 'agent % asks for one of these already', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change.waits IS NOT NULL THEN
    -- A program that has ended asks for nothing: nobody would close its question. A question that was answered is joined by none.
    IF EXISTS (
      SELECT FROM json_populate_recordset(null::wait, v_change.waits) w WHERE w.kind = 'SHELL_HOST'
        AND (NOT EXISTS (SELECT FROM shell s WHERE s.agent_id = p_agent AND s.state = 'RUNNING' AND s.call_id = w.call_id)
          OR NOT EXISTS (SELECT FROM approval p WHERE p.id = w.ref AND p.state = 'PENDING'))
    ) THEN
      RAISE EXCEPTION 'a program of agent %, or the question that it joins, is over', p_agent USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO wait SELECT * FROM json_populate_recordset(null::wait, v_change.waits) ON CONFLICT DO NOTHING;
  END IF;

  -- Of new questions, of those that more calls wait for, and of those in whose turn a message joins.
  IF v_change.approvals IS NOT NULL OR v_change.waits IS NOT NULL OR v_change.joins IS NOT NULL THEN
    UPDATE approval p SET requesters = ARRAY(SELECT DISTINCT who ->> 'id' FROM requesters_of_approval(p) who)
    WHERE p.agent_id = p_agent AND p.state = 'PENDING' AND (v_change.joins IS NOT NULL
      OR p.id IN (SELECT q.id FROM json_populate_recordset(null::approval, v_change.approvals) q)
      OR p.id IN (SELECT w.ref FROM json_populate_recordset(null::wait, v_change.waits) w WHERE w.kind IN ('HOST', 'SHELL_HOST')));
  END IF;

  IF v_change.returns THEN
    UPDATE wait SET due = policy_time() WHERE ref = p_agent AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL;
  END IF;

  IF v_change."childAwaited" IS NOT NULL THEN
    -- The child may have ended since the caller looked: then the wait is due again.
    UPDATE wait SET due = NULL WHERE ref = v_change."childAwaited" ->> 'ref' AND kind IN ('CHILD', 'BACKGROUND_CHILD') AND settled_at IS NULL
      AND due = (v_change."childAwaited" ->> 'due')::timestamptz;
  END IF;

  IF v_change."waitSettled" IS NOT NULL THEN
    IF (v_change."waitSettled" ->> 'isUnmade')::boolean THEN
      PERFORM pg_advisory_xact_lock(hashtextextended(coalesce(v_agent.root_id, p_agent), 7270736902));
      IF EXISTS (SELECT FROM agent WHERE id = v_change."waitSettled" ->> 'ref') THEN
        RAISE EXCEPTION 'the child % was made', v_change."waitSettled" ->> 'ref' USING ERRCODE = 'TP002';
      END IF;
    END IF;
    UPDATE wait SET settled_at = (v_change."waitSettled" ->> 'at')::timestamptz
    WHERE ref = v_change."waitSettled" ->> 'ref' AND kind IN ('CHILD', 'BACKGROUND_CHILD', 'MCP_TASK', 'MCP_SERVER') AND settled_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the wait for % is over', v_change."waitSettled" ->> 'ref' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."schedulesMade" IS NOT NULL THEN
    INSERT INTO schedule SELECT * FROM json_populate_recordset(null::schedule, v_change."schedulesMade");
    IF v_agent.archived_at IS NOT NULL OR (SELECT count(*) FROM schedule WHERE agent_id = p_agent) > v_change."mostSchedules" THEN
      RAISE EXCEPTION 'agent % may have no more schedules', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  FOR v_item IN SELECT * FROM json_to_recordset(v_change."schedulesMoved") AS m(id text, moves int, due timestamptz, "set" json) LOOP
    UPDATE schedule s SET (next_at, next_step, owed, triggered, last_triggered_at, paused_at, moves) =
      (SELECT r.next_at, r.next_step, r.owed, r.triggered, r.last_triggered_at, r.paused_at, s.moves + 1 FROM json_populate_record(s, v_item."set") r)
    WHERE s.id = v_item.id AND s.agent_id = p_agent AND s.moves = v_item.moves;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'schedule % was changed by another', v_item.id USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET due = CASE WHEN v_agent.archived_at IS NULL THEN v_item.due END WHERE ref = v_item.id AND kind = 'SCHEDULE';
  END LOOP;

  IF v_change."scheduleEnded" IS NOT NULL THEN
    DELETE FROM schedule WHERE id = v_change."scheduleEnded" ->> 'id' AND agent_id = p_agent AND moves = (v_change."scheduleEnded" ->> 'moves')::int;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'schedule % was changed by another', v_change."scheduleEnded" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    DELETE FROM wait WHERE ref = v_change."scheduleEnded" ->> 'id' AND kind = 'SCHEDULE';
  END IF;

  IF v_change.watch THEN
    INSERT INTO wait AS w (id, tenant, agent_id, kind, ref, due)
    SELECT 'watch:' || a.id, a.tenant, a.id, 'WATCH', a.id, CASE WHEN a.state = 'READY' AND a.archived_at IS NULL THEN policy_time() END FROM agent a WHERE a.id = p_agent
    ON CONFLICT (id) DO UPDATE SET due = EXCLUDED.due;
  END IF;

  IF v_change."filesFound" IS NOT NULL THEN
    UPDATE known_file k SET change = f.change
    FROM json_to_recordset(v_change."filesFound") AS f(path text, "callId" text, "before" text, change text)
    WHERE k.agent_id = p_agent AND k.path = f.path AND k.call_id = f."callId" AND k.change IS NOT DISTINCT FROM f."before" AND v_agent.lease_owner IS NULL;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change."filesFound") THEN
      RAISE EXCEPTION 'files of agent % are looked at by another', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- The notice of an answer names the programs that asked: one that has joined since the caller looked is named, too.
  IF v_change."expectAsking" IS NOT NULL AND (v_change."expectAsking" ->> 'programs')::int
     <> (SELECT count(*) FROM wait WHERE ref = v_change."expectAsking" ->> 'approvalId' AND kind = 'SHELL_HOST') THEN
    RAISE EXCEPTION 'another program has asked with approval %', v_change."expectAsking" ->> 'approvalId' USING ERRCODE = 'TP002';
  END IF;

  -- A newer notice of the same thing has an id of its own: a step that read the older one does not mark it as told.
  IF v_change.notices IS NOT NULL THEN
    INSERT INTO notice SELECT * FROM json_populate_recordset(null::notice, v_change.notices)
    ON CONFLICT (agent_id, source, ref) WHERE told_at_step IS NULL DO UPDATE SET id = EXCLUDED.id, text = EXCLUDED.text, at = EXCLUDED.at;
  END IF;

  IF v_change."noticesDropped" IS NOT NULL THEN
    DELETE FROM notice n USING json_to_recordset(v_change."noticesDropped") AS d(source text, ref text)
    WHERE n.agent_id = p_agent AND n.source = d.source AND n.ref = d.ref AND n.told_at_step IS NULL;
  END IF;

  IF v_change."noticesTold" IS NOT NULL THEN
    UPDATE notice SET told_at_step = (v_change."noticesTold" ->> 'step')::int
    WHERE id IN (SELECT json_array_elements_text(v_change."noticesTold" -> 'ids')) AND agent_id IS NOT DISTINCT FROM p_agent AND told_at_step IS NULL;
  END IF;

  -- The text of a manual is stored once a tenant, whoever is given it first. Its time keeps it from removal until this commit is seen.
  IF v_change.manual IS NOT NULL THEN
    INSERT INTO manual (tenant, digest, text, sections, tools, taken_at)
    SELECT m.tenant, m.digest, m.text, m.sections, m.tools, policy_time() FROM json_populate_record(null::manual, v_change.manual) m
    WHERE NOT EXISTS (SELECT FROM manual o WHERE o.tenant = m.tenant AND o.digest = m.digest AND o.taken_at > policy_time() - interval '1 hour')
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
  END IF;

  -- So are the parts of requests; that an agent had one keeps it.
  IF v_change."requestParts" IS NOT NULL THEN
    INSERT INTO request_part (tenant, digest, body, taken_at)
    SELECT DISTINCT ON (n.digest) p_tenant, n.digest, n.body, policy_time() FROM json_to_recordset(v_change."requestParts") AS n(digest text, body text)
    WHERE NOT EXISTS (SELECT FROM request_part r WHERE r.tenant = p_tenant AND r.digest = n.digest AND r.taken_at > policy_time() - interval '1 hour')
    ORDER BY n.digest
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
    INSERT INTO agent_request_part (agent_id, digest, tenant)
    SELECT DISTINCT p_agent, n.digest, p_tenant FROM json_to_recordset(v_change."requestParts") AS n(digest text)
    ON CONFLICT DO NOTHING;
  END IF;

  IF v_change."agentManual" IS NOT NULL THEN
    INSERT INTO agent_manual SELECT * FROM json_populate_record(null::agent_manual, v_change."agentManual")
    ON CONFLICT (agent_id) DO UPDATE SET digest = EXCLUDED.digest, told = EXCLUDED.told;
  END IF;

  IF v_change."templateVersion" IS NOT NULL THEN
    UPDATE agent SET template_version = v_change."templateVersion" WHERE id = p_agent;
  END IF;

  -- The data of a version is stored once a tenant. Its time keeps it from removal until this commit is seen.
  IF v_change."versionData" IS NOT NULL THEN
    INSERT INTO template_version (tenant, digest, data, taken_at)
    SELECT d.tenant, d.digest, d.data, policy_time() FROM json_populate_record(null::template_version, v_change."versionData") d
    WHERE NOT EXISTS (SELECT FROM template_version v WHERE v.tenant = d.tenant AND v.digest = d.digest AND v.taken_at > policy_time() - interval '1 hour')
    ON CONFLICT (tenant, digest) DO UPDATE SET taken_at = EXCLUDED.taken_at;
  END IF;

  IF v_change.compactions IS NOT NULL THEN
    INSERT INTO compaction SELECT * FROM json_populate_recordset(null::compaction, v_change.compactions) ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_written = ROW_COUNT;
    IF v_written <> json_array_length(v_change.compactions) THEN
      RAISE EXCEPTION 'agent % has a compaction that is asked for or under way', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."compactionMoved" IS NOT NULL THEN
    UPDATE compaction c SET (state, from_ordinal, to_ordinal, words_from, summary, restated, model, tokens_before, tokens_after, content_hash, failure, input_tokens, output_tokens, output_is_estimated, cache_read_tokens, cache_write_tokens, cost_usd, epoch, applied_at_step, started_at, ended_at) =
      (SELECT r.state, r.from_ordinal, r.to_ordinal, r.words_from, r.summary, r.restated, r.model, r.tokens_before, r.tokens_after, r.content_hash, r.failure, r.input_tokens, r.output_tokens, r.output_is_estimated, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.epoch, r.applied_at_step, r.started_at, r.ended_at FROM json_populate_record(c, v_change."compactionMoved" -> 'set') r)
    WHERE c.id = v_change."compactionMoved" ->> 'id' AND c.agent_id = p_agent AND c.state = v_change."compactionMoved" ->> 'from';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'compaction % is not %', v_change."compactionMoved" ->> 'id', v_change."compactionMoved" ->> 'from' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."knownFiles" IS NOT NULL THEN
    INSERT INTO known_file AS k SELECT * FROM json_populate_recordset(null::known_file, v_change."knownFiles")
    ON CONFLICT (agent_id, path) DO UPDATE SET (access, digest, bytes, modified_at, stamp, call_id, at, is_whole, change) =
      ROW(EXCLUDED.access, EXCLUDED.digest, EXCLUDED.bytes, EXCLUDED.modified_at, EXCLUDED.stamp, EXCLUDED.call_id, EXCLUDED.at, EXCLUDED.is_whole OR k.is_whole AND k.digest = EXCLUDED.digest, NULL);
  END IF;

  IF v_change."fileChanges" IS NOT NULL THEN
    UPDATE known_file k SET change = f.change
    FROM json_to_recordset(v_change."fileChanges") AS f(path text, call_id text, change text)
    WHERE k.agent_id = p_agent AND k.path = f.path AND k.call_id = f.call_id;
  END IF;

  IF v_change.todos IS NOT NULL THEN
    DELETE FROM todo WHERE agent_id = p_agent;
    INSERT INTO todo SELECT * FROM json_populate_recordset(null::todo, v_change.todos);
    UPDATE tool_call SET todos = v_change.todos WHERE id = v_change."todosBy" AND agent_id IS NOT DISTINCT FROM p_agent;
  END IF;

  IF v_change.memory IS NOT NULL THEN
    PERFORM change_memory(p_tenant, p_agent, v_change.memory);
  END IF;

  IF v_change."shellStart" IS NOT NULL THEN
    IF v_agent.interrupt_at IS NOT NULL OR v_agent.archived_at IS NOT NULL
       OR (SELECT count(*) FROM shell WHERE agent_id = p_agent AND state = 'RUNNING') >= (v_change."shellStart" ->> 'limit')::int THEN
      RAISE EXCEPTION 'agent % may start no shell now', p_agent USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO shell SELECT * FROM json_populate_record(null::shell, v_change."shellStart" -> 'row');
    UPDATE shell SET lease_until = clock_timestamp() + make_interval(secs => (v_change."shellStart" ->> 'leaseMs')::float8 / 1000)
    WHERE id = v_change."shellStart" -> 'row' ->> 'id';
    -- Servers of versions that know no shells must not own an agent that has one.
    UPDATE agent SET needs = greatest(needs, 1) WHERE id = p_agent;
  END IF;

  -- Its server ends a shell; without a server named, only one whose lease has run out ends.
  IF v_change."shellEnd" IS NOT NULL THEN
    UPDATE shell s SET state = 'ENDED', lease_until = NULL, end_reason = e.end_reason, exit_code = e.exit_code, signal = e.signal, ended_at = e.ended_at
    FROM json_populate_record(null::shell, v_change."shellEnd") e
    WHERE s.id = e.id AND s.agent_id = p_agent AND s.state = 'RUNNING'
      AND CASE WHEN e.server IS NULL THEN s.lease_until < clock_timestamp() ELSE s.server = e.server END;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'shell % has ended, or is another server''s', v_change."shellEnd" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    -- A question that is closed with it is asked by nobody else.
    IF EXISTS (
      SELECT FROM json_to_recordset(v_change."approvalTransitions") AS t(id text) JOIN wait w ON w.ref = t.id
      WHERE w.kind = 'HOST' OR EXISTS (SELECT FROM shell s WHERE s.agent_id = p_agent AND s.state = 'RUNNING' AND s.call_id = w.call_id)
    ) THEN
      RAISE EXCEPTION 'another asks for a host that shell % has asked for', v_change."shellEnd" ->> 'id' USING ERRCODE = 'TP002';
    END IF;
    UPDATE agent SET needs = 0 WHERE id = p_agent AND needs = 1 AND NOT EXISTS (SELECT FROM shell WHERE agent_id = p_agent AND state = 'RUNNING');
  END IF;

  IF v_change.budgets IS NOT NULL THEN
    PERFORM account_budgets(p_tenant, p_agent, v_change.budgets);
  END IF;

  IF v_change."budgetRaise" IS NOT NULL THEN
    PERFORM raise_budget(p_tenant, v_change."budgetRaise");
  END IF;

  -- Behind the lock of the log: a change of the stored rules is in the log before these calls start, or behind it. No other row is locked.
  IF v_rules IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
    IF (v_rules ->> 'ofTenant')::int <> coalesce((SELECT v.version FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = ''), 0)
      OR (v_rules ->> 'ofAgent')::int <> coalesce((SELECT v.version FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = p_agent), 0)
      OR (v_rules ->> 'until')::timestamptz <= policy_time() THEN
      RAISE EXCEPTION 'the stored rules have changed since calls of agent % were judged', p_agent USING ERRCODE = 'TP002';
    END IF;
  END IF;

  RETURN QUERY
    SELECT a.agent, a.fenced, a.base_seq, a.base_position, v_signal, a.ancestors
    -- The fence was compared above, under the same lock: a change that gives the lease back reports that, too.
    FROM append_events(p_tenant, p_append, false, NULL, ARRAY[p_agent], ARRAY[NULL::int], array_fill(1, ARRAY[cardinality(p_kinds)]), p_channels, p_kinds, p_payloads, p_ats) a;
END
$function$;


-- Written by `npm run migration` from src/db/functions/commit_tenant_change.sql: change it there.
-- Changes rows of a tenant that are no agent's, as p_change (TenantChange, src/db/commit/change.ts) says, and appends the events of the
-- tenant that report it, or does neither.
--
-- Answers the seq and the position before the first of the events.
--
-- p_retry: an answer was lost: where the append has events, they are answered instead of being written again.
--
-- Locks: an advisory lock that stands for the append; the rows, agents of a deleted tree by id behind a lock that stands for the tree; memory, as change_memory does it; the tenant's log, last, as append_events does it.
-- Errors: TP002 a row is not as the change expects it; TP003 the idempotency key was used before; TP004 a failover lost
-- commits of the log. Each of them changes nothing.
-- Invariants 2 (positions without gaps, in commit order), 3 (rows and events in one transaction) and 15 (every change of rights is an event).
CREATE OR REPLACE FUNCTION commit_tenant_change(
  p_tenant text,
  p_append uuid,
  p_retry boolean,
  p_change json,
  p_channels text[],
  p_kinds text[],
  p_payloads text[],
  p_ats timestamptz[]
)
RETURNS TABLE (base_seq int, base_position bigint)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_change record;
  v_lost timestamptz;
  v_rules_of text;
  v_revoked text;
  v_tree text[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_append::text, 7270736901));
  IF p_retry AND EXISTS (SELECT FROM event e WHERE e.append_id = p_append AND e.agent_id IS NULL) THEN
    RETURN QUERY SELECT e.seq - 1, e.position - 1 FROM event e WHERE e.append_id = p_append AND e.agent_id IS NULL;
    RETURN;
  END IF;

  SELECT * INTO v_change FROM json_to_record(p_change) AS c(
    "idempotencyKey" json, "storeAllowRule" json, "mostAllowRules" int, "revokeAllowRule" json, "startDelegation" json, waits json, "endDelegation" json, configuration json, "acceptTool" json, memory json, "setBudget" json, "revokeBudget" json, "createAccessToken" json, "mostAccessTokens" int, "revokeAccessToken" json, snooze json, "wakeApproval" json, "createExport" json, "mostExports" int, "endExport" json, "deleteAgent" json);

  IF v_change."idempotencyKey" IS NOT NULL THEN
    INSERT INTO idempotency_key SELECT * FROM json_populate_record(null::idempotency_key, v_change."idempotencyKey") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the idempotency key was used before' USING ERRCODE = 'TP003';
    END IF;
  END IF;

  -- Before the next one is stored: it may take the place of the same rule with an earlier end.
  IF v_change."revokeAllowRule" IS NOT NULL THEN
    UPDATE allow_rule a SET (revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(a, v_change."revokeAllowRule") r)
    WHERE a.id = v_change."revokeAllowRule" ->> 'id' AND a.tenant = p_tenant AND a.revoked_at IS NULL
    RETURNING coalesce(a.agent_id, '') INTO v_rules_of;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such rule, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET settled_at = (v_change."revokeAllowRule" ->> 'revoked_at')::timestamptz
    WHERE ref = v_change."revokeAllowRule" ->> 'id' AND settled_at IS NULL;
  END IF;

  IF v_change."storeAllowRule" IS NOT NULL THEN
    INSERT INTO allow_rule SELECT * FROM json_populate_record(null::allow_rule, v_change."storeAllowRule") ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the rule is stored already' USING ERRCODE = 'TP002';
    END IF;
    v_rules_of := coalesce(v_change."storeAllowRule" ->> 'agent_id', '');
  END IF;

  IF v_change."acceptTool" IS NOT NULL THEN
    INSERT INTO tool_pin AS t SELECT * FROM json_populate_record(null::tool_pin, v_change."acceptTool")
    ON CONFLICT (tenant, server, tool) DO UPDATE SET (digest, definition, pinned_at, pinned_by, pinned_by_kind) =
      (EXCLUDED.digest, EXCLUDED.definition, EXCLUDED.pinned_at, EXCLUDED.pinned_by, EXCLUDED.pinned_by_kind)
    WHERE t.digest <> EXCLUDED.digest;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the definition is accepted already' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- Calls that were judged by other rules do not start by them.
  IF v_rules_of IS NOT NULL THEN
    INSERT INTO rule_version AS v (tenant, agent_id, version) VALUES (p_tenant, v_rules_of, 1)
    ON CONFLICT (tenant, agent_id) DO UPDATE SET version = v.version + 1;
  END IF;

  IF v_change."startDelegation" IS NOT NULL THEN
    INSERT INTO delegation SELECT * FROM json_populate_record(null::delegation, v_change."startDelegation");
  END IF;

  IF v_change.waits IS NOT NULL THEN
    INSERT INTO wait SELECT * FROM json_populate_recordset(null::wait, v_change.waits);
  END IF;

  IF v_change."endDelegation" IS NOT NULL THEN
    UPDATE delegation d SET (ended_at, revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.ended_at, r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(d, v_change."endDelegation") r)
    WHERE d.id = v_change."endDelegation" ->> 'id' AND d.tenant = p_tenant AND d.ended_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such delegation, or it has ended' USING ERRCODE = 'TP002';
    END IF;
    UPDATE wait SET settled_at = (v_change."endDelegation" ->> 'ended_at')::timestamptz
    WHERE ref = v_change."endDelegation" ->> 'id' AND settled_at IS NULL;
  END IF;

  IF v_change.configuration IS NOT NULL THEN
    UPDATE known_configuration k SET (digest, parts, known_at) =
      (SELECT r.digest, r.parts, r.known_at FROM json_populate_record(k, v_change.configuration) r)
    WHERE k.tenant = p_tenant AND k.digest = v_change.configuration ->> 'previous_digest';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'another configuration is known by now' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."setBudget" IS NOT NULL THEN
    INSERT INTO budget AS b SELECT * FROM json_populate_record(null::budget, v_change."setBudget")
    ON CONFLICT (tenant, id) DO UPDATE SET (millionths, tokens, warn_at, created_by, created_by_kind, created_at, revoked_at, revoked_by, revoked_by_kind) =
      (EXCLUDED.millionths, EXCLUDED.tokens, EXCLUDED.warn_at, EXCLUDED.created_by, EXCLUDED.created_by_kind, EXCLUDED.created_at, NULL, NULL, NULL)
    WHERE (b.millionths, b.tokens, b.warn_at) IS DISTINCT FROM (EXCLUDED.millionths, EXCLUDED.tokens, EXCLUDED.warn_at) OR b.revoked_at IS NOT NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the budget is set already' USING ERRCODE = 'TP002';
    END IF;
    PERFORM look_again_at_budget(p_tenant, v_change."setBudget" ->> 'id', NULL);
  END IF;

  IF v_change."revokeBudget" IS NOT NULL THEN
    UPDATE budget b SET (revoked_at, revoked_by, revoked_by_kind) =
      (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(b, v_change."revokeBudget") r)
    WHERE b.id = v_change."revokeBudget" ->> 'id' AND b.tenant = p_tenant AND b.revoked_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such budget, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
    PERFORM look_again_at_budget(p_tenant, v_change."revokeBudget" ->> 'id', NULL);
  END IF;

  IF v_change."createAccessToken" IS NOT NULL THEN
    INSERT INTO access_token SELECT * FROM json_populate_record(null::access_token, v_change."createAccessToken");
  END IF;

  -- Sessions that began with the token end with it.
  IF v_change."revokeAccessToken" IS NOT NULL THEN
    WITH revoked AS (
      UPDATE access_token a SET (revoked_at, revoked_by, revoked_by_kind) =
        (SELECT r.revoked_at, r.revoked_by, r.revoked_by_kind FROM json_populate_record(a, v_change."revokeAccessToken") r)
      WHERE a.id = v_change."revokeAccessToken" ->> 'id' AND a.tenant = p_tenant AND a.revoked_at IS NULL
      RETURNING a.hash, a.revoked_at, a.revoked_by, a.revoked_by_kind
    ), ended AS (
      UPDATE session s SET (ended_at, ended_by, ended_by_kind) = (r.revoked_at, r.revoked_by, r.revoked_by_kind)
      FROM revoked r WHERE s.token_hash = r.hash AND s.ended_at IS NULL
    ) SELECT hash INTO v_revoked FROM revoked;
    IF v_revoked IS NULL THEN
      RAISE EXCEPTION 'there is no such token, or it was revoked' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  -- The end of an approval removes its snoozes: one that is closed takes none.
  IF v_change.snooze IS NOT NULL THEN
    INSERT INTO approval_snooze AS s SELECT r.* FROM json_populate_record(null::approval_snooze, v_change.snooze) r
      JOIN approval p ON p.id = r.approval_id AND p.tenant = p_tenant AND p.state = 'PENDING' FOR SHARE OF p
    ON CONFLICT (approval_id, actor_id) DO UPDATE SET (until, snoozed_at) = (EXCLUDED.until, EXCLUDED.snoozed_at);
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the approval is closed' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."wakeApproval" IS NOT NULL THEN
    DELETE FROM approval_snooze s
    WHERE s.approval_id = v_change."wakeApproval" ->> 'approval_id' AND s.actor_id = v_change."wakeApproval" ->> 'actor_id' AND s.tenant = p_tenant;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such snooze' USING ERRCODE = 'TP002';
    END IF;
  END IF;

  IF v_change."createExport" IS NOT NULL THEN
    INSERT INTO export SELECT * FROM json_populate_record(null::export, v_change."createExport");
  END IF;

  -- The file of one that did not succeed goes at once. Its row stays as long as that of others: its wait has that time.
  IF v_change."endExport" IS NOT NULL THEN
    UPDATE export x SET (state, problem, ended_at) =
      (SELECT r.state, r.problem, r.ended_at FROM json_populate_record(x, v_change."endExport") r)
    WHERE x.id = v_change."endExport" ->> 'id' AND x.tenant = p_tenant
      AND x.state IN (SELECT json_array_elements_text(v_change."endExport" -> 'from'));
    IF NOT FOUND THEN
      RAISE EXCEPTION 'there is no such export, or it has ended' USING ERRCODE = 'TP002';
    END IF;
    IF v_change."endExport" ->> 'state' <> 'DONE' THEN
      UPDATE export SET parts = 0, rows = 0, bytes = 0, kept_bytes = 0 WHERE id = v_change."endExport" ->> 'id';
      DELETE FROM export_part WHERE export_id = v_change."endExport" ->> 'id';
    END IF;
    UPDATE wait SET due = (v_change."endExport" ->> 'due')::timestamptz
    WHERE ref = v_change."endExport" ->> 'id' AND kind = 'EXPORT' AND settled_at IS NULL;
  END IF;

  -- The whole tree leaves the tenant at once: nobody reads, wakes or writes its agents from then on. It must be archived and idle,
  -- and the audit must have seen its last event: it cannot read the calls of an agent that is gone.
  IF v_change."deleteAgent" IS NOT NULL THEN
    -- As for the start of a child: none is made in the tree meanwhile.
    PERFORM pg_advisory_xact_lock(hashtextextended(v_change."deleteAgent" ->> 'root_id', 7270736902));
    v_tree := ARRAY(SELECT a.id FROM agent a WHERE a.tenant = p_tenant AND (a.id = v_change."deleteAgent" ->> 'root_id' OR a.root_id = v_change."deleteAgent" ->> 'root_id') ORDER BY a.id FOR UPDATE);
    IF NOT v_change."deleteAgent" ->> 'root_id' = ANY (v_tree) OR cardinality(v_tree) <> (v_change."deleteAgent" ->> 'agents')::int
       OR EXISTS (SELECT FROM agent a WHERE a.id = ANY (v_tree) AND (a.archived_at IS NULL OR a.state <> 'READY' OR a.runnable_at IS NOT NULL OR a.retry_turn IS NOT NULL OR a.lease_until >= policy_time()
         OR EXISTS (SELECT FROM approval p WHERE p.agent_id = a.id AND p.state = 'PENDING')
         OR EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING')
         OR EXISTS (SELECT FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL)))
       OR NOT EXISTS (SELECT FROM audit_fold f JOIN audit_turn_fold t ON t.tenant = f.tenant JOIN tenant_log l ON l.tenant = f.tenant
         WHERE f.tenant = p_tenant AND f.position >= f.whole_at AND t.position >= t.whole_at AND least(f.position, t.position) >= l.floor
           AND NOT EXISTS (SELECT FROM event e WHERE e.agent_id = ANY (v_tree) AND e.position > least(f.position, t.position))) THEN
      RAISE EXCEPTION 'agent % is not archived and idle, with its tree', v_change."deleteAgent" ->> 'root_id' USING ERRCODE = 'TP002';
    END IF;
    INSERT INTO deleted_agent (agent_id, tenant, root_id, template_id, created_by, created_by_kind, created_at, deleted_by, deleted_by_kind, deleted_at)
    SELECT a.id, p_tenant, v_change."deleteAgent" ->> 'root_id', a.template_id, a.created_by, a.created_by_kind, a.created_at, d.deleted_by, d.deleted_by_kind, d.deleted_at
    FROM agent a, json_populate_record(null::deleted_agent, v_change."deleteAgent") d WHERE a.id = ANY (v_tree);
    -- Groups of approvals stay. A question, and an answer that was reversed, are those of src/agent/approvals/groups/rows.ts.
    INSERT INTO deleted_approval (id, tenant, agent_id, tool_call_id, tool, host, kind, state, risk, quorum, requesters, requested_at, expires_at, closed_at, erased_at, is_reversed)
    SELECT q.id, p_tenant, q.agent_id, q.tool_call_id, q.tool, q.host, q.kind, q.state, q.risk, q.quorum, q.requesters, q.requested_at, q.expires_at, q.closed_at, q.erased_at,
      coalesce(CASE q.state WHEN 'DENIED' THEN q.last_allowed WHEN 'ALLOWED' THEN q.last_denied END > q.closed_at, false)
    FROM (SELECT p.*, t.name AS tool, max(p.requested_at) FILTER (WHERE p.state = 'ALLOWED') OVER question AS last_allowed, max(p.requested_at) FILTER (WHERE p.state = 'DENIED') OVER question AS last_denied
      FROM approval p LEFT JOIN tool_call t ON t.id = p.tool_call_id WHERE p.agent_id = ANY (v_tree)
      WINDOW question AS (PARTITION BY p.agent_id, p.kind, CASE WHEN p.kind <> 'NETWORK_HOST' THEN coalesce(p.input_digest, md5(p.agent_id || p.input::text), p.id) END, p.host, p.port, t.name)) q;
    INSERT INTO deleted_decision (approval_id, actor_id, actor_kind, on_behalf_of, on_behalf_of_kind, tenant, decision, is_edited, decided_at)
    SELECT d.approval_id, d.actor_id, d.actor_kind, d.on_behalf_of, d.on_behalf_of_kind, p_tenant, d.decision, d.input_hash IS NOT NULL, d.decided_at
    FROM approval p JOIN decision d ON d.approval_id = p.id WHERE p.agent_id = ANY (v_tree);
    -- Rules of agents of the tree alone, with the notes of their decisions. Rules of templates stay.
    DELETE FROM wait w WHERE w.ref = ANY (ARRAY(SELECT r.id FROM allow_rule r WHERE r.tenant = p_tenant AND r.agent_id = ANY (v_tree)));
    DELETE FROM allow_rule r WHERE r.tenant = p_tenant AND r.agent_id = ANY (v_tree);
    DELETE FROM rule_version v WHERE v.tenant = p_tenant AND v.agent_id = ANY (v_tree);
    DELETE FROM wait w WHERE w.agent_id = ANY (v_tree);
    DELETE FROM schedule s WHERE s.agent_id = ANY (v_tree);
    UPDATE agent a SET tenant = '', lease_owner = NULL, lease_until = NULL, runnable_at = NULL WHERE a.id = ANY (v_tree);
  END IF;

  IF v_change.memory IS NOT NULL THEN
    PERFORM change_memory(p_tenant, NULL, v_change.memory);
  END IF;

  PERFORM pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900));
  -- Behind the lock those that others store at the same time count as well.
  IF v_change."mostAllowRules" < (
    SELECT count(*) FROM allow_rule a
    WHERE a.tenant = p_tenant AND a.template_id = v_change."storeAllowRule" ->> 'template_id' AND a.agent_id IS NULL AND a.revoked_at IS NULL
  ) THEN
    RAISE EXCEPTION 'more rules hold for the template than may' USING ERRCODE = 'TP002';
  END IF;
  IF v_change."mostAccessTokens" < (
    SELECT count(*) FROM access_token a, json_populate_record(null::access_token, v_change."createAccessToken") c
    WHERE a.tenant = p_tenant AND a.actor_id = c.actor_id AND a.revoked_at IS NULL AND a.expires_at > c.created_at
  ) THEN
    RAISE EXCEPTION 'the person has more tokens than may be' USING ERRCODE = 'TP002';
  END IF;
  IF v_change."mostExports" < (SELECT count(*) FROM export x WHERE x.tenant = p_tenant AND x.state = 'RUNNING') THEN
    RAISE EXCEPTION 'more exports are made than may be' USING ERRCODE = 'TP002';
  END IF;
  -- One actor has half of them at most, rounded up.
  IF (v_change."mostExports" + 1) / 2 < (
    SELECT count(*) FROM export x, json_populate_record(null::export, v_change."createExport") c
    WHERE x.tenant = p_tenant AND x.state = 'RUNNING' AND x.created_by = c.created_by AND x.created_by_kind = c.created_by_kind
  ) THEN
    RAISE EXCEPTION 'more exports of one actor are made than may be' USING ERRCODE = 'TP002';
  END IF;
  SELECT greatest(l.floor, (SELECT max(e.position) FROM event e WHERE e.tenant = p_tenant)), greatest(l.seq, (SELECT max(e.seq) FROM event e WHERE e.tenant = p_tenant AND e.agent_id IS NULL)), l.lost_at
  INTO base_position, base_seq, v_lost FROM tenant_log l WHERE l.tenant = p_tenant;
  IF v_lost IS NOT NULL THEN
    RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
  END IF;
  INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
  SELECT p_tenant, base_position + e.place, NULL, base_seq + e.place, CASE WHEN e.place = 1 THEN p_append END, e.channel, e.kind, e.payload::json, e.at
  FROM unnest(p_channels, p_kinds, p_payloads, p_ats) WITH ORDINALITY AS e(channel, kind, payload, at, place);
  -- Servers forget what they remember of events up to here.
  IF v_tree IS NOT NULL THEN
    UPDATE tenant_log l SET erased = base_position + cardinality(p_kinds) WHERE l.tenant = p_tenant;
  END IF;
  RETURN NEXT;
END
$function$;


-- Written by `npm run migration` from src/db/functions/images_of_agent.sql: change it there.
-- The digests of the images that messages and results of an agent show. Most messages have none: their text says so before it is read as JSON.
CREATE OR REPLACE FUNCTION images_of_agent(p_agent text)
RETURNS text[]
LANGUAGE sql STABLE
AS $function$
  SELECT ARRAY(
    SELECT b -> 'source' ->> 'digest'
    FROM message m CROSS JOIN LATERAL json_array_elements(CASE WHEN m.content::text LIKE '%"kept"%' THEN m.content END) b
    WHERE m.agent_id = p_agent AND m.content IS NOT NULL AND b ->> 'type' = 'image'
    UNION
    SELECT i ->> 'digest'
    FROM tool_call t CROSS JOIN LATERAL json_array_elements(CASE WHEN json_typeof(t.images) = 'array' THEN t.images END) i
    WHERE t.agent_id = p_agent AND t.images IS NOT NULL
  )
$function$;


-- Written by `npm run migration` from src/db/functions/look_again_at_budget.sql: change it there.
-- Makes the open questions about a budget due: a server looks whether their steps fit by now. p_ref names the turn, agent, template or actor that spends; null for all of them.
--
-- Locks: waits of other agents, which it does not wait for. One that another commit holds is being settled, or is due again before long (src/agent/approvals/budgets/open-question.ts).
CREATE OR REPLACE FUNCTION look_again_at_budget(p_tenant text, p_budget text, p_ref text)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
BEGIN
  WITH asking AS (
    SELECT w.id FROM approval p JOIN wait w ON w.ref = p.id AND w.kind = 'BUDGET' AND w.settled_at IS NULL
    WHERE p.tenant = p_tenant AND p.state = 'PENDING' AND p.kind = 'BUDGET' AND p.input ->> 'budgetId' = p_budget AND (p_ref IS NULL OR p.input ->> 'ref' = p_ref)
    ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
  ) UPDATE wait w SET due = policy_time() FROM asking a WHERE w.id = a.id;
END
$function$;


-- Written by `npm run migration` from src/db/functions/percentile_of_classes.sql: change it there.
-- A percentile of the times whose numbers by class are p_classes, as src/db/groups/duration-classes.ts computes them. To sort by.
CREATE OR REPLACE FUNCTION percentile_of_classes(p_classes numeric, p_times bigint, p_fraction double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE
AS $function$
  SELECT min(c.ms) FILTER (WHERE c.upto > floor(r.rank)) * (1 - r.rank + floor(r.rank)) + min(c.ms) FILTER (WHERE c.upto > ceil(r.rank)) * (r.rank - floor(r.rank))
  FROM (SELECT p_fraction * (p_times - 1) AS rank) r CROSS JOIN (
    SELECT CASE WHEN d.place = 1 THEN 0 ELSE 0.001 * 1.04::float8 ^ (d.place - 1) * 2 / 2.04 END AS ms, sum(reverse(d.digits[1])::bigint) OVER (ORDER BY d.place) AS upto
    FROM regexp_matches(reverse(p_classes::text), '.{1,8}', 'g') WITH ORDINALITY AS d(digits, place) WHERE d.digits[1] ~ '[1-9]'
  ) c GROUP BY r.rank
$function$;


-- Written by `npm run migration` from src/db/functions/place_events.sql: change it there.
-- Gives the place behind which the events of one agent are written: the seq and the position before the first of them.
-- A composed commit (src/db/commit/composed-commit.ts) asks for it when its rows are written, with the agent's row locked.
--
-- p_seq:              the seq on the agent's row, which stands for events that were removed.
-- p_expected, p_rows: how many rows the commit was to write, and wrote.
--
-- Locks: an advisory lock that stands for the tenant's log, last, until after COMMIT, as append_events says.
-- Every statement of a VOLATILE function has a snapshot of its own, while the parts of the statement that asks share an
-- older one: what is read behind a lock must be read here. Invariant 2.
-- Errors: TP005 a row was not in the state that the change starts from, so that nothing is written; TP004 as append_events.
CREATE OR REPLACE FUNCTION place_events(p_tenant text, p_agent text, p_seq int, p_expected bigint, p_rows bigint)
RETURNS TABLE (base_seq int, base_position bigint)
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_is_locked boolean;
  v_lost timestamptz;
BEGIN
  IF p_rows <> p_expected THEN
    RAISE EXCEPTION 'agent % has other rows than its commit starts from', p_agent USING ERRCODE = 'TP005';
  END IF;
  -- The timeout, then the lock. PERFORM would be a statement of SQL; PL/pgSQL evaluates an assignment by itself.
  v_is_locked := CASE WHEN set_config('lock_timeout', '2s', true) IS NOT NULL THEN pg_advisory_xact_lock(hashtextextended(p_tenant, 7270736900)) IS NOT NULL END;
  SELECT greatest(p_seq, (SELECT e.seq FROM event e WHERE e.agent_id = p_agent ORDER BY e.position DESC LIMIT 1)),
         greatest(l.floor, (SELECT e.position FROM event e WHERE e.tenant = p_tenant ORDER BY e.position DESC LIMIT 1)), l.lost_at
  INTO base_seq, base_position, v_lost
  FROM tenant_log l WHERE l.tenant = p_tenant;
  IF v_lost IS NOT NULL THEN
    RAISE EXCEPTION 'the log of tenant % lost commits', p_tenant USING ERRCODE = 'TP004';
  END IF;
  RETURN NEXT;
END
$function$;


-- Written by `npm run migration` from src/db/functions/policy_time.sql: change it there.
-- The time by which something is removed, denied or ended: that of the database, whatever the clocks of servers say.
-- STABLE, so that an index is used for what is compared with it; the time at which the statement began.
-- Tests replace it in databases of their own.
CREATE OR REPLACE FUNCTION policy_time()
RETURNS timestamptz
LANGUAGE sql STABLE
AS $function$
  SELECT statement_timestamp()
$function$;


-- Written by `npm run migration` from src/db/functions/raise_budget.sql: change it there.
-- Raises the limits of one period of a budget, as p_raise (BudgetRaise, src/db/commit/budget-accounts.ts) says: for commit_change.
-- The other agents that wait on it are looked at again.
--
-- Locks: the period: after the rows of the agent, before the tenant's log.
-- Errors: TP002 it was raised by another meanwhile.
CREATE OR REPLACE FUNCTION raise_budget(p_tenant text, p_raise json)
RETURNS void
LANGUAGE plpgsql VOLATILE
AS $function$
#variable_conflict use_column
DECLARE
  v_raise record;
BEGIN
  SELECT * INTO v_raise FROM json_to_record(p_raise) AS r("budgetId" text, ref text, "startsAt" timestamptz, "endsAt" timestamptz, "fromMillionths" bigint, "fromTokens" bigint, "toMillionths" bigint, "toTokens" bigint, "raisedBy" text);
  -- The first step of a period may be refused: then it has no row yet.
  INSERT INTO budget_period AS p (tenant, budget_id, ref, starts_at, ends_at, raised_millionths, raised_tokens, raised_by, used_at)
  VALUES (p_tenant, v_raise."budgetId", v_raise.ref, v_raise."startsAt", v_raise."endsAt", v_raise."toMillionths", v_raise."toTokens", v_raise."raisedBy", policy_time())
  ON CONFLICT (tenant, budget_id, ref, starts_at) DO UPDATE SET raised_millionths = EXCLUDED.raised_millionths, raised_tokens = EXCLUDED.raised_tokens, raised_by = EXCLUDED.raised_by, has_warned = false, used_at = EXCLUDED.used_at
  WHERE p.raised_millionths IS NOT DISTINCT FROM v_raise."fromMillionths" AND p.raised_tokens IS NOT DISTINCT FROM v_raise."fromTokens";
  IF NOT FOUND THEN
    RAISE EXCEPTION 'budget % was raised by another', v_raise."budgetId" USING ERRCODE = 'TP002';
  END IF;
  PERFORM look_again_at_budget(p_tenant, v_raise."budgetId", v_raise.ref);
END
$function$;


-- Written by `npm run migration` from src/db/functions/requesters_of_approval.sql: change it there.
-- The requesters of an approval, as { id, kind }, some of them more than once: those of its call or of the calls that wait for it, and the
-- people who edited the call's input. For a budget those of the turn that it holds up, and of the call that started its agent; for a turn
-- without messages, the creator of the agent.
CREATE OR REPLACE FUNCTION requesters_of_approval(p_approval approval)
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE
AS $function$
DECLARE
  v_turn int := CASE WHEN p_approval.kind = 'BUDGET' THEN (p_approval.input ->> 'turn')::int END;
  v_has_sender boolean := false;
  v_who jsonb;
BEGIN
  RETURN QUERY SELECT c FROM requesters_of_calls(ARRAY(
    SELECT p_approval.tool_call_id WHERE p_approval.tool_call_id IS NOT NULL
    UNION ALL SELECT r.call_id FROM wait r WHERE r.ref = p_approval.id AND r.call_id IS NOT NULL
    UNION ALL SELECT a.parent_call_id FROM agent a WHERE p_approval.kind = 'BUDGET' AND a.id = p_approval.agent_id AND a.parent_call_id IS NOT NULL)) c;

  IF p_approval.kind = 'BUDGET' THEN
    FOR v_who IN SELECT jsonb_build_object('id', s.created_by, 'kind', s.created_by_kind) FROM message s
      WHERE s.agent_id = p_approval.agent_id AND s.turn = v_turn AND s.kind IN ('USER', 'REMINDER') AND s.created_by IS NOT NULL AND s.created_by_kind <> 'SYSTEM' LOOP
      v_has_sender := true;
      RETURN NEXT v_who;
    END LOOP;
    IF NOT v_has_sender THEN
      RETURN QUERY SELECT jsonb_build_object('id', a.created_by, 'kind', a.created_by_kind) FROM agent a WHERE a.id = p_approval.agent_id;
    END IF;
  END IF;

  IF p_approval.tool_call_id IS NOT NULL THEN
    RETURN QUERY SELECT jsonb_build_object('id', e.id, 'kind', e.kind) FROM approval o JOIN decision d ON d.approval_id = o.id
      CROSS JOIN LATERAL (VALUES (d.actor_id, d.actor_kind), (d.on_behalf_of, d.on_behalf_of_kind)) e (id, kind)
      WHERE o.tool_call_id = p_approval.tool_call_id AND o.id <> p_approval.id AND o.kind <> 'TOOL_INPUT' AND d.input IS NOT NULL AND e.id IS NOT NULL;
  END IF;
END
$function$;


-- Written by `npm run migration` from src/db/functions/requesters_of_calls.sql: change it there.
-- The requesters of calls, as { id, kind }: the senders of the messages that their turns answer. For a child, those of the calls that started
-- the agents above it as well. The end of a child in the background may begin a turn: those of the child's call are requesters of it and of its
-- retries.
--
-- The turn of the messages that a call's turn answers is the first one at or after it with messages: a retry carries its turn's messages into
-- the next turn, with those that join there. A message keeps the step at which it first joined.
CREATE OR REPLACE FUNCTION requesters_of_calls(p_calls text[])
RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE
AS $function$
BEGIN
  RETURN QUERY SELECT jsonb_build_object('id', m.created_by, 'kind', m.created_by_kind) FROM (
      WITH RECURSIVE asked (id) AS (SELECT g.id FROM unnest(p_calls) AS g(id) WHERE g.id IS NOT NULL
        UNION SELECT u.parent_call_id FROM asked CROSS JOIN LATERAL (SELECT o.agent_id, o.turn FROM tool_call o WHERE o.id = asked.id OFFSET 0) o
          CROSS JOIN LATERAL (SELECT a.parent_call_id FROM agent a WHERE a.id = o.agent_id AND a.parent_call_id IS NOT NULL
            UNION ALL SELECT b.parent_call_id FROM notice n JOIN step s ON s.agent_id = n.agent_id AND s.step = n.told_at_step JOIN agent b ON b.id = n.ref
              WHERE n.agent_id = o.agent_id AND n.source IN ('CHILD', 'INTERRUPTED_CHILD') AND b.parent_call_id IS NOT NULL AND o.turn BETWEEN s.turn AND coalesce(n.retry_turn, s.turn) OFFSET 0) u) SELECT asked.id FROM asked) c
      CROSS JOIN LATERAL (SELECT t.agent_id, t.turn FROM tool_call t WHERE t.id = c.id OFFSET 0) t
      CROSS JOIN LATERAL (SELECT m.created_by, m.created_by_kind FROM message m
        WHERE m.agent_id = t.agent_id AND m.kind IN ('USER', 'REMINDER') AND m.created_by IS NOT NULL AND m.created_by_kind <> 'SYSTEM'
          AND m.turn = (SELECT min(a.turn) FROM message a WHERE a.agent_id = t.agent_id AND a.turn >= t.turn AND a.kind IN ('USER', 'REMINDER') AND a.created_by IS NOT NULL)
          AND (m.turn = t.turn OR (SELECT s.turn FROM step s WHERE s.agent_id = m.agent_id AND s.step = m.step) <= t.turn) OFFSET 0) m;
END
$function$;
