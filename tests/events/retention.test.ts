import { describe, expect, it } from "vitest";
import { CursorExpired } from "../../src/events/cursor.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import { EventLog } from "../../src/events/log.ts";
import * as retention from "../../src/events/retention.ts";
import type { Removal, RetentionPolicy, RetentionRun } from "../../src/events/retention.ts";
import type { Sql } from "../../src/db/sql.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import type { AgentEventBody } from "../../src/events/event.ts";
import { ControlDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { setPolicyTime } from "../support/clock.ts";
import { connect } from "../support/client.ts";
import { testDatabase } from "../support/database.ts";
import { follow } from "../support/followed.ts";
import { deltas, everything, insertAgent, readAll } from "../support/log.ts";
import { silentLogger } from "../support/silent-logger.ts";

const DAY = 24 * 60 * 60 * 1_000;
const NONE: RetentionPolicy = {
  eventsMs: null,
  deltasMs: null,
  outputsMs: null,
  toolCallsMs: null,
  messagesMs: null,
  approvalsMs: null,
};
const GOING = new AbortController().signal;
const NOW = new Date("2026-06-30T00:00:00Z");
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY);

/** A run of retention when the database's time is `now`. */
type RunAt = RetentionRun & { readonly now: Date };

const setNow = (sql: Sql, now: Date): Promise<void> => setPolicyTime(sql, `timestamptz '${now.toISOString()}'`);

async function planRetention(sql: Sql, { now, ...run }: RunAt): Promise<readonly Removal[]> {
  await setNow(sql, now);
  return retention.planRetention(sql, run);
}

async function applyRetention(sql: Sql, { now, ...run }: RunAt, signal: AbortSignal): Promise<readonly Removal[]> {
  await setNow(sql, now);
  return retention.applyRetention(sql, run, signal);
}

async function oldLog() {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const agent = await insertAgent(log, "one");
  const say = (days: number, ...bodies: readonly AgentEventBody[]) =>
    log.append("one", [{ ...agent, events: bodies.map((body) => ({ at: daysAgo(days), body })) }]);
  return { sql, log, say };
}

const delta = (text: string, block = 0): AgentEventBody => ({ kind: "TEXT_CHUNK", step: 1, block, delta: text });
const end = (text: string | null, block = 0): AgentEventBody => ({
  kind: "TEXT_CHUNK_END",
  step: 1,
  block,
  text,
  aborted: false,
});

describe("retention", () => {
  it("says what would go and changes nothing; then removes it in chunks, the floor first, and nothing else", async () => {
    const { sql, log, say } = await oldLog();
    for (let index = 0; index < 12; index += 1)
      await say(index < 11 ? 40 : 1, ...Array.from({ length: 1_000 }, () => delta("x")));
    const policy = { ...NONE, eventsMs: 30 * DAY };
    const plan = await planRetention(sql, { policy, consumers: [], now: NOW });
    expect(plan).toEqual([{ tenant: "one", floor: 0, newFloor: 11_000, events: 11_000, deltas: 0 }]);
    expect((await log.head("one")).floor).toBe(0);
    expect(await applyRetention(sql, { policy, consumers: [], now: NOW }, GOING)).toEqual(plan);
    expect((await log.head("one")).floor).toBe(11_000);
    expect((await log.read(everything("one"), 11_000)).events[0]?.position).toBe(11_001);
    expect(await readAll(log, everything("one"))).toHaveLength(1_000);
    // What a server that died left of an earlier time goes along.
    expect(await applyRetention(sql, { policy, consumers: [], now: NOW }, GOING)).toMatchObject([
      { events: 0, newFloor: 11_000 },
    ]);
  });

  it("is not stopped by an event from the future, which goes when what comes after it goes", async () => {
    const { sql, say } = await oldLog();
    await say(40, delta("old"));
    await say(-365, delta("from the future"));
    await say(35, delta("old"));
    await say(-365, delta("nobody knows how old"));
    await say(1, delta("new"));
    const policy = { ...NONE, eventsMs: 30 * DAY };
    expect(await planRetention(sql, { policy, consumers: [], now: NOW })).toMatchObject([{ newFloor: 3, events: 3 }]);
    const later = new Date(NOW.getTime() + 30 * DAY);
    expect(await planRetention(sql, { policy, consumers: [], now: later })).toMatchObject([{ newFloor: 5, events: 5 }]);
  });

  it("is not stopped by more events from the future than it looks at once", async () => {
    const { sql, say } = await oldLog();
    await say(40, delta("old"));
    for (let index = 0; index < 6; index += 1) await say(-365, ...Array.from({ length: 1_000 }, () => delta("from the future")));
    await say(35, delta("old"), end("old"));
    await say(1, delta("new"));
    const run = { policy: { ...NONE, eventsMs: 30 * DAY }, consumers: [], now: NOW };
    expect(await planRetention(sql, run)).toMatchObject([{ newFloor: 6_003, events: 6_003 }]);
    const compacting = { ...run, policy: { ...NONE, deltasMs: 30 * DAY } };
    expect(await planRetention(sql, compacting)).toMatchObject([{ deltas: 6_002 }]);
  });

  it("leaves the deltas of complete texts to their end, and keeps those of texts that have no other place", async () => {
    const { sql, log, say } = await oldLog();
    await say(10, delta("Hel"), delta("lo."), end("Hello."), delta("long", 1), end(null, 1), delta("broken off", 2));
    await say(1, delta("new", 3), end("new", 3));
    const policy = { ...NONE, deltasMs: 5 * DAY };
    expect(await planRetention(sql, { policy, consumers: [], now: NOW })).toMatchObject([{ deltas: 2 }]);
    const later = new Date(NOW.getTime() + 10 * DAY);
    expect(await planRetention(sql, { policy, consumers: [], now: later })).toMatchObject([
      { deltas: 3, events: 0, newFloor: 0 },
    ]);
    expect(await applyRetention(sql, { policy, consumers: [], now: later }, GOING)).toMatchObject([{ deltas: 3 }]);
    const events = await readAll(log, everything("one"));
    expect(deltas(events)).toEqual(["long", "broken off"]);
    expect(events.map(({ position }) => position)).toEqual([3, 4, 5, 6, 8]);
    expect(await applyRetention(sql, { policy, consumers: [], now: later }, GOING)).toMatchObject([{ deltas: 0 }]);
  });

  it("keeps what was not delivered yet, and the whole of a text that is read from its deltas", async () => {
    const { sql, log, say } = await oldLog();
    const start: AgentEventBody = { kind: "TEXT_CHUNK_START", step: 1, block: 0 };
    await say(40, delta("a", 7), delta("b", 7), start, delta("long"));
    await say(1, end(null));
    await say(1, delta("x", 9));
    const run = { policy: { ...NONE, eventsMs: 30 * DAY }, consumers: [], now: NOW };
    expect(await planRetention(sql, run)).toMatchObject([{ newFloor: 2, events: 2 }]);
    await sql.query({ name: "c", text: "INSERT INTO consumer (name, tenant, position) VALUES ('webhook.slow', 'one', 0)" }, []);
    const consumers = [{ name: "webhook.slow", kinds: ["TEXT_CHUNK"], tenant: null }];
    expect(await applyRetention(sql, { ...run, consumers }, GOING)).toMatchObject([{ newFloor: 0, events: 0 }]);
    const others = [{ name: "webhook.slow", kinds: ["TEXT_CHUNK"], tenant: "two" }];
    expect(await planRetention(sql, { ...run, consumers: others })).toMatchObject([{ newFloor: 2 }]);
    await sql.query({ name: "d", text: "UPDATE consumer SET position = 1" }, []);
    expect(await applyRetention(sql, { ...run, consumers }, GOING)).toMatchObject([{ newFloor: 1, events: 1 }]);
    expect((await log.head("one")).floor).toBe(1);
  });

  it("splits no text to keep another one whole that it overlaps with, but for a day at most", async () => {
    const { sql, log, say } = await oldLog();
    const start: AgentEventBody = { kind: "TEXT_CHUNK_START", step: 1, block: 0 };
    const other = await insertAgent(log, "one");
    const othersSay = async (days: number, ...bodies: AgentEventBody[]): Promise<void> =>
      void (await log.append("one", [{ ...other, events: bodies.map((body) => ({ at: daysAgo(days), body })) }]));
    await say(40, start, delta("first"));
    await othersSay(40, start);
    await say(40, delta("second"), end(null));
    await othersSay(40, delta("x"));
    await othersSay(1, end(null));
    const run = { policy: { ...NONE, eventsMs: 40.5 * DAY }, consumers: [], now: new Date(NOW.getTime() + DAY) };
    expect(await planRetention(sql, run)).toMatchObject([{ newFloor: 0, events: 0 }]);
    // If texts always overlapped, the log would never be cut.
    expect(await planRetention(sql, { ...run, policy: { ...NONE, eventsMs: 30 * DAY } })).toMatchObject([{ newFloor: 6 }]);
    // When all of them are old, they go together.
    const later = new Date(NOW.getTime() + 40 * DAY);
    expect(await planRetention(sql, { ...run, now: later })).toMatchObject([{ newFloor: 7 }]);
  });

  it("keeps the deltas that were not delivered yet, and leaves those of before to their end", async () => {
    const { sql, log, say } = await oldLog();
    await say(40, delta("a"), end("a"), delta("b", 1), end("b", 1));
    const insert = "INSERT INTO consumer (name, tenant, position) VALUES ('webhook.slow', 'one', 2), ('webhook.other', 'one', 0)";
    await sql.query({ name: "c", text: insert }, []);
    const consumers = [
      { name: "webhook.slow", kinds: ["TEXT_CHUNK", "DONE"], tenant: null },
      { name: "webhook.other", kinds: ["TEXT_CHUNK_END"], tenant: null },
    ];
    const run = { policy: { ...NONE, deltasMs: 30 * DAY }, consumers, now: NOW };
    expect(await applyRetention(sql, run, GOING)).toMatchObject([{ deltas: 1 }]);
    expect(deltas(await readAll(log, everything("one")))).toEqual(["b"]);
    await sql.query({ name: "d", text: "UPDATE consumer SET position = 4 WHERE name = 'webhook.slow'" }, []);
    expect(await applyRetention(sql, run, GOING)).toMatchObject([{ deltas: 1 }]);
  });

  it("keeps the whole of a text whose end comes many events of others later", async () => {
    const { sql, log, say } = await oldLog();
    const start: AgentEventBody = { kind: "TEXT_CHUNK_START", step: 1, block: 0 };
    await say(40, delta("a", 7), start, delta("long"));
    const other = await insertAgent(log, "one");
    for (let index = 0; index < 6; index += 1)
      await log.append("one", [
        { ...other, events: Array.from({ length: 1_000 }, () => ({ at: daysAgo(1), body: delta("x") })) },
      ]);
    await say(1, end(null));
    const run = { policy: { ...NONE, eventsMs: 30 * DAY }, consumers: [], now: NOW };
    expect(await applyRetention(sql, run, GOING)).toMatchObject([{ newFloor: 1, events: 1 }]);
  });

  it("lets an agent of which every event is gone go on with its next seq, and the log with its next position", async () => {
    const { sql, log, say } = await oldLog();
    await say(40, delta("a"), delta("b"));
    await applyRetention(sql, { policy: { ...NONE, eventsMs: DAY }, consumers: [], now: NOW }, GOING);
    expect(await readAll(log, everything("one"))).toEqual([]);
    expect(await log.head("one")).toMatchObject({ floor: 2, position: 2 });
    await say(0, delta("c"));
    expect(await readAll(log, everything("one"))).toMatchObject([{ position: 3, seq: 3 }]);
  });

  it("is told to a follower whose server slept while events that it had not read were removed", async () => {
    const { sql, log, say } = await oldLog();
    const tails = new Tails(log, silentBell(), silentLogger);
    await say(40, delta("a"));
    const waiting = follow(tails, { scope: everything("one"), after: 0, until: null });
    await waiting.next();
    const next = waiting.next();
    next.catch(() => {});
    // Written by another server, and removed before this one has read it.
    const other = new EventLog(sql);
    const agent = await insertAgent(other, "one");
    const events = ["b", "c"].map((text) => ({ at: daysAgo(40), body: delta(text) }));
    await other.append("one", [{ ...agent, events }]);
    await other.append("one", [{ ...agent, events: [{ at: daysAgo(0), body: delta("new") }] }]);
    await applyRetention(sql, { policy: { ...NONE, eventsMs: DAY }, consumers: [], now: NOW }, GOING);
    const { tail, release } = await tails.keep("one");
    await tail.refresh().catch(() => {});
    release();
    await expect(next).rejects.toBeInstanceOf(CursorExpired);
    await tails.close();
  });

  it("is no hole for followers: they go on after it, and one that would miss events is told (invariant 2)", async () => {
    const { sql, log, say } = await oldLog();
    const tails = new Tails(log, silentBell(), silentLogger);
    await say(40, delta("a"), delta("b"), end("ab"), delta("c", 1));
    const ahead = follow(tails, { scope: everything("one"), after: 4, until: null });
    await ahead.next();
    const late = follow(tails, { scope: everything("one"), after: 1, until: null });
    await applyRetention(sql, { policy: { ...NONE, deltasMs: DAY }, consumers: [], now: NOW }, GOING);
    expect((await late.next()).value?.events.map(({ position }) => position)).toEqual([3, 4]);
    // Written by another server, and compacted before this one has read it.
    const other = new EventLog(sql);
    const agent = await insertAgent(other, "one");
    await other.append("one", [
      { ...agent, events: [delta("d"), end("d"), delta("e", 1)].map((body) => ({ at: daysAgo(40), body })) },
    ]);
    await applyRetention(sql, { policy: { ...NONE, deltasMs: DAY }, consumers: [], now: NOW }, GOING);
    const { tail, release } = await tails.keep("one");
    await tail.refresh();
    release();
    expect((await ahead.next()).value?.events.map(({ position }) => position)).toEqual([6, 7]);
    await say(0, delta("f", 2));
    expect((await ahead.next()).value?.events.map(({ position }) => position)).toEqual([8]);
    const behind = follow(tails, { scope: everything("one"), after: 1, until: null });
    await sql.query({ name: "f", text: "UPDATE tenant_log SET floor = 4" }, []);
    await expect(behind.next()).rejects.toBeInstanceOf(CursorExpired);
    for (const follower of [ahead, late, behind]) await follower.return();
    await tails.close();
  });

  it("keeps the question of an approval that is open, refuses cursors of before, and runs by itself", async () => {
    const app = await startTestApp({
      script: { replies: [{ when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] }] },
      template: { permission: { mode: "approval" } },
      config: { retention: { eventsDays: 1 } },
      overrides: { retentionSweepMs: 50 },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const cursor = agent.cursor;
    await client.send(agent.id, "go");
    await client.until(agent.id, "PERMISSION_REQUIRED");
    // As if they were written long ago.
    await app.database.sql.query({ name: "age", text: "UPDATE event SET at = at - interval '5 days'" }, []);
    await expect.poll(async () => (await app.services.log.head("local")).floor).toBeGreaterThan(5);
    const refused = await client.post({ query: `{ timeline(since: "${cursor}") { cursor } }` });
    expect(refused.errors[0]?.extensions?.["code"]).toBe("CURSOR_EXPIRED");
    for await (const { data } of connect(app.url).subscribe(ControlDocument, { agentId: null, since: null })) {
      expect(data?.control.events.map(({ kind }) => kind)).toEqual(["PERMISSION_REQUIRED"]);
      break;
    }
  });
});
