import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SignIn } from "../../src/agent/actors/access-token.ts";
import type { Actor } from "../../src/agent/actors/actor.ts";
import { Admissions, type Person } from "../../src/server/subscriptions/admissions.ts";
import { OutageWatch } from "../../src/db/sql.ts";

/** The time between two questions, in ms. */
const EVERY_MS = 20;

const actor = (id: string): Actor => ({ id, kind: "USER", tenant: "one", roles: ["user"], delegators: [] });

/** A person whose sign-in and whose rows answer when the test says so; at once if it says nothing. */
function somebody(id: string): Person & { asked: number; signIn: Promise<void>; rows: Promise<void> } {
  const person = {
    key: id,
    asked: 0,
    signIn: Promise.resolve(),
    rows: Promise.resolve(),
    identify: async () => {
      person.asked += 1;
      await person.signIn;
      return { ...actor(id), name: null, signIn: { kind: "LOCAL" } as const };
    },
    used: () => {},
    actorOf: () => person.rows.then(() => actor(id)),
  };
  return person;
}

/** Admissions by a clock that the test moves, and streams of people, with the reasons for which they were refused. */
function admissionsOfTest(everyMs = EVERY_MS) {
  const clock = { ms: 0, now: () => new Date(clock.ms), monotonicMs: () => clock.ms };
  const outages = new OutageWatch(() => Promise.resolve());
  const admissions = new Admissions({ outages }, clock, everyMs);
  const open = (person: Person) => {
    const admission = admissions.of(person, actor(person.key), clock.ms);
    const refusals: unknown[] = [];
    onTestFinished(admission.watch((reason) => refusals.push(reason)));
    return { admission, refusals };
  };
  return { clock, admissions, open };
}

describe("the admissions of a server", () => {
  it("take the answer of a slow sign-in for recent when it comes, and rest on the time at which it was asked", async () => {
    const { clock, admissions } = admissionsOfTest();
    const identify = async () => {
      clock.ms += 3 * EVERY_MS;
      return { ...actor("anna"), name: null, signIn: { kind: "LOCAL" } as const };
    };
    const uses: SignIn[] = [];
    const recognised = await admissions.recognise({ identify, used: (signIn) => void uses.push(signIn) });
    expect(uses).toEqual([{ kind: "LOCAL" }]);
    expect(recognised).toMatchObject({ askedAt: 0, answeredAt: 3 * EVERY_MS });
    if (recognised === null) throw new Error("somebody was recognised");
    expect(admissions.isRecent(recognised)).toBe(true);
    expect(admissions.of(somebody("anna"), actor("anna"), recognised.askedAt).isFresh()).toBe(false);
    clock.ms += EVERY_MS;
    expect(admissions.isRecent(recognised)).toBe(false);
    expect(await admissions.recognise({ identify: () => Promise.resolve(null), used: () => {} })).toBeNull();
  });

  it("ask about a person once for all their streams, whether a page comes or not (invariant 12)", async () => {
    const { open } = admissionsOfTest();
    const [many, one] = [somebody("many"), somebody("one")];
    for (let index = 0; index < 10; index += 1) open(many);
    open(one);
    await expect.poll(() => one.asked).toBeGreaterThan(5);
    expect(many.asked).toBeGreaterThan(1);
    expect(many.asked).toBeLessThan(2 * one.asked);
  });

  it("let pages pass while they ask, as long as the last answer is young enough (invariant 12)", async () => {
    const { clock, open } = admissionsOfTest();
    const person = somebody("anna");
    const held = Promise.withResolvers<void>();
    person.rows = held.promise;
    const { admission, refusals } = open(person);
    await expect.poll(() => person.asked).toBe(1);
    clock.ms += 2 * EVERY_MS - 1;
    expect(admission.isFresh()).toBe(true);
    clock.ms += 1;
    expect(admission.isFresh()).toBe(false);
    expect(refusals).toEqual([]);
    held.resolve();
    expect(await admission.refreshed()).toBe(true);
    expect(admission.isFresh()).toBe(true);
  });

  it("show nothing while sign-in does not answer, and end no stream for it: who came back would ask it again (invariant 12)", async () => {
    const { clock, open } = admissionsOfTest();
    const [silent, other] = [somebody("silent"), somebody("other")];
    const streams = [open(silent), open(silent)];
    const neighbour = open(other);
    const held = Promise.withResolvers<void>();
    silent.signIn = held.promise;
    await expect.poll(() => silent.asked).toBeGreaterThan(0);
    clock.ms += 2 * EVERY_MS;
    // It is asked again, once in the time for which an answer would have counted.
    await expect.poll(() => silent.asked).toBeGreaterThan(2);
    for (const { admission, refusals } of streams) expect([admission.isFresh(), refusals]).toEqual([false, []]);
    expect(neighbour.refusals).toEqual([]);
    held.resolve();
    silent.signIn = Promise.resolve();
    for (const { admission } of streams) {
      expect(await admission.refreshed()).toBe(true);
      expect(admission.isFresh()).toBe(true);
    }
  });

  it("ask again as soon as an answer came that took longer than the pause", async () => {
    const everyMs = 300;
    const { open } = admissionsOfTest(everyMs);
    const slow = somebody("slow");
    const held = Promise.withResolvers<void>();
    slow.signIn = held.promise;
    open(slow);
    await expect.poll(() => slow.asked).toBe(1);
    // Longer than the pause, and not so long that the answer would not count.
    await delay(1.2 * everyMs);
    slow.signIn = Promise.resolve();
    held.resolve();
    await delay(0);
    expect(slow.asked).toBe(2);
  });

  it("end the streams of a person whose sign-in says no, however late", async () => {
    const { open } = admissionsOfTest();
    const person = somebody("gone");
    const held = Promise.withResolvers<null>();
    const { refusals } = open({ ...person, identify: () => held.promise });
    await delay(5 * EVERY_MS);
    expect(refusals).toEqual([]);
    held.resolve(null);
    await expect.poll(() => refusals).toMatchObject([{ extensions: { code: "UNAUTHENTICATED" } }]);
  });
});
