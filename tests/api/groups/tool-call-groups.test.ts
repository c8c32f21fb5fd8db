import { describe, expect, it } from "vitest";
import { actorGlobalId, globalId } from "../../../src/lib/global-id.ts";
import {
  ToolCallGroupsDocument,
  type ToolCallDimension,
  type ToolCallGroupsQuery,
  type ToolCallGroupsQueryVariables,
} from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { auditOfRows } from "../../support/audit.ts";
import { connect, type TestClient } from "../../support/client.ts";

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

type Call = {
  readonly agent: number;
  readonly at: string;
  readonly tool?: string;
  readonly state?: string;
  readonly ms?: number;
  readonly error?: string;
  readonly verdict?: string;
  readonly copiedFrom?: string;
  readonly exitCode?: number;
  readonly hosts?: readonly string[];
  readonly model?: string;
  readonly approvals?: readonly { readonly waitedMs: number; readonly risk?: string; readonly by?: readonly string[] }[];
};

type Group = ToolCallGroupsQuery["toolCallGroups"]["groups"][number];

/** Agents 1 of anna, 2 of anna below 1, and 3 of ben; agent 9 of another tenant. */
const AGENTS = [
  [1, "acme", "anna", null],
  [2, "acme", "anna", 1],
  [3, "acme", "ben", null],
  [9, "other", "zoe", null],
] as const;

/** A server with these calls in its audit, and clients of its actors. */
async function audited(calls: readonly Call[], { isFolded = true } = {}) {
  const people = [
    tokenActor("anna", ["user"], "acme"),
    tokenActor("vera", ["viewer"], "acme"),
    tokenActor("zoe", ["admin"], "other"),
  ] as const;
  const app = await startTestApp({ config: { actors: people.map(({ actor }) => actor) } });
  const { sql } = app.database;
  const run = (text: string, values: readonly unknown[]) => sql.query({ name: "", text }, [...values]);
  for (const [index, tenant, creator, parent] of AGENTS)
    await run(
      `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, parent_id, root_id)
       VALUES ($1, $2, $3, 'm', '/tmp', $4, 'USER', '2026-01-01', '2026-01-01', $5, $5)`,
      [idOf(index), tenant, index === 3 ? "writer" : "assistant", creator, parent === null ? null : idOf(parent)],
    );
  for (const [index, call] of calls.entries()) {
    const {
      agent,
      at,
      tool = "fs_read",
      state = "COMPLETED",
      ms = null,
      error = null,
      verdict = "allow",
      copiedFrom = null,
      exitCode = null,
      hosts = null,
      model = null,
    } = call;
    const tenant = agent === 9 ? "other" : "acme";
    const id = idOf(100 + index);
    await run(
      `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, error, verdict, stages, audit_trail, started_at, duration_ms, created_at, updated_at, copied_from, exit_code, hosts)
       VALUES ($1, $2, $3, 1, $4, 0, 'p', $5, $6::tool_call_state, 1, false, $7::json, $8, '[]', '[]', $9::timestamptz, $10::float8, $9::timestamptz, $9::timestamptz, $11, $12, $13::jsonb)`,
      [
        id,
        tenant,
        idOf(agent),
        index,
        tool,
        state,
        error === null ? null : JSON.stringify({ type: error }),
        verdict,
        at,
        ms,
        copiedFrom,
        exitCode,
        hosts === null ? null : JSON.stringify(hosts),
      ],
    );
    if (model !== null)
      await run(
        "INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) VALUES ($1, $2, $3, 1, 'COMPLETED', $4, $5)",
        [idOf(agent), index, tenant, model, at],
      );
    for (const [nth, { waitedMs, risk = "LOW", by = [] }] of (call.approvals ?? []).entries()) {
      const approval = idOf(1_000 + index * 10 + nth);
      const rank = ["LOW", "MEDIUM", "HIGH"].indexOf(risk);
      await run(
        `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, risk_rank, requested_at, closed_at)
         VALUES ($1, $2, $3, $4, 'TOOL_CALL', 'ALLOWED', 'why', $5, $6, $7::timestamptz, $7::timestamptz + $8 * interval '1 ms')`,
        [approval, tenant, idOf(agent), id, risk, rank, at, waitedMs],
      );
      for (const actor of by)
        await run(
          `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at) VALUES ($1, $2, 'USER', $3, 'ALLOW', $4)`,
          [approval, actor, tenant, at],
        );
    }
  }
  if (isFolded) {
    await run("INSERT INTO tenant_log (tenant, epoch) VALUES ('acme', 'e'), ('other', 'e') ON CONFLICT DO NOTHING", []);
    await auditOfRows(sql);
  }
  const [{ folded } = { folded: -1 }] = await sql.query<{ folded: number }>(
    { name: "", text: "SELECT count(*)::int AS folded FROM audit_call" },
    [],
  );
  expect(folded).toBe(isFolded ? calls.filter(({ copiedFrom }) => copiedFrom === undefined).length : 0);
  const [anna, vera, zoe] = people.map(({ token }) => connect(app.url, token)) as [TestClient, TestClient, TestClient];
  return { app, anna, vera, zoe };
}

const groupsOf = async (client: TestClient, variables: ToolCallGroupsQueryVariables = {}) =>
  (await client.get(ToolCallGroupsDocument, variables)).toolCallGroups;

const DAY = { unit: "DAY", timeZone: "UTC" } as const;
const CALLS: readonly Call[] = [
  { agent: 1, at: "2026-03-01T10:00:00Z", ms: 10, model: "large", hosts: ["a.example", "b.example"] },
  { agent: 1, at: "2026-03-01T23:59:59.999Z", ms: 30, model: "large", exitCode: 0 },
  {
    agent: 2,
    at: "2026-03-03T00:00:00Z",
    tool: "shell",
    state: "FAILED",
    ms: 100,
    error: "timeout",
    verdict: "ask",
    exitCode: 127,
    hosts: ["b.example"],
    model: "small",
    approvals: [{ waitedMs: 4_000, risk: "HIGH", by: ["vera", "ulf"] }, { waitedMs: 1_000 }],
  },
  { agent: 3, at: "2026-03-03T05:00:00Z", tool: "shell", state: "DENIED", error: "permission_denied", verdict: "deny" },
  { agent: 3, at: "2026-03-03T06:00:00Z", tool: "shell", state: "EXECUTING" },
  { agent: 3, at: "2026-03-04T00:00:00Z", ms: 7, copiedFrom: idOf(100) },
  { agent: 9, at: "2026-03-01T10:00:00Z", ms: 77, tool: "secret" },
];
const NO_TIMES = { count: 0, mean: null, p50: null, p95: null, most: null };
const NOTHING = {
  calls: 0,
  ended: 0,
  failed: 0,
  failureRate: null,
  denied: 0,
  asked: 0,
  executed: 0,
  lastAt: null,
  durationMs: { ...NO_TIMES, p90: null, p99: null, relativeError: 0 },
  waitedMs: NO_TIMES,
};

describe.each([
  { title: "read from the audit", isFolded: true },
  { title: "read from the calls, while the audit is incomplete", isFolded: false },
])("groups of tool calls, $title", ({ isFolded }) => {
  it("have the figures of their calls, most calls first, and leave out copies and other tenants", async () => {
    const { vera, zoe } = await audited(CALLS, { isFolded });
    // From counters, a percentile is of a class.
    const within = (ms: number): unknown => (isFolded ? expect.toSatisfy((found) => Math.abs(found - ms) <= 0.02 * ms) : ms);
    const { groups, groupCount, total, asOf, buckets } = await groupsOf(vera);
    expect(asOf).toMatch(/./);
    expect([groupCount, buckets]).toEqual([2, []]);
    expect(groups.map(({ tool, series }) => [tool, series])).toEqual([
      ["shell", []],
      ["fs_read", []],
    ]);
    const [shell, read] = groups.map(({ figures }) => figures);
    expect(shell).toEqual({
      calls: 3,
      ended: 2,
      failed: 1,
      failureRate: 0.5,
      denied: 1,
      asked: 1,
      executed: 3,
      lastAt: "2026-03-03T06:00:00.000Z",
      durationMs: {
        count: 1,
        mean: 100,
        p50: within(100),
        p90: within(100),
        p95: within(100),
        p99: within(100),
        relativeError: isFolded ? 0.02 : 0,
        most: 100,
      },
      waitedMs: { count: 1, mean: 5_000, p50: within(5_000), p95: within(5_000), most: 5_000 },
    });
    expect(read).toMatchObject({
      calls: 2,
      failureRate: 0,
      durationMs: { count: 2, mean: 20, p50: within(20), p90: within(28), most: 30 },
    });
    expect(total).toMatchObject({ calls: 5, ended: 4, failureRate: 0.25, durationMs: { count: 3, p50: within(30), most: 100 } });
    expect((await groupsOf(zoe)).groups.map(({ tool }) => tool)).toEqual(["secret"]);
  });

  it("have a series with all buckets of the range, those without calls included, in the zone", async () => {
    const { vera } = await audited(CALLS, { isFolded });
    const range = { from: "2026-03-01T12:00:00Z", to: "2026-03-04T00:00:00Z" };
    const days = await groupsOf(vera, { ...range, bucket: DAY });
    expect(days.buckets).toEqual([
      { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z", isWhole: false },
      { from: "2026-03-02T00:00:00.000Z", to: "2026-03-03T00:00:00.000Z", isWhole: true },
      { from: "2026-03-03T00:00:00.000Z", to: "2026-03-04T00:00:00.000Z", isWhole: true },
    ]);
    const counts = (answer: typeof days) => answer.groups.map(({ tool, series }) => [tool, series.map(({ calls }) => calls)]);
    expect(counts(days)).toEqual([
      ["shell", [0, 0, 3]],
      ["fs_read", [1, 0, 0]],
    ]);
    expect(days.groups[1]?.series[1]).toEqual(NOTHING);
    const inKathmandu = await groupsOf(vera, { ...range, bucket: { unit: "DAY", timeZone: "Asia/Kathmandu" } });
    expect(inKathmandu.buckets[0]?.from).toBe("2026-02-28T18:15:00.000Z");
    // 23:59:59.999 is 5:44:59.999 of the next day there.
    expect(counts(inKathmandu)).toEqual([
      ["shell", [0, 0, 3, 0]],
      ["fs_read", [0, 1, 0, 0]],
    ]);
  });

  it("are of every dimension, and calls without a value are of a group of their own", async () => {
    const { vera } = await audited(CALLS, { isFolded });
    const keysBy = async (by: ToolCallDimension[], name: keyof Group) => {
      const { groups } = await groupsOf(vera, { by });
      return groups.map((group) => [group[name], group.figures.calls]);
    };
    const actor = (id: string) => ({ id: actorGlobalId({ id, kind: "USER" }), kind: "USER" });
    const agent = (index: number) => ({ id: globalId("Agent", idOf(index)) });
    expect(await keysBy(["TEMPLATE"], "templateId")).toEqual([
      ["assistant", 3],
      ["writer", 2],
    ]);
    expect(await keysBy(["AGENT"], "agent")).toEqual([
      [agent(1), 2],
      [agent(3), 2],
      [agent(2), 1],
    ]);
    expect(await keysBy(["ROOT_AGENT"], "rootAgent")).toEqual([
      [agent(1), 3],
      [agent(3), 2],
    ]);
    expect(await keysBy(["REQUESTER"], "requestedBy")).toEqual([
      [actor("anna"), 3],
      [actor("ben"), 2],
    ]);
    expect(await keysBy(["STATE"], "state")).toEqual([
      ["COMPLETED", 2],
      ["DENIED", 1],
      ["EXECUTING", 1],
      ["FAILED", 1],
    ]);
    expect(await keysBy(["ERROR_TYPE"], "errorType")).toEqual([
      [null, 3],
      ["PERMISSION_DENIED", 1],
      ["TIMEOUT", 1],
    ]);
    expect(await keysBy(["VERDICT"], "verdict")).toEqual([
      ["ALLOW", 3],
      ["ASK", 1],
      ["DENY", 1],
    ]);
    expect(await keysBy(["RISK"], "risk")).toEqual([
      [null, 4],
      ["HIGH", 1],
    ]);
    expect(await keysBy(["DECIDER"], "decidedBy")).toEqual([
      [null, 4],
      [actor("ulf"), 1],
      [actor("vera"), 1],
    ]);
    expect(await keysBy(["EXIT_CODE"], "exitCode")).toEqual([
      [null, 3],
      [0, 1],
      [127, 1],
    ]);
    expect(await keysBy(["HOST"], "host")).toEqual([
      [null, 3],
      ["b.example", 2],
      ["a.example", 1],
    ]);
    expect(await keysBy(["MODEL"], "model")).toEqual([
      [null, 2],
      ["large", 2],
      ["small", 1],
    ]);
    const hosts = await groupsOf(vera, { by: ["HOST", "EXIT_CODE"], filter: { hosts: ["a.example", "b.example"] } });
    expect(hosts.total.calls).toBe(2);
    expect(hosts.groups.map(({ host, exitCode, figures }) => [host, exitCode, figures.calls])).toEqual([
      ["a.example", null, 1],
      ["b.example", null, 1],
      ["b.example", 127, 1],
    ]);
    expect((await groupsOf(vera, { by: [], filter: { exitCodes: [0, 127] } })).total.calls).toBe(2);
    // Each call counts once in the total, also if it is of two groups.
    const deciders = await groupsOf(vera, { by: ["DECIDER", "TOOL"], orderBy: { measure: "ASKED", direction: "DESC" } });
    expect(deciders.total.calls).toBe(5);
    expect(deciders.groups.map(({ tool, decidedBy, figures }) => [tool, decidedBy?.id ?? null, figures.calls])).toEqual([
      ["shell", actor("ulf").id, 1],
      ["shell", actor("vera").id, 1],
      ["fs_read", null, 2],
      ["shell", null, 2],
    ]);
  });

  it("are sorted by a measure, those without it last, and bounded; the number and the total are of all", async () => {
    const { vera } = await audited(CALLS, { isFolded });
    const sorted = async (measure: "DURATION_P95" | "WAITED_P95" | "FAILURE_RATE", direction: "ASC" | "DESC", first = 50) => {
      const { groups, groupCount, total } = await groupsOf(vera, { by: ["AGENT"], orderBy: { measure, direction }, first });
      return [groups.map(({ agentId }) => agentId), groupCount, total.calls];
    };
    const [one, two, three] = [1, 2, 3].map((index) => globalId("Agent", idOf(index)));
    expect(await sorted("DURATION_P95", "DESC")).toEqual([[two, one, three], 3, 5]);
    expect(await sorted("DURATION_P95", "ASC")).toEqual([[one, two, three], 3, 5]);
    expect(await sorted("WAITED_P95", "ASC")).toEqual([[two, one, three], 3, 5]);
    expect(await sorted("FAILURE_RATE", "DESC", 1)).toEqual([[two], 3, 5]);
  });

  it.for([
    "FAILED",
    "FAILURE_RATE",
    "DENIED",
    "ASKED",
    "EXECUTED",
    "LAST_AT",
    "DURATION_MEAN",
    "DURATION_P50",
    "DURATION_P99",
    "WAITED_MEAN",
    "WAITED_P95",
  ])("are sorted by %s also if the answer has only the calls", async (measure) => {
    const { vera } = await audited(CALLS, { isFolded });
    const query = `{ toolCallGroups(by: [TOOL], orderBy: { measure: ${measure}, direction: DESC }) { groups { tool figures { calls } } } }`;
    const { data } = await vera.post<{ toolCallGroups: { groups: readonly object[] } }>({ query });
    expect(data?.toolCallGroups.groups).toEqual([
      { tool: "shell", figures: { calls: 3 } },
      { tool: "fs_read", figures: { calls: 2 } },
    ]);
  });

  it("of no dimension are one group, also of no calls", async () => {
    const { vera } = await audited(CALLS, { isFolded });
    const range = { from: "2026-03-02T00:00:00Z", to: "2026-03-03T00:00:00Z" };
    const none = await groupsOf(vera, { by: [], ...range, bucket: DAY });
    expect(none.groups.map(({ figures, series }) => [figures, series])).toEqual([[NOTHING, [NOTHING]]]);
    expect(none.total).toEqual(NOTHING);
    expect(await groupsOf(vera, range)).toMatchObject({ groups: [], groupCount: 0, total: NOTHING });
  });

  it("are of the actor's own agents only, unless the actor reads the tenant", async () => {
    const { anna } = await audited(CALLS, { isFolded });
    const { groups, total } = await groupsOf(anna, { by: ["REQUESTER"] });
    expect(groups.map(({ requestedBy, figures }) => [requestedBy?.id, figures.calls])).toEqual([
      [actorGlobalId({ id: "anna", kind: "USER" }), 3],
    ]);
    expect(total.calls).toBe(3);
    expect((await groupsOf(anna, { filter: { createdBy: ["ben"] } })).groupCount).toBe(0);
  });
});

describe("a request for groups of tool calls", () => {
  it("takes the intersection of its range and the filter's", async () => {
    const { vera } = await audited(CALLS);
    const created = { from: "2026-03-03T00:00:00Z", to: "2026-03-03T06:00:00Z" };
    const { total } = await groupsOf(vera, { from: "2026-03-01T00:00:00Z", filter: { created } });
    expect(total.calls).toBe(2);
  });

  it.each<[string, ToolCallGroupsQueryVariables, string]>([
    [
      "an unknown zone",
      { from: "2026-03-01T00:00:00Z", bucket: { unit: "DAY", timeZone: "Mars/Olympus" } },
      "names no time zone",
    ],
    [
      "a zone that is an offset",
      { from: "2026-03-01T00:00:00Z", bucket: { unit: "DAY", timeZone: "+05:45" } },
      "names no time zone",
    ],
    [
      "too many buckets",
      { from: "2025-01-01T00:00:00Z", to: "2026-03-01T00:00:00Z", bucket: { unit: "HOUR" } },
      "more than 1000 buckets",
    ],
    [
      "too many figures",
      { from: "2025-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z", bucket: DAY, first: 100 },
      "more than 20000 figures",
    ],
    ["an inverted range", { from: "2026-03-02T00:00:00Z", to: "2026-03-01T00:00:00Z" }, "must be before `to`"],
    ["an empty range", { from: "2026-03-01T00:00:00Z", to: "2026-03-01T00:00:00Z" }, "must be before `to`"],
    ["a range in the future", { from: "9000-01-01T00:00:00Z", bucket: DAY }, "must be before `to`"],
    ["buckets without a start", { bucket: DAY }, "`bucket` needs `from`"],
    ["too many groups", { first: 1_001 }, "must be between 1 and 1000"],
  ])("with %s is refused", async (_what, variables, message) => {
    const app = await startTestApp();
    const { errors } = await connect(app.url).ask(ToolCallGroupsDocument, variables);
    expect(errors).toMatchObject([
      { message: expect.stringContaining(message) as string, extensions: { code: "BAD_USER_INPUT" } },
    ]);
  });
});
