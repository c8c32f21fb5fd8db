import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { CloseCode } from "graphql-ws";
import { subscribe as listen, unsubscribe as ignore } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request, type ServerResponse } from "node:http";
import { createConnection, type Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import WebSocket from "ws";
import type { Sql } from "../../src/db/sql.ts";
import { CLOSE_CODES } from "../../src/server/slow-readers.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { metric } from "../support/metric.ts";
import { seriesOf } from "../support/metrics.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

/** A raw request, with headers that fetch does not allow. */
function raw(
  url: string,
  headers: Readonly<Record<string, string>>,
  body = '{"query":"{ __typename }"}',
  method = "POST",
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { "content-type": "application/json", ...headers } }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.on("error", reject);
    sent.end(method === "GET" ? undefined : body);
  });
}

/** The code and the reason with which a raw socket closes after what was sent. */
async function closeOf(
  url: string,
  messages: readonly (object | string)[],
  { protocols = ["graphql-transport-ws"], headers = {} }: { protocols?: string[]; headers?: Record<string, string> } = {},
): Promise<{ readonly code: number; readonly reason: string }> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), protocols, { headers });
  onTestFinished(() => socket.terminate());
  const closed = once(socket, "close") as Promise<[number, Buffer]>;
  closed.catch(() => {});
  await once(socket, "open");
  for (const message of messages) {
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
    if (typeof message === "object" && "type" in message && message.type === "connection_init")
      await Promise.race([once(socket, "message"), closed]);
  }
  const [code, reason] = await closed;
  return { code, reason: reason.toString() };
}

const closeCode = async (...given: Parameters<typeof closeOf>): Promise<number> => (await closeOf(...given)).code;

type Told = { readonly id?: string; readonly type: string; readonly payload?: unknown };

/** A raw socket that the server has acknowledged, and all that it is told. What is said at once goes in one write, and is read at once. */
async function acknowledged(url: string) {
  const socket = new WebSocket(url.replace(/^http/, "ws"), ["graphql-transport-ws"]);
  onTestFinished(() => socket.terminate());
  const told: Told[] = [];
  socket.on("message", (message: Buffer) => told.push(JSON.parse(message.toString()) as Told));
  await once(socket, "open");
  const sayAtOnce = (...messages: readonly object[]): void => {
    const connection = (socket as unknown as { readonly _socket: Socket })._socket;
    connection.cork();
    messages.forEach((message) => socket.send(JSON.stringify(message)));
    connection.uncork();
  };
  sayAtOnce({ type: "connection_init" });
  await expect.poll(() => told).toMatchObject([{ type: "connection_ack" }]);
  return { socket, told, sayAtOnce };
}

describe("where requests come from", () => {
  it("a foreign Host or Origin is refused over HTTP and WebSocket, the own one and allowed ones are not", async () => {
    const app = await startTestApp({ config: { allowedOrigins: ["http://localhost:5173"] } });
    const host = `127.0.0.1:${app.port}`;
    expect((await raw(app.url, {})).status).toBe(200);
    expect((await raw(app.url, { origin: `http://${host}` })).status).toBe(200);
    expect((await raw(app.url, { origin: "http://localhost:5173" })).status).toBe(200);
    expect(await raw(app.url, { origin: "https://evil.example" })).toMatchObject({
      status: 403,
      body: expect.stringContaining("allowedOrigins"),
    });
    expect(await raw(app.url, { host: "evil.example" })).toMatchObject({
      status: 403,
      body: expect.stringContaining("127.0.0.1"),
    });
    expect((await raw(app.url, { origin: "null" })).status).toBe(403);
    const refused = new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws", {
      headers: { origin: "https://evil.example" },
    });
    const [error] = (await once(refused, "error")) as [Error];
    expect(error.message).toContain("403");
  });

  it("a Host that is none is refused before anything is made of it, whoever asks and whatever for", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const { origin } = new URL(app.url);
    for (const host of ["[", "a b[", "a/graphql?query=", "a@b", "127.0.0.1:port"]) {
      for (const path of ["/graphql", "/healthz", "/metrics", "/images/x"]) {
        const { status, body } = await raw(origin + path, { host });
        const message = `Host ${JSON.stringify(host)} is not a valid host name`;
        const refusal = JSON.stringify({ errors: [{ message, extensions: { code: "BAD_REQUEST" } }] });
        expect({ status, body }, `${host} ${path}`).toEqual({
          status: 400,
          body: path === "/graphql" ? refusal : `${message}\n`,
        });
      }
      const refused = new WebSocket(app.url.replace(/^http/, "ws"), "graphql-transport-ws", { headers: { host } });
      const [error] = (await once(refused, "error")) as [Error];
      expect(error.message).toContain("400");
    }
    // Who says none, as HTTP/1.0 may, and by whatever name the server is known.
    for (const host of ["", "triplane.example", "[::1]:4000"]) expect((await raw(app.url, { host })).status, host).toBe(401);
  });

  it("a refused origin is an error of GraphQL, which clients show: behind a proxy on the page's own origin", async () => {
    const app = await startTestApp();
    const link = new HttpLink({ uri: app.url, headers: { origin: "http://localhost:5173" } });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    await expect(
      client.query({
        query: gql`
          {
            viewer {
              tenant
            }
          }
        `,
      }),
    ).rejects.toThrow('Origin "http://localhost:5173" is not allowed: add it to allowedOrigins in the configuration');
    const { status, body } = await raw(app.url, { origin: "http://localhost:5173", accept: "application/json" });
    expect({ status, body: JSON.parse(body) as unknown }).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: "FORBIDDEN" } }] },
    });
  });

  it("an allowed origin is answered as browsers write it, however the configuration does; a type is read in any case", async () => {
    const app = await startTestApp({ config: { allowedOrigins: ["https://App.Example.com:443"] } });
    const answer = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "Application/JSON; Charset=UTF-8", origin: "https://app.example.com" },
      body: JSON.stringify({ query: "{ __typename }" }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(await answer.json()).toEqual({ data: { __typename: "Query" } });
    const asked = await fetch(app.url, {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
    });
    expect(asked.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
  });

  it("forms, texts and mutations over GET do nothing", async () => {
    const { url } = await startTestApp();
    const mutation = 'mutation { createAgent(input: { templateId: "assistant" }) { cursor } }';
    expect(
      (await raw(url, { "content-type": "application/x-www-form-urlencoded" }, `query=${encodeURIComponent(mutation)}`)).status,
    ).toBe(415);
    const refused = await raw(url, { "content-type": "text/plain" }, JSON.stringify({ query: mutation }));
    expect(refused.status).toBe(415);
    expect(JSON.parse(refused.body)).toEqual({
      errors: [{ message: expect.stringContaining("application/json"), extensions: { code: "BAD_REQUEST" } }],
    });
    expect((await raw(url, { "content-type": "multipart/form-data; boundary=x" }, "--x--")).status).toBe(415);
    expect((await raw(`${url}?query=${encodeURIComponent(mutation)}`, {}, "", "GET")).status).toBe(405);
    expect(
      (await connect(url).post<{ agents: { nodes: [] } }>({ query: "{ agents { nodes { id } } }" })).data?.agents.nodes,
    ).toEqual([]);
  });
});

describe("hostile requests", () => {
  it("with strange paths, and upgrades that are refused and reset, leave the server alive", async () => {
    const app = await startTestApp();
    const send = (text: string, thenReset = false): Promise<void> =>
      new Promise((resolve) => {
        const socket = createConnection(app.port, "127.0.0.1", () => {
          socket.write(text);
          if (thenReset) socket.resetAndDestroy();
        });
        socket.on("error", () => {});
        socket.on("data", () => socket.end());
        socket.on("close", () => resolve());
      });
    const host = `Host: 127.0.0.1:${app.port}\r\n`;
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    await send(`GET // HTTP/1.1\r\n${host}\r\n`);
    await send(`GET // HTTP/1.1\r\n${host}${upgrade}\r\n`);
    await send(`GET http://[ HTTP/1.1\r\n${host}\r\n`);
    for (let index = 0; index < 100; index += 1)
      await send(`GET /graphql HTTP/1.1\r\n${host}Origin: https://evil.example\r\n${upgrade}\r\n`, true);
    expect((await raw(app.url, {})).status).toBe(200);
  });

  it("with a chunked body that is too large are refused", async () => {
    const app = await startTestApp();
    const chunks = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode("x".repeat(1024 * 1024)));
      },
    });
    const answer = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: chunks,
      duplex: "half",
    } as RequestInit).then(
      (response) => response.status,
      () => "ended",
    );
    expect([413, "ended"]).toContain(answer);
    expect((await raw(app.url, {})).status).toBe(200);
  });

  it("for other upgrades than WebSocket are answered as plain requests", async () => {
    const app = await startTestApp();
    expect(
      (
        await raw(app.url, {
          connection: "Upgrade, HTTP2-Settings",
          upgrade: "h2c",
          "http2-settings": "AAMAAABkAARAAAAAAAIAAAAA",
        })
      ).status,
    ).toBe(200);
  });
});

describe("a page that cannot be answered", () => {
  it("ends the subscription after its error, so that the client does not go on behind it", async () => {
    const app = await startTestApp({ expectsErrors: true });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "one");
    await app.database.sql.query({ name: "t", text: "ALTER TABLE agent RENAME COLUMN workspace TO workspace_away" }, []);
    const answers: unknown[] = [];
    for await (const answer of client.iterate(
      'subscription { timeline(since: "0") { cursor events { seq agent { workspace } } } }',
    ))
      answers.push(answer);
    await app.database.sql.query({ name: "u", text: "ALTER TABLE agent RENAME COLUMN workspace_away TO workspace" }, []);
    expect(answers).toHaveLength(1);
    expect(answers[0]).toMatchObject({
      data: null,
      errors: [expect.objectContaining({ message: "Unexpected error." }), ...Array(answers.length - 1)],
    });
  });
});

describe("WebSocket", () => {
  it("tells a wrong token apart from none, and from a header of another form", async () => {
    const { url } = await startTestApp({ config: NEIGHBOURS });
    const says = async (payload: object): Promise<string> => (await closeOf(url, [{ type: "connection_init", payload }])).reason;
    expect(await says({})).toBe("Forbidden: no token was given");
    expect(await says({ authorization: "anna-token" })).toBe("Forbidden: `authorization` must have the form `Bearer <token>`");
    expect(await says({ authorization: "Bearer nobody" })).toBe("Forbidden: the token is not accepted");
  });

  it("closes with the codes of the protocol, which docs/graphql.md lists", async () => {
    const { url } = await startTestApp({ config: NEIGHBOURS });
    const subscribe = { id: "1", type: "subscribe", payload: { query: "subscription { control { cursor } }" } };
    const init = { type: "connection_init", payload: { authorization: "Bearer anna-token" } };
    const stranger = { type: "connection_init", payload: { authorization: "Bearer nobody" } };
    const late = closeCode(url, []);
    const codes: readonly (readonly [CloseCode, Promise<number>])[] = [
      [CloseCode.Unauthorized, closeCode(url, [subscribe])],
      [CloseCode.BadRequest, closeCode(url, ["{"])],
      [CloseCode.TooManyInitialisationRequests, closeCode(url, [init, init])],
      [CloseCode.SubscriberAlreadyExists, closeCode(url, [init, subscribe, subscribe])],
      [CloseCode.Forbidden, closeCode(url, [stranger])],
      [CloseCode.SubprotocolNotAcceptable, closeCode(url, [], { protocols: [] })],
      [CloseCode.ConnectionInitialisationTimeout, late],
    ];
    const documented = await readFile(new URL("../../docs/graphql.md", import.meta.url), "utf8");
    for (const [code, closed] of codes) {
      expect(await closed).toBe(code);
      expect(documented).toContain(String(code));
    }
    for (const code of Object.values(CLOSE_CODES)) expect(documented).toContain(String(code));
    await expect(closeCode(url, [], { protocols: ["graphql-ws"] })).rejects.toThrow();
  });

  it("takes an id again at once when its client has completed the operation that had it (invariant 2)", async () => {
    const { url } = await startTestApp();
    const { socket, told, sayAtOnce } = await acknowledged(url);
    const subscribe = (name: string) => {
      const query = `subscription { timeline(since: "0") { ${name}: cursor caughtUp events { seq } } }`;
      return { id: "1", type: "subscribe", payload: { query } };
    };
    const complete = { id: "1", type: "complete" };
    const names = (): string[] =>
      told.flatMap(({ type, payload }) =>
        type === "next" ? [/first|second|third|fourth/.exec(JSON.stringify(payload))?.[0] ?? ""] : [],
      );
    sayAtOnce(subscribe("first"));
    await expect.poll(names).toEqual(["first"]);
    sayAtOnce(complete, subscribe("second"));
    await expect.poll(names).toEqual(["first", "second"]);
    // Those that were completed while they waited are not begun.
    sayAtOnce(complete, subscribe("third"), complete, subscribe("third"), complete, subscribe("fourth"));
    await expect.poll(names).toEqual(["first", "second", "fourth"]);
    const agent = await connect(url).createAgent();
    await connect(url).turn(agent.id, "hi");
    await expect.poll(() => names().filter((name) => name !== "fourth")).toEqual(["first", "second"]);
    await expect.poll(() => names().length).toBeGreaterThan(3);
    expect(told.filter(({ type }) => type === "complete" || type === "error")).toEqual([]);
    sayAtOnce(complete, subscribe("first"), subscribe("second"));
    expect(await once(socket, "close")).toMatchObject({ 0: CloseCode.SubscriberAlreadyExists });
  });

  it("a message that is too large closes with 1009, and is a line of the log without a stack", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const warnings: string[] = [];
    const logger = { tell: () => {}, warn: (message: string) => void warnings.push(message), error: () => {} };
    const { url } = await startTestApp({ overrides: { logger } });
    // What the start said of the tests' PostgreSQL.
    warnings.length = 0;
    expect(await closeCode(url, [{ type: "connection_init" }, "x".repeat(9 * 1024 * 1024)])).toBe(1009);
    expect(warnings).toEqual([expect.stringMatching(/^a WebSocket client broke the protocol \(.*\)$/)]);
    expect(printed).not.toHaveBeenCalled();
  });

  it("answers a document that is wrong with its errors and their code, as HTTP does, and the socket lives on", async () => {
    const { url } = await startTestApp();
    const client = connect(url);
    for (const [query, code] of [
      ["{ nonsense }", "GRAPHQL_VALIDATION_FAILED"],
      ["{", "GRAPHQL_PARSE_FAILED"],
      ["{ ...A } fragment A on Query { agents { nodes { ...B } } ...A } fragment B on Agent { id }", "GRAPHQL_VALIDATION_FAILED"],
    ] as const) {
      const errors = await client
        .iterate(query)
        .next()
        .then(
          (result) => result.value,
          (error: unknown) => error,
        );
      const said = [
        expect.objectContaining({
          message: expect.stringMatching(/nonsense|Syntax Error|A spreads itself/),
          extensions: { code },
        }),
      ];
      expect(errors, query).toEqual(said);
      expect((await client.post({ query })).errors, query).toEqual(said);
    }
  });

  it.for([{ query: "query A { __typename }", operationName: "B" }, { query: "query A { __typename } query B { __typename }" }])(
    "answers a document without the operation that is asked for as HTTP does: %s",
    async (payload) => {
      const client = connect((await startTestApp()).url);
      const said = [
        { message: "Could not determine what operation to execute.", extensions: { code: "OPERATION_RESOLUTION_FAILURE" } },
      ];
      await expect(client.iteratePayload(payload).next()).rejects.toEqual(said);
      expect((await client.post(payload)).errors).toEqual(said);
    },
  );

  it("takes as many new operations as a client completes at the same time", async () => {
    const { url } = await startTestApp();
    const { told, sayAtOnce } = await acknowledged(url);
    const subscribes = (page: string): object[] =>
      Array.from({ length: 60 }, (_, index) => ({
        id: `${page}${index}`,
        type: "subscribe",
        payload: { query: "subscription { control { cursor } }" },
      }));
    sayAtOnce(...subscribes("one"));
    await expect.poll(() => told.filter(({ type }) => type === "next").length).toBe(60);
    sayAtOnce(...Array.from({ length: 60 }, (_, index) => ({ id: `one${index}`, type: "complete" })), ...subscribes("two"));
    await expect.poll(() => told.filter(({ type }) => type === "next").length).toBe(120);
    expect(told.filter(({ type }) => type === "error")).toEqual([]);
  });

  it("refuses more than 100 operations on one socket", async () => {
    const { url } = await startTestApp();
    const client = connect(url);
    const streams = Array.from({ length: 101 }, () => client.iterate("subscription { control { cursor } }"));
    const first = await Promise.all(
      streams.map((stream) =>
        stream.next().then(
          (result) => JSON.stringify(result.value),
          (error: unknown) => JSON.stringify(error),
        ),
      ),
    );
    expect(first.filter((answer) => answer.includes("TOO_MANY_OPERATIONS"))).toHaveLength(1);
    for (const stream of streams) await stream.return?.();
  });
});

describe("SSE", () => {
  it("streams the same pages", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const ending = new AbortController();
    const response = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({
        query: `subscription { progress(agentId: "${agent.id}", since: "0", until: DONE) { cursor caughtUp events { kind seq } } }`,
      }),
      signal: ending.signal,
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const text = await response.text();
    const pages = [...text.matchAll(/^data: (\{.*\})$/gm)].map(
      (match) => JSON.parse(match[1] ?? "") as { data: { progress: { events: { kind: string }[] } } },
    );
    expect(pages.flatMap((page) => page.data.progress.events.map((event) => event.kind))).toEqual([
      "MESSAGE_RECEIVED",
      "TEXT_CHUNK_START",
      "TEXT_CHUNK",
      "TEXT_CHUNK_END",
      "DONE",
    ]);
    expect(text).toContain("event: complete");
  });

  it("a client that leaves before the first answer leaves no timer, no reader and no feed behind", async () => {
    const timers = vi.spyOn(globalThis, "setInterval");
    onTestFinished(() => timers.mockRestore());
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const holding = (given: Sql): Sql => ({
      ...given,
      query: async (statement, values) => {
        if (statement.name === "read_head") {
          asked.resolve();
          await held.promise;
        }
        return given.query(statement, values);
      },
    });
    const app = await startTestApp({ overrides: { sql: holding } });
    const { url } = app;
    const pings = (): number => timers.mock.calls.filter(([, ms]) => ms === 12_000).length;
    const subscribe = (signal: AbortSignal): Promise<Response> =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        body: JSON.stringify({ query: "subscription { timeline { cursor } }" }),
        signal,
      });
    const before = pings();
    const leaving = new AbortController();
    const heard = nextResponse();
    const left = subscribe(leaving.signal).catch(() => null);
    await asked.promise;
    const closed = once(await heard, "close");
    leaving.abort();
    expect(await left).toBe(null);
    await closed;
    held.resolve();
    const staying = new AbortController();
    expect((await subscribe(staying.signal)).status).toBe(200);
    expect(pings() - before).toBe(1);
    for (const figure of ["triplane_subscriptions", "triplane_feeds"]) await expect.poll(() => metric(app, figure)).toBe(1);
    staying.abort();
  });
});

/** The server's side of the next request. */
function nextResponse(): Promise<ServerResponse> {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const heard = (message: unknown): void => resolve((message as { response: ServerResponse }).response);
  listen("http.server.request.start", heard);
  onTestFinished(() => void ignore("http.server.request.start", heard));
  return promise;
}

describe("operators' routes", () => {
  it("answer health, readiness and metrics", async () => {
    const app = await startTestApp({ overrides: { version: { version: "1.2.3", commit: "abc" } } });
    const get = (path: string) => raw(app.url.replace("/graphql", path), {}, "", "GET");
    expect(await get("/healthz")).toEqual({ status: 200, body: "ok, Triplane 1.2.3 (abc)\n" });
    expect(await get("/readyz")).toEqual({ status: 200, body: "ready\n" });
    const metrics = (await get("/metrics")).body;
    expect(metrics).toMatch(/^triplane_events_committed_total \d+$/m);
    expect(metrics).toContain(`triplane_build_info{version="1.2.3",commit="abc",node="${process.versions.node}"} 1`);
    // Each is explained and typed (Prometheus' text format), and nothing else is said.
    const kinds = [...metrics.matchAll(/^# HELP (\w+) \S.*\n# TYPE (\1) (gauge|counter|histogram)$/gm)].map(([, , name]) => name);
    for (const { name } of seriesOf(metrics)) expect(kinds).toContain(name.replace(/_(bucket|sum|count)$/, ""));
    expect((await get("/elsewhere")).status).toBe(404);
  });

  it("GraphiQL is there for browsers, needs nothing from elsewhere, and knows the walk", async () => {
    const app = await startTestApp();
    const answer = await fetch(app.url, { headers: { accept: "text/html" } });
    // It has some megabytes, and changes only with the server.
    expect(answer.headers.get("cache-control")).toBe("private, max-age=3600");
    const page = await answer.text();
    expect(page).toContain("CreateAgent");
    expect(page).toContain("Find every TODO");
    expect([...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="(https?:[^"]+)"/g)].map((match) => match[1])).toEqual([]);
  });
});

describe("the close of a server", () => {
  it("ends sockets with 1001, so that clients connect anew, and leaves nothing running", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const stream = client.timeline({ agentId: agent.id });
    await stream.next();
    const next = stream.next();
    await Promise.all([app.close(), expect(next).rejects.toMatchObject({ code: 1001 })]);
    await expect(fetch(app.url)).rejects.toThrow();
  });
});
