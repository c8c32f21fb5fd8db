import { createClient } from "graphql-ws";
import WebSocket, { WebSocketServer } from "ws";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { startApp } from "../src/app.ts";
import type { EventDraft } from "../src/events/event.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { makeSettings } from "../src/config/settings.ts";
import { insertAgent } from "../tests/support/log.ts";
import type { Figure } from "./figure.ts";
import { ownFolder } from "./own-folder.ts";
import { benchEnvironment } from "./environment.ts";

const EVENTS = 50_000;
const ROUNDS = 5;
const QUERY = 'subscription { timeline(since: "0", until: DONE) { cursor events { kind seq ... on TextChunk { delta } } } }';

/** Events a second from the log to a client over WebSocket, against SELECT, JSON.stringify and ws.send of the same pages. */
export async function replay(url: string): Promise<Figure> {
  const folder = ownFolder();
  const environment = benchEnvironment(url, folder, { connections: 4 });
  const settings = await makeSettings(environment, "/bench", {
    models: { m: { provider: "scripted", script: { replies: [{ when: {} }] } } },
    // What is measured is not what an actor may ask.
    rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
    templates: { t: { model: "m", systemPrompt: "x" } },
  });
  const app = await startApp(settings, { logger: silentLogger });
  const { log } = app.services;
  const agent = await insertAgent(log, "local", "local");
  const delta = (index: number): EventDraft => ({
    at: new Date(),
    body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: `word ${index} ` },
  });
  for (let start = 0; start < EVENTS; start += 1_000)
    await log.append("local", [{ ...agent, events: Array.from({ length: 1_000 }, (_, index) => delta(start + index)) }]);
  await log.append("local", [
    {
      ...agent,
      events: [{ at: new Date(), body: { kind: "DONE", turn: 1, step: 1, reason: "COMPLETED", messageIds: [] } }],
    },
  ]);

  const ours = async (): Promise<void> => {
    const client = createClient({ url: `ws://127.0.0.1:${app.port}/graphql`, webSocketImpl: WebSocket });
    let events = 0;
    for await (const { data } of client.iterate<{ timeline: { events: unknown[] } }>({ query: QUERY }))
      events += data?.timeline.events.length ?? 0;
    if (events !== EVENTS + 1) throw new Error(`${events} of ${EVENTS + 1} events came`);
    await client.dispose();
  };
  const raw = async (): Promise<void> => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(server, "listening");
    server.on("connection", (socket) => void sendRaw(socket));
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.on("message", (message: Buffer) => JSON.parse(message.toString()));
    await once(client, "close");
    server.close();
  };
  const sendRaw = async (socket: WebSocket): Promise<void> => {
    for (let after = 0; after <= EVENTS; after += 500) {
      const rows = await app.services.sql.query<{ kind: string; seq: number; payload: string }>(
        {
          name: "raw_page",
          text: "SELECT kind, seq, payload::text AS payload FROM event WHERE tenant = 'local' AND position > $1 ORDER BY position LIMIT 500",
        },
        [after],
      );
      const events = rows.map(({ kind, seq, payload }) => Object.assign(JSON.parse(payload) as object, { kind, seq }));
      await new Promise((resolve) => socket.send(JSON.stringify({ events }), resolve));
    }
    socket.close();
  };

  const rates: { ours: number; raw: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push({ ours: await rate(ours), raw: await rate(raw) });
  await app.close();
  const middle = rates.toSorted((a, b) => a.ours / a.raw - b.ours / b.raw)[Math.floor(ROUNDS / 2)] ?? { ours: 0, raw: 0 };
  return {
    name: "replay",
    value: middle.ours,
    unit: "events/s",
    baseline: middle.raw,
    ratio: middle.ours / middle.raw,
  };
}

async function rate(run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await run();
  return (EVENTS / (performance.now() - started)) * 1_000;
}
