import pg from "pg";
import type { Figure } from "./figure.ts";
import { median } from "../tests/support/median.ts";
import { auditFold } from "./audit-fold.ts";
import { AUDIT, fillAudit, remake, withoutIndexes } from "./audit-rows.ts";
import { auditPages, GROUPS, STATISTICS } from "./audit-pages.ts";
import { migrateAll } from "./postgres.ts";
import { startServerProcess } from "./server-process.ts";

const ROUNDS = 5;
/** Queries that are asked before the first one that is measured. */
const WARM = 50;
const SELECTION =
  "edges { cursor node { id name state verdict durationMs createdAt error { type message } agent { id title } } } pageInfo { hasNextPage endCursor }";
const ADMIN = "admin-token";
const USER = "user-7-token";
/** The longest that the audit may take to be whole after the start, in ms. */
const WHOLE_MS = 15 * 60_000;

/**
 * The slowest first page of each group over HTTP, warm, in ms, at three million calls of one tenant with rows as wide as
 * real ones: of the tool audit as an admin and as a person with 1 % of the agents, its statistics, agents and the
 * inbox. Then the folding of 500 calls a second.
 */
export async function audit(url: string): Promise<Figure[]> {
  const database = new URL(url);
  database.pathname = "/audit";
  await administer(url, "DROP DATABASE IF EXISTS audit WITH (FORCE)", "CREATE DATABASE audit");
  await migrateAll(database.href);
  await fillAudit(database.href);
  try {
    return [...(await ofServer(database.href)), ...(await auditFold(database.href))];
  } finally {
    await administer(url, "DROP DATABASE audit WITH (FORCE)");
  }
}

/** The figures of a server. */
async function ofServer(url: string): Promise<Figure[]> {
  const server = await startServerProcess("audit-server.ts", url);
  try {
    await whole(url);
    const slowest = async (name: string, queries: readonly string[], token: string): Promise<Figure> => {
      // A process that has just started compiles what it runs: the first query would be the slowest, whatever it asks.
      for (const query of queries.slice(0, WARM)) await time(server.port, query, token, 1);
      let worst = { ms: 0, query: "" };
      for (const query of queries) {
        // Once after one that warms; what may be the slowest is measured more often.
        const once = await time(server.port, query, token, 1);
        const ms = once < worst.ms ? once : await time(server.port, query, token, ROUNDS);
        if (ms > worst.ms) worst = { ms, query };
      }
      console.error(`${name}: ${worst.ms.toFixed(1)} ms, the slowest of ${queries.length} is ${worst.query}`);
      return { name, value: worst.ms, unit: "ms", baseline: null, ratio: null };
    };
    const pages = auditPages().map(({ args }) => `{ toolCalls(first: 50, ${args}) { ${SELECTION} } }`);
    const statistics = STATISTICS.map(
      (filter) =>
        `{ toolCallStats(filter: { ${filter} }) { tools { tool calls states { state calls } executed meanMs slowestMs } slowest { id durationMs } } }`,
    );
    return [
      await slowest("audit page, admin", pages, ADMIN),
      await slowest("audit page, user", pages, USER),
      await slowest("audit statistics", statistics, ADMIN),
      await slowest("audit statistics, user", statistics, USER),
      ...(await groups(url, server.port)),
      await slowest("agents page", AGENT_PAGES, ADMIN),
      await slowest(
        "inbox page",
        [
          "{ approvals(first: 50, filter: { states: [PENDING] }) { nodes { id reason risk requestedAt toolCall { name requestedInput } agent { id title } } } }",
        ],
        ADMIN,
      ),
    ];
  } finally {
    await server.stop();
  }
}

const AGENT_PAGES = ["CREATED_AT", "LAST_ACTIVITY_AT"].map(
  (field) =>
    `{ agents(first: 50, orderBy: { field: ${field}, direction: DESC }) { nodes { id title state breakpoint createdAt lastActivityAt } pageInfo { endCursor } } }`,
);

/** The slowest groups, in turns with one statement over the same tables, which must count as many calls. */
async function groups(url: string, port: number): Promise<Figure[]> {
  const client = new pg.Client({ connectionString: url, options: "-c jit=off -c max_parallel_workers_per_gather=0" });
  await client.connect();
  try {
    const figures: Figure[] = [];
    for (const { query, statement } of GROUPS) {
      const [asked, alone]: [number[], number[]] = [[], []];
      let counted = 0;
      for (let round = 0; round <= ROUNDS; round += 1) {
        asked.push(await time(port, query, ADMIN, 1));
        const started = performance.now();
        const { rows } = await client.query<{ calls: number }>(statement);
        alone.push(performance.now() - started);
        counted = rows.reduce((sum, { calls }) => sum + calls, 0);
      }
      const { data } = await answer(port, query, ADMIN);
      if (data?.toolCallGroups?.total.calls !== counted) throw new Error(`the statement counts ${counted} calls: ${query}`);
      const [value, baseline] = [median(asked.slice(1)), median(alone.slice(1))];
      console.error(`audit groups: ${value.toFixed(1)} ms, ${(value / baseline).toFixed(2)} of one statement, by ${query}`);
      figures.push({ name: "audit groups", value, unit: "ms", baseline, ratio: value / baseline });
    }
    const slowest = figures.toSorted((one, other) => other.value - one.value).slice(0, 1);
    const ratio = Math.max(...figures.map((figure) => figure.ratio ?? 0));
    return [...slowest, { name: "audit groups, ratio", value: ratio, unit: "times", baseline: null, ratio: null }];
  } finally {
    await client.end();
  }
}

/** The median of some rounds, after one that warms. */
async function time(port: number, query: string, token: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const started = performance.now();
    await answer(port, query, token);
    times.push(performance.now() - started);
  }
  return median(times.slice(1));
}

/** The number of calls in the total, where the operation selects it. */
type Answered = { readonly data?: { readonly toolCallGroups?: { readonly total: { readonly calls: number } } } };

async function answer(port: number, query: string, token: string): Promise<Answered> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  const answered = (await response.json()) as Answered & { readonly errors?: unknown };
  if (answered.errors !== undefined) throw new Error(JSON.stringify(answered.errors));
  return answered;
}

/** Waits until the server has put all calls into the audit, without its indexes, and makes these again. */
async function whole(url: string): Promise<void> {
  const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  const [client] = clients;
  if (client === undefined) throw new Error("nobody looks");
  for (const each of clients) await each.connect();
  const started = performance.now();
  try {
    const indexes = await withoutIndexes(client, "audit_call");
    for (;;) {
      const { rows } = await client.query("SELECT FROM audit_fold WHERE tenant = $1 AND position >= whole_at", [AUDIT.tenant]);
      if (rows.length > 0) break;
      if (performance.now() - started > WHOLE_MS) throw new Error("the audit does not become whole");
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await remake(clients, indexes);
    await client.query("VACUUM (ANALYZE) audit_call, audit_count, audit_quarter");
  } finally {
    for (const each of clients) await each.end();
  }
  console.error(`the audit of ${AUDIT.calls} calls was whole after ${Math.round((performance.now() - started) / 1_000)} s`);
}

async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
