import { readFile } from "node:fs/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { kindOf, readMigrations } from "../../src/db/migrate.ts";
import { EVENT_KINDS } from "../../src/events/event.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { ApprovalsDocument, PollTimelineDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { emptyDatabaseUrl } from "../support/database.ts";

/** The migration with the shapes that the contract keeps. */
const CONTRACT = "20261126000008_contract";
const AGENT = "00000000-0000-4000-8000-00000000000a";
const FORK = "00000000-0000-4000-8000-00000000000f";
/** The kinds that came with it. */
const NEW = new Set<string>([
  "AGENT_RENAMED",
  "AGENT_ARCHIVED",
  "AGENT_UNARCHIVED",
  "MESSAGE_WITHDRAWN",
  "TURN_RETRY_REQUESTED",
  "TOOL_CANCEL_REQUESTED",
  "ALLOW_RULE_STORED",
  "ALLOW_RULE_REVOKED",
  "DELEGATION_STARTED",
  "DELEGATION_ENDED",
  "CONFIGURATION_CHANGED",
  "SHELL_STARTED",
  "SHELL_ENDED",
  "FILE_CHANGED",
]);

/** A database as the version before the contract left it, with rows of every kind. */
async function databaseOfBefore(): Promise<{ readonly url: string; readonly database: pg.Client }> {
  const url = await emptyDatabaseUrl();
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  onTestFinished(() => database.end());
  await database.query(`CREATE TABLE "_prisma_migrations" (
    "id" varchar(36) PRIMARY KEY NOT NULL, "checksum" varchar(64) NOT NULL, "finished_at" timestamptz, "migration_name" varchar(255) NOT NULL,
    "logs" text, "rolled_back_at" timestamptz, "started_at" timestamptz NOT NULL DEFAULT now(), "applied_steps_count" integer NOT NULL DEFAULT 0)`);
  for (const { name, sql } of (await readMigrations()).filter((migration) => migration.name < CONTRACT)) {
    await database.query(sql);
    await database.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES (gen_random_uuid(), encode(sha256(convert_to($2, 'utf8')), 'hex'), $1, now())`,
      [name, sql],
    );
  }
  await database.query(await readFile(new URL("../support/database-of-before.sql", import.meta.url), "utf8"));
  return { url, database };
}

describe("a database of the version before the contract", () => {
  it("is upgraded when a server starts, and rows and events of every kind are read as those of today", async () => {
    const { url } = await databaseOfBefore();
    const app = await startTestApp({ database: { kind: "postgres", url, connections: 6 } });
    const client = connect(app.url);
    const { events } = (await client.get(PollTimelineDocument, { since: "0" })).timeline;
    expect(events.map(({ kind }) => kind).toSorted()).toEqual(EVENT_KINDS.filter((kind) => !NEW.has(kind)).toSorted());
    expect(ofType(events, "PermissionDecided")).toMatchObject([{ onBehalfOf: { actorId: "paul" } }]);
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { host: null, quorum: 1 } }]);
    expect(ofType(events, "ExecutionFailed")).toMatchObject([
      { tool: "fs_write", failure: { type: "PERMISSION_DENIED", stage: "PERMISSION" } },
    ]);
    expect(ofType(events, "ExecutionAborted")).toMatchObject([{ failure: { type: "ABORTED" } }]);
    expect(ofType(events, "ToolCustomEvent")).toMatchObject([{ tool: "fs_write" }]);

    const agent = await client.agent(globalId("Agent", AGENT));
    expect(agent.toolCalls.nodes).toMatchObject([
      {
        stages: [
          { stage: "DISCOVERY", startedAt: null, endedAt: null, durationMs: 0.1 },
          { stage: "VALIDATION", durationMs: 0.2 },
          { stage: "PERMISSION", durationMs: 0.3 },
        ],
        explanation: { verdict: "ASK", rule: "mode default" },
      },
      { stages: [], error: { type: "EXECUTION_FAILED", stage: "EXECUTION" }, explanation: null },
    ]);
    expect(agent.usage).toMatchObject({ inputTokens: 10, costUsd: 0.25 });
    expect(agent.todos).toHaveLength(1);
    const more = await client.post({
      query: `{ agents(orderBy: { field: LAST_ACTIVITY_AT, direction: DESC }) { nodes { id title doneReason lastActivityAt archivedAt forkIsWhole messages { nodes { turn text erasedAt } } } }
        allowRules { nodes { rule createdBy { actorId } revokedBy { actorId kind } } }
        delegations { nodes { from { actorId kind } to { actorId kind } revokedBy { actorId } } } }`,
    });
    expect(more).toMatchObject({
      errors: [],
      data: {
        agents: {
          nodes: [
            {
              id: globalId("Agent", AGENT),
              title: null,
              doneReason: "COMPLETED",
              lastActivityAt: "2026-01-03T00:00:00.000Z",
              forkIsWhole: true,
            },
            {
              id: globalId("Agent", FORK),
              doneReason: null,
              lastActivityAt: "2026-01-02T00:00:00.000Z",
              forkIsWhole: false,
              messages: { nodes: [{ turn: null }] },
            },
          ],
        },
        // Of a rule that was stored twice at once, the first holds.
        allowRules: {
          nodes: [
            { revokedBy: { actorId: "petra" } },
            { rule: "fs_read", revokedBy: { actorId: "paul", kind: "SERVICE" } },
            { createdBy: { actorId: "paul" }, revokedBy: null },
          ],
        },
      },
    });
    const approvals = (await client.get(ApprovalsDocument, {})).approvals.nodes;
    expect(approvals.map(({ decisions }) => decisions[0]?.onBehalfOf)).toEqual([{ actorId: "paul" }, null]);
  });

  it("says nothing of delegations that ended before, and works on: a decision is made, and the agent goes on", async () => {
    const { url, database } = await databaseOfBefore();
    const app = await startTestApp({
      database: { kind: "postgres", url, connections: 6 },
      template: { permission: { mode: "auto" } },
      config: { workspaceRoots: ["/tmp"] },
    });
    const client = connect(app.url);
    const [open] = (await client.get(ApprovalsDocument, { filter: { states: ["PENDING"] } })).approvals.nodes;
    const agent = globalId("Agent", AGENT);
    const { cursor } = await client.agent(agent);
    expect((await client.decide({ approvalId: open?.id ?? "", decision: "DENY" })).userErrors).toEqual([]);
    const events = await client.until(agent, "DONE", cursor);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect((await client.agent(agent)).state).toBe("READY");
    const ended = await database.query<{ id: string }>("SELECT id FROM delegation WHERE ended_at IS NULL");
    expect(ended.rows).toEqual([{ id: "00000000-0000-4000-8000-000000000033" }]);
    expect((await client.get(PollTimelineDocument, { kinds: ["DELEGATION_ENDED"] })).timeline.events).toEqual([]);
  });

  it("goes on with an agent that it finds in the middle of a turn: calls in every state, a message that waits (invariants 5 and 6)", async () => {
    const { url, database } = await databaseOfBefore();
    const BUSY = "00000000-0000-4000-8000-0000000000bb";
    const OLD = "00000000-0000-4000-8000-0000000000aa";
    await database.query(`INSERT INTO agent (id, tenant, template_id, model, workspace, state, breakpoint, turn, step_count, arrivals, transcript_length, last_sfp_index, created_by, created_by_kind, created_at, lease_owner, lease_epoch, lease_until, runnable_at) VALUES
      ('${BUSY}', 'local', 'assistant', 'test', '/tmp', 'WORKING', 'TOOL_EXECUTING', 1, 1, 2, 2, 0, 'anna', 'USER', '2026-01-01', 'gone', 3, '2026-01-01', '2026-01-01'),
      ('${OLD}', 'local', 'assistant', 'test', '/tmp', 'WORKING', 'STREAMING_MODEL', 1, 2, 1, 3, 2, 'anna', 'USER', '2026-01-01', 'gone', 3, '2026-01-01', '2026-01-01')`);
    await database.query(`INSERT INTO step (agent_id, step, tenant, turn, state, model, stop_reason, input_tokens, output_tokens, started_at, completed_at) VALUES
      ('${BUSY}', 1, 'local', 1, 'COMPLETED', 'test', 'tool_use', 1, 1, '2026-01-01', '2026-01-01'),
      ('${OLD}', 1, 'local', 1, 'COMPLETED', 'test', 'tool_use', 1, 1, '2026-01-01', '2026-01-01'),
      ('${OLD}', 2, 'local', 1, 'STARTED', 'test', NULL, NULL, NULL, '2026-01-01', NULL)`);
    const use = (id: string) => `{"type":"tool_use","id":"${id}","name":"todo_read","input":{}}`;
    const states = ["PENDING", "APPROVED", "EXECUTING", "COMPLETED", "DENIED", "SEALED"] as const;
    await database.query(`INSERT INTO message (id, tenant, agent_id, kind, content, bytes, arrival, ordinal, turn, step, created_by, created_by_kind, created_at) VALUES
      (gen_random_uuid(), 'local', '${BUSY}', 'USER', '[{"type":"text","text":"first"}]', 30, 1, 0, 1, 1, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${BUSY}', 'ASSISTANT', '[${states.map(use).join(",")}]', 30, NULL, 1, 1, 1, NULL, NULL, '2026-01-01'),
      (gen_random_uuid(), 'local', '${BUSY}', 'USER', '[{"type":"text","text":"it waits"}]', 30, 2, NULL, NULL, NULL, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${OLD}', 'USER', '[{"type":"text","text":"first"}]', 30, 1, 0, 1, 1, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${OLD}', 'ASSISTANT', '[${use("old")}]', 30, NULL, 1, 1, 1, NULL, NULL, '2026-01-01'),
      (gen_random_uuid(), 'local', '${OLD}', 'TOOL_RESULTS', '[{"type":"tool_result","tool_use_id":"old","content":"done","is_error":false}]', 30, NULL, 2, 1, 1, NULL, NULL, '2026-01-01')`);
    for (const [ordinal, state] of states.entries())
      await database.query(`INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, input_hash, output, is_error, stages, audit_trail, started_at, created_at, updated_at)
        VALUES (gen_random_uuid(), 'local', '${BUSY}', 1, 1, ${ordinal}, '${state}', 'todo_read', '${state}', 1, '{}', '{}', 'hash', ${["COMPLETED", "DENIED", "SEALED"].includes(state) ? "'over'" : "NULL"}, false, '{"discovery":0.1}', '[]', '2026-01-01', '2026-01-01', '2026-01-01')`);
    const app = await startTestApp({
      database: { kind: "postgres", url, connections: 6 },
      template: { permission: { mode: "auto" } },
      config: { workspaceRoots: ["/tmp"] },
    });
    const client = connect(app.url);
    for (const id of [BUSY, OLD]) {
      const events = await client.until(globalId("Agent", id), "DONE");
      expect(ofType(events, "AgentResumed"), id).toHaveLength(1);
      expect(ofType(events, "Done"), id).toMatchObject([{ reason: "COMPLETED" }]);
    }
    const { toolCalls, messages } = await client.agent(globalId("Agent", BUSY));
    const ended = toolCalls.nodes.filter(({ state }) => ["COMPLETED", "FAILED", "DENIED", "SEALED"].includes(state));
    expect(ended).toHaveLength(states.length);
    // Each call has one result, and the message that waited joined.
    expect(messages.nodes.map(({ kind }) => kind)).toEqual(["USER", "ASSISTANT", "TOOL_RESULTS", "USER", "ASSISTANT"]);
  });

  it("is refused while a server of the version before is connected, and left as it is", async () => {
    const { url, database } = await databaseOfBefore();
    const before = new pg.Client({ connectionString: url, application_name: "triplane 20261126000006 commits" });
    await before.connect();
    onTestFinished(() => before.end());
    await expect(startTestApp({ database: { kind: "postgres", url, connections: 6 } })).rejects.toThrow(
      new RegExp(`migration ${CONTRACT} cannot be applied while servers of the version before are connected`),
    );
    expect((await database.query("SELECT FROM information_schema.columns WHERE column_name = 'last_activity_at'")).rowCount).toBe(
      0,
    );
  });
});

describe("migrations that come later", () => {
  it("add a value to an enum alone: it cannot be used in the transaction that adds it", async () => {
    for (const migration of await readMigrations()) {
      if (migration.name <= "20261125000000_signal" || !migration.sql.includes("ADD VALUE")) continue;
      const statements = migration.sql.split("\n").filter((line) => line !== "" && !line.startsWith("--"));
      expect(statements, migration.name).toHaveLength(1);
      expect(kindOf(migration).mayRunBeside, migration.name).toBe(true);
    }
  });

  it("make no new enum: columns of kinds are text with a check", async () => {
    for (const { name, sql } of await readMigrations()) if (name >= CONTRACT) expect(sql, name).not.toMatch(/CREATE TYPE/);
  });
});
