import { describe, expect, it } from "vitest";
import { globalId } from "../../../src/lib/global-id.ts";
import {
  ApprovalGroupsDocument,
  type ApprovalDimension,
  type ApprovalGroupsQuery,
  type ApprovalGroupsQueryVariables,
} from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { ACTORS, ask, SCRIPT } from "../../support/office.ts";

const idOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;

type Approval = {
  readonly agent: number;
  readonly at: string;
  readonly tool?: string;
  readonly host?: string;
  readonly requesters?: readonly string[];
  readonly hash?: string;
  readonly state: string;
  /** From the request to its closing, in ms; null while it is pending. */
  readonly closedMs: number | null;
  readonly decisions?: readonly {
    readonly by: string;
    readonly ms: number;
    readonly says: string;
    readonly isEdited?: boolean;
  }[];
};

const yes = (by: string, ms: number) => [{ by, ms, says: "ALLOW" }];
const no = (by: string, ms: number) => [{ by, ms, says: "DENY" }];

const HOUR = 3_600_000;
const APPROVALS: readonly Approval[] = [
  {
    agent: 1,
    at: "2026-03-01T23:30:00Z",
    tool: "shell",
    hash: "h",
    state: "DENIED",
    closedMs: 1_000,
    decisions: no("vera", 1_000),
  },
  {
    agent: 1,
    at: "2026-03-02T09:00:00Z",
    tool: "shell",
    hash: "h",
    state: "ALLOWED",
    closedMs: HOUR,
    decisions: yes("paul", HOUR),
  },
  // Two people were needed.
  {
    agent: 1,
    at: "2026-03-02T09:30:00Z",
    tool: "write",
    hash: "i",
    state: "ALLOWED",
    closedMs: HOUR,
    decisions: [
      { by: "vera", ms: 2_999, says: "ALLOW", isEdited: true },
      { by: "paul", ms: HOUR, says: "ALLOW" },
    ],
  },
  { agent: 2, at: "2026-03-02T10:00:00Z", host: "example.com", state: "EXPIRED", closedMs: 2 * HOUR },
  // The first of two people.
  { agent: 2, at: "2026-03-02T14:00:00Z", tool: "write", hash: "k", state: "PENDING", closedMs: null, decisions: yes("vera", 5) },
  { agent: 3, at: "2026-03-02T14:00:00Z", tool: "write", requesters: ["ben", "rosa"], hash: "k", state: "SEALED", closedMs: 10 },
  { agent: 9, at: "2026-03-02T10:00:00Z", tool: "secret", hash: "k", state: "ALLOWED", closedMs: 10, decisions: yes("zoe", 10) },
];

async function asked() {
  const people = [
    tokenActor("anna", ["user"], "acme"),
    tokenActor("vera", ["viewer"], "acme"),
    tokenActor("zoe", ["admin"], "other"),
  ] as const;
  const app = await startTestApp({ config: { actors: people.map(({ actor }) => actor) } });
  const run = (text: string, values: readonly unknown[]) => app.database.sql.query({ name: "", text }, [...values]);
  for (const [index, tenant, creator] of [
    [1, "acme", "anna"],
    [2, "acme", "ben"],
    [3, "acme", "ben"],
    [9, "other", "zoe"],
  ] as const)
    await run(
      `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
       VALUES ($1, $2, $3, 'm', '/tmp', $4, 'USER', '2026-01-01', '2026-01-01')`,
      [idOf(index), tenant, index === 3 ? "writer" : "assistant", creator],
    );
  // Agent 1 worked for three hours in two turns, of which one hour is a copy's.
  for (const [agent, step, turn, hours, copiedFrom] of [
    [1, 1, 1, 1, null],
    [1, 2, 2, 2, null],
    [2, 1, 1, 5, idOf(1)],
    [9, 1, 1, 5, null],
  ] as const)
    await run(
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at, completed_at, copied_from)
       VALUES ($1, $2, $3, $4, 'COMPLETED', 'm', '2026-03-02T09:00:00Z', timestamptz '2026-03-02T09:00:00Z' + $5 * interval '1 hour', $6)`,
      [idOf(agent), step, agent === 9 ? "other" : "acme", turn, hours, copiedFrom],
    );
  for (const [
    index,
    { agent, at, tool = null, host = null, requesters = [], hash = null, state, closedMs, decisions = [] },
  ] of APPROVALS.entries()) {
    const [tenant, id] = [agent === 9 ? "other" : "acme", idOf(100 + index)];
    if (tool !== null)
      await run(
        `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, created_at, updated_at)
         VALUES ($1, $2, $3, 1, $4, 0, 'p', $5, 'COMPLETED', 1, false, '[]', '[]', $6::timestamptz, $6::timestamptz)`,
        [id, tenant, idOf(agent), index, tool, at],
      );
    await run(
      `INSERT INTO approval (id, tenant, agent_id, tool_call_id, host, kind, state, input, input_hash, reason, risk, requested_at, closed_at, requesters)
       VALUES ($1, $2, $3, $4, $5, $6::approval_kind, $7::approval_state, $8::json, $1, 'why', 'LOW', $9::timestamptz, $9::timestamptz + $10::float8 * interval '1 ms', $11::text[])`,
      [
        id,
        tenant,
        idOf(agent),
        tool === null ? null : id,
        host,
        host === null ? "TOOL_CALL" : "NETWORK_HOST",
        state,
        hash === null ? null : JSON.stringify({ input: hash }),
        at,
        closedMs,
        requesters,
      ],
    );
    for (const { by, ms, says, isEdited = false } of decisions)
      await run(
        `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, input_hash, decided_at)
         VALUES ($1, $2, 'USER', $3, $4::approval_decision, $5, $6::timestamptz + $7::float8 * interval '1 ms')`,
        [id, by, tenant, says, isEdited ? "other" : null, at, ms],
      );
  }
  const [anna, vera, zoe] = people.map(({ token }) => connect(app.url, token)) as [TestClient, TestClient, TestClient];
  return { anna, vera, zoe };
}

type Group = ApprovalGroupsQuery["approvalGroups"]["groups"][number];

const groupsOf = async (client: TestClient, variables: ApprovalGroupsQueryVariables = {}) =>
  (await client.get(ApprovalGroupsDocument, variables)).approvalGroups;

describe("groups of approvals", () => {
  it("have the figures of the human side, of one tenant", async () => {
    const { vera, zoe } = await asked();
    const { groups, groupCount, total } = await groupsOf(vera, {
      by: [],
      from: "2026-03-01T00:00:00Z",
      filter: { states: ["DENIED", "ALLOWED", "EXPIRED", "SEALED"] },
    });
    const figures = {
      approvals: 5,
      pending: 0,
      decided: 3,
      allowed: 2,
      denied: 1,
      edited: 0,
      expired: 1,
      sealed: 1,
      allowedShare: 2 / 3,
      deniedShare: 1 / 3,
      editedShare: 0,
      quick: 1,
      deniedThenAllowed: 1,
      allowedThenDenied: 0,
      decisionMs: { count: 3, mean: (2 * HOUR + 1_000) / 3, p50: HOUR, p95: HOUR, most: HOUR },
      // 1 s; one hour and a half, of which half an hour is of two approvals; two hours; 10 ms.
      hoursWaited: 3.5 + 1.01 / 3_600,
      agentHours: 3,
      perAgentHour: 5 / 3,
    };
    expect([groupCount, total, groups[0]?.figures]).toEqual([1, figures, figures]);
    expect((await groupsOf(zoe, { by: ["TOOL"] })).groups.map(({ tool }) => tool)).toEqual(["secret"]);
  });

  it("by decider have each person's own decisions", async () => {
    const { vera } = await asked();
    const { groups, total } = await groupsOf(vera, { quickMs: 2_000, orderBy: { measure: "DECISION_P50", direction: "ASC" } });
    expect(
      groups.map(({ decidedBy, figures: { approvals, decided, allowed, denied, edited, quick, decisionMs, agentHours } }) => [
        decidedBy?.actorId ?? null,
        { approvals, decided, allowed, denied, edited, quick, p50: decisionMs.p50, agentHours },
      ]),
    ).toEqual([
      ["vera", { approvals: 3, decided: 3, allowed: 2, denied: 1, edited: 1, quick: 2, p50: 1_000, agentHours: null }],
      ["paul", { approvals: 2, decided: 2, allowed: 2, denied: 0, edited: 0, quick: 0, p50: HOUR, agentHours: null }],
      [null, { approvals: 2, decided: 0, allowed: 0, denied: 0, edited: 0, quick: 0, p50: null, agentHours: null }],
    ]);
    expect(total).toMatchObject({ approvals: 6, pending: 1, decided: 3 });
  });

  it("are of every dimension, the hour of the day in a zone among them", async () => {
    const { vera } = await asked();
    const keysBy = async (by: ApprovalDimension, name: keyof Group, more: ApprovalGroupsQueryVariables = {}) => {
      const { groups } = await groupsOf(vera, { by: [by], ...more });
      return groups.map((group) => [group[name], group.figures.approvals]);
    };
    const agent = (index: number) => ({ id: globalId("Agent", idOf(index)) });
    expect(await keysBy("TOOL", "tool")).toEqual([
      ["write", 3],
      ["shell", 2],
      [null, 1],
    ]);
    expect(await keysBy("HOST", "host")).toEqual([
      [null, 5],
      ["example.com", 1],
    ]);
    expect(await keysBy("KIND", "kind")).toEqual([
      ["TOOL_CALL", 5],
      ["NETWORK_HOST", 1],
    ]);
    expect(await keysBy("STATE", "state")).toEqual([
      ["ALLOWED", 2],
      ["DENIED", 1],
      ["EXPIRED", 1],
      ["PENDING", 1],
      ["SEALED", 1],
    ]);
    expect(await keysBy("RISK", "risk")).toEqual([["LOW", 6]]);
    expect(await keysBy("TEMPLATE", "templateId")).toEqual([
      ["assistant", 5],
      ["writer", 1],
    ]);
    expect(await keysBy("AGENT", "agent")).toEqual([
      [agent(1), 3],
      [agent(2), 2],
      [agent(3), 1],
    ]);
    expect(await keysBy("ROOT_AGENT", "rootAgent")).toEqual(await keysBy("AGENT", "agent"));
    expect(await keysBy("REQUESTER", "requestedBy")).toEqual([
      [{ actorId: "anna" }, 3],
      [{ actorId: "ben" }, 3],
    ]);
    expect(await keysBy("HOUR_OF_DAY", "hourOfDay", { timeZone: "Asia/Kathmandu" })).toEqual([
      [15, 2],
      [19, 2],
      [5, 1],
      [14, 1],
    ]);
    // PostgreSQL takes some names for abbreviations of other clocks: IST for Israel's.
    expect(await keysBy("HOUR_OF_DAY", "hourOfDay", { timeZone: "IST" })).toEqual([
      [15, 2],
      [19, 2],
      [5, 1],
      [14, 1],
    ]);
  });

  it("have hours of work for each agent, and none for agents without approvals", async () => {
    const { vera } = await asked();
    const { groups, groupCount } = await groupsOf(vera, { by: ["AGENT"], filter: { tools: ["shell"] } });
    expect([groupCount, groups.map(({ figures: { approvals, agentHours } }) => [approvals, agentHours])]).toEqual([1, [[2, 3]]]);
  });

  it("have a series of all buckets, by the time of the request", async () => {
    const { vera } = await asked();
    const range = { from: "2026-03-01T00:00:00Z", to: "2026-03-04T00:00:00Z" };
    const { groups, buckets } = await groupsOf(vera, { by: [], ...range, bucket: { unit: "DAY", timeZone: "America/New_York" } });
    expect(buckets.map(({ from }) => from)).toEqual(
      ["02-28", "03-01", "03-02", "03-03"].map((day) => `2026-${day}T05:00:00.000Z`),
    );
    expect(groups[0]?.series.map(({ approvals, decisionMs }) => [approvals, decisionMs.p50])).toEqual([
      [0, null],
      [1, 1_000],
      [5, HOUR],
      [0, null],
    ]);
  });

  it("take each condition of the filter, and show an actor the approvals of own agents only", async () => {
    const { anna, vera } = await asked();
    const count = async (client: TestClient, filter: ApprovalGroupsQueryVariables["filter"]) =>
      (await groupsOf(client, { filter: filter ?? null })).total.approvals;
    expect(await count(anna, {})).toBe(3);
    expect(await count(anna, { createdBy: ["ben"] })).toBe(0);
    for (const [filter, approvals] of [
      [{ states: ["PENDING"] }, 1],
      [{ kinds: ["NETWORK_HOST"] }, 1],
      [{ risks: ["HIGH"] }, 0],
      [{ agentIds: [globalId("Agent", idOf(3))] }, 1],
      [{ templateIds: ["writer"] }, 1],
      [{ tools: ["shell"] }, 2],
      [{ createdBy: ["ben"] }, 3],
      [{ requestedBy: ["rosa", "nobody"] }, 1],
      [{ requestedBy: [] }, 0],
      [{ requested: { to: "2026-03-02T00:00:00Z" } }, 1],
      [{ decided: { from: "2026-03-02T10:00:00Z", to: "2026-03-02T10:00:01Z" } }, 1],
      [{ decidedBy: ["paul"] }, 2],
      [{ viewerSnoozed: true }, 0],
      [{ viewerSnoozed: false }, 6],
    ] as const)
      expect(await count(vera, filter as ApprovalGroupsQueryVariables["filter"]), JSON.stringify(filter)).toBe(approvals);
  });

  it("count reversals of thousands of approvals of an agent, also before the database knows how many there are", async () => {
    const vera = tokenActor("vera", ["viewer"], "acme");
    const app = await startTestApp({ config: { actors: [vera.actor] } });
    await app.database.sql.query(
      {
        name: "",
        text: `WITH of AS (
            INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
            VALUES ($1, 'acme', 'assistant', 'm', '/tmp', 'anna', 'USER', '2026-01-01', '2026-01-01') RETURNING id, tenant
          ) INSERT INTO approval (id, tenant, agent_id, kind, state, input, input_hash, reason, risk, requested_at, closed_at)
          SELECT gen_random_uuid(), of.tenant, of.id, 'TOOL_CALL', (CASE WHEN i < 10000 THEN 'DENIED' ELSE 'ALLOWED' END)::approval_state,
            json_build_object('n', i % 10000), 'hash ' || i, 'why', 'LOW', t.at, t.at FROM of, generate_series(0, 19998) i,
            LATERAL (SELECT timestamptz '2026-03-02' + i * interval '1 s' AS at) t`,
      },
      [idOf(1)],
    );
    const { total } = await groupsOf(connect(app.url, vera.token), { by: [], filter: { states: ["DENIED"] } });
    expect(total).toMatchObject({ approvals: 10_000, deniedThenAllowed: 9_999, allowedThenDenied: 0 });
  });

  it("are refused for a zone that there is not, and a negative time", async () => {
    const app = await startTestApp();
    for (const [variables, message] of [
      [{ timeZone: "Mars/Olympus" }, "`timeZone` names no time zone"],
      // A zone of Node that PostgreSQL does not have.
      [{ by: "HOUR_OF_DAY", timeZone: "US/Pacific-New" }, "`timeZone` names no time zone"],
      [{ quickMs: -1 }, "`quickMs` must not be negative"],
    ] as const) {
      const { errors } = await connect(app.url).ask(ApprovalGroupsDocument, variables);
      expect(errors).toMatchObject([
        { message: expect.stringContaining(message) as string, extensions: { code: "BAD_USER_INPUT" } },
      ]);
    }
  });

  it("count what people answered the other way when the same was asked again", async () => {
    const app = await startTestApp({ config: ACTORS, script: SCRIPT, template: { selfApproval: true } });
    const client = connect(app.url, "ada-token");
    const answered = async (decision: "ALLOW" | "DENY", words: string, of?: string): Promise<string> => {
      const { agent, approvalId, inputHash } = await ask(client, words, of);
      await client.decide({ approvalId, inputHash, decision });
      await expect.poll(async () => (await client.agent(agent)).state).toBe("READY");
      return agent;
    };
    const agent = await answered("DENY", "write a.txt");
    await answered("ALLOW", "write a.txt", agent);
    await answered("DENY", "write a.txt", agent);
    // Another file, and another agent, are other questions.
    await answered("DENY", "write b.txt", agent);
    await answered("ALLOW", "write b.txt");
    const { total } = await groupsOf(client, { by: [] });
    expect(total).toMatchObject({ approvals: 5, deniedThenAllowed: 1, allowedThenDenied: 1 });
  });
});
