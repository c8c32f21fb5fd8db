import { randomUUID } from "node:crypto";

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { auditCounts } from "../../../../src/agent/calls/audit/counts.ts";
import { type AuditFilter, OF_CALLS } from "../../../../src/agent/calls/audit/rows.ts";
import { auditsBehind, foldAudit } from "../../../../src/agent/calls/audit/fold.ts";
import { auditPage, type AuditKey, type AuditOrder } from "../../../../src/agent/calls/audit/page.ts";
import { CALL_COUNTS } from "../../../../src/agent/calls/audit/groups/figures.ts";
import { callGroups } from "../../../../src/agent/calls/audit/groups/groups.ts";
import { auditTotal } from "../../../../src/agent/calls/audit/counts.ts";
import { TRANSITIONS } from "../../../../src/agent/calls/call.ts";
import type { Sql } from "../../../../src/db/sql.ts";
import type { ToolCallState } from "../../../../src/db/generated/enums.ts";
import { foldAll } from "../../../support/audit.ts";
import { testDatabase } from "../../../support/database.ts";

const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 0, 1);
const NAMES = ["read", "write", "shell"];

/** The things that may happen: numbers choose among what there is. */
const ACTION = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("answer" as const),
      agent: fc.nat(3),
      calls: fc.integer({ min: 1, max: 3 }),
      at: fc.nat(5 * HOUR),
      name: fc.nat(2),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("step" as const),
      call: fc.nat(),
      to: fc.nat(),
      took: fc.integer({ min: 0, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("decide" as const), call: fc.nat(), by: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("fork" as const), agent: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("text" as const), agent: fc.nat(3) }) },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("fold" as const), servers: fc.integer({ min: 1, max: 3 }), isCut: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("retention" as const) }) },
);
type Action = typeof ACTION extends fc.Arbitrary<infer Value> ? Value : never;

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
// The last moment of a call is five hours after the first.
const HALVES = Array.from({ length: 12 }, (_, index) => BEGIN + (index * HOUR) / 2);
const at = (ms: number): Date => new Date(BEGIN + ms);
const FILTERS: readonly AuditFilter[] = [
  ALL,
  { ...ALL, from: at(HOUR / 2), to: at(3.5 * HOUR) },
  { ...ALL, from: at(2.2 * HOUR), to: at(2.8 * HOUR) },
  { ...ALL, from: at(HOUR), tools: ["read", "shell"] },
  { ...ALL, to: at(2 * HOUR), states: ["COMPLETED", "APPROVAL_REQUIRED"] },
  { ...ALL, states: ["EXECUTING"] },
  { ...ALL, states: ["PENDING", "APPROVAL_REQUIRED", "PENDING", "FAILED", "DENIED", "SEALED"] },
  { ...ALL, states: [] },
  { ...ALL, visible: ["creator-1"], errorTypes: ["timeout"] },
  { ...ALL, verdicts: ["ask"], templateIds: ["template-0"] },
  { ...ALL, rules: ["rule ask"] },
  { ...ALL, places: ["place deny", "place allow"], from: at(HOUR) },
  { ...ALL, decidedBy: ["decider-1"] },
  { ...ALL, minDurationMs: 3, createdBy: ["creator-0", "creator-2"] },
  { ...ALL, haveRun: true },
  { ...ALL, visible: [] },
  { ...ALL, exitCodes: [0, 2] },
  { ...ALL, models: ["m-0"] },
  { ...ALL, hosts: ["a.example"], from: at(HOUR) },
];

/** A call as its rows say it, which the audit must say as well. */
type Row = {
  readonly id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly state: ToolCallState;
  readonly verdict: string | null;
  readonly rule: string | null;
  readonly place: string | null;
  readonly error: string | null;
  readonly has_run: boolean;
  readonly duration_ms: number | null;
  readonly created_at: Date;
  readonly template_id: string;
  readonly created_by: string;
  readonly deciders: readonly string[];
  readonly exit_code: number | null;
  readonly hosts: readonly string[];
  readonly model: string | null;
};

const ROWS = `SELECT t.id, t.agent_id, t.name, t.state, t.verdict, t.explanation ->> 'decidedBy' AS rule, t.explanation ->> 'place' AS place, t.error ->> 'type' AS error, t.started_at IS NOT NULL AS has_run, t.duration_ms, t.created_at, a.template_id, a.created_by, t.exit_code, ARRAY(SELECT jsonb_array_elements_text(t.hosts)) AS hosts, (SELECT s.model FROM step s WHERE s.agent_id = t.agent_id AND s.step = t.step) AS model,
    ARRAY(SELECT d.actor_id FROM approval p JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = t.id) AS deciders
  FROM tool_call t JOIN agent a ON a.id = t.agent_id WHERE t.tenant = 'one' AND t.copied_from IS NULL`;

/** Commits of a tenant as the log's functions make them: rows and their event in one statement, one commit after another. */
class Office {
  readonly sql: Sql;
  readonly agents = ["agent-0", "agent-1", "agent-2", "agent-3"].map((id) => `${id}-${randomUUID()}`);
  #seq = 0;
  #steps = 0;

  constructor(sql: Sql) {
    this.sql = sql;
  }

  async open(): Promise<void> {
    await this.run("TRUNCATE audit_fold, audit_call, audit_count, audit_quarter, event, tenant_log, agent CASCADE");
    await this.run("INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e')");
    for (const [index, id] of this.agents.entries()) await this.#newAgent(id, index);
  }

  async act(action: Action): Promise<void> {
    switch (action.what) {
      case "answer": {
        const agent = this.#agent(action.agent);
        this.#steps += 1;
        await this.#commit(
          agent,
          `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) VALUES ('${agent}', ${this.#steps}, 'one', 1, 'COMPLETED', 'm-${this.#steps % 2}', now())`,
          `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
            SELECT gen_random_uuid(), 'one', '${agent}', 1, ${this.#steps}, n, 'p', '${NAMES[action.name] ?? ""}', 'PENDING', 0, false, '[]', '[]', '${at(action.at).toISOString()}', now() FROM generate_series(1, ${action.calls}) n`,
        );
        return;
      }
      case "step": {
        const call = await this.#openCall(action.call);
        if (call === undefined) return;
        const next = TRANSITIONS[call.state];
        const to = next[action.to % next.length] ?? "SEALED";
        const isFinal = TRANSITIONS[to].length === 0;
        await this.#commit(
          call.agent_id,
          `UPDATE tool_call SET state = '${to}', verdict = '${["allow", "ask", "deny"][action.took % 3] ?? ""}', explanation = '{"decidedBy": "rule ${["allow", "ask", "deny"][action.took % 3] ?? ""}", "place": "place ${["allow", "ask", "deny"][action.took % 3] ?? ""}"}', started_at = CASE WHEN '${to}' = 'EXECUTING' THEN now() ELSE started_at END,
            exit_code = ${isFinal && action.took % 2 === 0 ? action.took : "NULL"}, hosts = ${action.took === 3 ? `'["a.example", "b.example"]'` : "hosts"},
            duration_ms = ${isFinal && action.took > 0 ? action.took : "NULL"}, error = ${to === "FAILED" ? `'{"type":"timeout"}'` : "NULL"} WHERE id = '${call.id}'`,
        );
        return;
      }
      case "decide": {
        const call = await this.#openCall(action.call);
        if (call === undefined) return;
        const approval = randomUUID();
        await this.#commit(
          call.agent_id,
          `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at) VALUES ('${approval}', 'one', '${call.agent_id}', '${call.id}', 'TOOL_CALL', 'ALLOWED', '', '', now())`,
          `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at) VALUES ('${approval}', 'decider-${action.by}', 'USER', 'one', 'ALLOW', now())`,
        );
        return;
      }
      case "fork": {
        const agent = this.#agent(action.agent);
        const fork = `fork-${randomUUID()}`;
        await this.#newAgent(fork, this.agents.length);
        await this.#commit(
          fork,
          `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at, copied_from)
            SELECT gen_random_uuid(), tenant, '${fork}', turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at, id FROM tool_call WHERE agent_id = '${agent}'`,
        );
        this.agents.push(fork);
        return;
      }
      case "text":
        return this.#commit(this.#agent(action.agent), "SELECT 1");
      case "fold":
        await Promise.all(Array.from({ length: action.servers }, () => (action.isCut ? this.#foldOnce() : foldAll(this.sql))));
        return;
      case "retention":
        await this.run(`UPDATE tenant_log l SET floor = greatest(floor, (SELECT max(position) FROM event WHERE tenant = 'one'))`);
        await this.run("DELETE FROM event e USING tenant_log l WHERE e.tenant = l.tenant AND e.position <= l.floor");
    }
  }

  async run(text: string): Promise<void> {
    await this.sql.query({ name: "", text }, []);
  }

  #agent(which: number): string {
    return this.agents[which % this.agents.length] ?? "";
  }

  async #newAgent(id: string, index: number): Promise<void> {
    await this
      .run(`INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
      VALUES ('${id}', 'one', 'template-${index % 2}', 'm', '/', 'creator-${index % 3}', 'USER', now(), now())`);
  }

  async #openCall(which: number): Promise<{ id: string; agent_id: string; state: ToolCallState } | undefined> {
    const open = await this.sql.query<{ id: string; agent_id: string; state: ToolCallState }>(
      {
        name: "",
        text: "SELECT id, agent_id, state FROM tool_call WHERE state NOT IN ('COMPLETED', 'FAILED', 'DENIED', 'SEALED') AND copied_from IS NULL ORDER BY id",
      },
      [],
    );
    return open[which % Math.max(1, open.length)];
  }

  /** One chunk of a server that ends then. */
  async #foldOnce(): Promise<void> {
    await foldAudit(this.sql, "one");
  }

  async #commit(agent: string, ...changes: readonly string[]): Promise<void> {
    this.#seq += 1;
    const parts = changes.map(
      (change, index) => `part${index} AS (${change}${change.startsWith("SELECT") ? "" : " RETURNING 1"})`,
    );
    await this.run(`WITH ${parts.join(", ")} INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
      SELECT 'one', greatest(l.floor, (SELECT max(position) FROM event WHERE tenant = 'one')) + 1, '${agent}', ${this.#seq}, 'PROGRESS', 'STATE_CHANGED', '{}', now() FROM tenant_log l WHERE l.tenant = 'one'`);
  }
}

function isAsked(filter: AuditFilter, row: Row): boolean {
  const among = (values: readonly string[] | null, value: string | null): boolean =>
    values === null || (value !== null && values.includes(value));
  return (
    among(filter.visible, row.created_by) &&
    among(filter.createdBy, row.created_by) &&
    among(filter.templateIds, row.template_id) &&
    among(filter.tools, row.name) &&
    among(filter.states, row.state) &&
    among(filter.errorTypes, row.error) &&
    among(filter.verdicts, row.verdict) &&
    among(filter.rules, row.rule) &&
    among(filter.places, row.place) &&
    (filter.from === null || row.created_at >= filter.from) &&
    (filter.to === null || row.created_at < filter.to) &&
    (filter.decidedBy === null || filter.decidedBy.some((id) => row.deciders.includes(id))) &&
    (filter.minDurationMs === null || (row.duration_ms ?? -1) >= filter.minDurationMs) &&
    (filter.exitCodes === null || (row.exit_code !== null && filter.exitCodes.includes(row.exit_code))) &&
    (filter.hosts === null || filter.hosts.some((host) => row.hosts.includes(host))) &&
    among(filter.models, row.model) &&
    (!filter.haveRun || (row.has_run && row.duration_ms !== null))
  );
}

function expectedCounts(rows: readonly Row[]): readonly object[] {
  return [...Map.groupBy(rows, ({ name, state }) => `${name} ${state}`).values()]
    .map((group) => {
      const times = group.filter(({ has_run }) => has_run).flatMap(({ duration_ms }) => duration_ms ?? []);
      const { name, state } = group[0] as Row;
      const executed = group.filter(({ has_run }) => has_run).length;
      return {
        name,
        state,
        calls: group.length,
        executed,
        timed: times.length,
        sumMs: times.reduce((a, b) => a + b, 0),
        mostMs: times.length === 0 ? null : Math.max(...times),
      };
    })
    .sort(byName);
}

/** The calls by creator and decider, and how many of them are in which half of an hour. */
async function groupedCounts(sql: Sql, filter: AuditFilter): Promise<readonly string[]> {
  const { groups, total } = await callGroups(sql, filter, {
    by: ["REQUESTER", "DECIDER"],
    edges: HALVES,
    order: { measure: "CALLS", direction: "desc" },
    most: 1_000,
    counts: new Set(CALL_COUNTS),
    times: { duration: "PERCENTILES", waited: "NONE" },
    hasTotal: true,
  });
  const lines = groups.map(({ key, figures, series }) => {
    const counts = (series ?? []).map(({ calls }) => calls);
    const values = [...key.values()].map(({ value }) => value ?? "none");
    return `${values.join(" ")}: ${figures.calls} ${counts.join(",")} ${figures.duration.percentiles?.[0] ?? "none"}`;
  });
  return [...lines, `all: ${total?.calls ?? 0}`].toSorted();
}

function expectedGroups(rows: readonly Row[]): readonly string[] {
  const members = rows.flatMap((row) => {
    const deciders = row.deciders.length === 0 ? ["none"] : [...new Set(row.deciders)];
    return deciders.map((decider) => ({ row, group: `${row.created_by} ${decider}` }));
  });
  const lines = [...Map.groupBy(members, ({ group }) => group)].map(([group, found]) => {
    const counts = HALVES.slice(1).map(
      (edge) => found.filter(({ row }) => row.created_at.getTime() < edge && row.created_at.getTime() >= edge - HOUR / 2).length,
    );
    const times = found.flatMap(({ row }) => (row.has_run ? (row.duration_ms ?? []) : [])).toSorted((one, other) => one - other);
    const middle = (times.length - 1) / 2;
    const median = ((times[Math.floor(middle)] ?? 0) + (times[Math.ceil(middle)] ?? 0)) / 2;
    return `${group}: ${found.length} ${counts.join(",")} ${times.length === 0 ? "none" : median}`;
  });
  return [...lines, `all: ${rows.length}`].toSorted();
}

function byName(one: { name: string; state: string }, other: { name: string; state: string }): number {
  return `${one.name} ${one.state}` < `${other.name} ${other.state}` ? -1 : 1;
}

function expectedOrder(rows: readonly Row[], { column, direction }: AuditOrder): readonly string[] {
  const sign = (sort: "asc" | "desc"): number => (sort === "asc" ? 1 : -1);
  const keyOf = (row: Row): number | null => (column === "created_at" ? row.created_at.getTime() : row.duration_ms);
  return rows
    .toSorted((one, other) => {
      const [a, b] = [keyOf(one), keyOf(other)];
      if (a === b) return (one.id < other.id ? -1 : 1) * sign(direction);
      if (a === null || b === null) return a === null ? 1 : -1;
      return (a - b) * sign(direction);
    })
    .map(({ id }) => id);
}

const ORDERS: readonly AuditOrder[] = [
  { column: "created_at", direction: "desc" },
  { column: "created_at", direction: "asc" },
  { column: "duration_ms", direction: "desc" },
  { column: "duration_ms", direction: "asc" },
];

/** The whole list, page by page, from one of its ends. */
async function walk(
  sql: Sql,
  filter: AuditFilter,
  order: AuditOrder,
  isBackwards: boolean,
  keyOf: (id: string) => AuditKey,
): Promise<readonly string[] | null> {
  const found: string[] = [];
  for (let place: AuditKey | null = null; ;) {
    const page = await auditPage(sql, filter, {
      order,
      after: isBackwards ? null : place,
      before: isBackwards ? place : null,
      isBackwards,
      most: 3,
    });
    if (page === null) return null;
    found.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (last === undefined) return isBackwards ? found.toReversed() : found;
    place = keyOf(last.id);
  }
}

describe("the audit beside the log", () => {
  it(
    "counts and pages calls as their rows stand, whatever is committed, folded by several servers, or removed of the log",
    { timeout: 120_000 },
    async () => {
      const { sql } = await testDatabase();
      let answered = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(ACTION, { minLength: 10, maxLength: 40 }), async (actions) => {
          const office = new Office(sql);
          await office.open();
          for (const [index, action] of actions.entries()) {
            // Folds go on while others commit.
            const following = actions[index + 1];
            await Promise.all([
              office.act(action),
              action.what === "fold" && following?.what === "answer" ? office.act(following) : null,
            ]);
            if (index % 4 !== 3) continue;
            const rows = await sql.query<Row>({ name: "", text: ROWS }, []);
            const filter = FILTERS[(index + actions.length) % FILTERS.length] ?? ALL;
            for (const asked of [ALL, filter]) {
              const wanted = rows.filter((row) => isAsked(asked, row));
              expect((await auditCounts(sql, asked, OF_CALLS))?.toSorted(byName)).toEqual(expectedCounts(wanted));
              const counts = await auditCounts(sql, asked);
              if (counts === null) continue;
              answered += 1;
              expect(counts.toSorted(byName)).toEqual(expectedCounts(wanted));
              expect(await groupedCounts(sql, asked)).toEqual(expectedGroups(wanted));
              for (const most of [3, 1_000]) expect(await auditTotal(sql, asked, most)).toBe(Math.min(wanted.length, most));
              const order = ORDERS[(index >> 2) % ORDERS.length] as AuditOrder;
              const keyOf = (id: string): AuditKey => {
                const row = rows.find((other) => other.id === id) as Row;
                return { by: order.column === "created_at" ? row.created_at.toISOString() : row.duration_ms, id };
              };
              for (const isBackwards of [false, true])
                expect(await walk(sql, asked, order, isBackwards, keyOf)).toEqual(expectedOrder(wanted, order));
            }
          }
        }),
        { numRuns: 25 },
      );
      expect(answered).toBeGreaterThan(50);
    },
  );

  it("finds calls that come while those of before are filled in, also one whose time lies before what is filled already", async () => {
    const { sql } = await testDatabase();
    const office = new Office(sql);
    await office.open();
    const answer = { what: "answer", agent: 0, calls: 1, name: 0 } as const;
    const cut = { what: "fold", servers: 1, isCut: true } as const;
    await office.act({ ...answer, at: 3 * HOUR });
    await foldAll(sql);
    await sql.query({ name: "", text: "TRUNCATE audit_fold, audit_call, audit_count, audit_quarter" }, []);
    await auditsBehind(sql);
    await office.act(cut);
    // By a server whose clock is behind, and by the one before again.
    await office.act({ ...answer, at: HOUR });
    await office.act({ ...answer, at: 4 * HOUR });
    await foldAll(sql);
    const counts = await auditCounts(sql, ALL);
    expect(counts?.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
  });
});
