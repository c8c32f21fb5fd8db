import { setImmediate as macrotask } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentBell } from "../../src/events/bell/bell.ts";
import { EventLog } from "../../src/events/log.ts";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { testDatabase } from "../support/database.ts";
import { eventServer, openReader, TestReader } from "../support/feed-readers.ts";
import { pageEncoder } from "../support/followed.ts";
import { chunk, everything, insertAgent } from "../support/log.ts";
import { silentLogger } from "../support/silent-logger.ts";

/** An encoder that answers pages with a certain event only as `answer` says. */
function encoderWith(position: number, answer: Encoder["answer"]): Encoder {
  const { asks, answer: encode } = pageEncoder("the same");
  return { asks, answer: (page) => (page.events.some((event) => event.position === position) ? answer(page) : encode(page)) };
}

/** Takes the database away, and gives it back at the end of the test. */
async function takeAway({ away, log, tails, outages }: Awaited<ReturnType<typeof eventServer>>): Promise<void> {
  away.is = true;
  onTestFinished(async () => {
    away.is = false;
    await outages.over();
  });
  await log.head("one").catch(() => {});
  await expect.poll(() => tails.outage !== null).toBe(true);
}

describe("a reader that must be asked about", () => {
  it("begins where it wants all the same, if its first page has waited for the answer (invariant 2)", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("a"), chunk("b"), chunk("c")] }]);
    const readers = [[true, false], [false], [false, false, true, false]].map((answers) => {
      const reader = new TestReader();
      reader.answerFirst(...answers);
      return openReader(feeds, { after: 2, reader });
    });
    for (const reader of readers) await expect.poll(() => reader.positions).toEqual([3]);
    readers.forEach(({ reader }) => reader.leave());
  });

  it("gets the open requests, and nothing else before them, if that happens between two of their pages", async () => {
    const { log, feeds, tails } = await eventServer();
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: Array.from({ length: 10 }, () => chunk("x")) }]);
    const all = (await log.read(everything("one"), 0)).events;
    // Three of the ten are open, two of them in the first page.
    tails.readOpen = async (_scope, after) => {
      const { head } = await log.read(everything("one"), 0);
      const open = all.filter(({ position }) => [2, 4, 9].includes(position) && position > after).slice(0, 2);
      return { head, events: open, covered: open.length < 2 ? head.position : (open.at(-1)?.position ?? 0), outage: null };
    };
    const reader = new TestReader();
    reader.answerFirst(true, false, true, false);
    openReader(feeds, { start: { kind: "open_requests" }, reader });
    await expect.poll(() => reader.positions).toEqual([2, 4, 9]);
    expect(reader.ends).toEqual([10]);
    reader.reader.leave();
  });

  it("is shown no event in an outage, also of those that are in memory or were open; only that there is one (invariant 12)", async () => {
    const server = await eventServer();
    const { log, feeds, tails } = server;
    const agent = await insertAgent(log, "one");
    const { release } = await tails.keep("one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    await takeAway(server);
    const reader = new TestReader();
    reader.admit(false);
    openReader(feeds, { reader });
    const silent = new TestReader();
    silent.admit(false);
    openReader(feeds, { after: 1, reader: silent });
    await expect.poll(() => silent.reader.state.kind).toBe("held");
    expect(reader.positions).toEqual([]);
    [reader, silent].forEach((each) => each.reader.leave());
    release();
  });
});

describe("the end of the log", () => {
  it("is not told by a read that began before somebody knew of more", async () => {
    const { log, tails, feeds, reads } = await eventServer();
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    const { release } = await tails.keep("one");
    const held = Promise.withResolvers<void>();
    reads.held = held.promise;
    const first = openReader(feeds);
    await expect.poll(() => reads.count).toBe(1);
    await log.append("one", [{ ...agent, events: [chunk("mine")] }]);
    const second = openReader(feeds);
    await macrotask();
    reads.held = null;
    held.resolve();
    await expect.poll(() => second.positions).toEqual([1, 2]);
    expect(second.ends).toEqual([2]);
    [first, second].forEach(({ reader }) => reader.leave());
    release();
  });

  it("is not told by a page that was kept, nor by the tail, to somebody who has seen a later commit of another server", async () => {
    const { sql } = await testDatabase();
    const [here, there] = [new EventLog(sql), new EventLog(sql)];
    const tails = new Tails(here, silentBell(), silentLogger);
    onTestFinished(() => tails.close());
    const feeds = new Feeds(tails);
    const agent = await insertAgent(here, "one");
    await here.append("one", [{ ...agent, events: [chunk("a")] }]);
    const early = openReader(feeds);
    await expect.poll(() => early.positions).toEqual([1]);
    await there.append("one", [{ ...agent, events: [chunk("b")] }]);
    const head = (await here.head("one")).position;
    const late = openReader(feeds, { start: { kind: "after", position: 0, head } });
    await expect.poll(() => late.positions).toEqual([1, 2]);
    expect(late.ends).toEqual([2]);
    [early, late].forEach(({ reader }) => reader.leave());
  });
});

describe("a page that cannot be answered", () => {
  it("ends nobody who joined with all of it, and keeps nobody waiting who has it (invariant 10)", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const failing = Promise.withResolvers<void>();
    const error = new Error("the rows of event 1");
    const encoder = encoderWith(1, async () => {
      await failing.promise;
      return { kind: "failed", error };
    });
    const early = openReader(feeds, { encoder });
    await expect.poll(() => early.reader.state.kind).toBe("live");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    const late = openReader(feeds, { encoder, after: 1 });
    await expect.poll(() => late.reader.state.kind).toBe("live");
    await log.append("one", [{ ...agent, events: [chunk("b")] }]);
    await expect.poll(() => late.positions).toEqual([2]);
    failing.resolve();
    await expect.poll(() => early.ending).toEqual({ kind: "failed", error });
    await log.append("one", [{ ...agent, events: [chunk("c")] }]);
    await expect.poll(() => late.positions).toEqual([2, 3]);
    expect(late.ending).toBeNull();
    late.reader.leave();
  });

  it("is forgotten when nobody is left who waits for it, also while the database is away", async () => {
    const server = await eventServer();
    const { log, feeds, tails } = server;
    const agent = await insertAgent(log, "one");
    const { release } = await tails.keep("one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    await takeAway(server);
    const encoder = encoderWith(1, () => Promise.resolve({ kind: "unavailable", error: new Error("away") }));
    const reader = openReader(feeds, { encoder });
    await expect.poll(() => reader.reader.state.kind).toBe("held");
    reader.reader.leave();
    await expect.poll(() => feeds.size).toBe(0);
    expect(tails.outage).not.toBeNull();
    release();
  });

  it("is answered anew after the log has grown, if it is of rows that may change", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const page = Array.from({ length: 500 }, () => chunk("x"));
    await log.append("one", [{ ...agent, events: [...page, chunk("last")] }]);
    const { asks, answer } = pageEncoder("the same");
    let answers = 0;
    const encoder = (isLasting: boolean): Encoder => ({
      asks: `${asks} ${isLasting}`,
      answer: async (given) => {
        if (given.events.length === 500) answers += 1;
        return { ...(await answer(given)), isLasting } as Awaited<ReturnType<Encoder["answer"]>>;
      },
    });
    for (const isLasting of [true, false]) {
      answers = 0;
      const before = (await log.head("one")).position;
      const early = openReader(feeds, { encoder: encoder(isLasting) });
      await expect.poll(() => early.positions.length).toBe(before);
      await log.append("one", [{ ...agent, events: [chunk("changed")] }]);
      await expect.poll(() => early.positions.length).toBe(before + 1);
      const late = openReader(feeds, { encoder: encoder(isLasting) });
      await expect.poll(() => late.positions.length).toBe(before + 1);
      expect(answers, `isLasting: ${isLasting}`).toBe(isLasting ? 1 : 2);
      [early, late].forEach(({ reader }) => reader.leave());
    }
  });
});

it("a page whose rows change while it is encoded is encoded again for later readers", async () => {
  const { log, feeds } = await eventServer();
  const agent = await insertAgent(log, "one");
  await log.append("one", [{ ...agent, events: [chunk("a")] }]);
  const { asks, answer } = pageEncoder("the same");
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const rows = { state: "before" };
  const read: string[] = [];
  const encoder: Encoder = {
    asks,
    answer: async (page) => {
      const { state } = rows;
      begun.resolve();
      if (state === "before") await held.promise;
      read.push(`${state} ${page.covered}`);
      const encoded = await answer(page);
      return encoded.kind === "bytes" ? { ...encoded, isLasting: false } : encoded;
    },
  };
  const early = openReader(feeds, { encoder });
  await begun.promise;
  // The rows change, and the log says so.
  rows.state = "after";
  await log.append("one", [{ ...agent, events: [chunk("changed")] }]);
  const late = openReader(feeds, { encoder });
  await expect.poll(() => late.positions).toEqual([1, 2]);
  held.resolve();
  await expect.poll(() => early.positions).toEqual([1, 2]);
  const last = openReader(feeds, { encoder });
  await expect.poll(() => last.positions).toEqual([1, 2]);
  expect(read.filter((each) => each.startsWith("before"))).toEqual(["before 1"]);
  [early, late, last].forEach(({ reader }) => reader.leave());
});

describe("the state of a reader", () => {
  it("is live again when it has taken what it was slow to take, however silent the log is", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    const reader = new TestReader();
    const send = reader.send.bind(reader);
    reader.send = (answer) => {
      reader.isBackedUp = true;
      return send(answer);
    };
    openReader(feeds, { reader });
    await expect.poll(() => reader.positions).toEqual([1]);
    expect(reader.reader.state.kind).toBe("catching_up");
    reader.drain();
    await expect.poll(() => reader.reader.state.kind).toBe("live");
    reader.reader.leave();
  });

  it("is held where the control plane is opened in an outage, with a page that says so, and the open requests come after it", async () => {
    const server = await eventServer();
    const { log, feeds, tails, away, outages } = server;
    await insertAgent(log, "one");
    const { release } = await tails.keep("one");
    await takeAway(server);
    const reader = openReader(feeds, {
      scope: { ...everything("one"), channels: ["CONTROL"] },
      start: { kind: "open_requests" },
    });
    await expect.poll(() => reader.reader.state.kind).toBe("held");
    expect(reader.pages).toMatchObject([{ events: [], outage: { since: expect.any(Date) } }]);
    away.is = false;
    await outages.over();
    await expect.poll(() => reader.reader.state.kind).toBe("live");
    expect(reader.pages.at(-1)).toMatchObject({ outage: null });
    reader.reader.leave();
    release();
  });
});
