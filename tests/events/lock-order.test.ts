import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import type { AgentView } from "../../src/agent/loop/view.ts";
import type { RulesVersion } from "../../src/db/commit/change.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabase } from "../support/database.ts";
import { commit, compose, owned, possible, withPendingCall } from "../support/owned-agent.ts";

/** The locks that a commit has while it waits for one that another transaction has. */
type Locks = { readonly agent: boolean; readonly call: boolean; readonly log: boolean };

const WAITING = `SELECT a.pid, a.query_start::text AS since FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND a.query LIKE 'WITH held%'`;

const LOCKED = `SELECT NOT EXISTS (SELECT FROM agent FOR NO KEY UPDATE SKIP LOCKED) AS agent,
  NOT EXISTS (SELECT FROM tool_call FOR NO KEY UPDATE SKIP LOCKED) AS call,
  EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND locktype = 'advisory' AND granted) AS log`;

/** Starts the call of an agent by a composed commit while another transaction has done `first`: the locks it has meanwhile. */
async function locksBeside(first: string): Promise<Locks> {
  const database = await testDatabase();
  const { sql, view } = await withPendingCall(await owned(database));
  const [other, looker] = await Promise.all([connected(database.url), connected(database.url)]);
  await other.query("BEGIN");
  await other.query(first);
  const starting = compose(sql, view, possible(view, "call started"));
  const locks = await locksOfWaiting(looker);
  await other.query("COMMIT");
  expect(await starting).toHaveLength(1);
  return locks;
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The locks of the commit that waits. It gives up now and then, and tries again: the look counts if it waited all the time. */
async function locksOfWaiting(looker: pg.Client): Promise<Locks> {
  for (;;) {
    const [before] = (await looker.query<{ pid: number; since: string }>(WAITING)).rows;
    const [locks] = (await looker.query<Locks>(LOCKED, [before?.pid])).rows;
    const [after] = (await looker.query<{ pid: number; since: string }>(WAITING)).rows;
    if (locks !== undefined && before !== undefined && before.since === after?.since) return locks;
  }
}

it("a commit that waits for the row of a call has its agent, and the log is free for others (lock order: agent, rows, log)", async () => {
  const locks = await locksBeside("UPDATE tool_call SET name = name");
  expect(locks).toMatchObject({ agent: true, log: false });
});

it("a commit that waits for the log has its agent and its rows (lock order: agent, rows, log)", async () => {
  const locks = await locksBeside("SELECT pg_advisory_xact_lock(hashtextextended('one', 7270736900))");
  expect(locks).toEqual({ agent: true, call: true, log: false });
});

it("a commit that waits for its agent has nothing else (lock order: agent, rows, log)", async () => {
  const locks = await locksBeside("SELECT FROM agent FOR NO KEY UPDATE");
  expect(locks).toMatchObject({ call: false, log: false });
});

it("a call does not start by a rule whose revocation is about to be in the log, and is behind it (invariants 7 and 14)", async () => {
  const database = await testDatabase();
  const agent = await withPendingCall(await owned(database));
  await agent.sql.query({ name: "i", text: "INSERT INTO rule_version VALUES ('one', '', 1)" }, []);
  const [revoking, looker] = await Promise.all([connected(database.url), connected(database.url)]);
  await revoking.query("BEGIN");
  await revoking.query("UPDATE rule_version SET version = 2");
  await revoking.query("SELECT pg_advisory_xact_lock(hashtextextended('one', 7270736900))");
  const starting = commit(agent, startedBy(agent.view, { ofTenant: 1, ofAgent: 0, until: null }));
  const waits = async (): Promise<boolean> =>
    (await looker.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%commit_change%'")).rows
      .length > 0;
  await expect.poll(waits).toBe(true);
  await revoking.query("COMMIT");
  expect(await starting).toMatchObject({ outcome: "CONFLICT", view: { calls: [{ state: "PENDING" }] } });
});

it("a call that starts by a rule waits for no revocation that is not at the log yet: that comes behind it", async () => {
  const database = await testDatabase();
  const agent = await withPendingCall(await owned(database));
  await agent.sql.query({ name: "i", text: "INSERT INTO rule_version VALUES ('one', '', 1)" }, []);
  const revoking = await connected(database.url);
  await revoking.query("BEGIN");
  await revoking.query("UPDATE rule_version SET version = 2");
  expect(await commit(agent, startedBy(agent.view, { ofTenant: 1, ofAgent: 0, until: null }))).toMatchObject({
    outcome: "COMMITTED",
  });
  await revoking.query("COMMIT");
});

it("a call starts by version 0 of rules that have no row", async () => {
  const agent = await withPendingCall(await owned(await testDatabase()));
  expect(await commit(agent, startedBy(agent.view, { ofTenant: 0, ofAgent: 0, until: null }))).toMatchObject({
    outcome: "COMMITTED",
  });
});

it.each([
  ["the tenant's", "''"],
  ["the agent's", "(SELECT id FROM agent)"],
])(
  "a call that was judged by another version of %s rules does not start, and by the same it does (invariant 14)",
  async (_whose, owner) => {
    const agent = await withPendingCall(await owned(await testDatabase()));
    const run = (text: string): Promise<unknown> => agent.sql.query({ name: text, text }, []);
    await run("INSERT INTO rule_version VALUES ('one', '', 1), ('other', '', 7), ('one', 'another', 7)");
    await run(`INSERT INTO rule_version VALUES ('one', ${owner}, 1) ON CONFLICT (tenant, agent_id) DO UPDATE SET version = 2`);
    const before = { ofTenant: 1, ofAgent: 0, until: null };
    const now = owner === "''" ? { ofTenant: 2, ofAgent: 0, until: null } : { ofTenant: 1, ofAgent: 1, until: null };
    expect(await commit(agent, startedBy(agent.view, before))).toMatchObject({ outcome: "CONFLICT" });
    expect(await commit(agent, startedBy(agent.view, now))).toMatchObject({ outcome: "COMMITTED" });
  },
);

it("a call does not start by rules of which one has expired since (invariant 14)", async () => {
  const agent = await withPendingCall(await owned(await testDatabase()));
  const rules = { ofTenant: 0, ofAgent: 0, until: new Date(Date.now() + 60_000).toISOString() };
  await setPolicyTime(agent.sql, `'${rules.until}'::timestamptz`);
  expect(await commit(agent, startedBy(agent.view, rules))).toMatchObject({ outcome: "CONFLICT" });
  await setPolicyTime(agent.sql, `'${rules.until}'::timestamptz - interval '1 ms'`);
  expect(await commit(agent, startedBy(agent.view, rules))).toMatchObject({ outcome: "COMMITTED" });
});

/** The start of a call by a version of the stored rules. */
function startedBy(view: AgentView, rules: RulesVersion): ReturnType<typeof possible> {
  const started = possible(view, "call started");
  const transitions = (started.change.transitions ?? []).map((each) => Object.assign({}, each, { by: { rules } }));
  return { ...started, change: { ...started.change, transitions } };
}
