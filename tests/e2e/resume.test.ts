import { ApolloClient, ApolloLink, InMemoryCache } from "@apollo/client";
import { Client as UrqlClient } from "@urql/core";
import { parse } from "graphql";
import { createClient } from "graphql-ws";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { Network } from "relay-runtime";
import WebSocket from "ws";
import { ResumeLink } from "../../clients/src/apollo.ts";
import { iterate, type Transport } from "../../clients/src/index.ts";
import { resumeSubscribe } from "../../clients/src/relay.ts";
import { overSse } from "../../clients/src/sse.ts";
import { resumeExchange } from "../../clients/src/urql.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { cuttingProxy, type CuttingProxy } from "../support/cutting-proxy.ts";

const WATCH = `subscription Watch($agentId: ID!, $since: Cursor) {
  timeline(agentIds: [$agentId], since: $since, until: DONE) {
    cursor caughtUp events { __typename seq kind ... on TextChunk { delta } } } }`;

/** The connection is cut so often for each client. */
const CUTS = 200;
const EVENTS = 3_000;

type Seen = { readonly seq: number; readonly kind: string };
type Watched = { readonly timeline: { readonly cursor: string; readonly caughtUp: boolean; readonly events: readonly Seen[] } };

/** At once: what is tested is where to go on, not when. */
const waitMs = (): number => 2;

const transports: Readonly<Record<string, (port: number) => Transport>> = {
  "graphql-ws": (port) => overWebSocket({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket }),
  "graphql-sse": (port) => overSse({ url: `http://127.0.0.1:${port}/graphql` }),
};

function transportOf(name: string, port: number): Transport {
  const transport = transports[name]?.(port);
  if (transport === undefined) throw new Error(`there is no transport ${name}`);
  onTestFinished(() => transport.dispose());
  return transport;
}

/** Each client, as its users use it, from the beginning of the log until it ends. */
const clients: Readonly<Record<string, (port: number, agentId: string, seen: Seen[]) => Promise<void>>> = {
  "plain graphql-ws": (port, agentId, seen) => plainly(transportOf("graphql-ws", port), agentId, seen),
  "plain graphql-sse": (port, agentId, seen) => plainly(transportOf("graphql-sse", port), agentId, seen),
  "Apollo Client over WebSocket": (port, agentId, seen) => byApollo(transportOf("graphql-ws", port), agentId, seen),
  "Apollo Client over SSE": (port, agentId, seen) => byApollo(transportOf("graphql-sse", port), agentId, seen),
  "urql over WebSocket": (port, agentId, seen) => byUrql(transportOf("graphql-ws", port), agentId, seen),
  "Relay over WebSocket": (port, agentId, seen) => byRelay(transportOf("graphql-ws", port), agentId, seen),
  "urql over SSE": (port, agentId, seen) => byUrql(transportOf("graphql-sse", port), agentId, seen),
};

async function plainly(transport: Transport, agentId: string, seen: Seen[]): Promise<void> {
  const request = { query: WATCH, variables: { agentId, since: "0" } };
  for await (const { data } of iterate<Watched>(transport, request, { waitMs })) seen.push(...(data?.timeline.events ?? []));
}

async function byApollo(transport: Transport, agentId: string, seen: Seen[]): Promise<void> {
  const client = new ApolloClient({ link: ApolloLink.from([new ResumeLink(transport, { waitMs })]), cache: new InMemoryCache() });
  await new Promise<void>((complete, error) => {
    client.subscribe<Watched>({ query: parse(WATCH), variables: { agentId, since: "0" }, fetchPolicy: "no-cache" }).subscribe({
      next: (result) => {
        if (result.error) error(result.error);
        seen.push(...(result.data?.timeline.events ?? []));
      },
      error,
      complete,
    });
  });
}

async function byUrql(transport: Transport, agentId: string, seen: Seen[]): Promise<void> {
  const client = new UrqlClient({
    url: "http://unused",
    exchanges: [resumeExchange(transport, { waitMs })],
    preferGetMethod: false,
  });
  await new Promise<void>((complete, error) => {
    client.subscription<Watched>(WATCH, { agentId, since: "0" }).subscribe((result) => {
      if (result.error) error(result.error);
      seen.push(...(result.data?.timeline.events ?? []));
      if (!result.hasNext) complete();
    });
  });
}

async function byRelay(transport: Transport, agentId: string, seen: Seen[]): Promise<void> {
  const network = Network.create(() => Promise.reject(new Error("no query is asked")), resumeSubscribe(transport, { waitMs }));
  const operation = {
    name: "Watch",
    text: WATCH,
    id: null,
    operationKind: "subscription",
    metadata: {},
    cacheID: "Watch",
  } as const;
  await new Promise<void>((complete, error) => {
    network.execute(operation, { agentId, since: "0" }, {}).subscribe({
      next: (result) => {
        const { timeline } = (result as unknown as { data: Watched }).data;
        seen.push(...timeline.events);
      },
      error,
      complete,
    });
  });
}

/** Two servers of one log, one of which is closed and started again now and then, behind a proxy. */
async function twoServers() {
  const first = await startTestApp();
  const options = { database: first.database.config, config: { workspaceRoots: [first.workspace] } };
  const servers: TestApp[] = [first, await startTestApp(options)];
  const agent = await connect(first.url).createAgent();
  const proxy = await cuttingProxy(first.port);
  let turn = 0;
  return {
    agent,
    proxy,
    log: first.services.log,
    /** The next server answers new connections; each fourth time the other one is started anew. */
    change: async () => {
      turn += 1;
      const other = servers[turn % 2];
      if (other === undefined) throw new Error("there are two servers");
      proxy.leadTo(other.port);
      if (turn % 4 !== 0) return;
      await servers[(turn + 1) % 2]?.close();
      servers[(turn + 1) % 2] = await startTestApp(options);
    },
  };
}

/** Appends events without a lease until there are so many, in batches of 1 to 9. */
async function write(log: TestApp["services"]["log"], agentId: string, isEnough: (written: number) => boolean): Promise<number> {
  const row = Buffer.from(agentId, "base64").toString().replace("Agent:", "");
  const part = { agentId: row, createdBy: "local" };
  let written = 0;
  while (!isEnough(written)) {
    const count = 1 + (written % 9);
    const events = Array.from({ length: count }, (_, index) => ({
      at: new Date(),
      body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `${written + index} ` } as const,
    }));
    await log.append("local", [{ ...part, events }]);
    written += count;
    await delay(2);
  }
  await log.append("local", [
    { ...part, events: [{ at: new Date(), body: { kind: "DONE", turn: 1, step: 1, reason: "COMPLETED", messageIds: [] } }] },
  ]);
  return written;
}

async function cut(proxy: CuttingProxy, until: () => boolean, change: () => Promise<void>): Promise<void> {
  for (let round = 1; !until(); round += 1) {
    proxy.cutAfter(() => Math.floor(Math.random() ** 3 * 6_000));
    await delay(2 + Math.random() * 10);
    if (round % 15 === 0) await change();
  }
}

it.for(Object.keys(clients))(
  "%s: the connection cut 200 times while writers run, servers restarted and changed: the joined stream is the log (invariant 2)",
  { timeout: 60_000 },
  async (name) => {
    const { agent, proxy, log, change } = await twoServers();
    const seen: Seen[] = [];
    const watched = clients[name]?.(proxy.port, agent.id, seen);
    let isDone = false;
    const isCutEnough = (): boolean => proxy.cuts >= CUTS;
    const cutting = cut(proxy, () => isDone || isCutEnough(), change);
    const written = await write(log, agent.id, (count) => count >= EVENTS && isCutEnough());
    await watched;
    isDone = true;
    await cutting;
    expect(proxy.cuts).toBeGreaterThanOrEqual(CUTS);
    expect(seen.map((event) => event.seq)).toEqual(Array.from({ length: written + 2 }, (_, index) => index + 1));
  },
);

it.for(["from now on", "since the beginning"])(
  "without the helper, graphql-ws subscribes again %s, and events are lost or come again (graphql-ws#90)",
  async (start) => {
    const { agent, proxy, log } = await twoServers();
    const client = createClient({
      url: `ws://127.0.0.1:${proxy.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      retryWait: () => delay(20),
      shouldRetry: () => true,
    });
    onTestFinished(() => client.dispose());
    const seqs: number[] = [];
    client.subscribe<Watched>(
      {
        query: WATCH.replace(", until: DONE", ""),
        variables: { agentId: agent.id, since: start === "from now on" ? null : "0" },
      },
      {
        next: ({ data }) => seqs.push(...(data?.timeline.events.map((event) => event.seq) ?? [])),
        error: () => {},
        complete: () => {},
      },
    );
    let cuts = 0;
    const isCut = (): boolean => cuts >= 20;
    const writing = write(log, agent.id, isCut);
    while (!isCut()) {
      // Each connection has delivered something when it is cut.
      const before = seqs.length;
      while (seqs.length === before) await delay(2);
      proxy.cutNow();
      cuts += 1;
    }
    const last = (await writing) + 2;
    // What is written from here on comes as soon as the client is connected again.
    while (Math.max(0, ...seqs) <= last) await write(log, agent.id, (count) => count > 0);
    const before = seqs.filter((seq) => seq <= last);
    if (start === "from now on") expect(new Set(before).size).toBeLessThan(last);
    else expect(before.length).toBeGreaterThan(new Set(before).size);
  },
);
