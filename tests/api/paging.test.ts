import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startTestApp, type TestApp } from "../support/app.ts";
import { auditOfRows } from "../support/audit.ts";
import { connect } from "../support/client.ts";

/** A change of a list's rows between two pages. */
type Happening = { readonly what: "changes" | "goes" | "comes"; readonly which: number };

const HAPPENINGS: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom("changes", "goes", "comes"),
  which: fc.nat({ max: 11 }),
});
const RUN = fc.record({
  size: fc.integer({ min: 1, max: 5 }),
  isBackwards: fc.boolean(),
  between: fc.array(fc.array(HAPPENINGS, { maxLength: 3 }), { minLength: 12, maxLength: 12 }),
});

/** A connection: how it is asked for, and what lets its rows fall out of it, go and come. `$1` is the row's id. */
type List = {
  readonly name: string;
  readonly query: (page: string) => string;
  readonly setUp: string;
  readonly rows: string;
  readonly changes: string;
  readonly goes: string;
  readonly comes: string;
};

const AGENT = `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at, transcript_length)
  SELECT gen_random_uuid(), 'local', 'assistant', 'test', '/tmp', 'local', 'USER', t.at, t.at, 0 FROM`;
/** Times of which several rows have the same. */
const TIMES = "(SELECT now() + (n / 3) * interval '1 second' AS at, n FROM generate_series(1, 12) n) t";
const NOW = "(SELECT now() + random() * 5 * interval '1 second' AS at, 100 + (random() * 1e6)::int AS n) t";
const CALL = `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, is_error, stages, audit_trail, duration_ms, created_at, updated_at)
  SELECT gen_random_uuid(), 'local', (SELECT min(id) FROM agent), 1, t.n, 0, 'p', 'fs_read', 'COMPLETED', 1, '{}', false, '[]', '[]', CASE WHEN t.n % 4 = 0 THEN NULL ELSE t.n / 3 END, t.at, t.at FROM`;
const APPROVAL = `INSERT INTO approval (id, tenant, agent_id, kind, state, reason, risk, requested_at)
  SELECT gen_random_uuid(), 'local', (SELECT min(id) FROM agent), 'TOOL_CALL', 'PENDING', 'why', 'LOW', t.at FROM`;
const MESSAGE = `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, arrival, created_at)
  SELECT gen_random_uuid(), 'local', (SELECT min(id) FROM agent), 'USER', '[]', 2, CASE WHEN t.n <= 8 THEN t.n END, CASE WHEN t.n > 8 THEN t.n END, t.at FROM`;
const JOINED = `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, created_at)
  SELECT gen_random_uuid(), 'local', (SELECT min(id) FROM agent), 'USER', '[]', 2, t.n, t.at FROM`;
const RULE = `INSERT INTO allow_rule (id, tenant, template_id, rule, approval_id, created_by, created_by_kind, created_at)
  SELECT gen_random_uuid(), 'local', 'assistant', gen_random_uuid(), gen_random_uuid(), 'local', 'USER', t.at FROM`;
const DELEGATION = `INSERT INTO delegation (id, tenant, from_id, from_kind, to_id, starts_at, ends_at, created_at)
  SELECT gen_random_uuid(), 'local', 'a', 'USER', 'b', now(), now() + interval '1 day', t.at FROM`;
const TOKEN = `INSERT INTO access_token (id, tenant, actor_id, actor_kind, name, hash, roles, created_at, expires_at)
  SELECT gen_random_uuid(), 'local', 'local', 'USER', 'n', gen_random_uuid(), '{admin}', t.at, now() + interval '1 day' FROM`;
const SESSION = `INSERT INTO session (id, tenant, actor_id, actor_kind, hash, token_hash, created_at, last_used_at)
  SELECT gen_random_uuid(), 'local', 'local', 'USER', gen_random_uuid(), 'h', t.at, now() FROM`;
const ONE_AGENT = `${AGENT} (SELECT now() AS at) t`;

function ofAgent(field: string): (page: string) => string {
  return (page) =>
    `{ agents(first: 1) { nodes { page: ${field}(${page}) { nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } } }`;
}

function ofRoot(field: string): (page: string) => string {
  return (page) =>
    `{ page: ${field.replace("PAGE", page)} { nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`;
}

const LISTS: readonly List[] = [
  {
    name: "agents, by when they were made",
    query: ofRoot("agents(PAGE)"),
    setUp: "",
    rows: `${AGENT} ${TIMES}`,
    changes: "UPDATE agent SET archived_at = now() WHERE id = $1",
    goes: "DELETE FROM agent WHERE id = $1",
    comes: `${AGENT} ${NOW}`,
  },
  {
    name: "agents, by what happened last: one that moved is heard of by following",
    query: ofRoot("agents(PAGE, orderBy: { field: LAST_ACTIVITY_AT, direction: DESC })"),
    setUp: "",
    rows: `${AGENT} ${TIMES}`,
    changes: "UPDATE agent SET last_activity_at = now() + interval '1 hour' WHERE id = $1",
    goes: "DELETE FROM agent WHERE id = $1",
    comes: `${AGENT} ${NOW}`,
  },
  {
    name: "approvals that are open",
    query: ofRoot("approvals(PAGE, filter: { states: [PENDING] })"),
    setUp: ONE_AGENT,
    rows: `${APPROVAL} ${TIMES}`,
    changes: "UPDATE approval SET state = 'DENIED' WHERE id = $1",
    goes: "DELETE FROM approval WHERE id = $1",
    comes: `${APPROVAL} ${NOW}`,
  },
  {
    name: "the tool audit",
    query: ofRoot("toolCalls(PAGE, filter: { states: [COMPLETED] })"),
    setUp: ONE_AGENT,
    rows: `${CALL} ${TIMES}`,
    changes: "UPDATE tool_call SET state = 'FAILED' WHERE id = $1",
    goes: "DELETE FROM tool_call WHERE id = $1",
    comes: `${CALL} ${NOW}`,
  },
  {
    name: "the tool audit, the slowest first",
    query: ofRoot("toolCalls(PAGE, orderBy: { field: DURATION, direction: DESC }, filter: { states: [COMPLETED] })"),
    setUp: ONE_AGENT,
    rows: `${CALL} ${TIMES}`,
    changes: "UPDATE tool_call SET state = 'FAILED' WHERE id = $1",
    goes: "DELETE FROM tool_call WHERE id = $1",
    comes: `${CALL} ${NOW}`,
  },
  {
    name: "an agent's calls",
    query: ofAgent("toolCalls"),
    setUp: ONE_AGENT,
    rows: `${CALL} ${TIMES}`,
    changes: "DELETE FROM tool_call WHERE id = $1",
    goes: "DELETE FROM tool_call WHERE id = $1",
    comes: `${CALL} ${NOW}`,
  },
  {
    name: "a conversation, with what waits to join it",
    query: ofAgent("messages"),
    setUp: ONE_AGENT,
    rows: `${MESSAGE} ${TIMES}`,
    changes: "DELETE FROM message WHERE id = $1",
    goes: "DELETE FROM message WHERE id = $1",
    comes: `${MESSAGE} ${NOW}`,
  },
  {
    name: "an agent's calls, the quickest first, with those that have not ended",
    query: ofRoot("toolCalls(PAGE, orderBy: { field: DURATION, direction: ASC }, filter: { states: [COMPLETED] })"),
    setUp: ONE_AGENT,
    rows: `${CALL} ${TIMES}`,
    changes: "UPDATE tool_call SET state = 'FAILED' WHERE id = $1",
    goes: "DELETE FROM tool_call WHERE id = $1",
    comes: `${CALL} ${NOW}`,
  },
  {
    name: "a conversation's messages that join it: what waited has another place then, and is heard of by following",
    query: ofAgent("messages"),
    setUp: ONE_AGENT,
    rows: `${MESSAGE} ${TIMES}`,
    changes:
      "UPDATE message m SET ordinal = coalesce(m.ordinal, (SELECT max(o.ordinal) + 1 FROM message o WHERE o.agent_id = m.agent_id)), arrival = NULL WHERE m.id = $1",
    goes: "DELETE FROM message WHERE id = $1",
    comes: `${MESSAGE} ${NOW}`,
  },
  {
    name: "the points at which an agent can be forked",
    query: (page) =>
      `{ agents(first: 1) { nodes { page: forkPoints(${page}) { nodes { id: messageId } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } } }`,
    setUp: ONE_AGENT,
    rows: `${JOINED} ${TIMES}`,
    changes: "DELETE FROM message WHERE id = $1",
    goes: "DELETE FROM message WHERE id = $1",
    comes: `${JOINED} ${NOW}`,
  },
  {
    name: "stored rules that hold",
    query: ofRoot("allowRules(PAGE, filter: { isActive: true })"),
    setUp: "",
    rows: `${RULE} ${TIMES}`,
    changes: "UPDATE allow_rule SET revoked_at = now() WHERE id = $1",
    goes: "DELETE FROM allow_rule WHERE id = $1",
    comes: `${RULE} ${NOW}`,
  },
  {
    name: "delegations that hold",
    query: ofRoot("delegations(PAGE, filter: { isActive: true })"),
    setUp: "",
    rows: `${DELEGATION} ${TIMES}`,
    changes: "UPDATE delegation SET revoked_at = now() WHERE id = $1",
    goes: "DELETE FROM delegation WHERE id = $1",
    comes: `${DELEGATION} ${NOW}`,
  },
  {
    name: "access tokens that are valid",
    query: ofRoot("accessTokens(PAGE, filter: { isActive: true })"),
    setUp: "",
    rows: `${TOKEN} ${TIMES}`,
    changes: "UPDATE access_token SET revoked_at = now() WHERE id = $1",
    goes: "DELETE FROM access_token WHERE id = $1",
    comes: `${TOKEN} ${NOW}`,
  },
  {
    name: "sessions that are active",
    query: ofRoot("sessions(PAGE, filter: { isActive: true })"),
    setUp: "",
    rows: `${SESSION} ${TIMES}`,
    changes: "UPDATE session SET ended_at = now() WHERE id = $1",
    goes: "DELETE FROM session WHERE id = $1",
    comes: `${SESSION} ${NOW}`,
  },
];

type Page = {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: {
    readonly startCursor: string | null;
    readonly endCursor: string | null;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
  };
};

/** Goes through a list, page by page, while rows of it change, go and come. Gives what was shown, and what had stayed all along. */
async function walk(
  app: TestApp,
  list: List,
  { size, isBackwards, between }: typeof RUN extends fc.Arbitrary<infer Run> ? Run : never,
) {
  const { sql } = app.database;
  const run = (text: string, values: readonly string[] = []) =>
    sql.query<{ id: string }>({ name: createHash("md5").update(text).digest("hex"), text }, values);
  await run("DELETE FROM agent");
  await run("DELETE FROM allow_rule");
  await run("DELETE FROM delegation");
  await run("DELETE FROM access_token");
  await run("DELETE FROM session");
  if (list.setUp !== "") await run(list.setUp);
  const rows = (await run(`${list.rows} RETURNING id`)).map(({ id }) => id);
  const stayed = new Set(rows);
  const client = connect(app.url);
  const read = async (page: string): Promise<Page> => {
    await auditOfRows(app.database.sql);
    const { data, errors } = await client.post<{ page?: Page; agents?: { nodes: { page: Page }[] } }>({
      query: list.query(page),
    });
    const found = data?.page ?? data?.agents?.nodes[0]?.page;
    if (found === undefined) throw new Error(JSON.stringify(errors));
    return found;
  };
  const shown: string[] = [];
  let place = "";
  for (let pages = 0; pages < 60; pages += 1) {
    const { nodes, pageInfo } = await read(`${isBackwards ? "last" : "first"}: ${size}${place}`);
    const ids = nodes.map(({ id }) => Buffer.from(id, "base64").toString().split(":")[1] ?? "");
    shown.push(...(isBackwards ? ids.toReversed() : ids));
    const hasMore = isBackwards ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
    if (!hasMore) return { shown, stayed };
    place = isBackwards ? `, before: ${JSON.stringify(pageInfo.startCursor)}` : `, after: ${JSON.stringify(pageInfo.endCursor)}`;
    for (const { what, which } of between[pages] ?? []) {
      const id = rows[which] ?? "";
      if (what === "comes") await run(list.comes);
      else {
        // Most of all what was shown last, since the next page begins there.
        const chosen = which % 2 === 0 ? (shown.at(-1) ?? id) : id;
        await run(list[what], [chosen]);
        stayed.delete(chosen);
      }
    }
  }
  throw new Error("the list has no end");
}

describe("a list that changes while somebody goes through it", () => {
  it.each(LISTS.map((list) => [list.name, list] as const))(
    "shows each of its rows that stays in it once: %s",
    { timeout: 60_000 },
    async (_name, list) => {
      const app = await startTestApp();
      await fc.assert(
        fc.asyncProperty(RUN, async (run) => {
          const { shown, stayed } = await walk(app, list, run);
          for (const id of stayed) expect(shown.filter((other) => other === id)).toHaveLength(1);
        }),
        { numRuns: 12 },
      );
    },
  );

  it("shows the six approvals of which one is decided where a page ends", async () => {
    const app = await startTestApp();
    const approvals = LISTS.find(({ name }) => name === "approvals that are open");
    if (approvals === undefined) throw new Error("approvals are a list");
    const between = Array.from({ length: 12 }, () => [{ what: "changes" as const, which: 0 }]);
    const { shown } = await walk(app, approvals, { size: 2, isBackwards: false, between });
    expect(shown).toHaveLength(12);
  });

  it("says that more calls come, also if some of a page end each time that it is read", async () => {
    const app = await startTestApp({
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: async (statement, values) => {
            const isPage = statement.text.includes("list0 AS MATERIALIZED");
            if (isPage) await auditOfRows(sql);
            const found = await sql.query(statement, values);
            const [first, second] = found as { id: string }[];
            if (isPage && first !== undefined && second !== undefined)
              await sql.query({ name: "end", text: "UPDATE tool_call SET state = 'COMPLETED' WHERE id = $1" }, [first.id]);
            return found;
          },
        }),
      },
    });
    const client = connect(app.url);
    await client.createAgent();
    const { sql } = app.database;
    await sql.query({ name: "calls", text: `${CALL} ${TIMES}` }, []);
    await sql.query({ name: "open", text: "UPDATE tool_call SET state = 'EXECUTING', duration_ms = NULL" }, []);
    const query = ofRoot("toolCalls(PAGE, filter: { states: [EXECUTING] })")("first: 3");
    const { data } = await client.post<{ page: Page }>({ query });
    expect(data?.page).toMatchObject({
      nodes: [expect.anything(), expect.anything(), expect.anything()],
      pageInfo: { hasNextPage: true },
    });
  });

  it("refuses places of other lists and orders", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    await client.createAgent();
    const { data } = await client.post<{ agents: { pageInfo: { endCursor: string } } }>({
      query: "{ agents { pageInfo { endCursor } } }",
    });
    const after = JSON.stringify(data?.agents.pageInfo.endCursor);
    for (const query of [
      `{ agents(after: ${after}, orderBy: { field: LAST_ACTIVITY_AT, direction: DESC }) { totalCount } }`,
      `{ approvals(after: ${after}) { totalCount } }`,
    ])
      expect((await client.post({ query })).errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });

  it("reads what each row asks for once for all rows, however many there are", async () => {
    const asked: string[] = [];
    const app = await startTestApp({
      overrides: {
        sql: (sql) => ({
          ...sql,
          query: (statement, values) => {
            asked.push(statement.name);
            return sql.query(statement, values);
          },
        }),
      },
    });
    const client = connect(app.url);
    for (let count = 0; count < 5; count += 1) await client.createAgent();
    asked.length = 0;
    const { data, errors } = await client.post<{ agents: { nodes: unknown[] } }>({
      query: "{ agents { nodes { usage { totalTokens } waitingFor openBlocks { text } createdBy { name } } } }",
    });
    expect(errors).toEqual([]);
    expect(data?.agents.nodes).toHaveLength(5);
    for (const name of ["read_usage", "read_standstills", "blocks_of_open_step", "read_actor_names"])
      expect(
        asked.filter((statement) => statement === name),
        name,
      ).toHaveLength(1);
  });

  it("is counted up to a bound, and says where it stands in the log", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    for (let count = 0; count < 2; count += 1) await client.createAgent();
    const query = `{ agents(first: 1) { totalCount asOf nodes { messages { totalCount } forkPoints { totalCount } } } toolCalls { totalCount } }`;
    const { data, errors } = await client.post<{ agents: { asOf: string } }>({ query });
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      agents: { totalCount: 3, nodes: [{ messages: { totalCount: 0 }, forkPoints: { totalCount: 0 } }] },
      toolCalls: { totalCount: 0 },
    });
    expect((data?.agents.asOf ?? "") > agent.cursor).toBe(true);
    const many = `${AGENT} (SELECT now() AS at FROM generate_series(1, 10001)) t`;
    await app.database.sql.query({ name: "many", text: many }, []);
    expect((await client.post({ query: "{ agents(first: 1) { totalCount } }" })).data).toEqual({
      agents: { totalCount: 10_000 },
    });
  });
});
