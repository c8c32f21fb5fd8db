import { setImmediate as macrotask } from "node:timers/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { stillHeld, claim, LEASE_TIMES, renew } from "../../src/agent/loop/lease.ts";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import { openDatabase } from "../../src/db/database.ts";
import type { Sql, Statement } from "../../src/db/sql.ts";
import { StorageUnavailable } from "../../src/db/storage-error.ts";
import { Appender } from "../../src/events/appender.ts";
import { EventLog } from "../../src/events/log.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { testDatabase, testDatabaseUrl } from "../support/database.ts";
import { chunk, deltas, everything, insertAgent, readAll } from "../support/log.ts";
import { playedModel } from "../support/models.ts";

/** A transaction of somebody else that holds the row of an agent, and the end of it. */
async function holdRow(url: string, agentId: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM agent WHERE id = $1 FOR UPDATE", [agentId]);
  return async () => void (await client.query("COMMIT"));
}

/** The time from which the oldest of the statements waits that wait for a lock; resolves when there is one. */
async function waiting(sql: Sql): Promise<string> {
  const text =
    "SELECT min(query_start)::text AS since FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const since = async () => (await sql.query<{ since: string | null }>({ name: "waiting", text }, []))[0]?.since ?? null;
  await expect.poll(since).not.toBeNull();
  return (await since()) ?? "nothing waits";
}

/** How many statements wait for a lock now. */
async function waitingStatements(sql: Sql): Promise<number> {
  const text =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  return (await sql.query<{ count: number }>({ name: "waiting_statements", text }, []))[0]?.count ?? 0;
}

describe("a locked row concerns its agent only (invariant 13)", () => {
  it("others of the same batch are committed at once, and the agent's own events once the row is free", async () => {
    const { sql, url } = await testDatabase();
    const log = new EventLog(sql);
    const [locked, free, first] = [await insertAgent(log, "one"), await insertAgent(log, "one"), await insertAgent(log, "one")];
    const letGo = await holdRow(url, locked.agentId);
    const appender = new Appender(log);
    const append = (agent: typeof locked, delta: string) => appender.append("one", { ...agent, events: [chunk(delta)] });
    // The first goes alone, what comes meanwhile goes together.
    const begun = append(first, "first");
    const held = append(locked, "held");
    await Promise.all([begun, append(free, "free")]);
    await append(first, "more");
    expect(deltas(await readAll(log, everything("one")))).toEqual(["first", "free", "more"]);
    await letGo();
    expect(await held).toMatchObject({ outcome: "COMMITTED" });
    expect(deltas(await readAll(log, everything("one")))).toEqual(["first", "free", "more", "held"]);
  });

  it("the leases of others are renewed, and that of the agent is still its holder's", async () => {
    const { sql, url } = await testDatabase();
    const log = new EventLog(sql);
    const agents = await Promise.all(Array.from({ length: 3 }, () => insertAgent(log, "one")));
    await sql.query({ name: "r", text: "UPDATE agent SET runnable_at = now()" }, []);
    const ids = agents.map(({ agentId }) => agentId);
    const leases = await claim(sql, "here", ids, LEASE_TIMES, "RUN_OUT");
    await holdRow(url, ids[0] ?? "");
    expect(await renew(sql, "here", leases, LEASE_TIMES)).toEqual(new Set(ids.slice(1)));
    expect(await stillHeld(sql, "here", leases)).toEqual(new Set(ids));
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'there' WHERE id = $1" }, [ids[1]]);
    expect(await stillHeld(sql, "here", leases)).toEqual(new Set([ids[0], ids[2]]));
  });

  it("events that the database refuses concern their agent only", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agents = await Promise.all(Array.from({ length: 3 }, () => insertAgent(log, "one")));
    const [first, bad, good] = agents;
    if (first === undefined || bad === undefined || good === undefined) throw new Error("there are three");
    await sql.query({ name: "c", text: "ALTER TABLE event ADD CONSTRAINT no_bad CHECK (payload ->> 'delta' <> 'bad')" }, []);
    const appender = new Appender(log);
    const append = (agent: typeof first, delta: string) => appender.append("one", { ...agent, events: [chunk(delta)] });
    const outcomes = await Promise.allSettled([append(first, "first"), append(bad, "bad"), append(good, "good")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("commands for it leave connections to the commits of others", async () => {
    const url = await testDatabaseUrl();
    const database = await openDatabase({ kind: "postgres", url, connections: 6 });
    onTestFinished(() => database.close());
    const log = new EventLog(database.commits);
    const [locked, other] = [await insertAgent(log, "one"), await insertAgent(log, "two")];
    const letGo = await holdRow(url, locked.agentId);
    const send = (agent: typeof locked, tenant: string) => log.commit(tenant, { ...agent, events: [chunk("x")] }, { wake: true });
    const commands = Array.from({ length: 30 }, () => send(locked, "one").catch(() => null));
    await waiting(database.reads);
    const waits: number[] = [];
    for (let look = 0; look < 10; look += 1) {
      expect(await send(other, "two")).toMatchObject({ outcome: "COMMITTED" });
      waits.push(await waitingStatements(database.reads));
    }
    // Of six connections. Those that give up are followed by others.
    expect(Math.max(...waits)).toBeLessThanOrEqual(4);
    await letGo();
    await Promise.all(commands);
  });
});

describe("a log for which many wait", () => {
  it("leaves connections to the commits of other tenants (invariant 13)", async () => {
    const url = await testDatabaseUrl();
    const database = await openDatabase({ kind: "postgres", url, connections: 6 });
    onTestFinished(() => database.close());
    const log = new EventLog(database.commits);
    const agents = await Promise.all(Array.from({ length: 12 }, () => insertAgent(log, "one")));
    const other = await insertAgent(log, "two");
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("BEGIN");
    await holder.query("SELECT pg_advisory_xact_lock(hashtextextended('one', 7270736900))");
    const commit = (agent: typeof other, tenant: string) =>
      log.commit(tenant, { ...agent, events: [chunk("x")] }, { wake: true });
    const commits = agents.map((agent) => commit(agent, "one"));
    const since = await waiting(database.reads);
    expect(await commit(other, "two")).toMatchObject({ outcome: "COMMITTED" });
    // Nothing had to be given up first.
    // The oldest that waits is no younger than before: one that began earlier may have come to its wait only since.
    expect((await waiting(database.reads)) <= since).toBe(true);
    await holder.query("COMMIT");
    await Promise.all(commits);
  });
});

describe("a lease", () => {
  it("is renewed between the agent's own writes, which hold its row while they wait for a busy log", async () => {
    const url = await testDatabaseUrl();
    const slow = new pg.Client({ connectionString: url });
    await slow.connect();
    onTestFinished(() => slow.end());
    let appends = 0;
    let runOut = 0;
    const speaking = { goesOn: true };
    // Each append of the agent has its row for 300 ms, and the next follows at once.
    const slowly = (sql: Sql): Sql => ({
      ...sql,
      query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
        if (statement.name !== "append_events") return sql.query<Row>(statement, values);
        appends += 1;
        speaking.goesOn = appends < 16;
        await slow.query("BEGIN");
        const { rows } = await slow.query(statement.text, [...values]);
        await slow.query("SELECT pg_sleep(0.3)");
        await slow.query("COMMIT");
        const text = "SELECT count(*)::int AS n FROM agent WHERE lease_until < clock_timestamp()";
        runOut += (await slow.query<{ n: number }>(text)).rows[0]?.n ?? 0;
        return rows as Row[];
      },
    });
    async function* speaks(): AsyncGenerator<ModelEvent> {
      yield { type: "text_start", block: 0 };
      while (speaking.goesOn) yield { type: "text_delta", block: 0, text: await macrotask("x") };
      yield { type: "end", stopReason: "end_turn", usage: NO_TOKENS };
    }
    const app = await startTestApp({
      model: playedModel(speaks),
      database: { kind: "postgres", url, connections: 6 },
      overrides: { sql: slowly, leaseTimes: { ttlMs: 2_000, renewMs: 200, startMs: 1_500 } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentResumed")).toEqual([]);
    expect(runOut).toBe(0);
  });
});

describe("a write whose answer was lost while it was under way", () => {
  it("is waited for, and not written again (invariant 2)", async () => {
    const { sql, url } = await testDatabase();
    const agent = await insertAgent(new EventLog(sql), "one");
    const slow = new pg.Client({ connectionString: url });
    await slow.connect();
    onTestFinished(() => slow.end());
    let tries = 0;
    const cut: Sql = {
      ...sql,
      query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
        if (statement.name !== "append_events") return sql.query<Row>(statement, values);
        tries += 1;
        if (tries === 1) {
          // Its COMMIT takes long, and its connection breaks.
          await slow.query("BEGIN");
          await slow.query(statement.text, [...values]);
          throw new StorageUnavailable("the answer was lost", { cause: new Error("Connection terminated") });
        }
        const again = sql.query<Row>(statement, values);
        if (tries === 2) {
          await Promise.race([again, waiting(sql)]);
          await slow.query("COMMIT");
        }
        return again;
      },
    };
    const appender = new Appender(new EventLog(cut));
    expect(await appender.append("one", { ...agent, events: [chunk("once")] })).toMatchObject({
      outcome: "COMMITTED",
    });
    expect(deltas(await readAll(new EventLog(sql), everything("one")))).toEqual(["once"]);
  });

  it("is continued by its id for those whose rows were locked: whatever comes late is refused (invariant 2)", async () => {
    const { sql, url } = await testDatabase();
    const plain = new EventLog(sql);
    const [free, locked] = [await insertAgent(plain, "one"), await insertAgent(plain, "one")];
    const letGo = await holdRow(url, locked.agentId);
    const ids: unknown[] = [];
    const seen: Sql = {
      ...sql,
      query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
        if (statement.name !== "append_events") return sql.query<Row>(statement, values);
        ids.push(values[1]);
        const rows = await sql.query<Row>(statement, values);
        // The first answer is lost after its commit.
        if (ids.length === 1) throw new StorageUnavailable("the answer was lost", { cause: new Error("Connection terminated") });
        return rows;
      },
    };
    const log = new EventLog(seen);
    const part = (agent: typeof free, delta: string) => ({ ...agent, events: [chunk(delta)] });
    const outcomes = log.append("one", [part(free, "free"), part(locked, "held")]);
    await expect.poll(() => ids.length).toBeGreaterThan(2);
    await letGo();
    expect(await outcomes).toMatchObject([
      { outcome: "COMMITTED", events: [{ position: 1 }] },
      { outcome: "COMMITTED", events: [{ position: 2 }] },
    ]);
    expect(new Set(ids).size).toBe(1);
    expect(deltas(await readAll(plain, everything("one")))).toEqual(["free", "held"]);
  });
});
