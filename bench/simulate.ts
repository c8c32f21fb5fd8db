import { readPermission } from "../src/agent/policy/permission-source.ts";
import { MOST_CALLS, simulate } from "../src/agent/policy/simulate.ts";
import { BUILTIN_TOOLS } from "../src/agent/tools/builtin.ts";
import { openDatabase } from "../src/db/database.ts";
import type { Sql } from "../src/db/sql.ts";
import type { Figure } from "./figure.ts";

const BATCH = 2_000;
const RULES = 25;

/** Seconds for a simulation over 100,000 recorded calls; baseline: reading and parsing what it reads, with the same connection. */
export async function simulation(url: string): Promise<Figure> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  try {
    const { sql } = database;
    await record(sql);
    const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
    const modes = new Map();
    const deny = Array.from({ length: RULES }, (_, index) => `fs_*(path:folder-${index}/*.ts)`);
    const { permission } = readPermission({ mode: "approval", deny }, "proposed", { tools, modes });
    const calls = {
      tenant: "simulated",
      createdBy: null,
      agentIds: null,
      templateIds: null,
      tools: null,
      from: null,
      to: null,
    };
    const baseline = await seconds(() => readAll(sql));
    const value = await seconds(async () => {
      const { examined } = await simulate(
        { reads: sql, tools, modes, heldTemplate: async () => ({ missing: "the template" }) },
        permission,
        calls,
        {
          after: null,
          most: MOST_CALLS,
        },
      );
      if (examined !== MOST_CALLS) throw new Error(`${examined} calls were examined`);
    });
    return { name: "simulate 100,000 calls", value, unit: "s", baseline, ratio: value / baseline };
  } finally {
    await database.close();
  }
}

/** So many calls of one agent, with what the gate records of them. */
async function record(sql: Sql): Promise<void> {
  await sql.query(
    {
      name: "simulated_agent",
      text: `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
        VALUES ('simulated', 'simulated', 'assistant', 'm', '/srv', 'anna', 'USER', now(), now())`,
    },
    [],
  );
  const considered = Array.from({ length: 8 }, (_, index) => ({
    rule: `deny fs_read(path:folder-${index})`,
    place: `templates.assistant.permission.deny.${index}`,
    verdict: "no match",
  }));
  const explanation = {
    verdict: "ask",
    decidedBy: "mode approval",
    place: "templates.assistant.permission.mode",
    reason: "mode approval asks for fs_read",
    considered,
  };
  await sql.query(
    {
      name: "simulated_calls",
      text: `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, rule_values, is_error, explanation, verdict, stages, audit_trail, created_at, updated_at)
        SELECT gen_random_uuid(), 'simulated', 'simulated', 1, n, 0, 'p', 'fs_read', 'COMPLETED', 1, '{"path":"a"}',
          json_build_object('path', json_build_array(json_build_object('kind', 'file', 'names', json_build_array('folder-' || n % 50 || '/file-' || n || '.ts'), 'access', 'read')),
            'limit', json_build_array(json_build_object('kind', 'text', 'text', n::text))), false, $1::json, 'ask', '{}', '[]', now() + n * interval '1 ms', now()
        FROM generate_series(1, ${MOST_CALLS}) n`,
    },
    [JSON.stringify(explanation)],
  );
}

async function readAll(sql: Sql): Promise<void> {
  for (let step = 0; step < MOST_CALLS; step += BATCH)
    await sql.query(
      {
        name: "simulated_rows",
        text: "SELECT id, name, rule_values, verdict, created_at FROM tool_call WHERE agent_id = 'simulated' AND step > $1 ORDER BY step LIMIT $2",
      },
      [step, BATCH],
    );
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}
