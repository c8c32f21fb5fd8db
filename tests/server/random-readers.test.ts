import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { PostgresBell } from "../../src/events/bell/postgres-bell.ts";
import { EventLog } from "../../src/events/log.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { countingReader, type CountingReader } from "../support/counting-reader.ts";
import { insertAgent } from "../support/log.ts";
import { metric } from "../support/metric.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";
import { silentLogger } from "../support/silent-logger.ts";

const PEOPLE = ["anna", "ben", "vera"] as const;
const TRANSPORTS = ["WebSocket", "SSE"] as const;
/** So many pages of so many large events fill the kernel's buffers of both ends of a socket: 8 MB were seen. */
const FLOOD = { pages: 80, events: 4, delta: "x".repeat(50_000) };
/** The time between two events of one who writes all the time, in ms: whatever happens, happens beside it. */
const WRITES_EACH_MS = 4;
/** No server listens on this port. */
const NOWHERE = 1;

/** What happens in each run, in a random order, each with a random reader, person or cursor. */
const HAPPENINGS = [
  ...(["come", "come", "come", "come", "come", "come"] as const),
  ...(["one's own agent", "one's own agent", "another server", "another server", "another server"] as const),
  ...(["leave", "pause", "pause", "pause", "resume", "flood", "revoke", "revoke", "outage", "outage"] as const),
];
const RUN = fc.tuple(
  fc.shuffledSubarray(HAPPENINGS, { minLength: HAPPENINGS.length }),
  fc.array(fc.nat({ max: 59 }), { minLength: HAPPENINGS.length, maxLength: HAPPENINGS.length }),
);

/** A reader, and what it is owed: the seqs after `first`, up to `last` if its rights were revoked or it has left. */
type Owed = { readonly reader: CountingReader; readonly person: string; readonly first: number; last: number | null };

it(
  "readers over real sockets who come, leave, stop reading, lose their rights and sit out outages get what a plain follower gets: every event once, in order (invariants 1, 2, 10 and 12)",
  { timeout: 120_000 },
  async () => {
    const { url, proxied, proxy } = await proxiedDatabase();
    const admitted = new Set<string>();
    const app = await startTestApp({
      database: { kind: "postgres", url: proxied, connections: 3 },
      config: {
        authenticate: ({ token }) =>
          token !== null && admitted.has(token) ? { id: token, kind: "USER", tenant: "one", roles: ["admin"] } : null,
        rateLimit: { pointsPerMinute: 1_000_000_000 },
      },
      overrides: { readerTimes: { stallMs: 120_000, graceMs: 4_000 }, admittedMs: 1_000 },
    });
    const other = await anotherServer(url);

    await fc.assert(
      fc.asyncProperty(RUN, async ([happenings, choices]) => {
        PEOPLE.forEach((person) => admitted.add(person));
        const agent = await insertAgent(other, "one", "anna");
        const all: Owed[] = [];
        // Also of appends that are under way.
        let appended = 0;
        const append = async (log: EventLog, count: number, delta: string): Promise<void> => {
          const body = { kind: "TEXT_CHUNK", step: 1, block: 0, delta } as const;
          appended += count;
          await log.append("one", [{ ...agent, events: Array.from({ length: count }, () => ({ at: new Date(), body })) }]);
        };
        const isOver = new AbortController();
        const writing = (async () => {
          while (!isOver.signal.aborted) {
            await append(other, 1, "always");
            await delay(WRITES_EACH_MS);
          }
        })();
        const come = async (which: number): Promise<void> => {
          const transport = TRANSPORTS[which % TRANSPORTS.length] ?? "SSE";
          const person = PEOPLE[which % PEOPLE.length] ?? "anna";
          if (!admitted.has(person)) return;
          // Since the beginning, or where another one stands.
          const before = which % 4 === 0 ? all[which % all.length] : undefined;
          const first = before === undefined ? 0 : (before.reader.seqs.at(-1) ?? before.first);
          const since = before?.reader.cursor ?? "0";
          const reader = await countingReader(app.url, transport, globalId("Agent", agent.agentId), { token: person, since });
          all.push({ reader, person, first, last: null });
        };
        const isThere = ({ last }: Owed): boolean => last === null;

        try {
          await come(0);
          for (const [step, what] of happenings.entries()) {
            const which = choices[step] ?? 0;
            const there = all.filter(isThere);
            const chosen = there[which % there.length];
            switch (what) {
              case "come":
                await come(which);
                break;
              case "one's own agent":
                await append(app.services.log, (which % 3) + 1, "own");
                break;
              case "another server":
                await append(other, (which % 3) + 1, "other");
                break;
              case "leave":
                chosen?.reader.close();
                if (chosen !== undefined) chosen.last = appended;
                break;
              case "pause":
                chosen?.reader.pause();
                break;
              case "resume":
                all.forEach(({ reader }) => reader.resume());
                break;
              case "flood":
                for (let page = 0; page < FLOOD.pages; page += 1) await append(other, FLOOD.events, FLOOD.delta);
                break;
              case "revoke": {
                const person = PEOPLE[which % PEOPLE.length] ?? "anna";
                admitted.delete(person);
                // Also streams that nobody reads end.
                const left = all.filter((owed) => isThere(owed) && owed.person !== person);
                await expect.poll(() => metric(app, "triplane_subscriptions")).toBe(left.length);
                for (const owed of all) if (isThere(owed) && owed.person === person) owed.last = appended;
                break;
              }
              case "outage":
                await outage(app, proxy, Number(new URL(url).port), () => append(other, 1, "meanwhile"));
            }
          }
        } finally {
          isOver.abort();
          await writing;
        }
        // Two come at the end, if nobody else is left.
        PEOPLE.forEach((person) => admitted.add(person));
        for (const which of [1, 2]) await come(which);
        all.forEach(({ reader }) => reader.resume());
        await append(other, 2, "the end");
        for (const { reader, first, last } of all) {
          const owed = Array.from({ length: (last ?? appended) - first }, (_, index) => first + index + 1);
          if (last === null) await expect.poll(() => reader.seqs.length).toBe(owed.length);
          expect(reader.seqs, reader.transport).toEqual(owed.slice(0, reader.seqs.length));
        }
        // Whatever happened, those who are left are told together.
        const left = all.filter(isThere).length;
        expect(left).toBeGreaterThan(1);
        await expect.poll(() => metric(app, "triplane_feeds")).toBe(1);
        all.forEach(({ reader }) => reader.close());
        await expect.poll(() => metric(app, "triplane_subscriptions")).toBe(0);
      }),
      { numRuns: 3 },
    );
  },
);

/** The log as another server has it, whose commits the first one hears of. */
async function anotherServer(url: string): Promise<EventLog> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const bell = new PostgresBell(url, database.version, "other", silentLogger);
  onTestFinished(async () => {
    await bell.close();
    await database.close();
  });
  const log = new EventLog(database.commits);
  log.onCommitted((tenant) => bell.ring({ tenant, isSignal: false }));
  return log;
}

/** Takes the server's database away while `meanwhile` is done, until the server knows that the database is back. */
async function outage(
  { services: { log } }: TestApp,
  proxy: Awaited<ReturnType<typeof proxiedDatabase>>["proxy"],
  port: number,
  meanwhile: () => Promise<void>,
): Promise<void> {
  proxy.leadTo(NOWHERE);
  proxy.cutNow();
  await expect.poll(() => log.outage).not.toBeNull();
  await meanwhile();
  proxy.leadTo(port);
  await expect.poll(() => log.outage).toBeNull();
}
