import { setTimeout as delay } from "node:timers/promises";
import type { Sql, Statement } from "../db/sql.ts";
import type { Logger } from "../lib/log.ts";
import { messageOf } from "../lib/text.ts";
import { CHANNELS } from "./channel.ts";
import type { EventKind, TimelineEvent } from "./event.ts";
import type { EventLog } from "./log.ts";

/** Somebody to whom events are delivered after their commit, each at least once. */
export type Consumer = {
  /** Under this name it is remembered how far it has come: it stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** Deliveries under way at once; with one, events come in order. */
  readonly concurrency: number;
  /** After so long without success an event is given up and reported, in ms. */
  readonly giveUpMs: number;
  /** Whether this event concerns it. */
  wants(event: TimelineEvent): boolean;
  /** Rejects where it failed and shall be tried again; with GiveUp where that is of no use. */
  deliver(event: TimelineEvent, signal: AbortSignal): Promise<void>;
};

/** A delivery that would fail however often it is tried. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
}

/** The times of deliveries, in ms. */
export type ConsumerTimes = {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
};

/** The times of production: a lease of 30 s, a look each 5 s, waits from 1 s to 5 minutes. */
export const CONSUMER_TIMES: ConsumerTimes = { leaseMs: 30_000, sweepMs: 5_000, firstRetryMs: 1_000, lastRetryMs: 300_000 };

/** One that is first known now begins with what comes from now on; a tenant that begins later, with its first event. */
const REGISTER: Statement = {
  name: "register_consumer",
  text: `WITH mark AS (INSERT INTO consumer (name, tenant, position) VALUES ($1, '', 0) ON CONFLICT DO NOTHING RETURNING name)
    INSERT INTO consumer (name, tenant, position) SELECT mark.name, t.tenant, t.position FROM mark, tenant_log t ON CONFLICT DO NOTHING`,
};
const CLAIM: Statement = {
  name: "claim_consumer",
  text: `INSERT INTO consumer AS c (name, tenant, position, lease_owner, lease_until) VALUES ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4::float8 / 1000))
    ON CONFLICT (name, tenant) DO UPDATE SET lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
      WHERE c.lease_owner IS NULL OR c.lease_until < clock_timestamp() RETURNING position`,
};
const RENEW: Statement = {
  name: "renew_consumer",
  text: `UPDATE consumer SET lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000), position = greatest(position, $5)
    WHERE name = $1 AND tenant = $2 AND lease_owner = $3 RETURNING position`,
};
const RELEASE: Statement = {
  name: "release_consumer",
  text: `UPDATE consumer SET lease_owner = NULL, lease_until = NULL, position = greatest(position, $4) WHERE name = $1 AND tenant = $2 AND lease_owner = $3`,
};
/** Tenants of whose log a consumer has not seen all, and that nobody looks after. */
const BEHIND: Statement = {
  name: "consumers_behind",
  text: `SELECT n.name, t.tenant FROM tenant_log t CROSS JOIN unnest($1::text[]) AS n(name) LEFT JOIN consumer c ON c.name = n.name AND c.tenant = t.tenant
    WHERE coalesce(c.position, 0) < t.position AND (c.lease_owner IS NULL OR c.lease_until < clock_timestamp()) LIMIT 100`,
};

/** What consumers work with. */
export type ConsumerParts = {
  readonly node: string;
  readonly sql: Sql;
  readonly log: EventLog;
  readonly logger: Logger;
};

/**
 * Delivers committed events to consumers, at least once each, on whatever node has the lease of a consumer and a
 * tenant. How far each has come is a row: what a node did not deliver before it ended, another delivers. Nothing waits
 * for a delivery.
 */
export class Consumers {
  readonly #parts: ConsumerParts;
  readonly #times: ConsumerTimes;
  readonly #consumers: ReadonlyMap<string, Consumer>;
  readonly #closing = new AbortController();
  /** By consumer and tenant: the drain under way, and whether more has come meanwhile. */
  readonly #drains = new Map<string, { isStale: boolean; readonly ended: Promise<void> }>();
  readonly #sweeping: Promise<void>;

  private constructor(parts: ConsumerParts, consumers: readonly Consumer[], times: ConsumerTimes) {
    this.#parts = parts;
    this.#times = times;
    this.#consumers = new Map(consumers.map((consumer) => [consumer.name, consumer]));
    parts.log.onCommitted((tenant, events) => this.#wake(tenant, events));
    this.#sweeping = consumers.length === 0 ? Promise.resolve() : this.#sweepOn();
  }

  /** Registers the consumers and begins to deliver. */
  static async start(parts: ConsumerParts, consumers: readonly Consumer[], times: ConsumerTimes): Promise<Consumers> {
    for (const { name } of consumers) await parts.sql.query(REGISTER, [name]);
    return new Consumers(parts, consumers, times);
  }

  /** Stops trying; what was not delivered is delivered later, here or elsewhere. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sweeping;
    await Promise.all([...this.#drains.values()].map(({ ended }) => ended));
  }

  #wake(tenant: string, events: readonly TimelineEvent[]): void {
    for (const consumer of this.#consumers.values())
      if (events.some(({ body }) => consumer.kinds.includes(body.kind))) this.#drain(consumer, tenant);
  }

  async #sweepOn(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const behind = await this.#parts.sql.query<{ name: string; tenant: string }>(BEHIND, [[...this.#consumers.keys()]]);
        for (const { name, tenant } of behind) {
          const consumer = this.#consumers.get(name);
          if (consumer !== undefined) this.#drain(consumer, tenant);
        }
      } catch (error) {
        this.#parts.logger.warn(`deliveries could not be looked for (${messageOf(error)}); trying again`);
      }
      await delay(this.#times.sweepMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Delivers what is there; what comes meanwhile is delivered after it. */
  #drain(consumer: Consumer, tenant: string): void {
    if (this.#closing.signal.aborted) return;
    const key = `${consumer.name}\n${tenant}`;
    const underway = this.#drains.get(key);
    if (underway !== undefined) {
      underway.isStale = true;
      return;
    }
    const drain = { isStale: false, ended: Promise.resolve() };
    this.#drains.set(key, drain);
    Object.assign(drain, {
      ended: this.#drainOn(consumer, tenant, drain)
        .catch((error: unknown) =>
          this.#parts.logger.warn(`deliveries of ${consumer.name} stopped (${messageOf(error)}); they go on`),
        )
        .finally(() => this.#drains.delete(key)),
    });
  }

  async #drainOn(consumer: Consumer, tenant: string, drain: { isStale: boolean }): Promise<void> {
    do {
      drain.isStale = false;
      const { node, sql } = this.#parts;
      const [claimed] = await sql.query<{ position: string | number }>(CLAIM, [consumer.name, tenant, node, this.#times.leaseMs]);
      if (claimed === undefined) return;
      const delivery = new Delivery(this.#parts, this.#times, consumer, tenant, Number(claimed.position), this.#closing.signal);
      await delivery.run();
    } while (drain.isStale && !this.#closing.signal.aborted);
  }
}

/** The delivery of one tenant's events to one consumer, under one lease. */
class Delivery {
  readonly #parts: ConsumerParts;
  readonly #times: ConsumerTimes;
  readonly #consumer: Consumer;
  readonly #tenant: string;
  readonly #stop: AbortSignal;
  readonly #lost = new AbortController();
  /** Everything up to here is delivered, or given up. */
  #position: number;

  constructor(
    parts: ConsumerParts,
    times: ConsumerTimes,
    consumer: Consumer,
    tenant: string,
    position: number,
    closing: AbortSignal,
  ) {
    this.#parts = parts;
    this.#times = times;
    this.#consumer = consumer;
    this.#tenant = tenant;
    this.#position = position;
    this.#stop = AbortSignal.any([closing, this.#lost.signal]);
  }

  /** Delivers until nothing is left, the server closes, or the lease is another's. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), this.#times.leaseMs / 3);
    try {
      const { kinds } = this.#consumer;
      const scope = { tenant: this.#tenant, agentId: null, createdBy: null, channels: CHANNELS, kinds };
      for (;;) {
        const page = await this.#parts.log.read(scope, this.#position);
        await this.#deliverAll(page.events);
        if (this.#stop.aborted) return;
        this.#position = page.covered;
        if (page.covered >= page.head.position) return;
      }
    } finally {
      clearInterval(renewing);
      await this.#parts.sql.query(RELEASE, [this.#consumer.name, this.#tenant, this.#parts.node, this.#position]);
    }
  }

  async #renew(): Promise<void> {
    try {
      const { node, sql } = this.#parts;
      const [held] = await sql.query(RENEW, [this.#consumer.name, this.#tenant, node, this.#times.leaseMs, this.#position]);
      if (held === undefined) this.#lost.abort();
    } catch (error) {
      this.#parts.logger.warn(`the lease of ${this.#consumer.name} could not be renewed (${messageOf(error)}); trying again`);
    }
  }

  /** Delivers a page, so many at once; the position moves over what is delivered without a hole. */
  async #deliverAll(events: readonly TimelineEvent[]): Promise<void> {
    const done = new Set<number>();
    let next = 0;
    let first = 0;
    const work = async (): Promise<void> => {
      while (next < events.length && !this.#stop.aborted) {
        const index = next;
        next += 1;
        const event = events[index];
        if (event === undefined || !(await this.#deliver(event))) return;
        done.add(index);
        for (; done.has(first); first += 1) this.#position = events[first]?.position ?? this.#position;
      }
    };
    await Promise.all(Array.from({ length: this.#consumer.concurrency }, work));
  }

  /** Tries until it is delivered or given up. False where the trying was stopped. */
  async #deliver(event: TimelineEvent): Promise<boolean> {
    if (!this.#consumer.wants(event)) return true;
    const { firstRetryMs, lastRetryMs } = this.#times;
    const started = performance.now();
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#consumer.deliver(event, this.#stop);
        return true;
      } catch (error) {
        if (this.#stop.aborted) return false;
        const isLast = error instanceof GiveUp || performance.now() - started >= this.#consumer.giveUpMs;
        if (isLast) {
          await this.#report(event, messageOf(error));
          return true;
        }
        const wait = Math.min(lastRetryMs, firstRetryMs * 2 ** attempt) * (0.8 + Math.random() * 0.4);
        await delay(wait, undefined, { signal: this.#stop }).catch(() => {});
        if (this.#stop.aborted) return false;
      }
    }
  }

  /** What is given up stands in the agent's log, unless that report is what could not be delivered. */
  async #report(event: TimelineEvent, problem: string): Promise<void> {
    const { name } = this.#consumer;
    const message = `${event.body.kind} at ${event.position} could not be delivered to ${name}: ${problem}`;
    this.#parts.logger.error(message, problem);
    if (event.body.kind === "ERROR") return;
    const { agentId, createdBy } = event;
    const body = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: "delivery_failed" } as const;
    await this.#parts.log.append(this.#tenant, [{ agentId, createdBy, epoch: null, events: [{ at: new Date(), body }] }]);
  }
}
