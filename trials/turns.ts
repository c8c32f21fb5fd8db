import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { send, type TrialAgent } from "./agents.ts";
import { TRIAL_TOKEN } from "./processes.ts";

/** An agent of which every DONE is answered with the next message, sent to the server at `url`. */
export type BusyAgent = { readonly agent: TrialAgent; readonly url: string; readonly text: string };

/** Turns one after the other. */
export type Turns = {
  /** The number of turns that ended so far. */
  readonly ended: number;
  /** The time that each took from its message to its DONE, in ms. */
  readonly tookMs: readonly number[];
  stop(): void;
};

/**
 * Each agent has its next message when its turn is done; the server at `url` tells that. Their first messages are spread
 * over so many ms.
 */
export function keepBusy(url: string, agents: readonly BusyAgent[], spreadMs: number): Turns {
  const tookMs: number[] = [];
  const sentAt = new Map<string, number>();
  let isStopped = false;
  const client = createClient({
    url: url.replace("http", "ws"),
    webSocketImpl: WebSocket,
    shouldRetry: () => true,
    connectionParams: { authorization: `Bearer ${TRIAL_TOKEN}` },
  });
  const byId = new Map(agents.map((busy) => [busy.agent.id, busy]));
  const next = async (id: string): Promise<void> => {
    const busy = byId.get(id);
    if (busy === undefined || isStopped) return;
    // A database that stalls refuses commands: the agent is sent to again.
    try {
      sentAt.set(id, performance.now());
      await send(busy.url, busy.agent, busy.text);
    } catch {
      await delay(500);
      await next(id);
    }
  };
  client.subscribe<{ timeline: { events: readonly { kind: string; agent: { id: string } }[] } }>(
    { query: "subscription { timeline(kinds: [DONE]) { events { kind agent { id } } } }" },
    {
      next: ({ data }) => {
        for (const { kind, agent } of data?.timeline.events ?? []) {
          if (kind !== "DONE") continue;
          tookMs.push(performance.now() - (sentAt.get(agent.id) ?? performance.now()));
          void next(agent.id);
        }
      },
      error: (error) => console.error("the subscription of turns ended", error),
      complete: () => {},
    },
  );
  const begin = async (): Promise<void> => {
    for (const { agent } of agents) {
      void next(agent.id);
      if (spreadMs > 0) await delay(spreadMs / agents.length);
    }
  };
  void begin();
  return {
    tookMs,
    get ended() {
      return tookMs.length;
    },
    stop: () => {
      isStopped = true;
      void client.dispose();
    },
  };
}
