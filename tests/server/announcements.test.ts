import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { createClient } from "graphql-ws";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import type { Listeners } from "../../src/deliveries/listeners.ts";
import type { ConsumerTimes } from "../../src/deliveries/delivery.ts";
import { WEBHOOK_TRY_MS, webhookConsumer } from "../../src/deliveries/webhooks.ts";
import type { TimelineEvent } from "../../src/events/event.ts";
import { isPrivateAddress } from "../../src/lib/addresses.ts";
import { withCause } from "../../src/lib/text.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { playedModel, says } from "../support/models.ts";

const TIMES: ConsumerTimes = { leaseMs: 5_000, sweepMs: 100, firstRetryMs: 10, lastRetryMs: 50 };
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const ASKS = {
  replies: [
    { when: { user: "(?<path>.*)" }, call: [{ tool: "fs_write", input: { path: "{{path}}", content: "text" } }] },
    { when: {}, say: ["Done."] },
  ],
};

type Received = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

const CLOSED: TimelineEvent = {
  tenant: "one",
  agentId: "agent",
  createdBy: "anna",
  ancestors: [],
  position: 1,
  seq: 1,
  at: new Date(),
  channel: "CONTROL",
  bytes: 1,
  body: { kind: "PERMISSION_CLOSED", approvalId: "approval", callId: "call", approvalState: "EXPIRED", note: "too late" },
};

/** No event of these has a decider, whose name would be read. */
const deliverer = webhookConsumer({ query: () => Promise.resolve([]) });

/** A target of webhooks that answers as the test says. */
async function target(answer: (count: number) => number) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8") as AsyncIterable<string>) body += chunk;
    received.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(answer(received.length), { location: "http://127.0.0.1:1/" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const close = async (): Promise<void> => {
    server.close();
    await once(server, "close");
  };
  return { received, port: (server.address() as AddressInfo).port, close };
}

async function appWith(config: NonNullable<TestAppOptions["config"]>, options: TestAppOptions = {}) {
  const app = await startTestApp({ script: ASKS, config, overrides: { consumerTimes: TIMES }, ...options });
  const client = connect(app.url);
  return { app, client, agent: await client.createAgent() };
}

const hook = (port: number) => ({ url: `http://127.0.0.1:${port}/hook`, secret: SECRET, allowPrivateTarget: true });

describe("outgoing webhooks", () => {
  it("announce what is asked and decided, signed (Standard Webhooks), until they are accepted, under one id", async () => {
    const { received, port } = await target((count) => (count <= 2 ? 500 : count === 3 ? 302 : 204));
    const { client, agent } = await appWith({ webhooks: { inbox: hook(port) }, publicUrl: "https://Triplane.example.org" });
    await client.send(agent.id, "a.txt");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    await expect.poll(() => received.length).toBe(4);
    const { approvalId = "", inputHash = "" } = required?.request ?? {};
    // The turn has not waited for any of it.
    await client.decide({ approvalId, inputHash, decision: "ALLOW" });
    await client.until(agent.id, "DONE");
    await expect.poll(() => received.length).toBe(5);
    const bodies = received.map(({ body }) => JSON.parse(body) as { type: string; data: object });
    expect(bodies.map(({ type }) => type)).toEqual([...Array<string>(4).fill("PERMISSION_REQUIRED"), "PERMISSION_DECIDED"]);
    expect(bodies[0]).toMatchObject({
      data: { agentId: agent.id, approvalId, inputHash, tool: "fs_write", risk: "MEDIUM", inputPreview: expect.any(String) },
    });
    expect(bodies[0]?.data).toHaveProperty("url", `https://triplane.example.org/console/inbox/${encodeURIComponent(approvalId)}`);
    expect(bodies[4]).toMatchObject({
      data: {
        approvalId,
        decision: "ALLOW",
        approvalState: "ALLOWED",
        tool: "fs_write",
        decidedBy: { actorId: "local" },
        deciderName: null,
      },
    });
    expect(new Set(received.slice(0, 4).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(received[4]?.headers["webhook-id"]).not.toBe(received[0]?.headers["webhook-id"]);
    for (const { headers, body } of received) {
      const text = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
      const signature = createHmac("sha256", Buffer.from(SECRET.slice(6), "base64"))
        .update(text)
        .digest("base64");
      expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
    }
  });

  it("has one id for all tries of an event, and another for one that stands in its place after a backup was restored", async () => {
    const { received, port } = await target(() => 204);
    const url = new URL(`http://127.0.0.1:${port}/x`);
    const consumer = deliverer({
      name: "inbox",
      secret: SECRET,
      kinds: [],
      tenant: null,
      url,
      allowsPrivate: true,
      publicUrl: null,
    });
    const before = { ...CLOSED, at: new Date(1_000) };
    for (const event of [before, before, { ...before, at: new Date(2_000) }])
      await consumer.deliver(event, new AbortController().signal);
    const ids = received.map(({ headers }) => headers["webhook-id"]);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it("what waited while all servers were away for weeks is announced, though the next start itself says something in the log", async () => {
    let isUp = false;
    const { received, port } = await target(() => (isUp ? 204 : 500));
    const url = await testDatabaseUrl();
    const config = { webhooks: { inbox: { ...hook(port), kinds: ["MESSAGE_RECEIVED" as const] } } };
    const database = { kind: "postgres", url, connections: 3 } as const;
    const { app, client, agent } = await appWith(config, { database, script: { replies: [{ when: {}, say: ["Hello."] }] } });
    await client.turn(agent.id, "hi");
    await expect.poll(() => received.length).toBeGreaterThan(0);
    await app.close();
    const operator = await administrator(url);
    await operator.query("UPDATE event SET at = at - interval '30 days'");
    await operator.query("UPDATE consumer SET seen_at = seen_at - interval '30 days' WHERE tenant = ''");
    const tried = received.length;
    isUp = true;
    await appWith({ ...config, retention: { eventsDays: 90 } }, { database });
    await expect.poll(() => received.length).toBe(tried + 1);
    const { rows } = await operator.query("SELECT count(*)::int AS said FROM event WHERE kind = 'CONFIGURATION_CHANGED'");
    expect(rows).toEqual([{ said: 1 }]);
  });

  it("name messages and agents by the ids that the API takes", async () => {
    const { received, port } = await target(() => 204);
    const { client, agent } = await appWith(
      { webhooks: { inbox: { ...hook(port), kinds: ["DONE", "MESSAGE_RECEIVED"] } } },
      { script: { replies: [{ when: {}, say: ["Hello."] }] } },
    );
    await client.turn(agent.id, "hi");
    const [message] = (await client.agent(agent.id)).messages.nodes;
    await expect.poll(() => received.length).toBe(2);
    const data = received.map(({ body }) => (JSON.parse(body) as { type: string; data: object }).data);
    expect(data).toMatchObject([
      { agentId: agent.id, messageId: message?.id },
      { agentId: agent.id, messageIds: [message?.id] },
    ]);
  });

  it("a target that switches protocols is tried again, and holds nothing up", async () => {
    let requests = 0;
    const switching = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => {
        requests += 1;
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      });
    });
    switching.listen(0, "127.0.0.1");
    await once(switching, "listening");
    onTestFinished(() => void switching.close());
    const { app, client, agent } = await appWith({ webhooks: { inbox: hook((switching.address() as AddressInfo).port) } });
    await client.send(agent.id, "a.txt");
    await expect.poll(() => requests).toBeGreaterThan(2);
    await app.close();
  });

  it("a target that never answers holds no agent up, and neither does the server's end", async () => {
    const silent = createServer(() => {});
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => silent.closeAllConnections());
    onTestFinished(() => void silent.close());
    const { app, client, agent } = await appWith({ webhooks: { inbox: hook((silent.address() as AddressInfo).port) } });
    await client.send(agent.id, "a.txt");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const { approvalId = "" } = required?.request ?? {};
    await client.decide({ approvalId, decision: "DENY" });
    expect(ofType(await client.until(agent.id, "DONE"), "Done")).toHaveLength(1);
    const started = performance.now();
    await app.close();
    expect(performance.now() - started).toBeLessThan(WEBHOOK_TRY_MS / 2);
  });

  it.each([
    ["http://127.0.0.1/x", /allowPrivateTarget/],
    ["http://[::1]/x", /allowPrivateTarget/],
    ["http://[::ffff:10.0.0.1]/x", /allowPrivateTarget/],
    ["http://0x7f.1/x", /allowPrivateTarget/],
    ["http://169.254.169.254/latest/meta-data", /allowPrivateTarget/],
    ["https://localhost/x", /allowPrivateTarget/],
    ["ftp://example.org/x", /http or https/],
    ["https://user:password@example.org/x", /must not hold a password/],
  ])("%s is refused when the server starts", async (url, message) => {
    await expect(startTestApp({ config: { webhooks: { inbox: { url, secret: SECRET } } } })).rejects.toThrow(message);
  });

  it("a secret that is too short is refused, and not repeated", async () => {
    const start = startTestApp({ config: { webhooks: { inbox: { url: "https://example.org", secret: "whsec_c2hvcnQ=" } } } });
    await expect(start).rejects.toThrow(/webhooks.inbox.secret must be whsec_/);
    await expect(start).rejects.not.toThrow(/c2hvcnQ/);
  });

  it("a target that is not there: why stands in the error without its address, which stands in the cause", async () => {
    const { port, close } = await target(() => 204);
    await close();
    const webhook = {
      name: "inbox",
      secret: SECRET,
      kinds: ["PERMISSION_CLOSED"],
      tenant: null,
      allowsPrivate: true,
      publicUrl: null,
    } as const;
    for (const host of ["127.0.0.1", "localhost"]) {
      const error: unknown = await deliverer({ ...webhook, url: new URL(`http://${host}:${port}/x`) })
        .deliver(CLOSED, new AbortController().signal)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ message: "the target was not reached: ECONNREFUSED" });
      expect(withCause(error)).toContain(`127.0.0.1:${port}`);
    }
  });

  it("a name that leads into a private network is refused when it is looked up: nothing arrives there", async () => {
    const { received, port } = await target(() => 204);
    const webhook = { name: "inbox", secret: SECRET, kinds: ["PERMISSION_CLOSED"], tenant: null, publicUrl: null } as const;
    const deliver = (allowsPrivate: boolean) =>
      deliverer({ ...webhook, url: new URL(`http://localhost:${port}/x`), allowsPrivate }).deliver(
        CLOSED,
        new AbortController().signal,
      );
    await expect(deliver(false)).rejects.toMatchObject({
      message: "the target was not reached: it lies in a private network",
      cause: { message: expect.stringContaining("localhost lies in a private network") },
    });
    expect(received).toEqual([]);
    await deliver(true);
    expect(received).toHaveLength(1);
  });

  it.each([
    ["10.1.2.3", true],
    ["172.31.0.1", true],
    ["172.32.0.1", false],
    ["192.168.0.1", true],
    ["100.64.1.1", true],
    ["0.0.0.0", true],
    ["::", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["::ffff:93.184.216.34", false],
    ["64:ff9b::7f00:1", true],
    ["fd00::1", true],
    ["fe80::1", true],
    ["168.63.129.16", true],
    ["93.184.216.34", false],
    ["2606:2800:220:1::1", false],
  ])("%s is private: %s", (address, isPrivate) => {
    expect(isPrivateAddress(address)).toBe(isPrivate);
  });
});

describe("listeners", () => {
  it("a rule-based approver decides as a service actor, and is called again if it failed", async () => {
    let failures = 2;
    const on: Listeners = {
      PERMISSION_REQUIRED: async ({ request }, { decide, matches }) => {
        if (failures-- > 0) throw new Error("not now");
        const isHarmless = await matches(request.approvalId, "fs_write(path:/docs)");
        await decide({
          as: "docs-bot",
          approvalId: request.approvalId,
          ...(isHarmless ? { decision: "ALLOW", inputHash: request.inputHash } : { decision: "DENY", note: "only docs" }),
        });
      },
    };
    const { client, agent } = await appWith({ on });
    const first = await client.turn(agent.id, "docs/a.txt");
    expect(ofType(first, "PermissionDecided")).toMatchObject([
      { decision: "ALLOW", decidedBy: { actorId: "docs-bot", kind: "SERVICE" } },
    ]);
    expect(ofType(first, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
    const second = await client.turn(agent.id, "docs/../a.txt");
    expect(ofType(second, "PermissionDecided")).toMatchObject([{ decision: "DENY", note: "only docs" }]);
    expect(ofType(second, "ToolEnd")).toMatchObject([{ call: { state: "DENIED" } }]);
  });

  it("what a listener decides wrongly is refused as it is to people", async () => {
    const answers: unknown[] = [];
    const on: Listeners = {
      PERMISSION_REQUIRED: async ({ request: { approvalId } }, { decide }) => {
        answers.push(
          await decide({ as: "bot", approvalId, decision: "ALLOW" }),
          await decide({ as: "bot", approvalId, decision: "ALLOW", inputHash: "0".repeat(64) }),
        );
      },
    };
    const { client, agent } = await appWith({ on });
    await client.send(agent.id, "a.txt");
    await expect.poll(() => answers).toMatchObject([{ refusal: { code: "INVALID" } }, { refusal: { code: "HASH_MISMATCH" } }]);
  });

  it("sees what is committed of its kind only, with where it stands", async () => {
    const seen: [string, number][] = [];
    const on: Listeners = {
      DONE: ({ kind, seq, reason, agentId }) => void seen.push([`${kind} ${reason} ${agentId.length}`, seq]),
    };
    const { client, agent } = await appWith({ on }, { script: { replies: [{ when: {}, say: ["Hello."] }] } });
    const events = await client.turn(agent.id, "go");
    await expect.poll(() => seen).toEqual([["DONE COMPLETED 36", ofType(events, "Done")[0]?.seq]]);
  });
});

it("what a command of a reader began goes on when the reader has left", async () => {
  const warnings: string[] = [];
  const heard = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const app = await startTestApp({
    model: playedModel(async function* () {
      await mayEnd.promise;
      yield* says("Hello.");
    }),
    config: { on: { DONE: () => heard.resolve() } },
    overrides: {
      logger: { tell: () => {}, warn: (message) => void warnings.push(message), error: (message) => void warnings.push(message) },
    },
  });
  // What the start said of the tests' PostgreSQL.
  warnings.length = 0;
  const client = connect(app.url);
  const agent = await client.createAgent();
  const socket = createClient({ url: app.url.replace(/^http/, "ws"), webSocketImpl: WebSocket, retryAttempts: 0 });
  const query = `mutation { sendMessage(input: { agentId: "${agent.id}", text: "go" }) { userErrors { code } } }`;
  await socket.iterate({ query }).next();
  await socket.dispose();
  await expect
    .poll(async () => (await fetch(app.url.replace("/graphql", "/metrics"))).text())
    .toContain("triplane_subscriptions 0");
  mayEnd.resolve();
  await heard.promise;
  expect(warnings).toEqual([]);
});
