import { setImmediate as macrotask } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentBell, type Bell } from "../../src/events/bell/bell.ts";
import { PostgresBell } from "../../src/events/bell/postgres-bell.ts";
import type { LogPage } from "../../src/events/log-page.ts";
import { EventLog } from "../../src/events/log.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { OutageWatch, watched, type Sql } from "../../src/db/sql.ts";
import { testDatabase } from "../support/database.ts";
import { follow, type Followed } from "../support/followed.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { chunk, deltas, everything, insertAgent } from "../support/log.ts";

/** A log with its tails, as one server has them. */
function eventServer(sql: Sql, bell: Bell = silentBell()): { log: EventLog; tails: Tails } {
  const log = new EventLog(sql);
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  const tails = new Tails(log, bell, silentLogger);
  onTestFinished(async () => {
    await tails.close();
    await bell.close();
  });
  return { log, tails };
}

/** Reads pages until so many events have come. */
async function take(pages: Followed, count: number): Promise<LogPage["events"]> {
  const events: LogPage["events"][number][] = [];
  while (events.length < count) {
    const next = await pages.next();
    if (next.done === true) break;
    events.push(...next.value.events);
  }
  return events;
}

describe("follow", () => {
  it("gives the first page at once, even empty, and says that it is caught up", async () => {
    const { sql } = await testDatabase();
    const { tails } = eventServer(sql);
    const pages = follow(tails, { scope: everything("one"), after: 0, until: null });
    const { value } = await pages.next();
    expect(value).toMatchObject({ events: [], covered: 0, head: { position: 0 } });
    await pages.return();
  });

  it("delivers history and present as one, once, in order, while writers write (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const agents = await Promise.all(Array.from({ length: 4 }, () => insertAgent(log, "one")));
    for (let round = 0; round < 75; round += 1)
      await log.append(
        "one",
        agents.map((agent) => ({ ...agent, events: [chunk(`h${round}`)] })),
      );
    const readers = Array.from({ length: 10 }, () => follow(tails, { scope: everything("one"), after: 0, until: null }));
    const reading = Promise.all(readers.map((pages) => take(pages, 800)));
    await Promise.all(
      agents.map(async (agent) => {
        for (let index = 0; index < 125; index += 1) await log.append("one", [{ ...agent, events: [chunk(`l${index}`)] }]);
      }),
    );
    for (const events of await reading)
      expect(events.map((event) => event.position)).toEqual(Array.from({ length: 800 }, (_, index) => index + 1));
    await Promise.all(readers.map((pages) => pages.return()));
  });

  it("delivers all events of several agents that come at once, in order (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const [first, second, stranger] = [
      await insertAgent(log, "one"),
      await insertAgent(log, "one"),
      await insertAgent(log, "one"),
    ];
    const both = [first.agentId, second.agentId];
    const readers = [both, both.toReversed()].map((agentIds) =>
      follow(tails, { scope: { ...everything("one"), agentIds }, after: 0, until: null }),
    );
    for (const pages of readers) await pages.next();
    for (let round = 0; round < 3; round += 1) {
      const waiting = readers.map((pages) => take(pages, 4));
      await macrotask();
      await log.append("one", [
        { ...first, events: [chunk("a1"), chunk("a2")] },
        { ...stranger, events: [chunk("x")] },
        { ...second, events: [chunk("b1"), chunk("b2")] },
      ]);
      for (const events of await Promise.all(waiting)) expect(deltas(events)).toEqual(["a1", "a2", "b1", "b2"]);
    }
    await Promise.all(readers.map((pages) => pages.return()));
  });

  it("is given at most 500 events a page of what comes at once, also if it has read a part of it itself (invariants 2 and 10)", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const agent = await insertAgent(log, "one");
    const scope = everything("one");
    const pages = follow(tails, { scope, after: 0, until: null });
    // Ahead of the tail, as a follower that reads the log by itself.
    const ahead = follow(tails, { scope, after: 100, until: null });
    await Promise.all([pages.next(), ahead.next()]);
    const sizes: number[] = [];
    for (const stream of [pages, ahead]) {
      const next = stream.next.bind(stream);
      stream.next = async () => {
        const result = await next();
        if (result.done !== true) sizes.push(result.value.events.length);
        return result;
      };
    }
    const waiting = [take(pages, 1_200), take(ahead, 1_100)];
    await log.append("one", [{ ...agent, events: Array.from({ length: 1_200 }, (_, index) => chunk(`${index}`)) }]);
    const [all, rest] = await Promise.all(waiting);
    expect(deltas(all ?? [])).toEqual(Array.from({ length: 1_200 }, (_, index) => `${index}`));
    expect(deltas(rest ?? [])).toEqual(Array.from({ length: 1_100 }, (_, index) => `${index + 100}`));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
    await Promise.all([pages.return(), ahead.return()]);
  });

  it("ends at once when it is returned while it waits", async () => {
    const { sql } = await testDatabase();
    const { tails } = eventServer(sql);
    const pages = follow(tails, { scope: everything("one"), after: 0, until: null });
    await pages.next();
    const parked = pages.next();
    await macrotask();
    expect(await pages.return()).toEqual({ done: true, value: undefined });
    expect(await parked).toEqual({ done: true, value: undefined });
  });

  it("ends after the kind that it was asked for, inside of a page", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const agent = await insertAgent(log, "one");
    const done = { at: new Date(), body: { kind: "DONE", turn: 1, step: 1, reason: "COMPLETED", messageIds: [] } } as const;
    await log.append("one", [{ ...agent, events: [chunk("a"), done, chunk("b")] }]);
    const pages = follow(tails, { scope: everything("one"), after: 0, until: ["DONE"] });
    const { value } = await pages.next();
    expect(value).toMatchObject({ covered: 2, head: { position: 3 } });
    expect((await pages.next()).done).toBe(true);
  });

  it("repeats nothing to a follower that is ahead of its server's tail (invariant 2)", async () => {
    const { sql } = await testDatabase();
    const writer = eventServer(sql);
    const reader = eventServer(sql);
    const agent = await insertAgent(writer.log, "one");
    const write = (count: number) =>
      writer.log.append("one", [{ ...agent, events: Array.from({ length: count }, () => chunk("x")) }]);
    await write(10);
    // The tail begins at 10; what is written then is known only to the log.
    const { tail, release } = await reader.tails.keep("one");
    await write(3);
    const pages = follow(reader.tails, { scope: everything("one"), after: 0, until: null });
    const positions: number[] = (await take(pages, 13)).map((event) => event.position);
    const next = pages.next();
    await macrotask();
    await tail.refresh();
    await write(2);
    await tail.refresh();
    const page = (await next).value;
    positions.push(...(page?.events ?? []).map((event) => event.position));
    expect(positions).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    expect(page?.covered).toBe(15);
    await pages.return();
    release();
  });

  it("wakes only followers whose scope has something", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const own = await insertAgent(log, "one");
    const other = await insertAgent(log, "one");
    const pages = follow(tails, { scope: { ...everything("one"), agentIds: [own.agentId] }, after: 0, until: null });
    await pages.next();
    const next = pages.next();
    await log.append("one", [{ ...other, events: [chunk("not yours")] }]);
    await log.append("one", [{ ...own, events: [chunk("yours")] }]);
    const { value } = await next;
    expect(deltas(value?.events ?? [])).toEqual(["yours"]);
    expect(value).toMatchObject({ covered: 2 });
    await pages.return();
  });

  it("moves the cursor of a follower whose scope is silent after 10,000 positions", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const agent = await insertAgent(log, "one");
    const pages = follow(tails, { scope: { ...everything("one"), channels: ["CONTROL"] }, after: 0, until: null });
    await pages.next();
    const next = pages.next();
    for (let batch = 0; batch < 11; batch += 1)
      await log.append("one", [{ ...agent, events: Array.from({ length: 1_000 }, () => chunk("x")) }]);
    const { value } = await next;
    expect(value?.events).toEqual([]);
    expect(value?.covered).toBeGreaterThanOrEqual(10_000);
    await pages.return();
  });

  it("reads the log if the tail has dropped what a slow reader still needs (invariant 10)", async () => {
    const { sql } = await testDatabase();
    const { log, tails } = eventServer(sql);
    const agent = await insertAgent(log, "one");
    const slow = follow(tails, { scope: everything("one"), after: 0, until: null });
    await slow.next();
    const big = "x".repeat(30_000);
    for (let index = 0; index < 400; index += 1) await log.append("one", [{ ...agent, events: [chunk(big)] }]);
    const events = await take(slow, 400);
    expect(events.map((event) => event.position)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
    await slow.return();
  });

  it("waits if the database is away, and goes on where it was (invariant 2)", async () => {
    const { sql } = await testDatabase();
    let isAway = false;
    const query: Sql["query"] = (statement, values) =>
      isAway ? Promise.reject(Object.assign(new Error("gone"), { code: "ECONNREFUSED" })) : sql.query(statement, values);
    const { log, tails } = eventServer(watched(query, { outages: new OutageWatch(async () => {}), keepsPrepared: true }));
    const other = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("before")] }]);
    isAway = true;
    const pages = follow(tails, { scope: everything("one"), after: 0, until: null });
    const first = take(pages, 2);
    await other.append("one", [{ ...agent, events: [chunk("meanwhile")] }]);
    isAway = false;
    expect(deltas(await first)).toEqual(["before", "meanwhile"]);
    isAway = true;
    const next = take(pages, 1);
    await other.append("one", [{ ...agent, events: [chunk("after")] }]);
    isAway = false;
    expect(deltas(await next)).toEqual(["after"]);
    await pages.return();
  });

  it("keeps the tails of all tenants within one budget, and gives everybody everything all the same", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const budget = 200_000;
    const tails = new Tails(log, silentBell(), silentLogger, async () => {}, budget);
    onTestFinished(() => tails.close());
    const tenants = ["one", "two", "three", "four"];
    const agents = await Promise.all(tenants.map((tenant) => insertAgent(log, tenant)));
    const followers = tenants.map((tenant) => follow(tails, { scope: everything(tenant), after: 0, until: null }));
    for (const pages of followers) await pages.next();
    for (let round = 0; round < 10; round += 1)
      for (const [index, tenant] of tenants.entries()) {
        const agent = agents[index];
        if (agent === undefined) throw new Error("each tenant has an agent");
        await log.append(tenant, [{ ...agent, events: Array.from({ length: 100 }, (_, at) => chunk(`${round}.${at}`)) }]);
        expect(tails.bytes).toBeLessThanOrEqual(budget);
      }
    for (const pages of followers) {
      const events = await take(pages, 1_000);
      expect(events.map(({ position }) => position)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
      await pages.return();
    }
    await expect.poll(() => tails.bytes).toBe(0);
  });

  it("reads nothing more, and keeps nothing, for a tenant whose last follower left during a read", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const held = { isHeld: false, go: Promise.withResolvers<void>(), reads: [] as Promise<unknown>[] };
    const slow: Sql = {
      ...sql,
      query: (statement, values) => {
        if (!held.isHeld) return sql.query(statement, values);
        const read = held.go.promise.then(() => sql.query(statement, values));
        held.reads.push(read);
        return read;
      },
    };
    const tails = new Tails(new EventLog(slow), silentBell(), silentLogger);
    onTestFinished(() => tails.close());
    const agent = await insertAgent(log, "one");
    const { tail, release } = await tails.keep("one");
    // More than one read of a tail gives.
    for (let round = 0; round < 3; round += 1)
      await log.append("one", [{ ...agent, events: Array.from({ length: 1_000 }, () => chunk("x")) }]);
    held.isHeld = true;
    const reading = tail.refresh();
    release();
    held.go.resolve();
    await reading;
    await Promise.all(held.reads);
    await macrotask();
    expect(tails.bytes).toBe(0);
    expect(held.reads).toHaveLength(1);
  });

  it("hears other servers by the bell, and by the poll when the bell is dead", async () => {
    const { sql, url } = await testDatabase();
    const writer = eventServer(sql, new PostgresBell(url, "0", "writer", silentLogger));
    const reader = eventServer(sql, new PostgresBell(url, "0", "reader", silentLogger));
    const agent = await insertAgent(writer.log, "one");
    const pages = follow(reader.tails, { scope: everything("one"), after: 0, until: null });
    await pages.next();
    await writer.log.append("one", [{ ...agent, events: [chunk("rung")] }]);
    expect(deltas(await take(pages, 1))).toEqual(["rung"]);
    await sql.query(
      {
        name: "kill",
        text: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'triplane % bell'",
      },
      [],
    );
    await writer.log.append("one", [{ ...agent, events: [chunk("polled")] }]);
    expect(deltas(await take(pages, 1))).toEqual(["polled"]);
    await pages.return();
  });
});
