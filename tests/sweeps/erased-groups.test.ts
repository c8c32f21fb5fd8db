import type pg from "pg";
import { expect, it } from "vitest";
import { defineTool } from "../../src/agent/tools/tool.ts";
import type { DatabaseConfig } from "../../src/db/database.ts";
import { VIEWS } from "../../src/db/bi/views.ts";
import type { Sql } from "../../src/db/sql.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { LEFT_IMAGES } from "../../src/sweeps/left-rows.ts";
import {
  ApprovalGroupsDocument,
  SendMessageDocument,
  StepGroupsDocument,
  StepsDocument,
  ToolCallGroupsDocument,
  ToolCallStatsDocument,
  TurnGroupsDocument,
  TurnsDocument,
  type ApprovalDimension,
  type ApprovalFilter,
  type ApprovalGroupsQueryVariables,
  type StepDimension,
  type ToolCallDimension,
  type TurnDimension,
} from "../generated/documents.ts";
import { PEOPLE } from "../support/office.ts";
import { startTestApp } from "../support/app.ts";
import { auditOfRows, foldAll } from "../support/audit.ts";
import { connect, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { deleteArchived, eraseOld, SECRET, tablesWith } from "../support/erasure.ts";
import { png } from "../support/images.ts";
import { viewsReader } from "../support/views-reader.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

/** Numbers from 0 to below `most`, the same for a seed. */
function numbersOf(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const TOOLS = ["reads", "fails", "shows", "asks", "asks"] as const;
const ASKS = 3;
const tools = [
  ownTool("reads", async () => ({ output: SECRET, details: { said: SECRET } })),
  ownTool("fails", async () => {
    throw new Error(SECRET);
  }),
  ownTool("shows", async () => ({ output: SECRET, details: null, images: [{ mediaType: "image/png", data: png(1) }] })),
  defineTool<{ readonly said: string }>({
    name: "asks",
    description: "Runs once a person has allowed it.",
    readOnly: true,
    inputSchema: { type: "object", required: ["said"], properties: { said: { type: "string" } } },
    run: async ({ said }) => ({ output: said, details: null }),
  }),
];
const TENANT = "acme";
/** Kinds of actors are figures' keys, so two people are services. */
const ACTORS = [
  PEOPLE.ada.actor,
  PEOPLE.ulf.actor,
  PEOPLE.paul.actor,
  { ...PEOPLE.anna.actor, kind: "SERVICE" as const },
  { ...PEOPLE.petra.actor, kind: "SERVICE" as const },
];

/** A log of some agents of two people: calls that end well, fail, show an image, or ask others, who allow, edit or deny them. */
async function generated(seed: number, database: DatabaseConfig) {
  const next = numbersOf(seed);
  // The first agent asks the same twice.
  const plans = Array.from({ length: 4 }, (_agent, index) => [
    ...(index === 0 ? [[ASKS, ASKS]] : []),
    ...Array.from({ length: 1 + next(2) }, () => Array.from({ length: next(5) }, () => next(TOOLS.length))),
  ]);
  const reply = ({ messages }: { readonly messages: readonly { readonly content: readonly object[] }[] }): Played => {
    const texts = JSON.stringify(messages);
    const [plan = ""] = [...texts.matchAll(/plan:([0-9,]*);/g)].at(-1)?.slice(1) ?? [];
    const wanted = plan === "" ? [] : plan.split(",").map(Number);
    const done = texts.slice(texts.lastIndexOf("plan:")).split("tool_result").length - 1;
    const tool = wanted[done];
    if (tool === undefined) return { text: `it is ${SECRET}` };
    return { tool: TOOLS[tool] ?? "reads", input: tool >= ASKS ? { said: `${SECRET} ${tool}` } : {} };
  };
  const clock = movableClock();
  const app = await startTestApp({
    database,
    model: windowedModel({ window: 1_000_000, reply, summary: () => "A summary." }),
    config: { tools, actors: ACTORS },
    template: { tools: [...new Set(TOOLS)], permission: { mode: "auto", requireApprovalTools: ["asks"] } },
    overrides: { clock },
  });
  const { sql } = app.database;
  const as = (person: keyof typeof PEOPLE): TestClient => connect(app.url, PEOPLE[person].token);
  let answers = 0;
  /** A person answers the next question: the first with no, the second with yes, the third with another input, and so on. */
  const answer = async (agentId: string, since: string): Promise<string> => {
    const asked = (await client.until(agentId, "PERMISSION_REQUIRED", since)).at(-1);
    if (asked?.__typename !== "PermissionRequired") throw new Error("nothing was asked");
    const { approvalId, inputHash } = asked.request;
    const given = [
      { decision: "DENY" },
      { decision: "ALLOW" },
      { decision: "ALLOW", input: { said: `other ${SECRET}` } },
    ] as const;
    const { cursor, userErrors } = await as(next(2) === 0 ? "paul" : "petra").decide({
      approvalId,
      inputHash,
      note: SECRET,
      ...(given[answers % given.length] ?? given[0]),
    });
    expect(userErrors).toEqual([]);
    answers += 1;
    return cursor;
  };
  const client = as("ada");
  const agents: string[] = [];
  for (const [index, turns] of plans.entries()) {
    const creator = as(index % 2 === 0 ? "anna" : "ulf");
    const { id } = await creator.createAgent({ title: SECRET });
    for (const calls of turns) {
      const images = next(2) === 0 ? [] : [{ mediaType: "PNG", data: png(2) } as const];
      const { sendMessage } = await creator.get(SendMessageDocument, {
        input: { agentId: id, text: `${SECRET} plan:${calls.join()};`, images },
      });
      let since = sendMessage.cursor;
      for (const tool of calls) if (tool >= ASKS) since = await answer(id, since);
      await client.until(id, "DONE", since);
    }
    agents.push(id);
  }
  const idle = {
    name: "",
    text: "SELECT FROM agent WHERE state <> 'READY' OR lease_owner IS NOT NULL OR runnable_at IS NOT NULL",
  };
  await expect.poll(async () => (await sql.query(idle, [])).length).toBe(0);
  await foldAll(sql);
  return {
    app,
    sql,
    client,
    creator: as("anna"),
    agents,
    approvals: plans.flat(2).filter((tool) => tool >= ASKS).length,
    next,
    passHours: (hours: number) => clock.passHours(hours, [app.database]),
  };
}

const CALLS_BY: ToolCallDimension[][] = [
  ["TOOL", "STATE", "VERDICT", "ERROR_TYPE"],
  ["AGENT", "REQUESTER"],
  ["DECIDER", "RISK"],
];
const STEPS_BY: StepDimension[][] = [
  ["MODEL", "STATE"],
  ["AGENT", "REQUESTER"],
];
const TURNS_BY: TurnDimension[][] = [
  ["MODEL", "REASON"],
  ["AGENT", "REQUESTER"],
];
const APPROVALS_BY: ApprovalDimension[][] = [
  ["DECIDER"],
  ["TOOL", "STATE", "RISK"],
  ["AGENT"],
  ["REQUESTER", "TEMPLATE"],
  ["KIND", "HOUR_OF_DAY"],
];
const APPROVALS_OF: ApprovalFilter[] = [
  { tools: ["asks"], states: ["DENIED"] },
  { decidedBy: ["paul"] },
  { createdBy: ["anna"] },
];

/** The groups of calls, steps and turns by many dimensions. */
async function groupsOf(client: TestClient): Promise<string> {
  const calls = CALLS_BY.map(async (by) => (await client.get(ToolCallGroupsDocument, { by })).toolCallGroups.groups);
  const steps = STEPS_BY.map(async (by) => (await client.get(StepGroupsDocument, { by })).stepGroups.groups);
  const turns = TURNS_BY.map(async (by) => (await client.get(TurnGroupsDocument, { by })).turnGroups.groups);
  const tools = client.get(ToolCallStatsDocument, {}).then(({ toolCallStats }) => toolCallStats.tools);
  return written(await Promise.all([...calls, ...steps, ...turns, tools]));
}

async function approvalGroupsOf(client: TestClient): Promise<string> {
  const read = async (variables: ApprovalGroupsQueryVariables) => {
    const { groups, total } = (await client.get(ApprovalGroupsDocument, { quickMs: 20, ...variables })).approvalGroups;
    return [...groups, total];
  };
  const by = APPROVALS_BY.map(async (dimensions) => read({ by: dimensions }));
  const of = APPROVALS_OF.map(async (filter) => read({ by: ["STATE"], filter }));
  return written(await Promise.all([...by, ...of]));
}

/** The numbers of calls, approvals, steps and turns in the groups of one agent, and of its tree: for all, and for a user. */
async function figuresOf(client: TestClient, user: TestClient, agentId: string) {
  const [agentIds, rootAgentIds] = [{ agentIds: [agentId] }, { rootAgentIds: [agentId] }];
  const of = async (reader: TestClient) => [
    (await reader.get(ToolCallGroupsDocument, { filter: agentIds })).toolCallGroups.total.calls,
    (await reader.get(ApprovalGroupsDocument, { filter: agentIds })).approvalGroups.total.approvals,
    (await reader.get(StepGroupsDocument, { filter: agentIds })).stepGroups.total.steps,
    (await reader.get(StepGroupsDocument, { filter: rootAgentIds })).stepGroups.total.steps,
    (await reader.get(TurnGroupsDocument, { filter: agentIds })).turnGroups.total.turns,
    (await reader.get(TurnGroupsDocument, { filter: rootAgentIds })).turnGroups.total.turns,
  ];
  return [await of(client), await of(user)];
}

/** The rows of the views of approvals and decisions, but for the times of erasure. */
async function viewsOf(reader: pg.Client): Promise<unknown> {
  const rows = async (view: string) =>
    (await reader.query(`SELECT to_jsonb(v) - 'erased_at' AS row FROM bi.${view} v ORDER BY to_jsonb(v)`)).rows;
  return { approval: await rows("approval"), decision: await rows("decision") };
}

/** As JSON, with groups in one order, and without agents, which are null once they are deleted. Sums of floating numbers depend on their order in the last digits. */
function written(lists: readonly (readonly object[])[]): string {
  const rounded = (key: string, value: unknown): unknown =>
    key === "agent" || key === "rootAgent" ? null : typeof value === "number" ? Number(value.toPrecision(9)) : value;
  return lists
    .map((list) =>
      list
        .map((each) => JSON.stringify(each, rounded))
        .toSorted()
        .join("\n"),
    )
    .join("\n\n");
}

/**
 * Erases, with the audit made anew before or after, and then deletes some agents; or deletes all of them with their
 * texts. Groups and counters stay as they were.
 */
async function holds(seed: number, database: DatabaseConfig, erases = true) {
  const world = await generated(seed, database);
  const { sql, client, creator, agents, next, passHours } = world;
  const reader = database.kind === "postgres" ? await viewsReader(database.url, TENANT, true) : null;
  const [groups, ofApprovals, ofCreator] = [
    await groupsOf(client),
    await approvalGroupsOf(client),
    await approvalGroupsOf(creator),
  ];
  // Some were asked again and answered the other way.
  expect(ofApprovals).toMatch(/"(deniedThenAllowed|allowedThenDenied)":[1-9]/);
  const views = reader === null ? null : await viewsOf(reader);
  const isSame = async (): Promise<void> => {
    expect(await groupsOf(client)).toEqual(groups);
    expect(await approvalGroupsOf(client)).toEqual(ofApprovals);
    expect(await approvalGroupsOf(creator)).toEqual(ofCreator);
    if (reader !== null) expect(await viewsOf(reader)).toEqual(views);
  };
  if (erases) {
    await passHours(2);
    await eraseOld(sql);
    await isSame();
    // The audit of erased rows is that of whole ones.
    await auditOfRows(sql);
    await isSame();
    expect(await tablesWith(sql, SECRET)).toEqual(["agent"]);
  } else expect(await tablesWith(sql, SECRET)).toEqual(expect.arrayContaining(["approval", "decision", "tool_call"]));
  if (reader !== null)
    expect(await viewsWith(reader, agents, !erases)).toEqual(expect.arrayContaining(["bi.message", "bi.event"]));
  const counters = await counted(sql);
  const byAgent = await Promise.all(agents.map(async (id) => figuresOf(client, creator, id)));
  const deleted = agents.filter((_id, index) => !erases || index === 0 || next(2) === 0);
  await Promise.all(deleted.map((id) => deleteArchived(sql, client, id)));
  await isSame();
  if (reader !== null) expect(await viewsWith(reader, deleted, !erases)).toEqual([]);
  await DELETED_AGENTS.remove(sql, () => true);
  await isSame();
  expect(await Promise.all(agents.map(async (id) => figuresOf(client, creator, id)))).toEqual(byAgent);
  for (const id of deleted)
    for (const filter of [{ agentIds: [id] }, { rootAgentIds: [id] }]) {
      expect((await client.get(StepsDocument, { filter })).steps).toMatchObject({ nodes: [], totalCount: 0 });
      expect((await client.get(TurnsDocument, { filter })).turns).toMatchObject({ nodes: [], totalCount: 0 });
    }
  expect(await tablesWith(sql, SECRET)).toEqual(erases ? ["agent"] : []);
  expect(await counted(sql)).toEqual(counters);
  // Audits that are being made anew give the same answers.
  for (const change of ["audit_fold SET whole_at = NULL, filled_at = '-infinity'", "audit_turn_fold SET whole_at = NULL"])
    await sql.query({ name: "", text: `UPDATE ${change}, filled_id = ''` }, []);
  await isSame();
  await foldAll(sql);
  await isSame();
  expect(await counted(sql)).toEqual(counters);
  await sql.query({ name: "", text: "UPDATE image SET taken_at = taken_at - interval '2 days'" }, []);
  await LEFT_IMAGES.remove(sql, () => true);
  expect(await sql.query({ name: "", text: "SELECT FROM image" }, [])).toEqual([]);
  return { ...world, reader, deleted, kept: agents.filter((id) => !deleted.includes(id)) };
}

/** The views with rows of these agents, but for those that keep them. Views of texts are asked for those of all agents. */
async function viewsWith(reader: pg.Client, agents: readonly string[], isOfAll: boolean): Promise<readonly string[]> {
  const ids = agents.map((id) => rowId("Agent", id));
  const found: string[] = [];
  for (const { schema, name } of VIEWS) {
    if (schema === "bi_content" ? !isOfAll : ["deleted_agent", "approval", "decision", "rule"].includes(name)) continue;
    const where = schema === "bi" ? "agent_id = ANY ($1)" : "v::text LIKE ANY ($1)";
    const { rows } = await reader.query(`SELECT FROM ${schema}.${name} v WHERE ${where}`, [
      schema === "bi" ? ids : [`%${SECRET}%`],
    ]);
    if (rows.length > 0) found.push(`${schema}.${name}`);
  }
  return found;
}

async function counted(sql: Sql): Promise<unknown> {
  const tables = ["audit_count", "audit_quarter", "audit_call", "audit_step", "audit_turn"];
  return Promise.all(
    tables.map((table) =>
      sql.query(
        { name: "", text: `SELECT md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM ${table} t` },
        [],
      ),
    ),
  );
}

it.each([
  [1, true],
  [2, false],
])(
  "groups and counters of a generated log stay after erasure and deletion, and views say what was removed (log %i, erased first: %s)",
  { timeout: 60_000 },
  async (seed, erases) => {
    const url = await testDatabaseUrl();
    const { deleted, kept, agents, approvals, sql, reader } = await holds(
      seed,
      { kind: "postgres", url, connections: 4 },
      erases,
    );
    if (reader === null) throw new Error("there is no reader");
    const ids = async (text: string) => (await reader.query<{ id: string }>(text)).rows.map(({ id }) => id).toSorted();
    const rowsOf = (some: readonly string[]) => some.map((id) => rowId("Agent", id)).toSorted();
    expect(await ids("SELECT agent_id AS id FROM bi.deleted_agent WHERE removed_at IS NOT NULL")).toEqual(rowsOf(deleted));
    for (const view of ["message", "step", "turn", "event"])
      expect([view, await ids(`SELECT DISTINCT agent_id AS id FROM bi.${view} WHERE agent_id IS NOT NULL`)]).toEqual([
        view,
        rowsOf(kept),
      ]);
    expect(approvals).toBeGreaterThan(5);
    for (const view of ["tool_call", "message", "approval", "decision"])
      expect((await reader.query(`SELECT FROM bi.${view} WHERE erased_at IS NULL`)).rows).toEqual([]);
    expect(agents).toHaveLength(deleted.length + kept.length);
    expect(await sql.query({ name: "", text: "SELECT FROM agent WHERE tenant = ''" }, [])).toEqual([]);
  },
);

it("so it is on the embedded database", { timeout: 60_000 }, async () => {
  const { deleted, sql } = await holds(4, { kind: "embedded", folder: await embeddedFolder() });
  expect(deleted.length).toBeGreaterThan(0);
  expect(await sql.query({ name: "", text: "SELECT FROM agent WHERE tenant = ''" }, [])).toEqual([]);
});
