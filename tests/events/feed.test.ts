import { setImmediate as macrotask } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { countingEncoder, eventServer, openReader, type TestReader } from "../support/feed-readers.ts";
import { pageEncoder } from "../support/followed.ts";
import { chunk, everything, insertAgent, type RowAgent } from "../support/log.ts";

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe("a feed", () => {
  it("answers a page once for all its readers, and sends each of them the very same bytes", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const encoder = countingEncoder();
    const readers = Array.from({ length: 20 }, () => openReader(feeds, { encoder }));
    await expect.poll(() => feeds).toMatchObject({ readers: 20, size: 1 });
    for (let index = 0; index < 5; index += 1) await log.append("one", [{ ...agent, events: [chunk("x")] }]);
    for (const { positions } of readers) expect(positions.length).toBeLessThanOrEqual(5);
    for (const reader of readers) await expect.poll(() => reader.positions).toEqual(upTo(5));
    expect(encoder.answered.count).toBeLessThanOrEqual(5);
    const [first] = readers;
    for (const { sent } of readers) expect(sent.every((bytes, index) => bytes === first?.sent[index])).toBe(true);
    readers.forEach(({ reader }) => reader.leave());
    expect(feeds).toMatchObject({ readers: 0 });
    await expect.poll(() => feeds.size).toBe(0);
  });

  it("reads and answers the past once for those who come for it together, however slowly each of them takes it", async () => {
    const { log, tails, feeds, reads } = await eventServer();
    const agent = await insertAgent(log, "one");
    for (let index = 0; index < 20; index += 1)
      await log.append("one", [{ ...agent, events: Array.from({ length: 100 }, () => chunk("x")) }]);
    // Nothing of it is in memory.
    const { release } = await tails.keep("one");
    reads.count = 0;
    const encoder = countingEncoder();
    const readers = Array.from({ length: 30 }, () => openReader(feeds, { encoder }));
    for (const reader of readers) {
      const send = reader.send.bind(reader);
      reader.send = (answer) => {
        if (reader.sent.length === 0) reader.isBackedUp = true;
        return send(answer);
      };
    }
    await expect.poll(() => readers.every(({ sent }) => sent.length === 1)).toBe(true);
    // They take it one after the other: each goes on alone, and is sent what was made for the first of them.
    for (const reader of readers) {
      reader.drain();
      await expect.poll(() => reader.positions.length).toBe(2_000);
    }
    for (const { positions } of readers) expect(positions).toEqual(upTo(2_000));
    expect(encoder.answered.count).toBe(4);
    expect(reads.count).toBeLessThanOrEqual(5);
    await expect.poll(() => feeds.size).toBe(1);
    readers.forEach(({ reader }) => reader.leave());
    release();
  });

  it("says that a reader is at the end of the log only while that is so, whatever was said to others before", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    const early = openReader(feeds);
    await expect.poll(() => early.reader.told).toMatchObject({ covered: 1, isAtHead: true });
    await log.append("one", [{ ...agent, events: [chunk("b")] }]);
    await expect.poll(() => early.positions).toEqual([1, 2]);
    const late = openReader(feeds);
    await expect.poll(() => late.positions).toEqual([1, 2]);
    expect(late.ends).toEqual([2]);
    [early, late].forEach(({ reader }) => reader.leave());
  });

  it("answers at most 250 readers in one turn of the event loop, of all feeds, and of an outage too", async () => {
    const { log, feeds, away, outages } = await eventServer();
    const agent = await insertAgent(log, "one");
    const turn = { answers: 0, most: 0 };
    let isCounting = true;
    const count = (): void => {
      turn.most = Math.max(turn.most, turn.answers);
      turn.answers = 0;
      if (isCounting) setImmediate(count);
    };
    const readers = upTo(700).map((number) => {
      // One feed of 400, and others of 100.
      const reader = openReader(feeds, { encoder: pageEncoder(`${Math.max(0, Math.ceil(number / 100) - 4)}`) });
      const send = reader.send.bind(reader);
      reader.send = (answer) => {
        turn.answers += 1;
        return send(answer);
      };
      return reader;
    });
    await expect.poll(() => feeds).toMatchObject({ readers: 700, size: 4 });
    turn.answers = 0;
    count();
    for (let index = 0; index < 3; index += 1) await log.append("one", [{ ...agent, events: [chunk("x")] }]);
    for (const reader of readers) await expect.poll(() => reader.positions).toEqual([1, 2, 3]);
    away.is = true;
    await log.head("one").catch(() => {});
    for (const reader of readers) await expect.poll(() => reader.reader.state.kind).toBe("held");
    expect(readers[0]?.pages.at(-1)?.outage).not.toBeNull();
    away.is = false;
    await outages.over();
    for (const reader of readers) await expect.poll(() => reader.reader.state.kind).toBe("live");
    expect(readers[0]?.pages.at(-1)).toMatchObject({ outage: null, events: [] });
    await expect.poll(() => feeds.size).toBe(4);
    isCounting = false;
    expect(turn.most).toBeGreaterThan(100);
    expect(turn.most).toBeLessThanOrEqual(250);
    readers.forEach(({ reader }) => reader.leave());
  });

  it("sends nothing again to a reader that joined with a part of what the others are sent next (invariant 2)", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const append = () => log.append("one", [{ ...agent, events: [chunk("x")] }]);
    const encoder = pageEncoder("the same");
    const answers: PromiseWithResolvers<void>[] = [];
    let isHolding = false;
    const holding: Encoder = {
      asks: encoder.asks,
      answer: async (page) => {
        if (isHolding && page.events.length > 0) {
          const held = Promise.withResolvers<void>();
          answers.push(held);
          await held.promise;
        }
        return encoder.answer(page);
      },
    };
    const early = openReader(feeds, { encoder: holding });
    await expect.poll(() => early.reader.state.kind).toBe("live");
    isHolding = true;
    await append();
    // The first event is being answered while the second comes, and somebody comes who has both.
    await expect.poll(() => answers.length).toBe(1);
    await append();
    const late = openReader(feeds, { encoder: holding, after: 2 });
    await expect.poll(() => late.reader.state.kind).toBe("live");
    await append();
    answers[0]?.resolve();
    await expect.poll(() => answers.length).toBe(2);
    isHolding = false;
    answers[1]?.resolve();
    await expect.poll(() => early.positions).toEqual([1, 2, 3]);
    await expect.poll(() => late.positions).toEqual([3]);
    await append();
    await expect.poll(() => early.positions).toEqual([1, 2, 3, 4]);
    await expect.poll(() => late.positions).toEqual([3, 4]);
    await expect.poll(() => feeds.size).toBe(1);
    [early, late].forEach(({ reader }) => reader.leave());
  });

  it("ends the streams of all who asked for an end, and of nobody who has more than it", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const done = { at: new Date(), body: { kind: "DONE", turn: 1, step: 1, reason: "COMPLETED", messageIds: [] } } as const;
    const [one, other] = [openReader(feeds, { until: ["DONE"] }), openReader(feeds, { until: ["DONE"] })];
    await expect.poll(() => feeds.size).toBe(1);
    await log.append("one", [{ ...agent, events: [chunk("a"), done, chunk("b")] }]);
    for (const reader of [one, other]) {
      await expect.poll(() => reader.ending).toEqual({ kind: "complete" });
      expect(reader.positions).toEqual([1, 2]);
      expect(reader.reader.state.kind).toBe("over");
    }
    const late = openReader(feeds, { until: ["DONE"], after: 2 });
    await expect.poll(() => late.positions).toEqual([3]);
    expect(late.ending).toBeNull();
    late.reader.leave();
    await expect.poll(() => feeds.size).toBe(0);
  });

  it("ends each reader of a page that fails, with its error, and nobody who wants something else", async () => {
    const { log, feeds } = await eventServer();
    const agent = await insertAgent(log, "one");
    const encoder = pageEncoder("fails");
    const error = new Error("no rows");
    const failing: Encoder = {
      asks: "fails",
      answer: (page) => (page.events.length > 0 ? Promise.resolve({ kind: "failed", error }) : encoder.answer(page)),
    };
    const broken = upTo(3).map(() => openReader(feeds, { encoder: failing }));
    const whole = openReader(feeds);
    await expect.poll(() => feeds.size).toBe(2);
    await log.append("one", [{ ...agent, events: [chunk("a")] }]);
    for (const reader of broken) await expect.poll(() => reader.ending).toEqual({ kind: "failed", error });
    await expect.poll(() => whole.positions).toEqual([1]);
    whole.reader.leave();
  });

  type Happening =
    | "append"
    | "append elsewhere"
    | "join"
    | "leave"
    | "back up"
    | "drain"
    | "dismiss"
    | "admit"
    | "revoke"
    | "fail"
    | "outage"
    | "turn";
  const HAPPENINGS: readonly Happening[] = [
    "append",
    "append",
    "append",
    "append elsewhere",
    "join",
    "join",
    "leave",
    "back up",
    "drain",
    "dismiss",
    "admit",
    "revoke",
    "fail",
    "outage",
    "turn",
    "turn",
  ];
  const RUN = fc.array(fc.record({ what: fc.constantFrom(...HAPPENINGS), which: fc.nat({ max: 7 }) }), {
    minLength: 10,
    maxLength: 40,
  });

  it(
    "gives each of its readers every event once, in order, whoever joins, leaves, is backed up, must be asked about, is refused, or meets an outage (invariants 2, 10 and 12)",
    { timeout: 60_000 },
    async () => {
      const { log, feeds, away, outages } = await eventServer();
      await fc.assert(
        fc.asyncProperty(RUN, async (happenings) => {
          const followed = [await insertAgent(log, "one"), await insertAgent(log, "one")];
          const agentIds = followed.map(({ agentId }) => agentId);
          const scope = { ...everything("one"), agentIds };
          const other = await insertAgent(log, "one");
          const unavailable = { is: false };
          const encoder = pageEncoder("the same");
          const slow: Encoder = {
            asks: encoder.asks,
            answer: async (page) => {
              if (unavailable.is && page.events.length > 0) return { kind: "unavailable", error: new Error("the rows are away") };
              return macrotask(await encoder.answer(page));
            },
          };
          const readers: { reader: TestReader; first: number; sentWhenRevoked: number | null }[] = [];
          const mine: number[] = [];
          const append = async (agents: readonly RowAgent[]): Promise<void> => {
            const parts = agents.map((agent) => ({ ...agent, events: [chunk("x"), chunk("y")] }));
            for (const outcome of await log.append("one", parts))
              if (outcome.outcome === "COMMITTED")
                for (const { agentId, position } of outcome.events) if (agentIds.includes(agentId ?? "")) mine.push(position);
          };
          // Now and then from an earlier place, such as one who comes back.
          const join = async (which: number): Promise<void> => {
            const after = (which % 3 === 0 ? readers[0]?.first : undefined) ?? (await log.head("one")).position;
            readers.push({ reader: openReader(feeds, { scope, after, encoder: slow }), first: after, sentWhenRevoked: null });
          };
          await join(1);
          for (const { what, which } of happenings) {
            const chosen = readers[which % readers.length];
            switch (what) {
              case "append":
                // Of one of them, or of both at once with a stranger between.
                await append(
                  [followed.slice(0, 1), followed.slice(1), [...followed.slice(0, 1), other, ...followed.slice(1)]][which % 3] ??
                    [],
                );
                break;
              case "append elsewhere":
                await append([other]);
                break;
              case "join":
                await join(which);
                break;
              case "leave":
                chosen?.reader.reader.leave();
                break;
              case "back up":
                if (chosen !== undefined) chosen.reader.isBackedUp = true;
                break;
              case "drain":
                chosen?.reader.drain();
                break;
              case "dismiss":
              case "admit":
                chosen?.reader.admit(what === "admit");
                break;
              case "revoke":
                if (chosen === undefined) break;
                chosen.sentWhenRevoked ??= chosen.reader.sent.length;
                chosen.reader.revoke();
                break;
              case "fail":
                unavailable.is = !unavailable.is;
                break;
              case "outage":
                away.is = true;
                await log.head("one").catch(() => {});
                await expect.poll(() => outages.current !== null).toBe(true);
                away.is = false;
                await outages.over();
                break;
              case "turn":
                await macrotask();
            }
          }
          unavailable.is = false;
          readers.forEach(({ reader }) => {
            reader.admit(true);
            reader.drain();
          });
          await append(followed);
          for (const { reader, first, sentWhenRevoked } of readers) {
            const owed = mine.filter((position) => position > first);
            // Whoever left has a beginning of it, and nothing of what came after their rights were revoked.
            if (sentWhenRevoked !== null) expect(reader.sent.length).toBe(sentWhenRevoked);
            else if (!reader.reader.isOver)
              await expect.poll(() => reader.positions.length, { timeout: 5_000 }).toBe(owed.length);
            expect(reader.positions).toEqual(owed.slice(0, reader.positions.length));
            // Resuming at any cursor loses and repeats nothing: it covers exactly the events that were sent. No cursor goes back.
            let sent = 0;
            for (const [index, { covered, events }] of reader.pages.entries()) {
              sent += events.length;
              expect(sent).toBe(owed.filter((position) => position <= covered).length);
              expect(covered).toBeGreaterThanOrEqual(reader.pages[index - 1]?.covered ?? 0);
            }
            reader.reader.leave();
          }
          await expect.poll(() => feeds.size).toBe(0);
          expect(feeds.readers).toBe(0);
        }),
        { numRuns: 25 },
      );
    },
  );
});
