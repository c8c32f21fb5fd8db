import { once } from "node:events";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import type { LogFields, Logger } from "../../src/telemetry/log.ts";
import { AgentsDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { tokenActor } from "../support/actors.ts";
import { connect } from "../support/client.ts";
import { silentLogger } from "../support/silent-logger.ts";

type Answer = { readonly status: number; readonly code: string; readonly message: string };

/** The answer to a request with this header. */
async function refusal(url: string, authorization: string | null): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization === null ? {} : { authorization }) },
    body: JSON.stringify({ query: "{ __typename }" }),
  });
  const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
  return { status: response.status, code: errors[0]?.extensions.code ?? "", message: errors[0]?.message ?? "" };
}

describe("who is not admitted (invariant 13)", () => {
  it("is told to the operator, by the address and the page that they came from, whatever the transport", async () => {
    const told: LogFields[] = [];
    const logger: Logger = {
      ...silentLogger,
      tell: (event, _message, fields = {}) => void (event === "token_refused" && told.push(fields)),
    };
    const { url } = await startTestApp({
      config: { actors: [tokenActor("anna", ["user"]).actor], allowedOrigins: ["https://desk.example"] },
      overrides: { logger },
    });
    const origin = "https://desk.example";
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: '{"query":"{__typename}"}',
    });
    const socket = new WebSocket(url.replace("http", "ws"), "graphql-transport-ws", { origin });
    socket.once("open", () => socket.send('{"type":"connection_init","payload":{"authorization":"Bearer wrong"}}'));
    const [code] = await once(socket, "close");
    expect(code).toBe(4403);
    expect(told).toEqual([
      { address: "127.0.0.1", origin },
      { address: "127.0.0.1", origin },
    ]);
  });

  it("is told whether no token came, or one that is wrong", async () => {
    const { url } = await startTestApp({ config: { actors: [tokenActor("anna", ["user"]).actor] } });
    expect(await refusal(url, null)).toMatchObject({
      status: 401,
      message: expect.stringMatching(/^Authentication is required/),
    });
    expect(await refusal(url, "Basic YTpi")).toMatchObject({ status: 401, message: expect.stringContaining("Bearer <token>") });
    expect(await refusal(url, "Bearer wrong")).toMatchObject({
      status: 401,
      code: "UNAUTHENTICATED",
      message: expect.stringMatching(/^The token is not accepted/),
    });
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
  ])("is nobody if authenticate answers %s", async (_name, answer) => {
    const { url } = await startTestApp({ config: { authenticate: () => answer } });
    expect(await refusal(url, "Bearer x")).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
  });

  it.each([
    ["an id that is a number", { id: 5, kind: "USER", tenant: "t", roles: ["admin"] }, "answer.id must be string"],
    ["a text of roles", { id: "a", kind: "USER", tenant: "t", roles: "admin" }, "roles must be array"],
    ["a role that there is not", { id: "a", kind: "USER", tenant: "t", roles: ["root"] }, "roles.0 must be one of viewer"],
    ["no tenant", { id: "a", roles: ["admin"] }, "must have required property 'tenant'"],
    ["a text", "anna", "must be object"],
  ])("lets nobody in, and names itself in the server's log, if authenticate answers %s", async (_name, answer, problem) => {
    const logged: string[] = [];
    const write = (message: string, cause?: unknown): void => void logged.push(message, String(cause));
    const options: TestAppOptions = {
      config: { authenticate: () => answer as never },
      overrides: { logger: { tell: () => {}, warn: write, error: write } },
    };
    const { url } = await startTestApp(options);
    expect(await refusal(url, "Bearer x")).toMatchObject({ status: 500, code: "INTERNAL_SERVER_ERROR" });
    expect(logged.join("\n")).toContain("the configured `authenticate` returned an invalid actor");
    expect(logged.join("\n")).toContain(problem.replace("answer.", ""));
  });
});

describe("a sign-in that fails (invariant 11)", () => {
  const SECRET = "connect ECONNREFUSED postgres://svc:hunter2@10.1.2.3:5432/users";
  const admin = { id: "anna", tenant: "t", roles: ["admin"] } as const;

  /** A server whose sign-in fails if it is told to, and what the server has logged. */
  async function failingSignIn() {
    const logged: string[] = [];
    const write = (message: string, cause?: unknown): void => void logged.push(`${message}: ${String(cause)}`);
    const signIn = { isAway: false };
    const authenticate = () => {
      if (signIn.isAway) throw new Error(SECRET);
      return admin;
    };
    const { url } = await startTestApp({
      config: { authenticate },
      overrides: { logger: { tell: () => {}, warn: () => {}, error: write } },
      expectsErrors: true,
    });
    return { url, signIn, logged };
  }

  it("closes a socket that is opened meanwhile so that its client connects again, and says nothing of why", async () => {
    const { url, signIn, logged } = await failingSignIn();
    signIn.isAway = true;
    const closed: unknown = await connect(url)
      .iterate("{ __typename }")
      .next()
      .catch((error: unknown) => error);
    expect(closed).toMatchObject({ code: 1013, reason: "sign-in failed: connect again" });
    expect(logged).toEqual([`an operation failed: Error: ${SECRET}`]);
  });

  it("closes a socket whose operations begin meanwhile alike", async () => {
    const { url, signIn, logged } = await failingSignIn();
    const client = connect(url);
    await client.iterate("subscription { control { cursor } }").next();
    signIn.isAway = true;
    const closed: unknown = await client
      .iterate("{ __typename }")
      .next()
      .catch((error: unknown) => error);
    expect(closed).toMatchObject({ code: 1013, reason: "sign-in failed: connect again" });
    expect(logged).toContain(`an operation failed: Error: ${SECRET}`);
  });

  it("closes a socket on which a subscription waits alike, so that it goes on since its cursor", async () => {
    const { url, signIn, logged } = await failingSignIn();
    const pages = connect(url).iterate("subscription { control { cursor } }");
    await pages.next();
    signIn.isAway = true;
    const closed: unknown = await pages.next().catch((error: unknown) => error);
    expect(closed).toMatchObject({ code: 1013, reason: "sign-in failed: connect again" });
    expect(logged).toContain(`an operation failed: Error: ${SECRET}`);
  });

  it("ends an SSE stream that waits without a word and without `complete`, which means the same", async () => {
    const { url, signIn } = await failingSignIn();
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ query: "subscription { control { cursor } }" }),
    });
    let text = "";
    const read = async (): Promise<void> => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        if (text.includes("event: next")) signIn.isAway = true;
      }
    };
    await expect(read()).rejects.toThrow("terminated");
    expect(text).not.toContain("errors");
    expect(text).not.toContain("complete");
  });
});

describe("the name of an actor", () => {
  it("stands in one table, is shown wherever they stand, and is in no event", async () => {
    const anna = tokenActor("anna", ["user"]);
    const { url, database } = await startTestApp({ config: { actors: [{ ...anna.actor, name: "Anna Ó" }] } });
    const client = connect(url, anna.token);
    await client.createAgent();
    expect((await client.get(AgentsDocument, {})).agents.nodes).toMatchObject([
      { createdBy: { actorId: "anna", name: "Anna Ó" } },
    ]);
    const [events] = await database.sql.query<{ text: string }>(
      { name: "e", text: "SELECT string_agg(payload::text, '') AS text FROM event" },
      [],
    );
    expect(events?.text).not.toContain("Anna");
  });

  it("is what the operator's own authenticate says now", async () => {
    let name = "Anna";
    const { url } = await startTestApp({ config: { authenticate: () => ({ id: "anna", name, tenant: "t", roles: ["admin"] }) } });
    const client = connect(url);
    await client.createAgent();
    for (name of ["Anna", "Anna Berg"])
      await expect.poll(async () => (await client.get(AgentsDocument, {})).agents.nodes).toMatchObject([{ createdBy: { name } }]);
  });
});
