import { createClient } from "graphql-ws";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { boundReaders, endOfReads, withReader } from "../../src/db/connections/reader-limits.ts";
import { KeyedSemaphore } from "../../src/lib/keyed-semaphore.ts";
import { ExpensiveReads } from "../../src/resolvers/context.ts";
import { AgentDocument } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { ask, SCRIPT } from "../support/office.ts";

const STATISTICS = "{ toolCallStats { tools { tool calls } } }";

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** The lock is waited for two seconds: less means that statements were cancelled. */
const SOON = { timeout: 1_500 };

/** The readers' statements that wait for a lock: the server's own, such as those that fold the audit, wait for it too. */
const WAITING = {
  name: "waiting",
  text: "SELECT pid, query FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%reads' AND wait_event_type = 'Lock'",
};

/** A server, how many of its readers' statements wait for a lock now, and the lock on a table that makes them wait. */
async function lockable(options: TestAppOptions = {}) {
  const url = await testDatabaseUrl();
  const app = await startTestApp({ ...options, database: { kind: "postgres", url, connections: 6 } });
  const [other, looking] = [await connected(url), await connected(url)];
  const waiting = async (): Promise<number> => (await looking.query(WAITING)).rows.length;
  const lock = async (table: "event" | "tool_call" | "message" | "todo" | "decision"): Promise<void> => {
    await other.query("BEGIN");
    await other.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  };
  return { app, waiting, lock, unlock: () => other.query("COMMIT") };
}

/** Lets the server meet a row with a value that it does not know. */
async function readUnknown({ database, url }: TestApp): Promise<void> {
  const { id } = await connect(url).createAgent();
  await database.sql.query({ name: "add", text: "ALTER TYPE agent_state ADD VALUE 'DREAMING'" }, []);
  await database.sql.query({ name: "dream", text: "UPDATE agent SET state = 'DREAMING'" }, []);
  await connect(url).ask(AgentDocument, { id });
}

describe("readers (invariant 13)", () => {
  it("who leaves ends the statement that they asked for, and others are not kept waiting", async () => {
    const { app, waiting, lock, unlock } = await lockable();
    await lock("tool_call");
    const leaving = new AbortController();
    const asked = fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: STATISTICS }),
      signal: leaving.signal,
    }).catch(() => "left");
    await expect.poll(waiting).toBe(1);
    leaving.abort();
    expect(await asked).toBe("left");
    await expect.poll(waiting, SOON).toBe(0);
    expect((await fetch(app.url.replace("/graphql", "/readyz"))).status).toBe(200);
    await unlock();
  });

  it("so does who leaves reads of several rows by their ids, which Prisma makes in a transaction", async () => {
    const { app, waiting, lock, unlock } = await lockable();
    const client = createClient({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket });
    onTestFinished(() => client.dispose());
    const { id } = await connect(app.url).createAgent();
    const agent = `agent(id: ${JSON.stringify(id)}) { todos { assignee } }`;
    const query = `{ one: ${agent} two: ${agent} }`;
    await lock("todo");
    const asked = client.iterate({ query });
    const first = asked.next();
    await expect.poll(waiting).toBe(1);
    await asked.return?.();
    await first;
    await expect.poll(waiting, SOON).toBe(0);
    await unlock();
    // The connection that was cut within its transaction is not used again.
    expect((await client.iterate({ query }).next()).value).toMatchObject({ data: { two: { todos: [] } } });
  });

  it.each(["", ", also after a row that only a newer version knows"])(
    "another's read of a row that Prisma makes together with theirs is made again, as often as somebody leaves%s",
    async (after) => {
      const { app, waiting, lock, unlock } = await lockable();
      const { prisma, sql } = app.database;
      if (after !== "") await readUnknown(app);
      await lock("message");
      const leaving = [new AbortController(), new AbortController()];
      const [first, second, stays] = [...leaving, new AbortController()].map(({ signal }, index) =>
        withReader({ tenant: "local", signal }, async () => prisma.message.findUnique({ where: { id: `m${index}` } })),
      );
      for (const [index, left] of [first, second].entries()) {
        await expect.poll(waiting).toBe(1);
        const held = await sql.query<{ pid: number }>(WAITING, []);
        leaving[index]?.abort();
        await expect(left).rejects.toThrow("who asked has left");
        await expect.poll(() => sql.query<{ pid: number }>(WAITING, [])).not.toEqual(held);
      }
      await expect.poll(waiting).toBe(1);
      await unlock();
      expect(await stays).toBeNull();
    },
  );

  it("who follow the log from its beginning leave connections to other tenants, however many they are", async () => {
    const { app, waiting, lock, unlock } = await lockable();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await lock("event");
    const pages = Array.from({ length: 20 }, () => client.timeline({ agentId: agent.id, since: "0" }).next());
    await expect.poll(waiting).toBe(4);
    const counted = withReader({ tenant: "another", signal: null }, async () => app.database.prisma.agent.count());
    expect(await counted).toBe(1);
    expect(await waiting()).toBe(4);
    await unlock();
    for (const page of pages) expect((await page).done).toBe(false);
  });

  it("an operation that its client completes ends its statements, and the others of the socket go on", async () => {
    const { app, waiting, lock, unlock } = await lockable();
    await lock("tool_call");
    const client = createClient({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket });
    onTestFinished(() => client.dispose());
    const completed = client.iterate({ query: STATISTICS });
    const first = completed.next();
    await expect.poll(waiting).toBe(1);
    const kept = client.iterate({ query: "{ toolCalls(first: 1) { nodes { name } } }" }).next();
    await expect.poll(waiting).toBe(2);
    await completed.return?.();
    await first;
    await expect.poll(waiting, SOON).toBe(1);
    await unlock();
    expect((await kept).value).toMatchObject({ data: { toolCalls: { nodes: [] } } });
  });

  it("the missing decisions of an inbox are counted of its approvals, not of all that there are", async () => {
    const { app, lock, unlock } = await lockable({ script: SCRIPT });
    await ask(connect(app.url));
    await lock("decision");
    const asked = createClient({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket });
    onTestFinished(() => asked.dispose());
    const answer = asked.iterate({ query: "{ approvals(first: 1) { nodes { missingDecisions } } }" }).next();
    const reading = (): Promise<{ query: string }[]> => app.database.sql.query<{ query: string }>(WAITING, []);
    await expect.poll(reading).toMatchObject([{ query: expect.stringContaining("d.approval_id = p.id") }]);
    await unlock();
    expect((await answer).value).toMatchObject({ data: { approvals: { nodes: [{ missingDecisions: 1 }] } } });
  });

  it("one expensive read of a tenant is under way at a time, some wait, and more are refused; other tenants do not notice", async () => {
    const reads = new ExpensiveReads();
    let reading = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const read = async (): Promise<void> => {
      reading += 1;
      most = Math.max(most, reading);
      await release.promise;
      reading -= 1;
    };
    const person = (id: string, tenant = "one") => tokenActor(id, ["viewer"], tenant).actor;
    const under = Array.from({ length: 21 }, (_, index) => reads.run(person(`p${index}`), read));
    await expect(reads.run(person("late"), read)).rejects.toMatchObject({ extensions: { code: "TOO_BUSY" } });
    await expect(reads.run(person("zoe", "two"), async () => "answered")).resolves.toBe("answered");
    release.resolve();
    await Promise.all(under);
    expect(most).toBe(1);
    await expect(reads.run(person("late"), async () => "answered")).resolves.toBe("answered");
  });

  it("reads of one actor wait for each other, and leave room for those of another one", async () => {
    const reads = new ExpensiveReads();
    const order: string[] = [];
    const release = Promise.withResolvers<void>();
    const [anna, ben] = [tokenActor("anna", ["user"]).actor, tokenActor("ben", ["user"]).actor];
    const many = Array.from({ length: 21 }, (_, index) =>
      reads.run(anna, async () => {
        await release.promise;
        order.push(`anna ${index}`);
      }),
    );
    await expect(reads.run(anna, async () => {})).rejects.toMatchObject({ extensions: { code: "TOO_BUSY" } });
    const other = reads.run(ben, async () => void order.push("ben"));
    release.resolve();
    await Promise.all([...many, other]);
    expect(order.slice(0, 3)).toEqual(["anna 0", "ben", "anna 1"]);
  });
});

it("a text of a client is not taken for the end of a read: the read would be made again without end", () => {
  for (const text of ["who asked has left", "the operation reads too much"])
    expect(endOfReads(new Error(`Invalid invocation: { names: ["${text}"] }`))).toBeNull();
});

describe("a cancelling", () => {
  /** A pool that is bounded, and what is told of cancellings; none of them succeeds. */
  async function boundedPool() {
    const connectionString = await testDatabaseUrl();
    const [pool, closed] = [new pg.Pool({ connectionString }), new pg.Pool({ connectionString })];
    // A pool does not wait for its connections to end: the database may go first.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    onTestFinished(() => pool.end());
    await closed.end();
    const told: string[] = [];
    boundReaders({ pool, turns: new KeyedSemaphore(6), cancelling: closed, tell: (message) => told.push(message) });
    return { pool, told, url: connectionString };
  }

  it("that fails is told, since the statement runs on until its time is up", async () => {
    const { pool, told } = await boundedPool();
    const leaving = new AbortController();
    const reading = async (): Promise<void> => {
      const connection = await pool.connect();
      const asked = connection.query("SELECT pg_sleep(0.1)");
      leaving.abort();
      await asked.finally(() => connection.release());
    };
    await expect(withReader({ tenant: "local", signal: leaving.signal }, reading)).rejects.toThrow("who asked has left");
    expect(told).toEqual([expect.stringMatching(/^a statement that no reader waits for could not be cancelled \(.+\)$/)]);
  });

  it("is not sent if the statement has ended: it would meet the next one of its transaction", async () => {
    const { pool, told } = await boundedPool();
    const asked = withReader({ tenant: "local", signal: null }, () => pool.query("SELECT repeat('x', 33 * 1024 * 1024)"));
    await expect(asked).rejects.toThrow("the operation reads too much");
    expect(told).toEqual([]);
  });

  it("that comes late, and meets the end of the transaction, is no other error than that who asked has left", async () => {
    const { pool, url } = await boundedPool();
    const other = await connected(url);
    await other.query(
      `CREATE TABLE late (n int);
       CREATE FUNCTION sleep_long() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(20); RETURN NULL; END';
       CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION sleep_long()`,
    );
    const leaving = new AbortController();
    const reading = async (): Promise<void> => {
      const connection = await pool.connect();
      const { rows } = await connection.query<{ id: number }>("SELECT pg_backend_pid() AS id");
      await connection.query("BEGIN");
      await connection.query("INSERT INTO late VALUES (1)");
      leaving.abort();
      const cancel = async (): Promise<void> => {
        const commits = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND query = 'COMMIT' AND wait_event = 'PgSleep'";
        await expect.poll(async () => (await other.query(commits, [rows[0]?.id])).rowCount).toBe(1);
        await other.query("SELECT pg_cancel_backend($1)", [rows[0]?.id]);
      };
      await Promise.all([connection.query({ text: "COMMIT" }), cancel()]).finally(() => connection.release());
    };
    await expect(withReader({ tenant: "local", signal: leaving.signal }, reading)).rejects.toThrow("who asked has left");
  });
});

describe("what one operation reads (invariant 13)", () => {
  /** A server with an agent that has 50 messages of a megabyte. */
  async function withLongMessages() {
    const url = await testDatabaseUrl();
    const app = await startTestApp({ database: { kind: "postgres", url, connections: 6 } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const database = await connected(url);
    await database.query(
      `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, created_at)
       SELECT gen_random_uuid(), 'local', a.id, 'ASSISTANT', json_build_array(json_build_object('type', 'text', 'text', repeat('x', 1000000))), 1000000, n, now()
       FROM agent a, generate_series(1, 50) n`,
    );
    return { client, agent };
  }

  it("is bounded in bytes, however many fields it asks for: it ends with one error, and the rest is not read", async () => {
    const { client, agent } = await withLongMessages();
    const messages = (first: number): string =>
      `agent(id: ${JSON.stringify(agent.id)}) { messages(first: ${first}) { nodes { text } } }`;
    const few = await client.post<{ agent: { messages: { nodes: readonly { text: string }[] } } }>({
      query: `{ ${messages(10)} }`,
    });
    expect(few.data?.agent.messages.nodes.map(({ text }) => text.length)).toEqual(Array(10).fill(1_000_000));
    const long = "n".repeat(60_000);
    for (const query of [
      `{ ${messages(50)} }`,
      // The names of an answer's fields are the client's to choose.
      `{ ${Array.from({ length: 20 }, (_, index) => `a${index}: agent(id: ${JSON.stringify(agent.id)}) { ...Long }`).join(" ")} } fragment Long on Agent { messages(first: 50) { nodes { ${long}: id } } }`,
      `{ ${Array.from({ length: 60 }, (_, index) => `a${index}: ${messages(10)}`).join(" ")} }`,
    ]) {
      const { errors } = await client.post({ query });
      expect(new Set(errors.map(({ extensions }) => extensions?.["code"]))).toEqual(new Set(["ANSWER_TOO_LARGE"]));
    }
  });

  it("is a page of a long conversation, and not all of it, however it is asked for", async () => {
    const { client, agent } = await withLongMessages();
    type Page = { readonly nodes: readonly { readonly text: string }[]; readonly pageInfo: Record<string, string> };
    const page = async (places: string): Promise<Page> => {
      const query = `{ agent(id: ${JSON.stringify(agent.id)}) { messages(${places}) { nodes { text } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } } }`;
      const { data, errors } = await client.post<{ agent: { messages: Page } }>({ query });
      expect(errors).toEqual([]);
      if (data === null) throw new Error("there is no answer");
      return data.agent.messages;
    };
    const one = await page("first: 3");
    const two = await page(`first: 3, after: ${JSON.stringify(one.pageInfo["endCursor"])}`);
    expect(two).toMatchObject({ nodes: [{}, {}, {}], pageInfo: { hasNextPage: true } });
    const last = await page("last: 3");
    expect(await page(`last: 3, before: ${JSON.stringify(last.pageInfo["startCursor"])}`)).toMatchObject({
      nodes: [{}, {}, {}],
      pageInfo: { hasPreviousPage: true },
    });
    // Of several agents that are read together, as well.
    await client.createAgent();
    const { errors } = await client.post({ query: "{ agents { nodes { messages(last: 1) { nodes { text } } } } }" });
    expect(errors).toEqual([]);
  });

  it("is not what a simulation has read and forgotten: it looks at as many calls as it says", async () => {
    const url = await testDatabaseUrl();
    const app = await startTestApp({ database: { kind: "postgres", url, connections: 6 } });
    const client = connect(app.url);
    await client.createAgent();
    const database = await connected(url);
    await database.query(
      `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, is_error, stages, audit_trail, verdict, rule_values, created_at, updated_at)
       SELECT gen_random_uuid(), 'local', a.id, 0, 0, n, 'x', 'fs_read', 'COMPLETED', 1, '{}', false, '{}', '[]', 'allow', json_build_object('path', json_build_array(json_build_object('kind', 'text', 'text', repeat('x', 10000)))), now(), now()
       FROM agent a, generate_series(1, 5000) n`,
    );
    const { data, errors } = await client.post<{ simulatePolicy: { simulation: { examined: number } } }>({
      query: '{ simulatePolicy(permission: { mode: "auto" }) { simulation { examined } } }',
    });
    expect(errors).toEqual([]);
    expect(data?.simulatePolicy.simulation.examined).toBe(5_000);
  });

  it("is bounded for each page of a subscription, which ends there: what is skipped would not be missed", async () => {
    const { client, agent } = await withLongMessages();
    const follow = async (first: number): Promise<unknown[]> => {
      const selection = `events { agent { messages(first: ${first}) { nodes { text } } } }`;
      const query = `subscription { timeline(agentIds: [${JSON.stringify(agent.id)}], since: "0") { cursor ${selection} caughtUp } }`;
      const answers: unknown[] = [];
      for await (const { data, errors } of client.iterate(query)) {
        answers.push(errors?.map(({ extensions }) => extensions?.["code"]) ?? "a page");
        if (data?.["timeline"]) break;
      }
      return answers;
    };
    await expect(follow(10)).resolves.toEqual(["a page"]);
    await expect(follow(50)).resolves.toEqual([["ANSWER_TOO_LARGE"]]);
  });
});
