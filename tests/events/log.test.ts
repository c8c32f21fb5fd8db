import { describe, expect, it } from "vitest";
import { blockText, brokenBlocks } from "../../src/events/blocks.ts";
import { EventLog } from "../../src/events/log.ts";
import { OutageWatch, watched, type Sql } from "../../src/db/sql.ts";
import { isConnectionLost, StorageUnavailable } from "../../src/db/storage-error.ts";
import { commit, committed, owned, possible } from "../support/owned-agent.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, deltas, everything, insertAgent, readAll } from "../support/log.ts";
import { aroundWrites } from "../support/writes.ts";

/** A database whose answer to the next write is lost after the write committed. */
function losingAnswers(sql: Sql, times: number): Sql {
  let left = times;
  return aroundWrites(sql, async (_write, write) => {
    const rows = await write();
    if (left === 0) return rows;
    left -= 1;
    throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "08006" });
  });
}

/** A statement that was made, with its parameters. */
type Asked = { readonly text: string; readonly values: readonly unknown[] };

/** A database whose statements of some names are noted. */
function heard(sql: Sql, asked: Asked[], isNoted: (name: string) => boolean = () => true): Sql {
  return {
    ...sql,
    query: (statement, values) => {
      if (isNoted(statement.name)) asked.push({ text: statement.text, values });
      return sql.query(statement, values);
    },
  };
}

/** The plan of a statement as PostgreSQL carries it out, as JSON. */
async function planOf(sql: Sql, { text, values }: Asked): Promise<string> {
  return JSON.stringify(await sql.query({ name: "", text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}` }, values));
}

/** The number of pages of tables and indexes that a statement looks at. */
async function pagesRead(sql: Sql, asked: Asked): Promise<number> {
  const [, hit, read] = /"Shared Hit Blocks":(\d+),"Shared Read Blocks":(\d+)/.exec(await planOf(sql, asked)) ?? [];
  return Number(hit) + Number(read);
}

describe("what an agent with a long history costs", () => {
  it("open blocks and the text of a block are read from where they begin", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await sql.query(
      {
        name: "fill",
        text: `INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
          SELECT 'one', n, $1, n, 'PROGRESS', 'TEXT_CHUNK', json_build_object('step', n / 100, 'block', 0, 'delta', 'some words'), now() FROM generate_series(1, 150000) n`,
      },
      [agent.agentId],
    );
    // As autovacuum does by itself, once a table has grown.
    await sql.query({ name: "analyze", text: "ANALYZE event" }, []);
    const at = new Date();
    const start = { at, body: { kind: "TEXT_CHUNK_START", step: 7, block: 0 } as const };
    const delta = (text: string) => ({ at, body: { kind: "TEXT_CHUNK", step: 7, block: 0, delta: text } as const });
    const complete = { at, body: { kind: "STEP_COMPLETE", step: 6, durationMs: 1, stopReason: "end_turn" } as const };
    await log.append("one", [{ ...agent, events: [complete, start, delta("Hel"), delta("lo")] }]);
    const { position } = await log.head("one");
    const reads: Asked[] = [];
    const watching = heard(sql, reads);
    expect(await brokenBlocks(watching, agent.agentId)).toEqual([
      { agentId: agent.agentId, step: 7, block: 0, kind: "text", text: "Hello", isEnded: false },
    ]);
    const before = { agentId: agent.agentId, position: position + 1 };
    expect(await blockText(watching, "TEXT_CHUNK", before, { step: 7, block: 0 })).toBe("Hello");
    const text = "SELECT count(payload ->> 'delta') FROM event WHERE agent_id = $1";
    const whole = await pagesRead(sql, { text, values: [agent.agentId] });
    expect(reads).toHaveLength(2);
    for (const read of reads) expect(await pagesRead(sql, read)).toBeLessThan(whole / 20);
  });
});

describe("what a page costs (docs/performance.md, replay)", () => {
  it("how far the log goes is looked up once, not for every event of the page", async () => {
    const { sql } = await testDatabase();
    const reads: Asked[] = [];
    const log = new EventLog(heard(sql, reads, (name) => name.startsWith("read_")));
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: Array.from({ length: 400 }, () => chunk("x")) }]);
    for (const agentIds of [null, [agent.agentId]])
      expect((await log.read({ ...everything("one"), agentIds }, 0)).events).toHaveLength(400);
    expect(reads).toHaveLength(2);
    for (const read of reads) {
      const looks = [...(await planOf(sql, read)).matchAll(/"Alias":"h"[^{}]*"Actual Loops":(\d+)/g)].map(([, loops]) =>
        Number(loops),
      );
      expect(looks).toEqual([1]);
    }
  });
});

describe("the requests that are open (docs/approvals.md)", () => {
  it("are all read, in pages, though a newer version has asked in a way that this one does not know", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const { agentId } = await insertAgent(log, "one");
    const set = (text: string): Promise<unknown> => sql.query({ name: text.slice(0, 30), text }, [agentId]);
    await set(`INSERT INTO approval (id, tenant, agent_id, kind, state, reason, risk, requested_at)
      SELECT 'asked ' || n, 'one', $1, 'TOOL_CALL', 'PENDING', '', 'LOW', now() FROM generate_series(1, 30) n`);
    await set(`INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
      SELECT 'one', n, $1, n, 'CONTROL', 'PERMISSION_REQUIRED',
        json_build_object('request', json_build_object('approvalId', 'asked ' || n, 'kind', CASE n WHEN 7 THEN 'OF_LATER' ELSE 'TOOL_CALL' END)), now()
      FROM generate_series(1, 30) n`);
    const open: number[] = [];
    for (let after = 0; after < 30;) {
      const page = await log.readOpen(everything("one"), after, 30);
      open.push(...page.events.map(({ position }) => position));
      after = page.covered;
    }
    expect(open).toEqual(Array.from({ length: 30 }, (_, index) => index + 1).filter((position) => position !== 7));
  });
});

describe("append", () => {
  it("gives gap-free positions per tenant and gap-free seqs per agent (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const first = await insertAgent(log, "one");
    const second = await insertAgent(log, "one");
    await log.append("one", [
      { ...first, events: [chunk("a"), chunk("b")] },
      { ...second, events: [chunk("c")] },
    ]);
    const [outcome] = await log.append("one", [{ ...first, events: [chunk("d")] }]);
    const events = await readAll(log, everything("one"));
    expect(events.map((event) => event.position)).toEqual([1, 2, 3, 4]);
    expect(events.filter((event) => event.agentId === first.agentId).map((event) => event.seq)).toEqual([1, 2, 3]);
    expect(outcome).toEqual({ outcome: "COMMITTED", events: [events[3]] });
  });

  it("keeps tenants apart", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    expect(await readAll(log, everything("two"))).toEqual([]);
    const [outcome] = await log.append("two", [{ ...agent, events: [chunk("b")] }]);
    expect(outcome).toEqual({ outcome: "FENCED" });
  });

  it("fences the stale agent of a batch, and the others commit (invariant 4)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const stale = await insertAgent(log, "one");
    const current = await insertAgent(log, "one");
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'here', lease_epoch = 3 WHERE id = ANY ($1)" }, [
      [stale.agentId, current.agentId],
    ]);
    const outcomes = await log.append("one", [
      { ...stale, fence: { owner: "here", epoch: 2 }, events: [chunk("lost"), chunk("too")] },
      { ...current, fence: { owner: "here", epoch: 3 }, events: [chunk("kept")] },
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["FENCED", "COMMITTED"]);
    const events = await readAll(log, everything("one"));
    expect(deltas(events)).toEqual(["kept"]);
    expect(events[0]?.position).toBe(1);
  });

  it("fences another owner of the same epoch, as after a failover that lost a claim (invariant 4)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'there', lease_epoch = 3 WHERE id = $1" }, [
      agent.agentId,
    ]);
    const part = (owner: string) => ({ ...agent, fence: { owner, epoch: 3 }, events: [chunk(owner)] });
    expect(await log.append("one", [part("here")])).toEqual([{ outcome: "FENCED" }]);
    expect(await log.commitHeld("one", part("here"), { agent: { stepCount: 1 } })).toMatchObject({ outcome: "FENCED" });
    expect(await log.commitHeld("one", part("there"), { agent: { stepCount: 1 } })).toMatchObject({ outcome: "COMMITTED" });
    expect(deltas(await readAll(log, everything("one")))).toEqual(["there"]);
  });

  it("looks up an append whose COMMIT answer was lost, and does not do it again (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const plain = new EventLog(sql);
    const agent = await insertAgent(plain, "one");
    const stale = await insertAgent(plain, "one");
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'here', lease_epoch = 9 WHERE id = $1" }, [stale.agentId]);
    const log = new EventLog(losingAnswers(sql, 2));
    const outcomes = await log.append("one", [
      { ...stale, fence: { owner: "here", epoch: 1 }, events: [chunk("fenced")] },
      { ...agent, events: [chunk("a"), chunk("b")] },
    ]);
    const events = await readAll(plain, everything("one"));
    expect(deltas(events)).toEqual(["a", "b"]);
    expect(outcomes).toEqual([{ outcome: "FENCED" }, { outcome: "COMMITTED", events }]);
  });

  it("looks up a change whose COMMIT answer was lost (invariant 3)", async () => {
    const { sql } = await testDatabase();
    const plain = new EventLog(sql);
    const agent = await insertAgent(plain, "one");
    const log = new EventLog(losingAnswers(sql, 1));
    const outcome = await log.commit("one", { ...agent, events: [chunk("a")] }, { wake: true });
    expect(outcome).toMatchObject({ outcome: "COMMITTED", position: 1 });
    expect(deltas(await readAll(plain, everything("one")))).toEqual(["a"]);
    expect(await sql.query({ name: "s", text: "SELECT signal FROM agent" }, [])).toEqual([{ signal: 1 }]);
  });

  it("finds a step that was started by a write without events whose COMMIT answer was lost (invariant 3)", async () => {
    const agent = await committed(await owned(await testDatabase()), ["turn started", "step started", "step aborted"]);
    const start = possible(agent.view, "step started");
    expect(start.events).toEqual([]);
    const { outcome, view } = await commit({ ...agent, log: new EventLog(losingAnswers(agent.sql, 1)) }, start);
    expect(outcome).toBe("COMMITTED");
    expect(view).toMatchObject({ stepCount: 2, lastStep: { state: "STARTED" } });
  });

  it("looks up a change of a tenant whose COMMIT answer was lost (invariants 3 and 15)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(losingAnswers(sql, 2));
    const grant = {
      delegationId: "d",
      from: { id: "paul", kind: "USER" },
      to: { id: "vera", kind: "USER" },
      note: null,
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2026-01-02T00:00:00.000Z",
    } as const;
    const row = {
      id: "d",
      tenant: "one",
      fromId: "paul",
      fromKind: "USER",
      toId: "vera",
      toKind: "USER",
      note: null,
      startsAt: new Date(grant.startsAt),
      endsAt: new Date(grant.endsAt),
      createdAt: new Date(),
      revokedAt: null,
      revokedBy: null,
      revokedByKind: null,
      endedAt: null,
    } as const;
    const body = { kind: "DELEGATION_STARTED", grant, changedBy: grant.from } as const;
    const outcome = await log.commitTenant("one", [{ at: new Date(), body }], { startDelegation: row });
    expect(outcome).toEqual({ outcome: "COMMITTED", position: 1 });
    expect(await readAll(log, everything("one"))).toMatchObject([{ agentId: null, createdBy: null, seq: 1, position: 1, body }]);
  });

  it("says that the storage is unavailable when the database stays away", async () => {
    const gone = () => Promise.reject(Object.assign(new Error("gone"), { code: "ECONNREFUSED" }));
    const log = new EventLog(watched(gone, { outages: new OutageWatch(async () => {}), keepsPrepared: true }));
    await expect(log.head("one")).rejects.toBeInstanceOf(StorageUnavailable);
  });

  it("commits a change and its events together, or neither (invariant 3)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    const outcome = await log.commit(
      "one",
      { ...agent, events: [chunk("no")] },
      { wake: true, interrupt: { at: new Date().toISOString() } },
    );
    expect(outcome.outcome).toBe("CONFLICT");
    expect(await readAll(log, everything("one"))).toEqual([]);
    expect(await sql.query({ name: "s", text: "SELECT signal, seq FROM agent" }, [])).toEqual([{ signal: 0, seq: 0 }]);
  });

  it("replaces NUL and lone surrogates, visibly", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    const [outcome] = await log.append("one", [
      { ...agent, events: [chunk("a\0b"), chunk("c\ud800d"), chunk("e\\u0000f \u{1F600}")] },
    ]);
    const events = await readAll(log, everything("one"));
    expect(deltas(events)).toEqual(["a\u2400b", "c\ufffdd", "e\\u0000f \u{1F600}"]);
    expect(outcome).toEqual({ outcome: "COMMITTED", events });
  });

  it("cuts what does not fit into an event, with a mark", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("ä".repeat(100_000))] }]);
    const [delta] = deltas(await readAll(log, everything("one")));
    expect(Buffer.byteLength(delta ?? "")).toBeLessThan(64 * 1024);
    expect(delta).toContain("cut to fit into an event");
  });
});

describe("errors of the database", () => {
  it("are told from errors of the socket", () => {
    expect(isConnectionLost(Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" }))).toBe(true);
    expect(isConnectionLost(Object.assign(new Error("Query read timeout")))).toBe(true);
    expect(isConnectionLost(Object.assign(new Error("terminating connection"), { code: "57P01" }))).toBe(true);
    expect(isConnectionLost(Object.assign(new Error("invalid input"), { code: "22P02" }))).toBe(false);
  });
});

describe("read", () => {
  it("pages a long log completely, by rows, by bytes and by positions", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    const other = await insertAgent(log, "one");
    const written: string[] = [];
    for (let batch = 0; batch < 13; batch += 1) {
      const part = Array.from({ length: 500 }, (_, index) => `${batch}.${index}`);
      written.push(...part);
      await log.append("one", [{ ...agent, events: part.map(chunk) }]);
    }
    await log.append("one", [
      { ...other, events: Array.from({ length: 20 }, (_, index) => chunk(`${index}`.padEnd(40_000, "x"))) },
    ]);
    expect(deltas((await readAll(log, everything("one"))).filter((event) => event.agentId === agent.agentId))).toEqual(written);
    expect(await readAll(log, { ...everything("one"), agentIds: [other.agentId] })).toHaveLength(20);
    const first = await log.read({ ...everything("one"), agentIds: [other.agentId] }, 0);
    expect(first.events.length).toBeLessThan(10);
    expect(first.covered).toBe(first.events.at(-1)?.position);
  });

  it("moves a filtered reader's cursor past what is not its scope", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    for (let batch = 0; batch < 12; batch += 1)
      await log.append("one", [{ ...agent, events: Array.from({ length: 1_000 }, () => chunk("x")) }]);
    const page = await log.read({ ...everything("one"), channels: ["CONTROL"] }, 0);
    expect(page).toMatchObject({ events: [], covered: 5_000, head: { position: 12_000 } });
    const last = await log.read({ ...everything("one"), channels: ["CONTROL"] }, 10_000);
    expect(last.covered).toBe(12_000);
  });

  it("gives each reader only what they may see (invariant 12)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const anna = await insertAgent(log, "one", "anna");
    const ben = await insertAgent(log, "one", "ben");
    await log.append("one", [
      { ...anna, events: [chunk("a")] },
      { ...ben, events: [chunk("b")] },
    ]);
    const page = await log.read({ ...everything("one"), createdBy: "ben" }, 0);
    expect(deltas(page.events)).toEqual(["b"]);
    expect(page.covered).toBe(2);
  });
});
