import { setImmediate as macrotask } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { OutageWatch } from "../../src/db/outage.ts";
import { watched, type Sql } from "../../src/db/sql.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import { Broadcasts, type Member } from "../../src/events/following/broadcast.ts";
import { follow } from "../../src/events/following/follow.ts";
import { Tails } from "../../src/events/following/tails.ts";
import type { LogPage } from "../../src/events/log-page.ts";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, everything, insertAgent, type RowAgent } from "../support/log.ts";
import { silentLogger } from "../support/silent-logger.ts";

/** A log, what follows it, and a switch that takes its database away. */
async function eventServer() {
  const { sql } = await testDatabase();
  const away = { is: false };
  const query: Sql["query"] = (statement, values) =>
    away.is
      ? Promise.reject(Object.assign(new Error("the connection was refused"), { code: "ECONNREFUSED" }))
      : sql.query(statement, values);
  const outages = new OutageWatch(() => query({ name: "probe", text: "SELECT 1" }, []));
  const log = new EventLog(watched(query, { outages, keepsPrepared: true }));
  const tails = new Tails(log, silentBell(), silentLogger);
  onTestFinished(async () => {
    outages.giveUp();
    await tails.close();
  });
  return { log, tails, broadcasts: new Broadcasts(tails), away, outages };
}

/** A reader of bytes: what it was sent, and the state of its line. */
class TestReader {
  readonly positions: number[] = [];
  readonly shared = { count: 0 };
  isBackedUp = false;
  isAdmitted = true;
  /** What it had been sent when its rights were revoked. */
  sentWhenRevoked: number | null = null;
  #waiting: (() => void)[] = [];

  member(answer: Member["answer"]): Member {
    return {
      asks: "the same",
      answer,
      admission: { isFresh: () => this.isAdmitted && this.sentWhenRevoked === null },
      line: {
        waitingBytes: 0,
        send: (bytes) => {
          this.shared.count += 1;
          this.positions.push(...(JSON.parse(Buffer.from(bytes).toString()) as number[]));
          return !this.isBackedUp;
        },
        drained: (signal) =>
          this.isBackedUp && !signal.aborted
            ? new Promise((resolve) => {
                this.#waiting.push(resolve);
                signal.addEventListener("abort", () => resolve());
              })
            : Promise.resolve(),
      },
    };
  }

  drain(): void {
    this.isBackedUp = false;
    this.#waiting.splice(0).forEach((resolve) => resolve());
  }
}

const positionsOf = ({ events }: LogPage): number[] => events.map(({ position }) => position);

describe("a broadcast", () => {
  it("answers a page once for all its members, and sends each of them the very same bytes", async () => {
    const { log, tails, broadcasts } = await eventServer();
    const agent = await insertAgent(log, "one");
    let answers = 0;
    const readers = Array.from({ length: 20 }, () => new TestReader());
    const streams = readers.map((reader) => {
      const member = reader.member((page) => {
        answers += 1;
        return Promise.resolve(Buffer.from(JSON.stringify(positionsOf(page))));
      });
      return follow(tails, { scope: everything("one"), after: 0, until: null }, (covered, signal) =>
        broadcasts.join(everything("one"), member, covered, signal),
      );
    });
    await Promise.all(streams.map((stream) => stream.next()));
    const waiting = streams.map((stream) => stream.next());
    await expect.poll(() => broadcasts.members).toBe(20);
    expect(broadcasts.size).toBe(1);
    for (let index = 0; index < 5; index += 1) await log.append("one", [{ ...agent, events: [chunk("x")] }]);
    for (const reader of readers) await expect.poll(() => reader.positions).toEqual([1, 2, 3, 4, 5]);
    expect(answers).toBeLessThanOrEqual(5);
    await Promise.all(streams.map((stream) => stream.return()));
    await Promise.all(waiting);
    expect(broadcasts).toMatchObject({ members: 0, size: 0 });
  });

  it("answers at most 250 readers in one turn of the event loop, of all broadcasts, and of an outage too", async () => {
    const { log, tails, broadcasts, away, outages } = await eventServer();
    const agent = await insertAgent(log, "one");
    const readers = Array.from({ length: 700 }, () => new TestReader());
    const turn = { answers: 0, most: 0 };
    let isCounting = true;
    const count = (): void => {
      turn.most = Math.max(turn.most, turn.answers);
      turn.answers = 0;
      if (isCounting) setImmediate(count);
    };
    const streams = readers.map((reader, index) => {
      const member = reader.member((page) => Promise.resolve(Buffer.from(JSON.stringify(positionsOf(page)))));
      const { send } = member.line;
      member.line.send = (answer) => {
        turn.answers += 1;
        return send(answer);
      };
      // One broadcast of 400, and others of 100.
      const asks = `${Math.max(0, Math.floor(index / 100) - 3)}`;
      const stream = follow(tails, { scope: everything("one"), after: 0, until: null }, (covered, signal) =>
        broadcasts.join(everything("one"), { ...member, asks }, covered, signal),
      );
      const pages: LogPage[] = [];
      const ended = (async () => {
        for await (const page of stream) {
          turn.answers += 1;
          pages.push(page);
        }
      })();
      return { end: () => stream.return(), ended, pages };
    });
    await expect.poll(() => broadcasts.members).toBe(700);
    expect(broadcasts.size).toBe(4);
    turn.answers = 0;
    count();
    for (let index = 0; index < 3; index += 1) await log.append("one", [{ ...agent, events: [chunk("x")] }]);
    for (const { positions } of readers) await expect.poll(() => positions).toEqual([1, 2, 3]);
    away.is = true;
    await log.head("one").catch(() => {});
    for (const { pages } of streams) await expect.poll(() => pages.at(-1)?.outage ?? null).not.toBeNull();
    away.is = false;
    await outages.over();
    await expect.poll(() => broadcasts.members).toBe(700);
    isCounting = false;
    expect(turn.most).toBeGreaterThan(100);
    expect(turn.most).toBeLessThanOrEqual(250);
    await Promise.all(streams.map(({ end }) => end()));
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it("sends nothing again to a member that joined with a part of what the others are sent next (invariant 2)", async () => {
    const { log, tails, broadcasts } = await eventServer();
    const agent = await insertAgent(log, "one");
    const append = () => log.append("one", [{ ...agent, events: [chunk("x")] }]);
    const answers: PromiseWithResolvers<void>[] = [];
    const open = (reader: TestReader) => {
      const member = reader.member(async (page) => {
        const held = Promise.withResolvers<void>();
        answers.push(held);
        await held.promise;
        return Buffer.from(JSON.stringify(positionsOf(page)));
      });
      const stream = follow(tails, { scope: everything("one"), after: 0, until: null }, (covered, signal) =>
        broadcasts.join(everything("one"), member, covered, signal),
      );
      const ended = (async () => {
        for await (const page of stream) reader.positions.push(...positionsOf(page));
      })();
      return { end: () => stream.return(), ended };
    };
    const [early, late] = [new TestReader(), new TestReader()];
    const streams = [open(early)];
    await expect.poll(() => broadcasts.members).toBe(1);
    await append();
    // The first event is being answered while the second comes, and somebody joins who has both.
    await expect.poll(() => answers.length).toBe(1);
    await append();
    streams.push(open(late));
    await expect.poll(() => broadcasts.members).toBe(2);
    await append();
    answers[0]?.resolve();
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.resolve();
    await expect.poll(() => early.positions).toEqual([1, 2, 3]);
    await expect.poll(() => late.positions).toEqual([1, 2, 3]);
    await append();
    await expect.poll(() => answers.length).toBe(3);
    answers[2]?.resolve();
    for (const { positions } of [early, late]) await expect.poll(() => positions).toEqual([1, 2, 3, 4]);
    await Promise.all(streams.map(({ end }) => end()));
    await Promise.all(streams.map(({ ended }) => ended));
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
    "gives each of its members every event once, in order, whoever joins, leaves, is backed up, must be asked about, is refused or fails (invariants 2, 10 and 12)",
    { timeout: 60_000 },
    async () => {
      const { log, tails, broadcasts, away, outages } = await eventServer();
      await fc.assert(
        fc.asyncProperty(RUN, async (happenings) => {
          const followed = [await insertAgent(log, "one"), await insertAgent(log, "one")];
          const agentIds = followed.map(({ agentId }) => agentId);
          const scope = { ...everything("one"), agentIds };
          const other = await insertAgent(log, "one");
          const isFailing = { is: false };
          const readers: { reader: TestReader; first: number; ended: Promise<void>; end: () => Promise<unknown> }[] = [];
          const mine: number[] = [];
          const append = async (agents: readonly RowAgent[]): Promise<void> => {
            const parts = agents.map((agent) => ({ ...agent, events: [chunk("x"), chunk("y")] }));
            for (const outcome of await log.append("one", parts))
              if (outcome.outcome === "COMMITTED")
                for (const { agentId, position } of outcome.events) if (agentIds.includes(agentId ?? "")) mine.push(position);
          };
          const join = async (): Promise<void> => {
            const reader = new TestReader();
            const member = reader.member((page) =>
              isFailing.is ? Promise.resolve(null) : macrotask(Buffer.from(JSON.stringify(positionsOf(page)))),
            );
            const after = (await log.head("one")).position;
            const stream = follow(tails, { scope, after, until: null }, (covered, signal) =>
              broadcasts.join(scope, member, covered, signal),
            );
            const ended = (async () => {
              for await (const page of stream) {
                if (reader.sentWhenRevoked !== null) return;
                reader.positions.push(...positionsOf(page));
                if (reader.isBackedUp) await member.line.drained(new AbortController().signal);
              }
            })();
            readers.push({ reader, first: after, ended, end: () => stream.return() });
          };
          await join();
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
                await join();
                break;
              case "leave":
                await chosen?.end();
                break;
              case "back up":
                if (chosen !== undefined) chosen.reader.isBackedUp = true;
                break;
              case "drain":
                chosen?.reader.drain();
                break;
              case "dismiss":
              case "admit":
                if (chosen !== undefined) chosen.reader.isAdmitted = what === "admit";
                break;
              case "revoke":
                if (chosen !== undefined) chosen.reader.sentWhenRevoked ??= chosen.reader.positions.length;
                break;
              case "fail":
                isFailing.is = !isFailing.is;
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
          isFailing.is = false;
          readers.forEach(({ reader }) => reader.drain());
          await append(followed);
          for (const { reader, first, ended, end } of readers) {
            const owed = mine.filter((position) => position > first);
            const isEnded = await Promise.race([ended.then(() => true), macrotask(false)]);
            // Whoever left has a beginning of it, and nothing of what came after their rights were revoked.
            if (reader.sentWhenRevoked !== null) expect(reader.positions.length).toBe(reader.sentWhenRevoked);
            else if (!isEnded) await expect.poll(() => reader.positions.length).toBe(owed.length);
            expect(reader.positions).toEqual(owed.slice(0, reader.positions.length));
            await end();
            await ended;
          }
          expect(broadcasts).toMatchObject({ members: 0, size: 0 });
        }),
        { numRuns: 25, endOnFailure: true },
      );
    },
  );
});
