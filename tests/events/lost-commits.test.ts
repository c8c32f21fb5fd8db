import { DelegateApprovalsDocument } from "../generated/documents.ts";
import { claimDue } from "../../src/agent/waits/due.ts";
import { ACTORS, ask, office } from "../support/office.ts";
import { expect, it, onTestFinished } from "vitest";
import { lostShells } from "../../src/agent/calls/shells/rows.ts";
import { claim, LEASE_TIMES, lookForAgents } from "../../src/agent/loop/lease.ts";
import { CommitsLost } from "../../src/events/log-page.ts";
import type { Sql, Statement } from "../../src/db/sql.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import type { AgentEventBody } from "../../src/events/event.ts";
import { EventLog } from "../../src/events/log.ts";
import { applyRetention } from "../../src/events/retention.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { openDatabase } from "../../src/db/database.ts";
import { setPolicyTime } from "../support/clock.ts";
import { administrator, testDatabase, testDatabaseUrl } from "../support/database.ts";
import { HOLDS_NONE } from "../support/mcp.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { shellRow } from "../support/shell-row.ts";
import { runFile } from "../support/process.ts";
import { chunk, everything, insertAgent, readAll } from "../support/log.ts";

it("a failover that lost nothing is passed without a word, also after retention has removed what was known", async () => {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const agent = await insertAgent(log, "one");
  await log.append("one", [{ ...agent, events: [chunk("a"), chunk("b")] }]);
  expect(await log.compareNewest()).toEqual([]);
  await sql.query({ name: "f", text: "UPDATE tenant_log SET floor = 2" }, []);
  await sql.query({ name: "d", text: "DELETE FROM event" }, []);
  expect(await log.compareNewest()).toEqual([]);
});

it("a failover that lost commits stops that tenant on every server until npm run restored", async () => {
  const { sql, url } = await testDatabase();
  const log = new EventLog(sql);
  const [agent, other] = [await insertAgent(log, "one"), await insertAgent(log, "two")];
  for (const delta of ["a", "b", "c"]) await log.append("one", [{ ...agent, events: [chunk(delta)] }]);
  await log.append("two", [{ ...other, events: [chunk("kept")] }]);
  // A standby that had not received the last two, and where another server has written since.
  await sql.query({ name: "l", text: "DELETE FROM event WHERE tenant = 'one' AND position > 1" }, []);
  // A failover takes longer than the millisecond to which the times of events are exact.
  const lostAt = Date.now();
  await expect.poll(() => Date.now() - lostAt, { interval: 1 }).toBeGreaterThan(1);
  const elsewhere = new EventLog(sql);
  for (const delta of ["x", "y", "z"]) await elsewhere.append("one", [{ ...agent, events: [chunk(delta)] }]);
  expect(await log.compareNewest()).toEqual(["one"]);

  const anew = new EventLog(sql);
  await expect(anew.head("one")).rejects.toBeInstanceOf(CommitsLost);
  await expect(anew.read(everything("one"), 0)).rejects.toBeInstanceOf(CommitsLost);
  await expect(anew.commit("one", { ...agent, events: [chunk("no")] }, { wake: true })).rejects.toBeInstanceOf(CommitsLost);
  await expect(anew.append("one", [{ ...agent, events: [chunk("no")] }])).rejects.toBeInstanceOf(CommitsLost);
  await sql.query({ name: "r", text: "UPDATE agent SET runnable_at = now()" }, []);
  expect(await claim(sql, "here", [agent.agentId, other.agentId], LEASE_TIMES, "RUN_OUT")).toMatchObject([
    { agentId: other.agentId },
  ]);
  expect(await readAll(anew, everything("two"))).toHaveLength(1);

  const restored = runFile("scripts/restored.ts", [], { DATABASE_URL: url });
  expect(await restored.exited, restored.output()).toBe(0);
  expect((await readAll(anew, everything("one"))).length).toBe(4);
});

it("is said by /readyz and by a typed error, and npm run restored refuses while a server is connected", async () => {
  const { sql, url } = await testDatabase();
  const app = await startTestApp({ database: { kind: "postgres", url, connections: 3 } });
  const client = connect(app.url);
  await client.createAgent();
  await sql.query({ name: "m", text: "UPDATE tenant_log SET lost_at = now()" }, []);
  await expect.poll(async () => (await fetch(app.url.replace("/graphql", "/readyz"))).text()).toContain("npm run restored");
  const { errors } = await client.post({ query: "{ timeline { cursor } }" });
  expect(errors[0]?.extensions?.["code"]).toBe("COMMITS_LOST");
  const bells = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% bell'";
  await expect.poll(async () => (await sql.query({ name: "bells", text: bells }, [])).length).toBeGreaterThan(0);
  const refused = runFile("scripts/restored.ts", [], { DATABASE_URL: url });
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toMatch(/servers are connected \(triplane \d+ (bell|leases) from/);
  const forced = runFile("scripts/restored.ts", ["--force"], { DATABASE_URL: url });
  expect(await forced.exited, forced.output()).toBe(0);
  await client.createAgent();
});

it("a compaction that broke off loses nothing: what it has removed is known to be removed", async () => {
  const { sql } = await testDatabase();
  const [log, elsewhere] = [new EventLog(sql), new EventLog(sql)];
  const agent = await insertAgent(log, "one");
  const at = new Date();
  const append = (by: EventLog, body: AgentEventBody) => by.append("one", [{ ...agent, events: [{ at, body }] }]);
  await append(log, { kind: "TEXT_CHUNK_START", step: 1, block: 0 });
  await append(log, { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "said" });
  await append(elsewhere, { kind: "TEXT_CHUNK_END", step: 1, block: 0, text: "said", aborted: false });
  let isCompacted = false;
  const breaking: Sql = {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      if (isCompacted) throw new Error("Connection terminated");
      isCompacted = statement.name === "retention_compact";
      return sql.query<Row>(statement, values);
    },
  };
  const policy = { eventsMs: null, deltasMs: 1, outputsMs: null, toolCallsMs: null, messagesMs: null, approvalsMs: null };
  await setPolicyTime(sql, `timestamptz '${new Date(at.getTime() + 60_000).toISOString()}'`);
  const signal = new AbortController().signal;
  await applyRetention(breaking, { policy, consumers: [] }, signal).catch(() => {});
  expect(isCompacted).toBe(true);
  expect(await log.compareNewest()).toEqual([]);
});

it("what is left of a tenant whose log lost commits takes nobody's place in a look (invariant 13)", async () => {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const agents = [];
  for (const tenant of ["one", "one", "two"]) {
    const agent = await insertAgent(log, tenant);
    agents.push({ ...agent, shell: await shellRow(sql, { ...agent, tenant, callId: "none" }, "gone") });
    const held = "UPDATE agent SET runnable_at = now(), lease_owner = 'gone', lease_until = now() - interval '1 s' WHERE id = $1";
    await sql.query({ name: "h", text: held }, [agent.agentId]);
  }
  await sql.query({ name: "s", text: "UPDATE shell SET lease_until = started_at - interval '1 day'" }, []);
  await sql.query({ name: "l", text: "UPDATE tenant_log SET lost_at = now() WHERE tenant = 'one'" }, []);
  const other = agents[2];
  expect((await lookForAgents(sql, "here", { tenants: null, most: 1, free: "RUN_OUT", crowded: [] })).runOut).toMatchObject([
    { agentId: other?.agentId, tenant: "two" },
  ]);
  expect((await lostShells(sql, 1)).map(({ id }) => id)).toEqual([other?.shell.id]);
  await sql.query({ name: "u", text: "UPDATE agent SET lease_owner = NULL, lease_until = NULL" }, []);
  expect((await lookForAgents(sql, "here", { tenants: null, most: 1, free: "RUN_OUT", crowded: [] })).unowned).toMatchObject([
    { agentId: other?.agentId, tenant: "two" },
  ]);
});

it("a log that lost commits keeps no server of another configuration from starting, and nothing of it is tried again and again", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const template = { permission: { mode: "approval" }, approvalExpiresMs: 60_000 } as const;
  const first = await office(template, { database });
  await ask(first.as("anna"));
  const grant = { toActorId: "vera", until: new Date(Date.now() + 60_000).toISOString() };
  await first.as("paul").get(DelegateApprovalsDocument, { input: grant });
  await first.app.close();
  const other = await administrator(database.url);
  await other.query("UPDATE tenant_log SET lost_at = now()");
  await other.query(
    "UPDATE approval SET expires_at = now() - interval '1 h'; UPDATE delegation SET ends_at = now() - interval '1 h'",
  );
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (line: string) => errors.push(line) };
  const roots = { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace };
  const second = await office(
    { ...template, systemPrompt: "Another." },
    { database, config: { ...ACTORS, ...roots }, overrides: { logger }, expectsErrors: true },
  );
  expect(errors).toEqual(["the change of the configuration could not be said to tenant acme; the next start does it"]);
  // The looks of a second and more find nothing to do.
  await other.query("UPDATE wait SET due = now() - interval '1 h'");
  expect(await claimDue(second.app.services.sql, [], HOLDS_NONE)).toEqual([]);
  expect(errors).toHaveLength(1);
});

it("a poll that own commits overtake does not take the log for a shorter one", async () => {
  const { sql } = await testDatabase();
  const plain = new EventLog(sql);
  const agent = await insertAgent(plain, "one");
  let polls = 0;
  const overtaken: Sql = {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      const rows = await sql.query<Row>(statement, values);
      if (statement.name === "read_heads") {
        await log.append("one", [{ ...agent, events: [chunk("meanwhile")] }]);
        polls += 1;
      }
      return rows;
    },
  };
  const log = new EventLog(overtaken);
  let shorter = 0;
  const unheard = { ...silentBell(), isConnected: () => false };
  const tails = new Tails(log, unheard, silentLogger, async () => void (shorter += 1));
  onTestFinished(() => tails.close());
  await tails.keep("one");
  await expect.poll(() => polls).toBeGreaterThan(3);
  expect(shorter).toBe(0);
});

it("connections that break while nobody uses them are reason enough to compare: another database may answer by now", async () => {
  const { proxied: url, proxy } = await proxiedDatabase();
  const database = await openDatabase({ kind: "postgres", url, connections: 2 });
  onTestFinished(() => database.close());
  let comparisons = 0;
  database.sql.outages.onReconnect(async () => void (comparisons += 1));
  await database.sql.query({ name: "used", text: "SELECT 1" }, []);
  expect(comparisons).toBe(0);
  proxy.cutNow();
  await expect.poll(() => comparisons).toBeGreaterThan(0);
});
