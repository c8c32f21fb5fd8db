import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { auditCounts, auditTotal } from "../../src/agent/calls/audit/counts.ts";
import type { AuditFilter } from "../../src/agent/calls/audit/rows.ts";
import { auditPage, type AuditOrder } from "../../src/agent/calls/audit/page.ts";
import { type Sql, OutageWatch } from "../../src/db/sql.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { GROWING, indexesOf, scansOf, type Plan } from "../support/plans.ts";

type Field = Exclude<keyof AuditFilter, "tenant">;
type Condition = {
  readonly field: Field | null;
  readonly filter: Partial<AuditFilter>;
  readonly indexes: readonly string[];
  readonly orders: readonly AuditOrder[];
};

/** The indexes by which all lists may be read: their orders, what is open, and the newest step of an agent that has moved. */
const ORDERS_OF_ALL = ["audit_call_tenant_created_at_id_idx", "audit_call_duration"];
const OF_STATE = ["audit_call_state", "audit_call_state_duration"];
const BEHIND = ["audit_call_open", ...OF_STATE, "audit_call_agent_id_step_idx", "audit_call_pkey"];
const OF_TOOL = ["audit_call_tenant_name_created_at_id_idx", "audit_call_tool_duration"];

const ago = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

/**
 * For each field of the filter: what many calls have, what few have, and the indexes by which those are found besides the orders
 * of all. A field that is added has no place here until it is said what finds it.
 */
const CONDITIONS: {
  readonly [Name in Field]: readonly [values: readonly Partial<Pick<AuditFilter, Name>>[], indexes: readonly string[]];
} = {
  visible: [[{ visible: ["person-7"] }, { visible: [] }], ["audit_call_created_by"]],
  from: [[{ from: ago(300) }, { from: ago(0.1) }], []],
  to: [[{ to: ago(10) }, { to: ago(400) }], []],
  agentIds: [[{ agentIds: ["agent-7"] }, { agentIds: ["agent-8", "agent-9", "nobody"] }], ["audit_call_agent_id_step_idx"]],
  templateIds: [
    [{ templateIds: ["template-0"] }, { templateIds: ["template-3", "none"] }],
    ["audit_call_tenant_template_id_created_at_id_idx"],
  ],
  tools: [[{ tools: ["tool-0"] }, { tools: ["tool-rare"] }, { tools: ["tool-1", "tool-2"] }], OF_TOOL],
  states: [
    [{ states: ["COMPLETED"] }, { states: ["FAILED"] }, { states: ["DENIED", "SEALED"] }, { states: ["EXECUTING"] }],
    OF_STATE,
  ],
  errorTypes: [[{ errorTypes: ["timeout"] }, { errorTypes: ["disabled", "aborted"] }], ["audit_call_error_type"]],
  verdicts: [[{ verdicts: ["allow"] }, { verdicts: ["ask"] }, { verdicts: ["deny"] }], ["audit_call_verdict"]],
  rules: [[{ rules: ["allow fs_read"] }, { rules: ["deny rare", "none"] }], ["audit_call_rule"]],
  places: [[{ places: ["t.allow.0"] }, { places: ["t.deny.3"] }, { places: ["t.ask.7", "none"] }], ["audit_call_place"]],
  createdBy: [[{ createdBy: ["person-7"] }, { createdBy: ["person-1", "nobody"] }], ["audit_call_created_by"]],
  decidedBy: [[{ decidedBy: ["chief"] }, { decidedBy: ["nobody"] }], ["audit_call_deciders"]],
  minDurationMs: [[{ minDurationMs: 1 }, { minDurationMs: 9_999 }], []],
  haveRun: [[{ haveRun: true }], []],
  exitCodes: [[{ exitCodes: [0] }, { exitCodes: [2, 127] }], ["audit_call_exit_code"]],
  models: [[{ models: ["model-0"] }, { models: ["model-rare", "none"] }], ["audit_call_tenant_model_created_at_id_idx"]],
  hosts: [[{ hosts: ["a.example"] }, { hosts: ["nowhere.example"] }], ["audit_call_hosts"]],
};
const PAIRED = new Set<Field>(["states", "tools", "agentIds", "visible"]);
const ORDERS: readonly AuditOrder[] = (["created_at", "duration_ms"] as const).flatMap((column) =>
  (["asc", "desc"] as const).map((direction) => ({ column, direction })),
);

/** The bound of a total: few of the calls, as in a database of a million. */
const COUNTED = 2_000;

const ALL: AuditFilter = {
  tenant: "one",
  visible: null,
  from: null,
  to: null,
  agentIds: null,
  templateIds: null,
  tools: null,
  states: null,
  errorTypes: null,
  verdicts: null,
  rules: null,
  places: null,
  createdBy: null,
  decidedBy: null,
  minDurationMs: null,
  haveRun: false,
  exitCodes: null,
  hosts: null,
  models: null,
};

/** No filter, and every filter alone: in every order. */
function alone(): readonly Condition[] {
  const each = (Object.keys(CONDITIONS) as Field[]).flatMap((field) => {
    const [values, indexes] = CONDITIONS[field];
    return values.map((filter): Condition => ({ field, filter, indexes, orders: ORDERS }));
  });
  return [{ field: null, filter: {}, indexes: [], orders: ORDERS }, ...each];
}

/** Each filter with a state, a tool, agents or what a person sees: in one of the orders, in turn. */
function pairs(): readonly Condition[] {
  const all = alone().filter(({ field }) => field !== null);
  const found = all
    .filter(({ field }) => field !== null && PAIRED.has(field))
    .flatMap((one) =>
      all
        .filter(({ field }) => field !== one.field)
        .map((other, index): Condition => {
          const filter = Object.assign({}, one.filter, other.filter);
          const orders = ORDERS.slice(index % ORDERS.length).slice(0, 1);
          return { field: one.field, filter, indexes: [...one.indexes, ...other.indexes], orders };
        }),
    );
  return [...new Map(found.map((each) => [keyOf(each.filter), each])).values()];
}

function keyOf(filter: Partial<AuditFilter>): string {
  return Object.entries(filter)
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .toSorted()
    .join(", ");
}

/** A statement as it was composed, with the values that it is planned for. */
type Composed = { readonly text: string; readonly values: readonly unknown[] };

/** The statements that a read composes. */
async function composedBy(read: (reads: Sql) => Promise<unknown>): Promise<readonly Composed[]> {
  const composed: Composed[] = [];
  await read({
    query: async ({ name, text }, values) => {
      // One with a name is the same for every filter.
      if (name === "") composed.push({ text, values });
      return [];
    },
    outages: new OutageWatch(async () => null),
    keepsPrepared: false,
  });
  return composed;
}

/** An old tenant: agents with twenty calls each, of which few differ from the others in each respect; the newest agent has moved. */
const HISTORY = (agents: number): readonly string[] => [
  `INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e')`,
  `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
    SELECT 'agent-' || a, 'one', 'template-' || a % 3, 'm', '/tmp', 'person-' || a % 100, 'USER', now(), now() FROM generate_series(1, ${agents}) a`,
  `INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
    SELECT 'one', (a - 1) * 25 + e, 'agent-' || a, e, 'PROGRESS', 'TEXT_CHUNK', '{}', now() FROM generate_series(1, ${agents}) a, generate_series(1, 25) e`,
  `INSERT INTO audit_call (id, tenant, agent_id, step, name, state, verdict, error_type, rule, place, has_run, duration_ms, created_at, template_id, created_by, deciders, exit_code, hosts, model)
    SELECT 'call-' || a || '-' || s, 'one', 'agent-' || a, s, 'tool-' || CASE WHEN (a + s) % 997 = 0 THEN 'rare' ELSE ((a + s) % 9)::text END, state,
      CASE WHEN state = 'DENIED' THEN 'deny' WHEN (a + s) % 20 = 7 THEN 'ask' ELSE 'allow' END, CASE state WHEN 'FAILED' THEN 'timeout' WHEN 'SEALED' THEN 'aborted' END,
      CASE WHEN state = 'DENIED' THEN 'deny rare' ELSE 'allow fs_read' END, CASE WHEN state = 'DENIED' THEN 't.deny.3' WHEN (a + s) % 20 = 7 THEN 't.ask.7' ELSE 't.allow.0' END,
      state <> 'DENIED', CASE WHEN state <> 'EXECUTING' THEN a % 1000 + s END, now() - (a * 20 + s) * interval '15 seconds', 'template-' || a % 3, 'person-' || a % 100,
      CASE WHEN (a + s) % 20 = 7 THEN ARRAY['chief'] END, CASE WHEN (a + s) % 9 = 3 THEN CASE WHEN a % 50 = 1 THEN 2 ELSE 0 END END, CASE WHEN (a + s) % 30 = 3 THEN ARRAY['a.example', 'b.example'] END,
      'model-' || CASE WHEN (a + s) % 991 = 0 THEN 'rare' ELSE ((a + s) % 3)::text END
    FROM (SELECT a, s, (CASE WHEN (a * 20 + s) % 100 = 1 THEN 'FAILED' WHEN (a * 20 + s) % 100 = 2 THEN 'DENIED' WHEN (a * 20 + s) % 500 = 3 THEN 'SEALED'
      WHEN (a * 20 + s) % 1000 = 4 THEN 'EXECUTING' ELSE 'COMPLETED' END)::tool_call_state AS state FROM generate_series(1, ${agents}) a, generate_series(1, 20) s) i`,
  `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
    SELECT id, tenant, agent_id, 1, step, 0, 'p', name, state, 1, false, '[]', '[]', created_at, created_at FROM audit_call`,
  `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at)
    SELECT agent_id, step, tenant, 1, 'COMPLETED', 'm', created_at FROM audit_call`,
  `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at)
    SELECT id, tenant, agent_id, id, 'TOOL_CALL', 'ALLOWED', 'r', 'r', created_at FROM audit_call WHERE verdict = 'ask'`,
  `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at)
    SELECT id, 'chief', 'USER', tenant, 'ALLOW', requested_at FROM approval`,
  `INSERT INTO audit_count (tenant, hour, name, state, calls, executed, timed, sum_ms)
    SELECT 'one', date_trunc('hour', created_at, 'UTC'), name, state, count(*), 0, 0, 0 FROM audit_call GROUP BY 2, 3, 4`,
  `INSERT INTO audit_quarter (tenant, quarter, name, template_id, state, verdict, calls, executed, timed, sum_ms, durations, waited, waited_ms, waits, last_at)
    SELECT 'one', date_bin('15 minutes', created_at, '2000-01-01Z'), name, template_id, state, coalesce(verdict, ''), count(*), 0, 0, 0, 0, 0, 0, 0, max(created_at) FROM audit_call GROUP BY 2, 3, 4, 5, 6`,
  `INSERT INTO audit_fold (tenant, position, filled_at, filled_id, whole_at) VALUES ('one', ${(agents - 1) * 25}, now(), '', 0)`,
];

async function databaseOf(agents: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: await testDatabaseUrl() });
  await client.connect();
  onTestFinished(() => client.end());
  for (const table of [...GROWING, "audit_count", "audit_quarter"])
    await client.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  for (const text of HISTORY(agents)) await client.query(text);
  return client;
}

async function planOf(client: pg.Client, { text, values }: Composed): Promise<Plan> {
  const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(`EXPLAIN (FORMAT JSON) ${text}`, [
    ...values,
  ]);
  const [explained] = rows[0]?.["QUERY PLAN"] ?? [];
  if (explained === undefined) throw new Error("no plan");
  return explained.Plan;
}

/** The statements of a filter's list, in every order and from both ends or in one of them, its total and its statistics. */
async function statementsOf(filter: Partial<AuditFilter>, orders: readonly AuditOrder[]) {
  const asked = { ...ALL, ...filter };
  const pages = await composedBy(async (reads) => {
    for (const order of orders)
      for (const isBackwards of [false, true])
        await auditPage(reads, asked, { order, after: null, before: null, isBackwards, most: 50 });
  });
  const sums = await composedBy(async (reads) => {
    await auditTotal(reads, asked, COUNTED);
    await auditCounts(reads, asked);
  });
  return { pages, sums };
}

/** The places of a plan that a filter's list has no reason for: whole tables, and indexes of other filters. */
function wrongIn(plan: Plan, indexes: readonly string[]): readonly string[] {
  const known = new Set([...ORDERS_OF_ALL, ...BEHIND, ...indexes]);
  return [...scansOf(plan), ...indexesOf(plan).filter((name) => name.startsWith("audit_call") && !known.has(name))];
}

/** The indexes whose order a bounded list takes as it is. */
function inOrderOf(plan: Plan): readonly (string | undefined)[] {
  const { Plans: parts = [] } = plan;
  const own = plan["Node Type"] === "Limit" ? parts.map((part) => part["Index Name"]) : [];
  return [...own, ...parts.flatMap(inOrderOf)];
}

describe("the plans of the tool audit, composed for each filter", () => {
  it(
    "read pages, totals and statistics by the indexes of what is asked for, with statistics or without (invariant 13)",
    { timeout: 120_000 },
    async () => {
      const client = await databaseOf(1_000);
      const found: Record<string, readonly string[]> = {};
      const filters = [...alone(), ...pairs()];
      expect(filters.length).toBeGreaterThan(100);
      for (const statistics of ["missing", "there"]) {
        if (statistics === "there") await client.query("VACUUM ANALYZE");
        for (const { filter, indexes, orders } of filters) {
          const { pages, sums } = await statementsOf(filter, orders);
          for (const statement of pages) {
            const wrong = wrongIn(await planOf(client, statement), indexes);
            if (wrong.length > 0) found[`page of ${keyOf(filter)}, statistics ${statistics}`] = wrong;
          }
          for (const statement of sums) {
            const wrong = wrongIn(await planOf(client, statement), indexes);
            // What most calls are is counted by reading them: the total ends at its bound.
            const isOfMost = wrong.length > 0 && (await totalOf(client, sums)) === COUNTED;
            if (wrong.length > 0 && !isOfMost) found[`sum of ${keyOf(filter)}, statistics ${statistics}`] = wrong;
          }
        }
      }
      expect(found).toEqual({});
    },
  );

  it("walk calls of rare states by duration, whatever else is asked for (invariant 13)", async () => {
    const client = await databaseOf(1_000);
    await client.query("VACUUM ANALYZE");
    for (const rest of [{}, { verdicts: ["deny"] }, { decidedBy: ["nobody"] }, { templateIds: ["template-1"] }])
      for (const states of [["FAILED"], ["DENIED", "SEALED"], ["EXECUTING"]] as const) {
        const byDuration = ORDERS.filter(({ column }) => column === "duration_ms");
        const { pages } = await statementsOf({ states, ...rest }, byDuration);
        for (const page of pages) expect(inOrderOf(await planOf(client, page))).toContain("audit_call_state_duration");
      }
  });

  it("are statements that a small database takes, too", async () => {
    const client = await databaseOf(1);
    for (const { filter, orders } of alone()) {
      const { pages, sums } = await statementsOf(filter, orders);
      for (const statement of [...pages, ...sums]) expect(await planOf(client, statement)).toBeDefined();
    }
  });
});

async function totalOf(client: pg.Client, [total]: readonly Composed[]): Promise<number | undefined> {
  const { rows } = await client.query<{ calls: number }>(total?.text ?? "", [...(total?.values ?? [])]);
  return rows[0]?.calls;
}
