import { systemClock } from "../../src/lib/time.ts";
import { RateLimits } from "../../src/server/rate-limits.ts";
import { ExpensiveReads } from "../../src/resolvers/context.ts";
import { createHash } from "node:crypto";
import { parse, type ExecutionArgs, type FormattedExecutionResult } from "graphql";
import { describe, expect, it, vi, onTestFinished } from "vitest";
import { StorageUnavailable } from "../../src/db/storage-error.ts";
import { schema } from "../../src/schema/index.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import { Readers } from "../../src/events/reading/reader.ts";
import { Admissions } from "../../src/server/subscriptions/admissions.ts";
import { makeContext, sharedPageContext, type SharedContext } from "../../src/server/context.ts";
import { maskError } from "../../src/server/errors.ts";
import { failureShownAs } from "../../src/server/subscriptions/failure.ts";
import { subscribeTo } from "../../src/server/subscriptions/subscribe.ts";
import { runningClock } from "../support/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { PulledLine } from "../support/followed.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import type { Actor } from "../../src/agent/actors/actor.ts";

const mask = maskError(silentLogger);
const ADMIN: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"], delegators: [] };

/** An answer as it was sent: the very same bytes are the very same object. */
type Sent = FormattedExecutionResult;

const sent = new WeakMap<Uint8Array, Sent>();

function sentAs(bytes: Uint8Array): Sent {
  const known = sent.get(bytes) ?? (JSON.parse(Buffer.from(bytes).toString()) as Sent);
  sent.set(bytes, known);
  return known;
}

/** A subscriber below the transports. Sign-in says of it what `admits` says, at the times of the clock. */
function subscriberOf(app: TestApp, { clock = systemClock, admits = (): boolean => true } = {}) {
  const tails = new Tails(app.services.log, silentBell(), silentLogger);
  onTestFinished(() => tails.close());
  const shared: SharedContext = {
    admissions: new Admissions(app.database.sql, clock),
    prisma: app.database.prisma,
    services: app.services,
    wake: () => {},
    expensive: new ExpensiveReads(),
    imageUrl: () => "",
    exportUrl: () => "",
    operator: {
      startedAt: 0,
      retention: { eventsMs: null, deltasMs: null, outputsMs: null, toolCallsMs: null, messagesMs: null, approvalsMs: null },
      consumersOf: () => [],
    },
    rateLimits: new RateLimits({ pointsPerMinute: 10_000, subscriptions: 100 }, systemClock),
  };
  const subscribe = subscribeTo({ feeds: new Feeds(tails), readers: new Readers(), mask });
  return async (document: ReturnType<typeof parse>, variables: object, actor: Actor = ADMIN) => {
    const line = new PulledLine<Sent>(sentAs, (error) => failureShownAs(mask)(error).answer);
    const context = makeContext(
      shared,
      actor,
      {
        key: actor.id,
        identify: () => Promise.resolve(admits() ? { ...actor, name: null, signIn: { kind: "LOCAL" } } : null),
        used: () => {},
        actorOf: () => Promise.resolve(actor),
      },
      { askedAt: clock.now().getTime(), identified: { signIn: { kind: "LOCAL" } } },
    );
    const args: ExecutionArgs = {
      schema,
      document,
      variableValues: { ...variables },
      contextValue: { ...context, line: () => line },
    };
    const stream = await subscribe(args);
    if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream));
    onTestFinished(async () => void (await stream.return?.()));
    const next = async (): Promise<Sent> => {
      const page = await line.next();
      if (page.done === true) throw new Error("the subscription ended");
      return page.value;
    };
    return { first: await next(), next, stream };
  };
}

describe("subscribers who are given the same page", () => {
  it("are each answered for themselves what depends on who asks, and share the rest (invariant 12)", async () => {
    const app = await startTestApp({
      script: {
        replies: [
          { when: { user: "go" }, call: [{ tool: "fs_write", input: { path: "a.txt", content: "a" } }] },
          { when: {}, say: ["Done."] },
        ],
      },
      template: { selfApproval: false },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const subscribeTo = subscriberOf(app);
    const text = (field: string): string =>
      `subscription ($id: ID!) { timeline(agentIds: [$id], kinds: [PERMISSION_REQUIRED]) { events { ... on PermissionRequired { approval { ${field} } } } } }`;
    const [personal, common] = [parse(text("viewerCanDecide viewerCannotDecideReasons")), parse(text("state"))];
    const viewer: Actor = { ...ADMIN, id: "vera", roles: ["viewer"] };
    const subscribers = [
      await subscribeTo(personal, { id: agent.id }),
      await subscribeTo(personal, { id: agent.id }, viewer),
      await subscribeTo(common, { id: agent.id }),
      await subscribeTo(common, { id: agent.id }, viewer),
    ];
    await client.send(agent.id, "go");
    const approvalOf = async ({ next }: { next: () => Promise<Sent> }): Promise<unknown> => {
      for (;;) {
        const page = await next();
        const [event] = (page.data as { timeline: { events: { approval: unknown }[] } }).timeline.events;
        if (event !== undefined) return [event.approval, page];
      }
    };
    const [own, other, first, second] = (await Promise.all(subscribers.map(approvalOf))) as [unknown, unknown][];
    expect(own?.[0]).toEqual({ viewerCanDecide: false, viewerCannotDecideReasons: ["SELF_APPROVAL"] });
    expect(other?.[0]).toEqual({ viewerCanDecide: false, viewerCannotDecideReasons: ["NO_ROLE"] });
    expect(first?.[1]).toBe(second?.[1]);
  });

  it("share one execution of the same document, and only then", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const subscribeTo = subscriberOf(app);
    const text =
      "subscription ($id: ID!, $full: Boolean!) { progress(agentId: $id) { cursor events { kind seq @include(if: $full) } } }";
    const document = parse(text);
    const same = [
      await subscribeTo(document, { id: agent.id, full: true }),
      await subscribeTo(document, { id: agent.id, full: true }),
    ];
    const short = await subscribeTo(document, { id: agent.id, full: false });
    const other = await subscribeTo(parse(text), { id: agent.id, full: true });
    const narrow = await subscribeTo(document, { id: agent.id, full: true }, { ...ADMIN, roles: ["user"] });
    await client.send(agent.id, "hi");
    const [first, second] = await Promise.all(same.map(({ next }) => next()));
    expect(first).toBe(second);
    expect(first?.data).toMatchObject({ progress: { events: [{ kind: "MESSAGE_RECEIVED", seq: expect.any(Number) }] } });
    expect((await short.next()).data).toEqual({
      progress: { cursor: expect.any(String), events: [{ kind: "MESSAGE_RECEIVED" }] },
    });
    for (const { next } of [other, narrow]) {
      const page = await next();
      expect(page).not.toBe(first);
      expect(page.data).toEqual(first?.data);
    }
  });

  it("resume from places of their own all the same: since is no part of what is shared", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const subscribeTo = subscriberOf(app);
    const document = parse(
      "subscription ($id: ID!, $since: Cursor) { timeline(agentIds: [$id], since: $since) { caughtUp events { kind } } }",
    );
    const { cursor } = await client.agent(agent.id);
    const [early, late] = [
      await subscribeTo(document, { id: agent.id, since: "0" }),
      await subscribeTo(document, { id: agent.id, since: cursor }),
    ];
    await client.send(agent.id, "again");
    expect(await early.next()).toBe(await late.next());
  });

  it("that failed for one of them is answered anew for whoever comes back for it", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const document = parse(
      "subscription ($since: Cursor) { timeline(since: $since) { cursor caughtUp events { agent { stepCount } } } }",
    );
    const subscribeTo = subscriberOf(app);
    const keeper = await subscribeTo(document, {});
    const { cursor: since } = Object(keeper.first.data?.["timeline"]) as { cursor: string };
    await client.turn(agent.id, "again");
    const find = vi.spyOn(app.database.prisma.agent, "findUnique").mockRejectedValueOnce(new Error("once"));
    expect((await subscribeTo(document, { since })).first).toMatchObject({ errors: [{ message: "Unexpected error." }] });
    expect((await subscribeTo(document, { since })).first).toMatchObject({ data: { timeline: { caughtUp: true } } });
    find.mockRestore();
  });

  it("wait for a page whose rows the database does not give now, and miss nothing (invariant 2)", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const document = parse(
      'subscription { timeline(since: "0") { cursor outage { since } events { seq agent { stepCount } } } }',
    );
    const find = vi.spyOn(app.database.prisma.agent, "findUnique").mockRejectedValueOnce(new StorageUnavailable("away"));
    const outage = vi.spyOn(app.services.log, "outage", "get").mockReturnValue({ since: new Date(), bufferedEvents: 0 });
    const { first, next } = await subscriberOf(app)(document, {});
    expect(first).toMatchObject({ data: { timeline: { events: [], outage: { since: expect.any(String) } } } });
    outage.mockRestore();
    expect(await next()).toMatchObject({
      data: { timeline: { events: expect.arrayContaining([expect.objectContaining({ seq: 1 })]) } },
    });
    find.mockRestore();
  });

  it("are not shown to somebody who is no longer admitted, however long the database took for their rows (invariant 12)", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const now = { ms: Date.now(), isAdmitted: true };
    const subscribeTo = subscriberOf(app, { clock: runningClock(() => new Date(now.ms)), admits: () => now.isAdmitted });
    const { next } = await subscribeTo(parse("subscription { timeline { cursor events { agent { stepCount } } } }"), {});
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<null>();
    const find = vi.spyOn(app.database.prisma.agent, "findUnique").mockImplementationOnce((() => {
      asked.resolve();
      return answer.promise;
    }) as never);
    const page = next();
    await client.send(agent.id, "again");
    await asked.promise;
    now.isAdmitted = false;
    now.ms += 6_000;
    answer.resolve(null);
    expect(await page).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
    find.mockRestore();
  });

  it("are told of an outage also if nobody can be asked about them meanwhile", async () => {
    const app = await startTestApp();
    const now = { ms: Date.now(), isAway: false };
    const admits = (): boolean => {
      if (now.isAway) throw new StorageUnavailable("away");
      return true;
    };
    const subscribeTo = subscriberOf(app, { clock: runningClock(() => new Date(now.ms)), admits });
    const { next } = await subscribeTo(parse("subscription { timeline { cursor outage { since } events { seq } } }"), {});
    now.isAway = true;
    now.ms += 6_000;
    const outage = vi.spyOn(app.services.log, "outage", "get").mockReturnValue({ since: new Date(), bufferedEvents: 0 });
    expect(await next()).toMatchObject({ data: { timeline: { events: [], outage: { since: expect.any(String) } } } });
    outage.mockRestore();
  });

  it("of the control plane are one as well, and a stream that waits ends at once", async () => {
    const app = await startTestApp({ script: { replies: [{ when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] }] } });
    const client = connect(app.url);
    const subscribeTo = subscriberOf(app);
    const document = parse("subscription { control { cursor events { kind } } }");
    const [one, other] = [await subscribeTo(document, {}), await subscribeTo(document, {})];
    const pages = Promise.all([one.next(), other.next()]);
    await client.send((await client.createAgent()).id, "write");
    const [first, second] = await pages;
    expect(first).toMatchObject({ data: { control: { events: [{ kind: "PERMISSION_REQUIRED" }] } } });
    expect(first).toBe(second);
    const waiting = one.stream.next();
    await one.stream.return?.();
    expect((await waiting).done).toBe(true);
  });

  it("are answered without an actor: asking who it is fails, rather than showing one person's answer to another (invariant 12)", async () => {
    const app = await startTestApp();
    const context = makeContext(
      {
        admissions: new Admissions(app.database.sql, systemClock),
        prisma: app.database.prisma,
        services: app.services,
        wake: () => {},
        expensive: new ExpensiveReads(),
        imageUrl: () => "",
        exportUrl: () => "",
        operator: {
          startedAt: 0,
          retention: { eventsMs: null, deltasMs: null, outputsMs: null, toolCallsMs: null, messagesMs: null, approvalsMs: null },
          consumersOf: () => [],
        },
        rateLimits: new RateLimits({ pointsPerMinute: 1, subscriptions: 1 }, systemClock),
      },
      ADMIN,
      { key: "admin", identify: () => Promise.resolve(null), used: () => {}, actorOf: () => Promise.resolve(ADMIN) },
      { askedAt: Date.now(), identified: { signIn: { kind: "LOCAL" } } },
    );
    expect(() => sharedPageContext(context).actor).toThrow("must not depend on the viewer");
    expect((await sharedPageContext(context).snapshot()).tenant).toBe("local");
  });

  it("see only what each of them may see, also at the same moment (invariant 12)", async () => {
    const actor = (id: string, roles: readonly ("user" | "viewer")[]) =>
      ({ id, tokenHash: createHash("sha256").update(id).digest("hex"), tenant: "acme", roles }) as const;
    const app = await startTestApp({
      config: { actors: [actor("anna", ["user"]), actor("ben", ["user"]), actor("vera", ["viewer"])] },
    });
    const [anna, ben, vera] = ["anna", "ben", "vera"].map((token) => connect(app.url, token));
    if (!anna || !ben || !vera) throw new Error("three people");
    const [hers, his] = [await anna.createAgent(), await ben.createAgent()];
    const seen = async (client: typeof anna): Promise<number> => {
      const agents = new Set<string>();
      const done = new Set<string>();
      for await (const page of client.timeline({ since: "0" })) {
        for (const event of page.events) {
          agents.add(event.agent?.id ?? "");
          if (event.kind === "DONE") done.add(event.agent?.id ?? "");
        }
        if (done.size === (client === vera ? 2 : 1) && page.caughtUp) return agents.size;
      }
      throw new Error("the timeline ended");
    };
    const watching = Promise.all([seen(anna), seen(ben), seen(vera)]);
    await Promise.all([anna.send(hers.id, "hi"), ben.send(his.id, "hi")]);
    expect(await watching).toEqual([1, 1, 2]);
  });
});
