import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { rowId } from "../../src/lib/global-id.ts";
import { temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { TABLES_OF_DELETED } from "../support/erasure.ts";
import { ArchiveAgentDocument, DeleteAgentDocument } from "../generated/documents.ts";
import { startServerProcess } from "../support/server-process.ts";

const SECRET = "xyzzy-secret";
const CONFIG = {
  models: {
    m: {
      provider: "scripted",
      script: {
        replies: [
          { when: { result: "todo_write" }, say: ["Done."] },
          { when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] },
        ],
      },
    },
  },
  templates: { assistant: { systemPrompt: "You are tested.", model: "m", tools: ["todo_write"], permission: { mode: "auto" } } },
};

it(
  "a deletion that a killed server left in its middle is ended by another, and only rows of the audit are left",
  { timeout: 60_000 },
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "triplane.config.ts");
    await writeFile(path, `export default ${JSON.stringify(CONFIG)};`);
    const url = await testDatabaseUrl();
    const env = { DATABASE_URL: url, TRIPLANE_CONFIG: path, TRIPLANE_DATA_DIR: folder };
    const start = () => startServerProcess(env, "tests/support/sweeping-server.ts");
    const first = await start();
    const client = connect(first.url);
    const { id } = await client.createAgent({ title: SECRET });
    await client.turn(id, SECRET);
    await client.get(ArchiveAgentDocument, { input: { agentId: id } });
    const remove = async () => (await client.get(DeleteAgentDocument, { input: { agentId: id } })).deleteAgent.userErrors;
    await expect.poll(remove, { timeout: 15_000 }).toEqual([]);
    first.child.kill("SIGKILL");
    await first.exited;

    // The next server stops at the calls: a lock holds it there.
    const [operator, watcher] = [await administrator(url), await administrator(url)];
    const agentId = rowId("Agent", id);
    const count = async (table: string): Promise<number> =>
      (await operator.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE agent_id = $1`, [agentId])).rows[0]
        ?.n ?? 0;
    await operator.query("BEGIN");
    await operator.query("LOCK TABLE tool_call IN SHARE MODE");
    const second = await start();
    const waits =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM tool_call%'";
    await expect.poll(async () => (await watcher.query(waits)).rows.length, { timeout: 20_000 }).toBe(1);
    second.child.kill("SIGKILL");
    await second.exited;
    expect([await count("event"), await count("message"), await count("step")]).toEqual([0, 0, 2]);
    await operator.query("COMMIT");

    await start();
    const removed = async () => (await operator.query("SELECT FROM deleted_agent WHERE removed_at IS NOT NULL")).rows.length;
    await expect.poll(removed, { timeout: 20_000 }).toBe(1);
    const tables = await operator.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
    );
    const left: string[] = [];
    for (const { name } of tables.rows)
      if (
        (
          await operator.query(`SELECT FROM ${name} t WHERE t::text LIKE $1 OR t::text LIKE $2 LIMIT 1`, [
            `%${agentId}%`,
            `%${SECRET}%`,
          ])
        ).rows.length > 0
      )
        left.push(name);
    expect(TABLES_OF_DELETED).toEqual(expect.arrayContaining(left));
    expect(left).toEqual(expect.arrayContaining(["audit_call", "deleted_agent", "event"]));
    expect((await operator.query("SELECT FROM event WHERE kind <> 'AGENT_DELETED'")).rows).toEqual([]);
  },
);
