import { setTimeout as delay } from "node:timers/promises";
import { StorageUnavailable } from "../db/storage-error.ts";
import type { EventLog } from "./log.ts";
import {
  encodePart,
  type AgentEvents,
  type FencedEvents,
  type EncodedPart,
  type AppendOutcome,
  type TriedAppend,
  newWrite,
  type Write,
} from "./write.ts";

const BATCH_EVENTS = 1_000;

/** The time from one append of a tenant to the next while commits of the tenant are under way, in ms. */
const PACE_MS = 20;

type Waiting = {
  readonly part: EncodedPart;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (error: unknown) => void;
};

type Failed = { readonly outcome: "FAILED"; readonly error: unknown };

/**
 * Collects the events of a server's agents into the log. One append of a tenant runs at a time, since its log lock
 * admits no more; later events go with the next append. Text yields to commits, which calls wait for. Only a commit of
 * the same agent waits for up to 20 ms of text. An agent whose row is locked waits alone.
 */
export class Appender {
  readonly #log: EventLog;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #now: () => number;
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #pauses = new Map<string, () => void>();
  readonly #hurried = new Set<string>();

  constructor(log: EventLog, pause: (ms: number) => Promise<unknown> = delay, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#pause = pause;
    this.#now = now;
  }

  async append(tenant: string, events: AgentEvents | FencedEvents): Promise<AppendOutcome> {
    const part = encodePart(events);
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(tenant);
      if (queue !== undefined) {
        queue.push({ part, resolve, reject });
        return;
      }
      this.#waiting.set(tenant, [{ part, resolve, reject }]);
      void this.#drain(tenant);
    });
  }

  hurry(tenant: string): void {
    const end = this.#pauses.get(tenant);
    if (end !== undefined) end();
    else if (this.#waiting.has(tenant)) this.#hurried.add(tenant);
  }

  async #drain(tenant: string): Promise<void> {
    const queue = this.#waiting.get(tenant) ?? [];
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      const began = this.#now();
      const write = newWrite();
      const outcomes = await this.#try(tenant, batch, write);
      batch.forEach((waiting, index) => {
        const tried = outcomes[index];
        if (tried === undefined) waiting.reject(new Error("an append answered fewer outcomes than it had agents"));
        else if (tried.outcome === "LOCKED") void this.#appendAlone(tenant, waiting, write);
        else if (tried.outcome === "FAILED") waiting.reject(tried.error);
        else waiting.resolve(tried);
      });
      const leftMs = PACE_MS - (this.#now() - began);
      const isHurried = this.#hurried.delete(tenant);
      if (leftMs > 0 && !isHurried && this.#log.isCommitting(tenant)) await this.#leaveTheLog(tenant, leftMs);
    }
    this.#waiting.delete(tenant);
  }

  async #leaveTheLog(tenant: string, ms: number): Promise<void> {
    const hurried = new Promise<void>((resolve) => this.#pauses.set(tenant, resolve));
    await Promise.race([this.#pause(ms), hurried]);
    this.#pauses.delete(tenant);
  }

  async #try(tenant: string, batch: readonly Waiting[], write: Write): Promise<readonly (TriedAppend | Failed)[]> {
    try {
      return await this.#log.tryAppend(
        tenant,
        batch.map(({ part }) => part),
        write,
      );
    } catch (error) {
      const isForAll = batch.length === 1 || error instanceof StorageUnavailable;
      return batch.map(() => (isForAll ? { outcome: "FAILED", error } : { outcome: "LOCKED" }));
    }
  }

  async #appendAlone(tenant: string, { part, resolve, reject }: Waiting, write: Write): Promise<void> {
    try {
      resolve(await this.#log.appendEncoded(tenant, part, write));
    } catch (error) {
      reject(error);
    }
  }
}

function takeBatch(queue: Waiting[]): Waiting[] {
  let events = 0;
  const agents = new Set<string>();
  for (const { part } of queue) {
    // An agent that occurs twice has two leases: its older part waits for a separate batch, in which it is fenced.
    if (agents.has(part.agentId) || (agents.size > 0 && events + part.events.length > BATCH_EVENTS)) break;
    events += part.events.length;
    agents.add(part.agentId);
  }
  return queue.splice(0, agents.size);
}
