import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { kindOf, readMigrations, type Migration } from "../../src/db/migrate.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { ApprovalsDocument, PollTimelineDocument } from "../generated/documents.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";

const BESIDE = "-- Servers of the version before may run beside it.\n";
const ALONE = "-- Servers of the version before must be stopped.\n";

/** The migrations of a next version: one that changes tables and rows, and a value more of an enum. */
const NEXT: readonly Migration[] = [
  {
    name: "99990101000000_columns",
    sql: `${BESIDE}ALTER TABLE agent ADD COLUMN mood text NOT NULL DEFAULT 'calm';\nUPDATE agent SET mood = 'busy' WHERE state <> 'READY';\n`,
  },
  { name: "99990101000001_value", sql: `${BESIDE}ALTER TYPE "agent_state" ADD VALUE 'DREAMING';\n` },
];

/** A server of this version, or of one that has more migrations, on a database. Agents work in the folder. */
async function startOn(url: string, folder: string, next: readonly Migration[], options: TestAppOptions = {}): Promise<TestApp> {
  return startTestApp({
    database: { kind: "postgres", url, connections: 6 },
    config: { workspaceRoots: [folder], defaultWorkspace: folder },
    ...options,
    overrides: { migrations: [...(await readMigrations()), ...next] },
  });
}

describe("a database of this version, which a next one upgrades", () => {
  it("has its rows and events as they were, and its agents continue: a decision is made, and the turn ends", async () => {
    const [url, folder] = [await testDatabaseUrl(), await temporaryFolder()];
    const options: TestAppOptions = {
      template: { permission: { mode: "approval" } },
      script: {
        replies: [
          { when: { result: "fs_write" }, say: ["It is written."] },
          { when: { user: "write" }, say: ["I write."], call: [{ tool: "fs_write", input: { path: "a", content: "b" } }] },
          { when: {}, say: ["Hello."] },
        ],
      },
    };
    const before = await startOn(url, folder, [], options);
    const older = connect(before.url);
    const [idle, asking] = [await older.createAgent(), await older.createAgent()];
    await older.turn(idle.id, "hi");
    await older.send(asking.id, "write it");
    await older.until(asking.id, "PERMISSION_REQUIRED");
    await expect.poll(async () => (await older.agent(asking.id)).breakpoint).toBe("AWAITING_APPROVAL");
    const content = async (client: typeof older): Promise<unknown> => ({
      agents: await Promise.all([idle.id, asking.id].map((id) => client.agent(id))),
      approvals: (await client.get(ApprovalsDocument, {})).approvals.nodes,
      events: (await client.get(PollTimelineDocument, { since: "0", kinds: null })).timeline.events,
    });
    const left = await content(older);
    await before.close();

    const app = await startOn(url, folder, NEXT, options);
    const client = connect(app.url);
    expect(await content(client)).toEqual(left);
    const moods = await (await administrator(url)).query("SELECT mood FROM agent ORDER BY mood");
    expect(moods.rows).toEqual([{ mood: "busy" }, { mood: "calm" }]);
    const [open] = (await client.get(ApprovalsDocument, { filter: { states: ["PENDING"] } })).approvals.nodes;
    const allowed = { approvalId: open?.id ?? "", decision: "ALLOW", inputHash: open?.inputHash ?? null } as const;
    expect((await client.decide(allowed)).userErrors).toEqual([]);
    expect(ofType(await client.until(asking.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("has agents in the middle of a turn, which continue: calls in every state, a message that waits (invariants 5 and 6)", async () => {
    const url = await testDatabaseUrl();
    const database = await administrator(url);
    await database.query("INSERT INTO tenant_log (tenant, epoch) VALUES ('local', '0badcafe')");
    const BUSY = "00000000-0000-4000-8000-0000000000bb";
    const STARTED = "00000000-0000-4000-8000-0000000000aa";
    await database.query(`INSERT INTO agent (id, tenant, template_id, model, workspace, state, breakpoint, turn, step_count, arrivals, transcript_length, last_sfp_index, created_by, created_by_kind, created_at, last_activity_at, lease_owner, lease_epoch, lease_until, runnable_at) VALUES
      ('${BUSY}', 'local', 'assistant', 'test', '/tmp', 'WORKING', 'TOOL_EXECUTING', 1, 1, 2, 2, 0, 'anna', 'USER', '2026-01-01', '2026-01-01', 'gone', 3, '2026-01-01', '2026-01-01'),
      ('${STARTED}', 'local', 'assistant', 'test', '/tmp', 'WORKING', 'STREAMING_MODEL', 1, 2, 1, 3, 2, 'anna', 'USER', '2026-01-01', '2026-01-01', 'gone', 3, '2026-01-01', '2026-01-01')`);
    await database.query(`INSERT INTO step (agent_id, step, tenant, turn, state, model, stop_reason, input_tokens, output_tokens, started_at, completed_at) VALUES
      ('${BUSY}', 1, 'local', 1, 'COMPLETED', 'test', 'tool_use', 1, 1, '2026-01-01', '2026-01-01'),
      ('${STARTED}', 1, 'local', 1, 'COMPLETED', 'test', 'tool_use', 1, 1, '2026-01-01', '2026-01-01'),
      ('${STARTED}', 2, 'local', 1, 'STARTED', 'test', NULL, NULL, NULL, '2026-01-01', NULL)`);
    const use = (id: string) => `{"type":"tool_use","id":"${id}","name":"todo_read","input":{}}`;
    const states = ["PENDING", "APPROVED", "EXECUTING", "COMPLETED", "DENIED", "SEALED"] as const;
    await database.query(`INSERT INTO message (id, tenant, agent_id, kind, content, bytes, arrival, ordinal, turn, step, created_by, created_by_kind, created_at) VALUES
      (gen_random_uuid(), 'local', '${BUSY}', 'USER', '[{"type":"text","text":"first"}]', 30, 1, 0, 1, 1, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${BUSY}', 'ASSISTANT', '[${states.map(use).join(",")}]', 30, NULL, 1, 1, 1, NULL, NULL, '2026-01-01'),
      (gen_random_uuid(), 'local', '${BUSY}', 'USER', '[{"type":"text","text":"it waits"}]', 30, 2, NULL, NULL, NULL, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${STARTED}', 'USER', '[{"type":"text","text":"first"}]', 30, 1, 0, 1, 1, 'anna', 'USER', '2026-01-01'),
      (gen_random_uuid(), 'local', '${STARTED}', 'ASSISTANT', '[${use("old")}]', 30, NULL, 1, 1, 1, NULL, NULL, '2026-01-01'),
      (gen_random_uuid(), 'local', '${STARTED}', 'TOOL_RESULTS', '[{"type":"tool_result","tool_use_id":"old","content":"done","is_error":false}]', 30, NULL, 2, 1, 1, NULL, NULL, '2026-01-01')`);
    for (const [ordinal, state] of states.entries())
      await database.query(`INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, input_hash, output, is_error, stages, audit_trail, started_at, created_at, updated_at)
        VALUES (gen_random_uuid(), 'local', '${BUSY}', 1, 1, ${ordinal}, '${state}', 'todo_read', '${state}', 1, '{}', '{}', 'hash', ${["COMPLETED", "DENIED", "SEALED"].includes(state) ? "'over'" : "NULL"}, false, '[{"stage":"discovery","startedAt":1767225600000,"durationMs":0.1}]', '[]', '2026-01-01', '2026-01-01', '2026-01-01')`);
    const app = await startOn(url, "/tmp", NEXT, { template: { permission: { mode: "auto" } } });
    const client = connect(app.url);
    for (const id of [BUSY, STARTED]) {
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

  it("is refused while a server of this version is connected, if the migration says so, and left as it is", async () => {
    const url = await testDatabaseUrl();
    const before = new pg.Client({ connectionString: url, application_name: "triplane 20200101000000 commits" });
    await before.connect();
    onTestFinished(() => before.end());
    const alone = { name: "99990101000000_alone", sql: `${ALONE}ALTER TABLE agent ADD COLUMN mood text` };
    await expect(startOn(url, "/tmp", [alone])).rejects.toThrow(
      /migration 99990101000000_alone cannot be applied while servers of the version before are connected/,
    );
    const columns = await before.query("SELECT FROM information_schema.columns WHERE column_name = 'mood'");
    expect(columns.rowCount).toBe(0);
  });

  it("is refused by a server of this version once it is upgraded", async () => {
    const [url, folder] = [await testDatabaseUrl(), await temporaryFolder()];
    await (await startOn(url, folder, NEXT)).close();
    await expect(startOn(url, folder, [])).rejects.toThrow(
      /does not know \(99990101000000_columns, 99990101000001_value\): start a newer version/,
    );
  });
});

describe("migrations that come later", () => {
  it("add a value to an enum alone: it cannot be used in the transaction that adds it", async () => {
    for (const migration of [...(await readMigrations()), ...NEXT]) {
      if (!migration.sql.includes("ADD VALUE")) continue;
      const statements = migration.sql.split("\n").filter((line) => line !== "" && !line.startsWith("--"));
      expect(statements, migration.name).toHaveLength(1);
      expect(kindOf(migration).mayRunBeside, migration.name).toBe(true);
    }
  });

  it("make no new enum: columns of kinds are text with a check", async () => {
    for (const { name, sql } of (await readMigrations()).slice(1)) expect(sql, name).not.toMatch(/CREATE TYPE/);
  });
});
