import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { auditOfRows } from "../../support/audit.ts";
import { connect } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { viewsReader } from "../../support/views-reader.ts";

/** A question of the guide: the operation and the query that answer it. Some have a query only. */
type Question = { readonly title: string; readonly operation: string | null; readonly query: string };

async function questions(): Promise<readonly Question[]> {
  const text = await readFile(new URL("../../../docs/bi.md", import.meta.url), "utf8");
  const [, part = ""] = text.split("\n## Questions\n");
  const [questionsOnly = ""] = part.split("\n## ");
  return questionsOnly
    .split("\n### ")
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      operation: /^```graphql\n([^]*?)^```$/m.exec(section)?.[1] ?? null,
      query: /^```sql\n([^]*?)^```$/m.exec(section)?.[1] ?? "",
    }));
}

type Value = string | number | boolean | null;
type Line = readonly Value[];
type Json = null | string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** The value at a path of field names, for example `figures.calls`. */
function at(json: Json | undefined, path: string): Json {
  return path.split(".").reduce<Json>((found, name) => {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return null;
    return (found as { readonly [key: string]: Json })[name] ?? null;
  }, json ?? null);
}

function valueAt(json: Json | undefined, path: string): Value {
  const found = at(json, path);
  return typeof found === "object" ? null : found;
}

function listAt(json: Json | undefined, path: string): readonly Json[] {
  const found = at(json, path);
  return Array.isArray(found) ? found : [];
}

/** The lines of a list: one for each entry, with the values at these paths. */
const lines =
  (list: string, ...paths: readonly string[]) =>
  (data: Json): readonly Line[] =>
    listAt(data, list).map((entry) => paths.map((path) => valueAt(entry, path)));

/** The lines of a series: one for each group and bucket with a figure above 0 at the first path. */
const points =
  (of: string, key: string, ...paths: readonly string[]) =>
  (data: Json): readonly Line[] =>
    listAt(data, `${of}.groups`).flatMap((group) =>
      listAt(group, "series").flatMap((figures, index): Line[] =>
        at(figures, paths[0] ?? "") === 0
          ? []
          : [
              [
                valueAt(listAt(data, `${of}.buckets`)[index], "from"),
                valueAt(group, key),
                ...paths.map((path) => valueAt(figures, path)),
              ],
            ],
      ),
    );

/** The answer of each operation in the form of the query's rows. Percentiles are one array there. */
const FORMS: Readonly<Record<string, (data: Json) => readonly Line[]>> = {
  "Failures by tool": lines("toolCallGroups.groups", "tool", "figures.calls", "figures.failed", "figures.failureRate"),
  "Errors by type": lines("toolCallGroups.groups", "tool", "errorType", "figures.calls"),
  "Exit codes of shell calls": lines("toolCallGroups.groups", "tool", "exitCode", "figures.calls", "figures.durationMs.p50"),
  "Calls by host": lines("toolCallGroups.groups", "host", "figures.calls", "figures.denied"),
  "Calls by model and risk": lines(
    "toolCallGroups.groups",
    "model",
    "risk",
    "figures.calls",
    "figures.failureRate",
    "figures.waitedMs.mean",
  ),
  "Run times by tool and day": points("toolCallGroups", "tool", "calls", "durationMs.mean", "durationMs.p50", "durationMs.p95"),
  "Cost by agent": lines("stepGroups.groups", "agentId", "figures.costUsd", "figures.unpricedSteps", "figures.cachedShare"),
  "Cost by model and day": points("stepGroups", "model", "steps", "costUsd"),
  "Failed model calls": lines("stepGroups.groups", "model", "errorType", "figures.steps"),
  Decisions: (data) =>
    listAt(data, "approvals.nodes").flatMap((node) =>
      listAt(node, "decisions").map((decision): Line => [
        valueAt(node, "id"),
        valueAt(decision, "decision"),
        valueAt(decision, "decidedBy.actorId"),
      ]),
    ),
  // Approvals without a decision are a group of the API.
  "Time to decide by person": (data) =>
    lines(
      "approvalGroups.groups",
      "decidedBy.actorId",
      "figures.decided",
      "figures.denied",
      "figures.quick",
      "figures.decisionMs.p50",
      "figures.decisionMs.p95",
    )(data).filter(([decider]) => decider !== null),
  "Approvals by tool": lines(
    "approvalGroups.groups",
    "tool",
    "figures.approvals",
    "figures.expired",
    "figures.deniedShare",
    "figures.editedShare",
    "figures.decisionMs.p95",
  ),
  "Use of rules": (data) =>
    listAt(data, "ruleYields").flatMap((entry): Line[] =>
      at(entry, "figures.calls") === 0
        ? []
        : [
            [
              `${String(valueAt(entry, "rule.list")).toLowerCase()} ${String(valueAt(entry, "rule.rule"))}`,
              valueAt(entry, "figures.calls"),
              valueAt(entry, "figures.executed"),
            ],
          ],
    ),
  "Stored rules without a use": (data) =>
    lines(
      "allowRules.nodes",
      "id",
      "rule",
      "useCount",
    )(data)
      .filter(([, , uses]) => uses === 0)
      .map(([id, rule]) => [id ?? null, rule ?? null]),
  "Rules of calls": lines("toolCalls.nodes", "callId", "explanation.rule", "explanation.place"),
};

/** Rows as lines: numbers of either kind to ten digits, times in ISO 8601, arrays as values of the line. */
function shown(rows: readonly (readonly unknown[])[]): readonly string[] {
  const one = (value: unknown): unknown => {
    if (value instanceof Date) return value.toISOString();
    if (typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(value)))
      return Number(Number(value).toPrecision(10));
    return value ?? null;
  };
  return rows
    .map((row) => JSON.stringify(row.flatMap((value) => (Array.isArray(value) ? value.map(one) : [one(value)]))))
    .toSorted();
}

/** Operations whose last values are percentiles from counters: within 2 %. */
const PERCENTILES_OF_COUNTERS = new Set(["Run times by tool and day"]);

/** The lines with the percentiles of the query in place of those that are within their error. A line begins with its keys. */
function withExact(answered: readonly Line[], rows: readonly (readonly unknown[])[]): readonly Line[] {
  const exact = new Map(
    rows.map((row) => [shown([row.slice(0, -1)])[0], row.flatMap((value): number[] => (Array.isArray(value) ? value : []))]),
  );
  return answered.map((line) => {
    const found = exact.get(shown([line.slice(0, -2)])[0]);
    const isWithin = found?.every((value, index) => Math.abs(Number(line.at(index - 2)) - value) <= 0.02 * value) === true;
    return isWithin ? [...line.slice(0, -2), ...found] : line;
  });
}

const AGENTS = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"] as const;

/** A week with the change of New York's clocks: calls, approvals, decisions and steps of two agents. */
const WEEK: readonly string[] = [
  `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
    SELECT id, 'local', 'other', 'm', '/tmp', 'anna', 'USER', '2026-01-01', '2026-01-01' FROM unnest(ARRAY['${AGENTS.join("', '")}']) id`,
  `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, error, verdict, stages, audit_trail, started_at, duration_ms, created_at, updated_at, copied_from, exit_code, hosts)
    SELECT gen_random_uuid(), 'local', (ARRAY['${AGENTS.join("', '")}'])[1 + n % 2], 1, n, 0, 'p', (ARRAY['shell', 'fetch', 'look'])[1 + n % 3],
      (CASE WHEN n % 7 = 0 THEN 'FAILED' WHEN n % 11 = 0 THEN 'DENIED' ELSE 'COMPLETED' END)::tool_call_state, 1, n % 7 = 0,
      CASE WHEN n % 7 = 0 THEN json_build_object('type', CASE WHEN n % 2 = 0 THEN 'timeout' ELSE 'execution_failed' END) END, CASE WHEN n % 11 = 0 THEN 'deny' ELSE 'ask' END, '[]', '[]',
      CASE WHEN n % 11 <> 0 THEN timestamptz '2026-03-01 20:00Z' + n * interval '59 minutes' END, n * 1.5, timestamptz '2026-03-01 20:00Z' + n * interval '59 minutes', now(),
      CASE WHEN n % 50 = 0 THEN 'copied' END, CASE WHEN n % 3 = 0 THEN n % 5 END, CASE n % 6 WHEN 1 THEN '["a.example"]' WHEN 2 THEN '["a.example", "b.example"]' END::jsonb FROM generate_series(1, 200) n`,
  `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at, closed_at)
    SELECT gen_random_uuid(), 'local', agent_id, id, 'TOOL_CALL', (ARRAY['ALLOWED', 'DENIED', 'EXPIRED', 'ALLOWED'])[1 + step % 4]::approval_state, 'why', 'LOW', created_at, created_at + interval '1 hour'
    FROM tool_call WHERE step % 3 <> 1 AND name <> 'fs_write'`,
  `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, input_hash, decided_at)
    SELECT p.id, (ARRAY['vera', 'paul'])[1 + c.step % 2], 'USER', 'local', (CASE p.state WHEN 'DENIED' THEN 'DENY' ELSE 'ALLOW' END)::approval_decision,
      CASE WHEN c.step % 5 = 0 THEN 'other' END, p.requested_at + c.step * interval '40 ms' FROM approval p JOIN tool_call c ON c.id = p.tool_call_id WHERE p.state <> 'EXPIRED'`,
  `INSERT INTO step (agent_id, step, tenant, turn, state, model, input_tokens, cache_read_tokens, output_tokens, cost_usd, started_at, completed_at, copied_from, error_type)
    SELECT (ARRAY['${AGENTS.join("', '")}'])[1 + n % 2], n, 'local', 1, (CASE WHEN n % 10 = 9 THEN 'ABORTED' ELSE 'COMPLETED' END)::step_state, (ARRAY['large', 'small', 'local'])[1 + n % 3], n, n % 40, n, CASE WHEN n % 3 <> 2 THEN n * 0.01 END,
      timestamptz '2026-03-01 20:00Z' + n * interval '59 minutes', timestamptz '2026-03-01 20:00Z' + n * interval '60 minutes', CASE WHEN n % 50 = 0 THEN 'copied' END, CASE n % 20 WHEN 9 THEN 'overloaded' END FROM generate_series(1, 200) n`,
  `INSERT INTO allow_rule (id, tenant, template_id, rule, approval_id, created_by, created_by_kind, created_at)
    VALUES ('00000000-0000-4000-8000-000000000009', 'local', 'other', 'shell', 'a', 'anna', 'USER', '2026-03-02')`,
];

it("each question of docs/bi.md has the same answer by its operation and by its query", { timeout: 60_000 }, async () => {
  const url = await testDatabaseUrl();
  const script = {
    replies: [
      {
        when: { user: "go" },
        call: [
          { tool: "fs_read", input: { path: ".private" } },
          { tool: "fs_write", input: { path: "docs/a.md", content: "a" } },
          { tool: "fs_write", input: { path: "docs/b.md", content: "b" } },
        ],
      },
      { when: {}, say: ["Done."] },
    ],
  };
  const permission = {
    mode: "auto",
    deny: ["fs_read(path:.private)", "fs_read(path:.never)"],
    allow: ["fs_write(path:docs)"],
  } as const;
  const app = await startTestApp({ script, template: { permission }, database: { kind: "postgres", url, connections: 3 } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  for (const text of WEEK) await app.database.sql.query({ name: "", text }, []);
  await auditOfRows(app.database.sql);
  const reader = await viewsReader(url, "local");
  const asked = await questions();
  expect(asked.flatMap(({ title, operation }) => (operation === null ? [] : [title])).toSorted()).toEqual(
    Object.keys(FORMS).toSorted(),
  );
  for (const { title, operation, query } of asked) {
    const { rows } = await reader.query<unknown[]>({ text: query, rowMode: "array" });
    expect(rows.length, title).toBeGreaterThan(0);
    const form = FORMS[title];
    if (operation === null || form === undefined) continue;
    const { data, errors } = await client.post<{ readonly [key: string]: Json }>({ query: operation });
    expect(errors, title).toEqual([]);
    const answered = PERCENTILES_OF_COUNTERS.has(title) ? withExact(form(data), rows) : form(data);
    expect(shown(answered), title).toEqual(shown(rows));
  }
});
