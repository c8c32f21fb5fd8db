import { isInputObjectType } from "graphql";
import { expect, it } from "vitest";
import { schema } from "../../src/schema/index.ts";
import { actorGlobalId, globalId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { auditOfRows } from "../support/audit.ts";
import { connect } from "../support/client.ts";

/** Two of everything: ONE fits each condition, TWO is otherwise in every respect. TWO is a child of ONE. */
const ONE = "00000000-0000-4000-8000-000000000001";
const TWO = "00000000-0000-4000-8000-000000000002";

const SET_UP = [
  `INSERT INTO agent (id, tenant, title, template_id, model, workspace, state, breakpoint, created_by, created_by_kind, created_at, last_activity_at, archived_at, parent_id)
   VALUES ('${ONE}', 'local', 'Papers of May', 'assistant', 'm', '/tmp', 'PAUSED', 'AWAITING_APPROVAL', 'anna', 'USER', '2026-05-01', '2026-05-02', '2026-05-03', NULL),
          ('${TWO}', 'local', 'June', 'other', 'm', '/tmp', 'READY', 'READY', 'ben', 'USER', '2026-06-01', '2026-06-02', NULL, '${ONE}')`,
  `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, is_error, error, verdict, explanation, stages, audit_trail, duration_ms, created_at, updated_at, exit_code, hosts)
   VALUES ('${ONE}', 'local', '${ONE}', 1, 1, 0, 'p', 'fs_write', 'FAILED', 1, '{}', true, '{"type":"timeout","stage":"execution","message":""}', 'ask', '{"decidedBy":"ask fs_write","place":"t.ask.0"}', '[]', '[]', 500, '2026-05-01', '2026-05-01', 2, '["a.example"]'),
          ('${TWO}', 'local', '${TWO}', 1, 1, 0, 'p', 'fs_read', 'COMPLETED', 1, '{}', false, NULL, 'allow', '{"decidedBy":"allow fs_read","place":"t.allow.0"}', '[]', '[]', 5, '2026-06-01', '2026-06-01', 0, '["b.example"]')`,
  `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at)
   VALUES ('${ONE}', 1, 'local', 1, 'COMPLETED', 'm-one', '2026-05-01'), ('${TWO}', 1, 'local', 1, 'COMPLETED', 'm-two', '2026-06-01')`,
  `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at, requesters)
   VALUES ('${ONE}', 'local', '${ONE}', '${ONE}', 'OUTCOME_UNKNOWN', 'RESOLVED', 'why', 'HIGH', '2026-05-01', '{anna,pia}'),
          ('${TWO}', 'local', '${TWO}', '${TWO}', 'TOOL_CALL', 'DENIED', 'why', 'LOW', '2026-06-01', NULL)`,
  `INSERT INTO decision (approval_id, actor_id, actor_kind, tenant, decision, decided_at)
   VALUES ('${ONE}', 'paul', 'USER', 'local', 'DONE', '2026-05-01'), ('${TWO}', 'petra', 'USER', 'local', 'DENY', '2026-06-01')`,
  `INSERT INTO approval_snooze (approval_id, actor_id, tenant, snoozed_at) VALUES ('${ONE}', 'local', 'local', '2026-05-01')`,
];

const MAY = '{ from: "2026-04-01T00:00:00Z", to: "2026-05-31T00:00:00Z" }';
const PAUL = JSON.stringify(actorGlobalId({ id: "paul", kind: "USER" }));
const AGENT = JSON.stringify(globalId("Agent", ONE));

/** A value for each condition of a filter that ONE fits, and TWO does not; for `parentIds`, one that only TWO fits. */
const CONDITIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  AgentFilter: {
    states: "[PAUSED]",
    templateIds: '["assistant"]',
    createdBy: '["anna"]',
    isArchived: "true",
    idleSince: '"2026-05-31T00:00:00Z"',
    title: '"papers"',
    rootsOnly: "true",
    parentIds: `[${AGENT}]`,
  },
  ToolCallFilter: {
    created: MAY,
    agentIds: `[${AGENT}]`,
    templateIds: '["assistant"]',
    tools: '["fs_write"]',
    states: "[FAILED]",
    errorTypes: "[TIMEOUT]",
    verdicts: "[ASK]",
    rules: '["ask fs_write", "none"]',
    places: '["t.ask.0"]',
    createdBy: '["anna"]',
    decidedBy: `[${PAUL}]`,
    minDurationMs: "100",
    exitCodes: "[2, 3]",
    hosts: '["a.example", "nowhere.example"]',
    models: '["m-one", "none"]',
  },
  ApprovalFilter: {
    states: "[RESOLVED]",
    kinds: "[OUTCOME_UNKNOWN]",
    risks: "[HIGH]",
    agentIds: `[${AGENT}]`,
    templateIds: '["assistant"]',
    tools: '["fs_write"]',
    requested: MAY,
    decided: MAY,
    decidedBy: '["paul"]',
    createdBy: '["anna"]',
    requestedBy: '["pia", "nobody"]',
    viewerSnoozed: "true",
  },
};

const FIELDS: Readonly<Record<string, string>> = {
  AgentFilter: "agents",
  ToolCallFilter: "toolCalls",
  ApprovalFilter: "approvals",
};

it("each condition of a filter leaves out what it does not fit", async () => {
  const app = await startTestApp();
  for (const [index, text] of SET_UP.entries()) await app.database.sql.query({ name: `filters_${index}`, text }, []);
  await auditOfRows(app.database.sql);
  const client = connect(app.url);
  const rows = async (filter: string, condition: string): Promise<readonly string[]> => {
    // Without them, archived agents and children are left out.
    const all = Object.entries(filter === "AgentFilter" ? { isArchived: "null", rootsOnly: "false" } : {})
      .filter(([name]) => !condition.startsWith(name))
      .map(([name, value]) => `${name}: ${value}, `);
    const query = `{ found: ${FIELDS[filter] ?? ""}(filter: { ${all.join("")}${condition} }) { totalCount nodes { id } } }`;
    const { data, errors } = await client.post<{ found: { totalCount: number; nodes: { id: string }[] } }>({ query });
    expect(errors, query).toEqual([]);
    expect(data?.found.totalCount, query).toBe(data?.found.nodes.length);
    return (data?.found.nodes ?? []).map(({ id }) => Buffer.from(id, "base64").toString().split(":")[1] ?? "");
  };
  for (const [filter, conditions] of Object.entries(CONDITIONS)) {
    const type = schema.getType(filter);
    expect(Object.keys(conditions).toSorted()).toEqual(isInputObjectType(type) ? Object.keys(type.getFields()).toSorted() : []);
    expect((await rows(filter, "")).toSorted()).toEqual([ONE, TWO]);
    for (const [name, value] of Object.entries(conditions))
      expect(await rows(filter, `${name}: ${value}`), `${filter}.${name}`).toEqual([name === "parentIds" ? TWO : ONE]);
  }
});

it("a title is found by any part of it, whatever its characters are in patterns of SQL", async () => {
  const app = await startTestApp();
  const client = connect(app.url);
  const titles = ["a_c", "abc", "50 % of it", "back\\slash", "nul\0nul", "half \ud800"];
  for (const title of titles) {
    const query =
      'mutation ($title: String) { createAgent(input: { templateId: "assistant", title: $title }) { userErrors { code } } }';
    expect(await client.post({ query, variables: { title } })).toMatchObject({
      data: { createAgent: { userErrors: [] } },
    });
  }
  const found = async (title: string): Promise<readonly string[]> => {
    const query = "query ($title: String) { agents(filter: { title: $title }) { nodes { title } } }";
    const { data } = await client.post<{ agents: { nodes: { title: string }[] } }>({ query, variables: { title } });
    return (data?.agents.nodes ?? []).map((agent) => agent.title).toSorted();
  };
  expect(await found("A_C")).toEqual(["a_c"]);
  expect(await found("_")).toEqual(["a_c"]);
  expect(await found("%")).toEqual(["50 % of it"]);
  expect(await found("\\")).toEqual(["back\\slash"]);
  expect(await found("k\\S")).toEqual(["back\\slash"]);
  expect(await found("\0N")).toEqual(["nul\u2400nul"]);
  expect(await found("\ud800")).toEqual(["half \ufffd"]);
  expect(await found("")).toHaveLength(titles.length);
});
