import WebSocket from "ws";
import { resume } from "../clients/src/resume.ts";
import { overSse } from "../clients/src/sse.ts";
import type { Transport } from "../clients/src/transport.ts";
import { overWebSocket } from "../clients/src/websocket.ts";
import { ask } from "./processes.ts";
import { until, type TrialRun } from "./trial.ts";

const WATCH = `subscription($since: Cursor!) { timeline(since: $since) { cursor caughtUp outage { since } events { cursor seq agent { id } } } }`;
/** Subscriptions that share a WebSocket, and those in ten that come over SSE. */
const PER_SOCKET = 18;

type Page = {
  readonly timeline: {
    readonly cursor: string;
    readonly outage: { readonly since: string } | null;
    readonly events: readonly { readonly cursor: string; readonly seq: number; readonly agent: { readonly id: string } }[];
  };
};

/** Subscribers that resume by themselves, and check what they are given. */
export type Watchers = {
  /** The frequency with which the subscriber that was told least was told that the database is away. */
  readonly outages: number;
  /** Waits until everybody has come as far as the log of a server goes now, checks that all were given the same, and says how much. */
  check(url: string): Promise<{ readonly events: number; readonly resumptions: number }>;
  end(): void;
};

/** The events that the server gives: every event, or those of the kinds that it knows. */
type Seqs = "all" | "leaves kinds out";

/** Follows the whole timeline by so many subscriptions, nine in ten over WebSockets and one over SSE. */
export function watchAll(url: string, count: number, fail: TrialRun["fail"], seqs: Seqs = "all"): Watchers {
  const sockets = Math.ceil((count * 0.9) / PER_SOCKET);
  const transports = [
    ...Array.from({ length: sockets }, () => overWebSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket })),
    overSse({ url }),
  ];
  const watchers = Array.from({ length: count }, (_, index) => {
    const transport = index < sockets * PER_SOCKET ? transports[Math.floor(index / PER_SOCKET)] : transports.at(-1);
    if (transport === undefined) throw new Error("there is no transport");
    return new Watcher(transport, fail, seqs);
  });
  return {
    get outages() {
      return Math.min(...watchers.map((watcher) => watcher.outages));
    },
    check: async (server) => {
      const { agents } = await ask<{ agents: { asOf: string } }>(server, "{ agents(first: 1) { asOf } }");
      const haveAll = (): boolean => watchers.every((watcher) => watcher.cursor >= agents.asOf);
      await until("every subscriber has everything", haveAll, 20_000).catch((error: unknown) => fail(String(error)));
      const events = watchers[0]?.events ?? 0;
      const others = watchers.filter((watcher) => watcher.events !== events).length;
      if (others > 0) fail(`${others} subscribers were given another number of events than ${events}`);
      return { events, resumptions: watchers.reduce((sum, watcher) => sum + watcher.resumptions, 0) };
    },
    end: () => {
      watchers.forEach((watcher) => watcher.end());
      transports.forEach((transport) => transport.dispose());
    },
  };
}

/** One subscriber: every event once, with the agent's next seq, in the order of cursors. */
class Watcher {
  cursor = "";
  events = 0;
  outages = 0;
  resumptions = 0;
  readonly end: () => void;
  readonly #seqs = new Map<string, number>();
  readonly #seqsOf: Seqs;

  constructor(transport: Transport, fail: TrialRun["fail"], seqs: Seqs) {
    this.#seqsOf = seqs;
    this.end = resume<Page>(
      transport,
      { query: WATCH, variables: { since: "0" } },
      {
        next: ({ data }) => data && this.#take(data.timeline, fail),
        error: (error) => fail(`a subscription ended: ${String(error)}`),
        complete: () => fail("a subscription was completed"),
      },
      {
        waitMs: () => 50 + Math.random() * 200,
        onStatus: ({ kind }) => {
          if (kind === "lost") this.resumptions += 1;
        },
      },
    );
  }

  #take({ cursor, outage, events }: Page["timeline"], fail: TrialRun["fail"]): void {
    if (outage !== null) this.outages += 1;
    for (const { seq, agent, cursor: place } of events) {
      const last = this.#seqs.get(agent.id) ?? 0;
      if (this.#seqsOf === "all" ? seq !== last + 1 : seq <= last) fail(`a subscriber was given seq ${seq} after ${last}`);
      if (place <= this.cursor) fail(`a subscriber was given ${place} after ${this.cursor}`);
      this.#seqs.set(agent.id, seq);
      this.cursor = place;
      this.events += 1;
    }
    this.cursor = cursor;
  }
}
