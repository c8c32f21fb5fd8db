import { ApolloClient, ApolloLink, InMemoryCache } from "@apollo/client";
import { Client as UrqlClient } from "@urql/core";
import { parse } from "graphql";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ResumeLink } from "../../clients/src/apollo.ts";
import {
  iterate,
  resume,
  ResumeError,
  type ResumeStatus,
  type Result,
  type Sink,
  type Transport,
} from "../../clients/src/index.ts";
import { overSse } from "../../clients/src/sse.ts";
import { resumeExchange } from "../../clients/src/urql.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { runningClock } from "../support/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { stillClock } from "../support/clock.ts";
import { playedServer, statusServer } from "../support/providers/played-server.ts";
import { providerServer } from "../support/providers/provider-server.ts";
import WebSocket from "ws";

const WATCH = "subscription ($since: Cursor) { monitor(since: $since) { cursor caughtUp events { kind } } }";

/** A transport that the test plays: each attempt is one entry. */
function playedTransport() {
  const attempts: { readonly since: unknown; readonly sink: Sink<Result<unknown>>; isStopped: boolean }[] = [];
  const transport: Transport = {
    subscribe(request, sink) {
      const attempt = { since: request.variables?.["since"], sink, isStopped: false };
      attempts.push(attempt);
      return () => (attempt.isStopped = true);
    },
    dispose: () => {},
  };
  /** The attempt of this number, once it is made. */
  const sinkOf = async (number: number): Promise<Sink<Result<unknown>>> => {
    await expect.poll(() => attempts.length, { interval: 1 }).toBeGreaterThan(number);
    const attempt = attempts[number];
    if (attempt === undefined) throw new Error(`there is no attempt ${number}`);
    return attempt.sink;
  };
  return { transport, attempts, sinkOf };
}

/** Resolves when a subscription was lost after its second request, and ends it. */
async function expectLostAgain(transport: Transport, requests: () => number): Promise<void> {
  const lost = Promise.withResolvers<void>();
  const end = resume(
    transport,
    { query: WATCH },
    { next: () => {}, error: () => {}, complete: () => {} },
    {
      waitMs: () => 1,
      onStatus: ({ kind }) => (kind === "lost" && requests() >= 2 ? lost.resolve() : undefined),
    },
  );
  await lost.promise;
  end();
  transport.dispose();
}

function page(cursor: string, caughtUp = true, more: object = {}): Result<unknown> {
  return { data: { monitor: { cursor, caughtUp, events: [], ...more } } };
}

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe("resume", () => {
  it("tells how the subscription stands: catching up, caught up, outage, lost, connecting", async () => {
    const { transport, attempts } = playedTransport();
    const told: ResumeStatus[] = [];
    const sink = { next: () => {}, error: () => {}, complete: () => {} };
    const end = resume(transport, { query: WATCH }, sink, {
      waitMs: (failures) => failures,
      onStatus: (status) => told.push(status),
    });
    attempts[0]?.sink.next(page("a", false));
    attempts[0]?.sink.next(page("b"));
    const outage = { since: "2026-01-01T00:00:00Z", bufferedEvents: 3 };
    attempts[0]?.sink.next(page("b", true, { outage }));
    attempts[0]?.sink.error({ code: 1006, reason: "" });
    // What a lost attempt still says counts for nothing.
    attempts[0]?.sink.next(page("z"));
    await expect.poll(() => attempts.map((attempt) => attempt.since)).toEqual([undefined, "b"]);
    end();
    expect(attempts[1]?.isStopped).toBe(true);
    expect(told).toEqual([
      { kind: "connecting", failures: 0 },
      { kind: "catching up", cursor: "a" },
      { kind: "caught up", cursor: "b" },
      { kind: "outage", cursor: "b", outage },
      {
        kind: "lost",
        cursor: "b",
        error: {
          code: "CONNECTION_LOST",
          message: "the connection was closed with 1006",
          cause: { code: 1006, reason: "" },
        },
        waitMs: 1,
      },
      { kind: "connecting", failures: 1 },
    ]);
  });

  it("waits longer each time if each stream is cut soon after its first page, and begins anew after one that stood for 10 s", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { transport, attempts } = playedTransport();
    const rows: number[] = [];
    const waitMs = (failures: number): number => {
      rows.push(failures);
      return 1;
    };
    const end = resume(transport, { query: WATCH }, { next: () => {}, error: () => {}, complete: () => {} }, { waitMs });
    for (const stoodMs of [0, 9_999, 5, 10_000, 5]) {
      attempts.at(-1)?.sink.next(page("a"));
      vi.advanceTimersByTime(stoodMs);
      attempts.at(-1)?.sink.next(page("b"));
      attempts.at(-1)?.sink.error({ code: 1006, reason: "" });
      vi.advanceTimersByTime(1);
    }
    end();
    expect(rows).toEqual([1, 2, 3, 1, 2]);
  });

  it("ends nothing by itself: no attempt is made after the end, also while it waits", async () => {
    const { transport, attempts } = playedTransport();
    const end = resume(transport, { query: WATCH }, { next: () => {}, error: () => {}, complete: () => {} }, { waitMs: () => 1 });
    attempts[0]?.sink.error(new Error("lost"));
    end();
    await soon();
    expect(attempts).toHaveLength(1);
  });

  it.for([
    ["subscription { monitor { cursor caughtUp } }", undefined],
    [WATCH, { data: { monitor: { events: [] } } }],
    [WATCH, { data: { monitor: null } }],
  ] as const)("refuses what it could not resume: %s", async ([query, answer]) => {
    const { transport, sinkOf } = playedTransport();
    const refused = expect(iterate(transport, { query }).next()).rejects.toMatchObject({
      name: "ResumeError",
      code: "NOT_RESUMABLE",
    });
    if (answer !== undefined) (await sinkOf(0)).next(answer);
    await refused;
  });

  it("tries again what passes, and gives up if the server refuses again and again", async () => {
    const { transport, sinkOf } = playedTransport();
    const stream = iterate(transport, { query: WATCH }, { waitMs: () => 0 });
    const next = stream.next();
    (await sinkOf(0)).error([{ message: "later", extensions: { code: "STORAGE_UNAVAILABLE" } }]);
    (await sinkOf(1)).next(page("a"));
    expect((await next).done).toBe(false);
    const refused = stream.next();
    for (let attempt = 1; attempt < 10; attempt += 1) (await sinkOf(attempt)).error({ code: 4403, reason: "Forbidden" });
    await expect(refused).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
      cursor: "a",
      message: expect.stringContaining("4403 Forbidden"),
    });
  });

  it("goes on when its actor has room again, however often it has none, and asks no sooner than the server says", async () => {
    const { transport, sinkOf } = playedTransport();
    const waits: number[] = [];
    const onStatus = (status: ResumeStatus): void => void (status.kind === "lost" && waits.push(status.waitMs));
    const next = iterate(transport, { query: WATCH }, { waitMs: () => 0, onStatus }).next();
    for (let attempt = 0; attempt < 10; attempt += 1)
      (await sinkOf(attempt)).error([{ message: "no room", extensions: { code: "RATE_LIMITED", retryAfterMs: 3 } }]);
    (await sinkOf(10)).next(page("a"));
    expect((await next).done).toBe(false);
    expect(waits).toEqual(Array.from({ length: 10 }, () => 3));
  });

  it.for([4406, 1009])("gives up at once at a close code that says that the client is wrong: %i", async (code) => {
    const { transport, sinkOf } = playedTransport();
    const next = iterate(transport, { query: WATCH }).next();
    (await sinkOf(0)).error({ code, reason: "" });
    await expect(next).rejects.toMatchObject({ code: "CONNECTION_REFUSED" });
  });
});

describe("a transport", () => {
  it.for([1000, 1001, 1012, 4500])(
    "whose socket is closed with %i goes on since the cursor, and says that it was lost",
    async (code) => {
      const sinces: unknown[] = [];
      const url = await playedServer(({ variables, socket, next }, count) => {
        sinces.push(variables["since"]);
        next(page(`c${count}`));
        if (count < 4) socket.close(code);
      });
      const transport = overWebSocket({ url, webSocketImpl: WebSocket });
      onTestFinished(() => transport.dispose());
      const kinds: string[] = [];
      const stream = iterate(
        transport,
        { query: WATCH, variables: { since: "0" } },
        { waitMs: () => 1, onStatus: ({ kind }) => kinds.push(kind) },
      );
      for (let pages = 0; pages < 4; pages += 1) await stream.next();
      expect(sinces).toEqual(["0", "c1", "c2", "c3"]);
      expect(kinds.filter((kind) => kind === "lost")).toHaveLength(3);
    },
  );

  it("whose connectionParams could not be had goes on with the next socket, though the one before closes only then", async () => {
    const sinces: unknown[] = [];
    const url = await playedServer(({ variables, next }) => {
      sinces.push(variables["since"]);
      next(page("a"));
    });
    const closing = Promise.withResolvers<() => void>();
    let asked = 0;
    let sockets = 0;
    const transport = overWebSocket({
      url,
      webSocketImpl: class extends WebSocket {
        readonly #number = (sockets += 1);

        override emit(name: string, ...given: unknown[]): boolean {
          if (name !== "close" || this.#number > 1) return super.emit(name, ...given);
          closing.resolve(() => super.emit(name, ...given));
          return true;
        }
      },
      connectionParams: async () => {
        asked += 1;
        if (asked === 1) throw new Error("the token cannot be had");
        (await closing.promise)();
        return {};
      },
    });
    onTestFinished(() => transport.dispose());
    const lost: unknown[] = [];
    const onStatus = (status: ResumeStatus): void => void (status.kind === "lost" && lost.push(status.error));
    const stream = iterate(transport, { query: WATCH, variables: { since: "0" } }, { waitMs: () => 1, onStatus });
    expect(await stream.next()).toEqual({ done: false, value: page("a") });
    expect(lost).toMatchObject([{ code: "CONNECTION_LOST", message: "the token cannot be had" }]);
    expect(sinces).toEqual(["0"]);
  });

  it("gives up a socket that does not open in time, and tries again", async () => {
    const { port, requests } = await statusServer(200);
    const transport = overWebSocket({ url: `ws://127.0.0.1:${port}`, webSocketImpl: WebSocket, keepAlive: 50 });
    await expectLostAgain(transport, () => requests());
  });

  it.for([0, Infinity])("whose pings are turned off with a keepAlive of %d opens its sockets", async (keepAlive) => {
    const url = await playedServer(({ next }) => next(page("a")));
    const transport = overWebSocket({ url, webSocketImpl: WebSocket, keepAlive });
    onTestFinished(() => transport.dispose());
    const kinds: string[] = [];
    const stream = iterate(transport, { query: WATCH }, { waitMs: () => 1, onStatus: ({ kind }) => kinds.push(kind) });
    expect((await stream.next()).value).toEqual(page("a"));
    expect(kinds).toEqual(["connecting", "caught up"]);
  });

  it("gives up an SSE stream that falls silent, and tries again", async () => {
    const server = await providerServer([{ frames: [": begun\n\n"], ending: "silence" }]);
    const transport = overSse({ url: server.url, silenceMs: 50 });
    await expectLostAgain(transport, () => server.requests.length);
  });

  it("over SSE gives up if the server refuses with a status again and again", async () => {
    const { port, requests } = await statusServer(403);
    const transport = overSse({ url: `http://127.0.0.1:${port}` });
    onTestFinished(() => transport.dispose());
    await expect(iterate(transport, { query: WATCH }, { waitMs: () => 1 }).next()).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
    });
    expect(requests()).toBe(9);
  });

  it("over SSE tells a refusal that comes as the one event of a stream with another status than 200, and asks no more", async () => {
    const errors = [{ message: "no", extensions: { code: "FORBIDDEN" } }];
    const frames = [":\n\n", `event: next\ndata: ${JSON.stringify({ errors })}\n\n`, "event: complete\ndata:\n\n"];
    const { url, requests } = await providerServer([{ status: 403, frames }]);
    const transport = overSse({ url });
    onTestFinished(() => transport.dispose());
    expect((await iterate(transport, { query: WATCH }, { waitMs: () => 1 }).next()).value).toEqual({ errors });
    expect(requests).toHaveLength(1);
  });

  it.for(["WebSocket", "SSE"])("over %s that is disposed of ends its subscriptions for good", async (name) => {
    const app = await startTestApp();
    const transport = transportOver(name, app);
    const stream = iterate(transport, { query: WATCH }, { waitMs: () => 1 });
    await stream.next();
    const next = expect(stream.next()).rejects.toMatchObject({ code: "DISPOSED" });
    transport.dispose();
    await next;
    await expect(iterate(transport, { query: WATCH }).next()).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("refuses an address that is none", () => {
    expect(() => overWebSocket({ url: "no address" })).toThrow("give one like wss://");
  });
});

describe("urql", () => {
  it("does not show the last page again beside a refusal", async () => {
    const { transport, sinkOf } = playedTransport();
    const client = new UrqlClient({
      url: "http://unused",
      exchanges: [resumeExchange(transport, { waitMs: () => 1 })],
      preferGetMethod: false,
    });
    const seen: [number, boolean][] = [];
    client
      .subscription<{ monitor: { events: unknown[] } }>(WATCH, { since: "0" })
      .subscribe(({ data, error }) => void seen.push([data?.monitor.events.length ?? 0, error !== undefined]));
    const first = await sinkOf(0);
    first.next(page("a", true, { events: [{ kind: "DONE" }] }));
    first.error(new Error("lost"));
    (await sinkOf(1)).error([{ message: "no", extensions: { code: "FORBIDDEN" } }]);
    await expect.poll(() => seen.at(-1)?.[1]).toBe(true);
    expect(seen[0]).toEqual([1, false]);
    expect(seen.slice(1).every(([events]) => events === 0)).toBe(true);
  });
});

/** As retention will: what lies before is gone. */
async function expire(app: TestApp): Promise<string> {
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "hi");
  await app.database.sql.query(
    { name: "expire", text: "UPDATE tenant_log l SET floor = (SELECT max(position) FROM event e WHERE e.tenant = l.tenant)" },
    [],
  );
  return agent.cursor;
}

const overs: Readonly<Record<string, (app: TestApp) => Transport>> = {
  WebSocket: (app) => overWebSocket({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket }),
  SSE: (app) => overSse({ url: app.url }),
};

/** A transport of this name to the server. It is disposed of when the test ends. */
function transportOver(name: string, app: TestApp): Transport {
  const transport = overs[name]?.(app);
  if (transport === undefined) throw new Error(name);
  onTestFinished(() => transport.dispose());
  return transport;
}

describe.for(Object.keys(overs))("a server that refuses for now, over %s", (name) => {
  it("because its actor has no room says when to ask again, and is not asked before", async () => {
    const app = await startTestApp({ config: { rateLimit: { pointsPerMinute: 100 } }, overrides: { clock: stillClock() } });
    const query =
      "subscription ($since: Cursor) { timeline(since: $since) { cursor caughtUp events { agent { id template { templateId } } } } }";
    await iterate(transportOver(name, app), { query }).next();
    const lost = Promise.withResolvers<Extract<ResumeStatus, { readonly kind: "lost" }>>();
    const onStatus = (status: ResumeStatus): void => (status.kind === "lost" ? lost.resolve(status) : undefined);
    const stream = iterate(transportOver(name, app), { query }, { waitMs: () => 1, onStatus });
    const next = stream.next();
    const { error, waitMs } = await lost.promise;
    expect(error).toMatchObject({ code: "RATE_LIMITED", cause: [{ extensions: { code: "RATE_LIMITED" } }] });
    expect(waitMs).toBeGreaterThan(1_000);
    await stream.return();
    await next;
  });

  it("because commits were lost is asked some times more, and then what it says is told", async () => {
    const app = await startTestApp();
    await connect(app.url).createAgent();
    await app.database.sql.query({ name: "lose", text: "UPDATE tenant_log SET lost_at = now()" }, []);
    let attempts = 0;
    const onStatus = ({ kind }: ResumeStatus): void => void (kind === "connecting" && (attempts += 1));
    const { value } = await iterate(transportOver(name, app), { query: WATCH }, { waitMs: () => 1, onStatus }).next();
    expect(value).toMatchObject({ errors: [{ extensions: { code: "COMMITS_LOST" } }] });
    expect(attempts).toBe(9);
  });
});

describe.for(["WebSocket", "SSE"])("a token that is not admitted, over %s", (name) => {
  async function following(tokens: () => string) {
    const app = await startTestApp({ config: NEIGHBOURS });
    const asked = vi.fn(() => ({ authorization: `Bearer ${tokens()}` }));
    const transport =
      name === "SSE"
        ? overSse({ url: app.url, headers: asked })
        : overWebSocket({ url: app.url.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: asked });
    onTestFinished(() => transport.dispose());
    const lost: ResumeStatus[] = [];
    const onStatus = (status: ResumeStatus): void => void (status.kind === "lost" && lost.push(status));
    return { stream: iterate(transport, { query: WATCH }, { waitMs: () => 1, onStatus }), asked, lost, transport };
  }

  it("is sent once, and the subscription ends with the server's words unless another one is given", async () => {
    const { stream, asked, lost } = await following(() => "wrong");
    await expect(stream.next()).rejects.toMatchObject({
      code: "CONNECTION_REFUSED",
      message: expect.stringContaining("not accepted"),
    });
    // Asked for again some times, and sent once.
    expect(asked).toHaveBeenCalledTimes(5);
    expect(lost).toHaveLength(4);
    for (const status of lost)
      expect(status).toMatchObject({ error: { code: "UNAUTHENTICATED", message: expect.stringContaining("not accepted") } });
  });

  it("ends none of the subscriptions of its transport, once another one is given", async () => {
    const tokens = ["wrong"];
    const { stream, transport } = await following(() => tokens.shift() ?? "vera-token");
    const others = [1, 2].map(() => iterate(transport, { query: WATCH }, { waitMs: () => 1 }));
    const first = await Promise.all([stream, ...others].map((each) => each.next()));
    expect(first.map(({ done }) => done)).toEqual([false, false, false]);
    await Promise.all([stream, ...others].map((each) => each.return()));
  });

  it("is followed by another one that is", async () => {
    const tokens = ["wrong", "wrong too"];
    const { stream } = await following(() => tokens.shift() ?? "vera-token");
    expect(await stream.next()).toMatchObject({ done: false, value: { data: { monitor: { events: [] } } } });
    await stream.return();
  });

  it("is given up after eight others", async () => {
    let asked = 0;
    const { stream, lost } = await following(() => `wrong ${(asked += 1)}`);
    await expect(stream.next()).rejects.toMatchObject({ code: "CONNECTION_REFUSED" });
    expect(lost).toHaveLength(8);
  });
});

describe.for(Object.keys(overs))("a cursor that has expired, over %s", (name) => {
  const transportOf = (app: TestApp): Transport => transportOver(name, app);

  it("is a ResumeError for plain clients, Apollo Client and urql: query again, and go on from there", async () => {
    const app = await startTestApp();
    const since = await expire(app);
    const expired = { name: "ResumeError", code: "CURSOR_EXPIRED", cursor: since };
    await expect(iterate(transportOf(app), { query: WATCH, variables: { since } }).next()).rejects.toMatchObject(expired);

    const apollo = new ApolloClient({ link: ApolloLink.from([new ResumeLink(transportOf(app))]), cache: new InMemoryCache() });
    const byApollo = await new Promise((resolve) =>
      apollo
        .subscribe({ query: parse(WATCH), variables: { since } })
        .subscribe({ next: ({ error }) => resolve(error), error: resolve }),
    );
    expect(byApollo).toMatchObject(expired);
    expect(byApollo).toBeInstanceOf(ResumeError);

    const urql = new UrqlClient({ url: "http://unused", exchanges: [resumeExchange(transportOf(app))], preferGetMethod: false });
    const byUrql = await new Promise((resolve) =>
      urql.subscription(WATCH, { since }).subscribe(({ error }) => resolve(error?.networkError)),
    );
    expect(byUrql).toMatchObject(expired);
  });

  it("an operation that its document does not have is refused at once", async () => {
    const app = await startTestApp();
    let attempts = 0;
    const onStatus = ({ kind }: ResumeStatus): void => void (kind === "connecting" && (attempts += 1));
    const request = { query: WATCH.replace("subscription", "subscription Watch"), operationName: "Other" };
    const { value } = await iterate(transportOf(app), request, { waitMs: () => 1, onStatus }).next();
    expect(value).toMatchObject({ errors: [{ message: expect.stringContaining("operation") }] });
    expect(attempts).toBe(1);
  });

  it("other refusals come as the server's errors", async () => {
    const app = await startTestApp();
    const query =
      'subscription ($since: Cursor) { progress(agentId: "nobody", since: $since) { cursor caughtUp events { kind } } }';
    const stream = iterate(transportOf(app), { query });
    expect((await stream.next()).value).toMatchObject({ errors: [{ extensions: { code: "NOT_FOUND" } }] });
    expect((await stream.next()).done).toBe(true);
  });

  it("a token that is exchanged while the stream runs: the stream goes on with the new one", async () => {
    let valid = "old";
    let time = Date.now();
    const actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"] } as const;
    const app = await startTestApp({
      config: { authenticate: ({ token }) => (token === valid ? actor : null) },
      overrides: { clock: runningClock(() => new Date(time)) },
    });
    const authorization = (): string => `Bearer ${valid}`;
    const transport =
      name === "SSE"
        ? overSse({ url: app.url, headers: () => ({ authorization: authorization() }) })
        : overWebSocket({
            url: app.url.replace("http", "ws"),
            webSocketImpl: WebSocket,
            connectionParams: () => ({ authorization: authorization() }),
          });
    onTestFinished(() => transport.dispose());
    const stream = iterate<{ monitor: { events: { kind: string }[] } }>(transport, { query: WATCH }, { waitMs: () => 2 });
    await stream.next();
    valid = "new";
    time += 6_000;
    await connect(app.url, "new").createAgent();
    const kinds: string[] = [];
    for await (const { data } of stream) {
      kinds.push(...(data?.monitor.events.map((event) => event.kind) ?? []));
      if (kinds.length > 0) break;
    }
    expect(kinds).toEqual(["AGENT_CREATED"]);
  });
});
