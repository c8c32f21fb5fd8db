import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { approvalGroups } from "../../src/agent/approvals/groups/groups.ts";
import type { GroupedApprovals } from "../../src/agent/approvals/groups/rows.ts";
import { CALL_COUNTS } from "../../src/agent/calls/audit/groups/figures.ts";
import { callGroups } from "../../src/agent/calls/audit/groups/groups.ts";
import { stepGroups, turnGroups } from "../../src/agent/calls/audit/groups/turn-groups.ts";
import type { AuditFilter } from "../../src/agent/calls/audit/rows.ts";
import type { StepAuditFilter, TurnAuditFilter } from "../../src/agent/calls/audit/turn-page.ts";
import { OutageWatch, type Sql } from "../../src/db/sql.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { GROWING, indexesOf, scansOf, type Plan } from "../support/plans.ts";

const HOUR = 3_600_000;
const hour = Math.floor(Date.now() / HOUR) * HOUR;
/** Few of all rows: the first and the last hour are no whole ones. */
const RANGE = { from: new Date(hour - 2.5 * HOUR), to: new Date(hour + 0.5 * HOUR) };
const EDGES = [RANGE.from.getTime(), hour - HOUR, hour, RANGE.to.getTime()];
const NONE = { tenant: "one", visible: null, agentIds: null, templateIds: null };

const CALLS: AuditFilter = {
  ...NONE,
  from: null,
  to: null,
  tools: null,
  states: null,
  errorTypes: null,
  exitCodes: null,
  hosts: null,
  models: null,
  verdicts: null,
  rules: null,
  places: null,
  createdBy: null,
  decidedBy: null,
  minDurationMs: null,
  haveRun: false,
};
const SHARED = {
  ...NONE,
  from: null,
  to: null,
  rootIds: null,
  models: null,
  requestedBy: null,
  isUnpriced: null,
  errorTypes: null,
};
const STEPS: StepAuditFilter = { ...SHARED, states: null, stopReasons: null };
const TURNS: TurnAuditFilter = { ...SHARED, reasons: null, isOpen: null };
const APPROVALS: GroupedApprovals = {
  ...NONE,
  from: null,
  to: null,
  states: null,
  kinds: null,
  risks: null,
  tools: null,
  createdBy: null,
  requestedBy: null,
  decidedBy: null,
  decidedFrom: null,
  decidedTo: null,
  snoozed: null,
};

const GROUPED = { edges: EDGES, most: 50, hasTotal: true } as const;
const byCalls = {
  ...GROUPED,
  order: { measure: "CALLS", direction: "desc" },
  counts: new Set(CALL_COUNTS),
  times: { duration: "PERCENTILES", waited: "PERCENTILES" },
} as const;
const times = { percentiles: { duration: true, waited: true, firstToken: true } } as const;
const bySteps = { ...GROUPED, order: { measure: "STEPS", direction: "desc" }, ...times } as const;
const byTurns = { ...GROUPED, order: { measure: "TURNS", direction: "desc" }, ...times } as const;
const byApprovals = {
  ...GROUPED,
  order: { measure: "APPROVALS", direction: "desc" },
  hasPercentiles: true,
  quickMs: 3_000,
  timeZone: "UTC",
  has: { hoursWaited: false, agentHours: false, reversals: false },
} as const;

/** Each request for groups, and an index that it is read by. */
const REQUESTS: readonly { readonly title: string; readonly index: string; readonly read: (reads: Sql) => Promise<unknown> }[] = [
  {
    title: "calls of a range by tool, from counters",
    index: "audit_quarter_pkey",
    read: async (reads) => callGroups(reads, { ...CALLS, ...RANGE }, { ...byCalls, by: ["TOOL", "VERDICT"] }),
  },
  {
    title: "calls of a range by error, from rows",
    index: "audit_call_tenant_created_at_id_idx",
    read: async (reads) => callGroups(reads, { ...CALLS, ...RANGE }, { ...byCalls, by: ["ERROR_TYPE"] }),
  },
  {
    title: "calls of an agent",
    index: "audit_call_agent_id_step_idx",
    read: async (reads) => callGroups(reads, { ...CALLS, agentIds: ["agent-7"] }, { ...byCalls, by: ["TOOL"], edges: null }),
  },
  {
    title: "calls of a person's agents",
    index: "audit_call_created_by",
    read: async (reads) => callGroups(reads, { ...CALLS, visible: ["person-7"] }, { ...byCalls, by: ["TOOL"], edges: null }),
  },
  {
    title: "steps of a range",
    index: "audit_step_tenant_started_at_agent_id_step_idx",
    read: async (reads) => stepGroups(reads, { ...STEPS, ...RANGE }, { ...bySteps, by: ["MODEL"] }),
  },
  {
    title: "steps of a person's agents",
    index: "audit_step_tenant_created_by_started_at_agent_id_step_idx",
    read: async (reads) => stepGroups(reads, { ...STEPS, visible: ["person-7"] }, { ...bySteps, by: ["MODEL"], edges: null }),
  },
  {
    title: "turns of a range",
    index: "audit_turn_tenant_started_at_agent_id_turn_idx",
    read: async (reads) => turnGroups(reads, { ...TURNS, ...RANGE }, { ...byTurns, by: ["REASON"] }),
  },
  {
    title: "turns of a requester",
    index: "audit_turn_tenant_requested_by_started_at_agent_id_turn_idx",
    read: async (reads) =>
      turnGroups(reads, { ...TURNS, requestedBy: ["person-7"] }, { ...byTurns, by: ["REASON"], edges: null }),
  },
  {
    title: "approvals of a range",
    index: "approval_",
    read: async (reads) =>
      approvalGroups(reads, { ...APPROVALS, from: new Date(Date.now() - HOUR / 6) }, { ...byApprovals, by: ["TOOL", "DECIDER"] }),
  },
];

/** A thousand agents of twenty calls, twenty steps and ten turns; the newest agent has moved. */
const HISTORY = [
  `INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e')`,
  `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, turn)
    SELECT 'agent-' || a, 'one', 'template-' || a % 3, 'm', '/tmp', 'person-' || a % 100, 'USER', now(), now(), 10 FROM generate_series(1, 1000) a`,
  `INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
    SELECT 'one', (a - 1) * 25 + e, 'agent-' || a, e, 'PROGRESS', 'TEXT_CHUNK', '{}', now() FROM generate_series(1, 1000) a, generate_series(1, 25) e`,
  `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
    SELECT 'call-' || a || '-' || s, 'one', 'agent-' || a, 1, s, 0, 'p', 'tool-' || s % 5, 'COMPLETED', 1, false, '[]', '[]', now() - (a * 20 + s) * interval '60 seconds', now() FROM generate_series(1, 1000) a, generate_series(1, 20) s`,
  `INSERT INTO audit_call (id, tenant, agent_id, step, name, state, verdict, has_run, duration_ms, created_at, template_id, created_by)
    SELECT t.id, t.tenant, t.agent_id, t.step, t.name, t.state, 'allow', true, t.step, t.created_at, a.template_id, a.created_by FROM tool_call t JOIN agent a ON a.id = t.agent_id`,
  `INSERT INTO audit_quarter (tenant, quarter, name, template_id, state, verdict, calls, executed, timed, sum_ms, durations, waited, waited_ms, waits, last_at)
    SELECT 'one', date_bin('15 minutes', created_at, '2000-01-01Z'), name, template_id, state, verdict, count(*), 0, 0, 0, 0, 0, 0, 0, max(created_at) FROM audit_call GROUP BY 2, 3, 4, 5, 6`,
  `INSERT INTO audit_fold (tenant, position, filled_at, filled_id, whole_at) VALUES ('one', ${999 * 25}, now(), '', 0)`,
  `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at)
    SELECT id, tenant, agent_id, id, 'TOOL_CALL', 'ALLOWED', 'r', 'r', created_at FROM audit_call`,
  `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at) SELECT id, 'chief', 'USER', tenant, 'ALLOW', requested_at FROM approval`,
  `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at, completed_at)
    SELECT 'agent-' || a, s, 'one', (s + 1) / 2, 'COMPLETED', 'm', now() - (a * 20 + s) * interval '60 seconds', now() - (a * 20 + s) * interval '60 seconds' FROM generate_series(1, 1000) a, generate_series(1, 20) s`,
  `INSERT INTO audit_step (agent_id, step, tenant, turn, state, model, output_is_estimated, started_at, duration_ms, is_fallback, template_id, created_by, root_id, requested_by, requested_by_kind)
    SELECT s.agent_id, s.step, s.tenant, s.turn, s.state, s.model, false, s.started_at, s.step, false, a.template_id, a.created_by, a.id, a.created_by, 'USER' FROM step s JOIN agent a ON a.id = s.agent_id`,
  `INSERT INTO audit_turn (agent_id, turn, tenant, model, reason, steps, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, output_is_estimated, cost_usd, unpriced, started_at, ended_at, duration_ms, waiting_ms, is_fallback, template_id, created_by, root_id, requested_by, requested_by_kind, requesters)
    SELECT agent_id, turn, 'one', 'm', 'COMPLETED', 2, 0, 1, 1, 0, 0, false, 0, 0, min(started_at), max(started_at), 1, 0, false, min(template_id), min(created_by), min(root_id), min(created_by), 'USER', '{}' FROM audit_step GROUP BY 1, 2`,
  `INSERT INTO message (id, agent_id, tenant, kind, content, bytes, ordinal, turn, step, created_at, created_by, created_by_kind)
    SELECT gen_random_uuid(), agent_id, tenant, 'USER', '[]', 2, step, turn, step, now(), 'person-1', 'USER' FROM step`,
  `INSERT INTO audit_turn_fold (tenant, position, filled_id, whole_at) VALUES ('one', ${999 * 25}, '', 0)`,
];

/** The plan of the first statement that a read composes: the others are those of an incomplete audit. */
async function planOf(client: pg.Client, read: (reads: Sql) => Promise<unknown>): Promise<Plan> {
  const composed: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  await read({
    query: async ({ text }, values) => {
      composed.push({ text, values });
      return [];
    },
    outages: new OutageWatch(async () => null),
    keepsPrepared: false,
  });
  const [{ text, values } = { text: "", values: [] }] = composed;
  const { rows } = await client.query<{ "QUERY PLAN": readonly [{ readonly Plan: Plan }] }>(`EXPLAIN (FORMAT JSON) ${text}`, [
    ...values,
  ]);
  const plan = rows[0]?.["QUERY PLAN"][0].Plan;
  if (plan === undefined) throw new Error("no plan");
  return plan;
}

it("groups of a range, an agent or a person are read by indexes (invariant 13)", { timeout: 120_000 }, async () => {
  const client = new pg.Client({ connectionString: await testDatabaseUrl() });
  await client.connect();
  onTestFinished(() => client.end());
  for (const text of HISTORY) await client.query(text);
  await client.query("VACUUM ANALYZE");
  const found: Record<string, readonly string[]> = {};
  for (const { title, index, read } of REQUESTS) {
    const plan = await planOf(client, read);
    const used = indexesOf(plan);
    const wrong = [...scansOf(plan), ...(used.some((name) => name.startsWith(index)) ? [] : [`only ${used.join(", ")}`])];
    if (wrong.length > 0) found[title] = wrong;
  }
  expect(GROWING).toContain("audit_call");
  expect(found).toEqual({});
});
