import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { SHAPES, shapeName } from "../../src/db/commit/commit-text.ts";
import type { Statement } from "../../src/db/sql.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { GROWING, indexesOf, scansOf, type Plan } from "../support/plans.ts";
import { runFile } from "../support/process.ts";

/** Statements of people and followers. They run on connections of their own, on which PostgreSQL plans as it likes. */
const OF_READERS =
  /^(read_((tenant|control|agent)(_past)?|(open|head|place|calls|usage|standstills|fork|judged|tree|spawners).*)|count_fork_points|block_text|blocks_of_open_step)$/;

/** The state of the calls of agent `a`: those of one agent in fifty have failed. */
const STATE = "CASE WHEN a % 50 = 0 THEN 'FAILED' ELSE 'COMPLETED' END::tool_call_state";

/** One agent in five is at work: an agent that nobody holds is rarer than what a planner expects of that. */
const IS_AT_WORK = "a % 5 = 0";

/** Agents with a history, one in ten with an approval, and what an audit has of them. */
const HISTORY = (agents: number): readonly string[] => [
  `INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e')`,
  `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, runnable_at, lease_owner, lease_until)
    SELECT 'agent-' || a, 'one', 'assistant', 'm', '/tmp', 'person-' || a % 100, 'USER', now() - a * interval '1 min', now(), CASE WHEN ${IS_AT_WORK} THEN now() END, CASE WHEN ${IS_AT_WORK} THEN 's' END, CASE WHEN ${IS_AT_WORK} THEN now() + interval '15 s' END FROM generate_series(1, ${agents}) a`,
  `UPDATE agent SET parent_id = 'agent-' || (substr(id, 7)::int - 1), root_id = 'agent-' || (substr(id, 7)::int - 1), ancestors = ARRAY['agent-' || (substr(id, 7)::int - 1)], depth = 1
    WHERE substr(id, 7)::int % 10 = 5`,
  `INSERT INTO event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
    SELECT 'one', (a - 1) * 10 + e, 'agent-' || a, e, CASE WHEN e = 1 THEN gen_random_uuid() END, CASE WHEN e = 9 THEN 'CONTROL' ELSE 'PROGRESS' END, CASE WHEN e = 9 THEN 'PERMISSION_REQUIRED' ELSE 'TEXT_CHUNK' END,
      json_build_object('step', 1, 'block', 0, 'request', json_build_object('approvalId', 'approval-' || a)), now()
    FROM generate_series(1, ${agents}) a, generate_series(1, 10) e`,
  `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, arrival, ordinal, turn, step, created_at)
    SELECT gen_random_uuid(), 'one', 'agent-' || a, CASE WHEN m = 1 THEN 'USER' ELSE 'ASSISTANT' END::message_kind, '[]', 2, CASE WHEN m = 1 THEN 1 END, m - 1, 1, m, now() FROM generate_series(1, ${agents}) a, generate_series(1, 4) m`,
  `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) SELECT 'agent-' || a, s, 'one', 1, 'COMPLETED', 'm', now() FROM generate_series(1, ${agents}) a, generate_series(1, 3) s`,
  `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
    SELECT 'call-' || a || '-' || s, 'one', 'agent-' || a, 1, s, 0, 'p', 'tool-' || a % 9, ${STATE}, 1, false, '[]', '[]', now(), now() FROM generate_series(1, ${agents}) a, generate_series(1, 2) s`,
  `INSERT INTO audit_call (id, tenant, agent_id, step, name, state, has_run, created_at, template_id, created_by)
    SELECT 'call-' || a || '-' || s, 'one', 'agent-' || a, s, 'tool-' || a % 9, ${STATE}, true, now(), 'assistant', 'person-' || a % 100 FROM generate_series(1, ${agents}) a, generate_series(1, 2) s`,
  `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at)
    SELECT 'approval-' || a, 'one', 'agent-' || a, 'call-' || a || '-1', 'TOOL_CALL', CASE WHEN a % 100 = 0 THEN 'PENDING' ELSE 'ALLOWED' END::approval_state, 'r', 'r', now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at)
    SELECT 'approval-' || a, 'anna', 'USER', 'one', 'ALLOW', now() FROM generate_series(1, ${agents}) a WHERE a % 100 <> 0`,
  `INSERT INTO known_file (agent_id, path, tenant, access, is_whole, digest, bytes, modified_at, stamp, call_id, at)
    SELECT 'agent-' || a, f || '.txt', 'one', 'READ', true, md5(f::text), 1, now(), '1 2 3', 'call-' || a || '-1', now() FROM generate_series(1, ${agents}) a, generate_series(1, 5) f`,
  `INSERT INTO shell (id, tenant, agent_id, call_id, command, server, host, lease_until, state, end_reason, started_at, ended_at)
    SELECT 'shell-' || a, 'one', 'agent-' || a, 'call-' || a || '-1', 'make', 's', 'h', NULL, 'ENDED', 'EXITED', now(), now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO notice (id, tenant, agent_id, source, ref, text, at, told_at_step)
    SELECT 'notice-' || a || '-' || f, 'one', 'agent-' || a, 'FILE', f || '.txt', f || '.txt', now(), 1 FROM generate_series(1, ${agents}) a, generate_series(1, 5) f`,
  `INSERT INTO wait (id, tenant, agent_id, call_id, kind, ref, due, settled_at)
    SELECT 'wait-' || a, 'one', 'agent-' || a, 'call-' || a || '-1', 'APPROVAL', 'approval-' || a, now() + a * interval '1 min', CASE WHEN a % 100 <> 0 THEN now() END FROM generate_series(1, ${agents}) a`,
  `INSERT INTO wait (id, tenant, agent_id, call_id, kind, ref, settled_at)
    SELECT 'host-' || a, 'one', 'agent-' || a, 'call-' || a || '-2', 'SHELL_HOST', 'approval-' || a, now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO todo (agent_id, id, tenant, place, title, status) SELECT 'agent-' || a, t::text, 'one', t, 't', 'pending' FROM generate_series(1, ${agents}) a, generate_series(1, 3) t`,
  `INSERT INTO actor (tenant, kind, id, name) SELECT 'one', 'USER', 'person-' || a, 'n' FROM generate_series(1, ${agents}) a`,
  `INSERT INTO delegation (id, tenant, from_id, from_kind, to_id, starts_at, ends_at, created_at, ended_at)
    SELECT 'delegation-' || a, 'one', 'person-' || a, 'USER', 'person-' || a % 100, now() - interval '2 days', now() - interval '1 day', now() - interval '2 days', now() - interval '1 day' FROM generate_series(1, ${agents}) a`,
  `INSERT INTO allow_rule (id, tenant, template_id, agent_id, rule, approval_id, created_by, created_by_kind, created_at, revoked_at)
    SELECT 'rule-' || a, 'one', 'template-' || a % 50, 'agent-' || a, 'fs_read(path:/' || a || ')', 'approval-' || a, 'anna', 'USER', now(), CASE WHEN a % 2 = 0 THEN now() END FROM generate_series(1, ${agents}) a`,
  `INSERT INTO memory_entry (id, tenant, template_id, requester, path, text, bytes, version, lineage, created_at, updated_at, deleted_at)
    SELECT 'entry-' || a, 'one', 'template-' || a % 50, 'person-' || a % 100, '/memories/' || a, CASE WHEN a % 50 <> 0 THEN 'x' END, 1, 2, 'MODEL', now(), now(), CASE WHEN a % 50 = 0 THEN now() END FROM generate_series(1, ${agents}) a`,
  `INSERT INTO memory_version (entry_id, version, tenant, path, text, bytes, lineage, at, replaced_at)
    SELECT 'entry-' || a, 1, 'one', '/memories/' || a, 'x', 1, 'MODEL', now(), now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO image (tenant, digest, data, taken_at) SELECT 'one', md5(a::text), '', now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO agent_image (agent_id, digest, tenant) SELECT 'agent-' || a, md5(a::text), 'one' FROM generate_series(1, ${agents}) a`,
  `INSERT INTO access_token (id, tenant, actor_id, actor_kind, name, hash, roles, created_at, expires_at)
    SELECT 'token-' || a, 'one', 'person-' || a % 100, 'USER', 'n', 'token-' || a, '{admin}', now(), now() + a * interval '1 min' FROM generate_series(1, ${agents}) a`,
  `INSERT INTO session (id, tenant, actor_id, actor_kind, hash, token_hash, created_at, last_used_at)
    SELECT 'session-' || a, 'one', 'person-' || a % 100, 'USER', 'session-' || a, 'token-' || a, now(), now() - a * interval '1 min' FROM generate_series(1, ${agents}) a`,
  `INSERT INTO idempotency_key (tenant, actor_id, operation, key, body_hash, result_id, created_at)
    SELECT 'one', 'person-' || a % 100, 'send', a::text, 'h', 'r', now() FROM generate_series(1, ${agents}) a`,
];

let collected: Promise<readonly Statement[]> | null = null;

/** All statements of the server that are known before it runs, collected once. */
function statements(): Promise<readonly Statement[]> {
  collected ??= collect();
  return collected;
}

async function collect(): Promise<readonly Statement[]> {
  const collecting = runFile("tests/support/collect-statements.ts", []);
  expect(await collecting.exited, collecting.output()).toBe(0);
  return JSON.parse(collecting.output()) as Statement[];
}

/** The plan that a connection keeps of a statement, whatever the values are. */
async function planOf(client: pg.Client, { name, text }: Statement): Promise<Plan> {
  try {
    await client.query(`PREPARE planned AS ${text}`);
    const { rows: prepared } = await client.query<{ parameters: number }>(
      "SELECT cardinality(parameter_types) AS parameters FROM pg_prepared_statements WHERE name = 'planned'",
    );
    const values = Array.from({ length: prepared[0]?.parameters ?? 0 }, () => "NULL");
    const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE planned ${values.length === 0 ? "" : `(${values.join(", ")})`}`,
    );
    await client.query("DEALLOCATE planned");
    const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
    if (explained === undefined) throw new Error("no plan");
    return explained.Plan;
  } catch (error) {
    throw new Error(`${name} has no plan`, { cause: error });
  }
}

async function databaseOf(agents: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: await testDatabaseUrl() });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("SET plan_cache_mode = force_generic_plan");
  for (const table of GROWING) await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  for (const text of HISTORY(agents)) await client.query(text);
  return client;
}

describe("the plans of statements", () => {
  it(
    "find what they look for by an index, at 10,000 agents, with statistics or without (invariant 13)",
    { timeout: 120_000 },
    async () => {
      const all = await statements();
      expect(all.length).toBeGreaterThan(100);
      const client = await databaseOf(10_000);
      const found: Record<string, readonly string[]> = {};
      for (const statistics of ["missing", "there"]) {
        if (statistics === "there") await client.query("ANALYZE");
        for (const statement of all) {
          // As src/db/connections/pool.ts has it.
          await client.query(`SET enable_seqscan = ${OF_READERS.test(statement.name) ? "on" : "off"}`);
          const scans = scansOf(await planOf(client, statement));
          if (scans.length > 0) found[`${statement.name}, statistics ${statistics}`] = scans;
        }
      }
      expect(found).toEqual({});
    },
  );

  it("of commits take the keys of rows at 10,000 agents, and no table as a whole at one", { timeout: 120_000 }, async () => {
    const composed = (await statements()).filter(({ name }) => SHAPES.some((shape) => shapeName(shape) === name));
    for (const agents of [1, 10_000]) {
      const client = await databaseOf(agents);
      await client.query("SET enable_seqscan = off");
      for (const statistics of ["missing", "there"]) {
        if (statistics === "there") await client.query("ANALYZE");
        for (const statement of composed) {
          const plan = await planOf(client, statement);
          const isWhere = `${statement.name} at ${agents} agents, statistics ${statistics}`;
          expect(scansOf(plan), isWhere).toEqual([]);
          // Of one agent every index is one page: PostgreSQL takes any of them, until it knows that there are more.
          const others = indexesOf(plan).filter((index) => !KEYS.has(index));
          if (agents > 1) expect(others, isWhere).toEqual([]);
        }
      }
    }
  });

  it("of a page read only the payloads that it gives, of an agent whose events are wide", async () => {
    const client = await databaseOf(1);
    // Hashes do not compress: 400 payloads of 30 KB, of which a page gives nine.
    await client.query(`INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
      SELECT 'one', 10 + e, 'agent-1', 10 + e, 'PROGRESS', 'TEXT_CHUNK', json_build_object('step', 1, 'block', 0, 'delta',
        (SELECT string_agg(md5((e * 1000 + h)::text), '') FROM generate_series(1, 940) h)), now() FROM generate_series(1, 400) e`);
    await client.query("RESET plan_cache_mode");
    const all = await statements();
    for (const { name, values } of [
      { name: "read_agent", values: "('one', 'agent-1', 10)" },
      { name: "read_agent_past", values: "('one', 'agent-1', 10, 410)" },
      { name: "read_tenant", values: "('one', 10, '{PROGRESS}', NULL, NULL, NULL)" },
      { name: "read_tenant_past", values: "('one', 10, '{PROGRESS}', NULL, NULL, NULL, 410)" },
      { name: "read_tree", values: "('one', 10, '{PROGRESS}', NULL, NULL, '{agent-1}')" },
      { name: "read_tree_past", values: "('one', 10, '{PROGRESS}', NULL, NULL, '{agent-1}', 410)" },
    ]) {
      const text = all.find((statement) => statement.name === name)?.text ?? "";
      await client.query(`PREPARE ${name} AS ${text}`);
      const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Measured }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name} ${values}`,
      );
      const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
      expect(explained?.Plan["Actual Rows"], name).toBe(9);
      expect(explained?.Plan["Shared Hit Blocks"], name).toBeLessThan(300);
    }
  });
});

type Measured = { readonly "Actual Rows": number; readonly "Shared Hit Blocks": number };

const KEYS = new Set(["agent_pkey", "step_pkey", "tool_call_pkey"]);
