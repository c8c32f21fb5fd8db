import { setTimeout as delay } from "node:timers/promises";
import type { Sql, Statement } from "../db/sql.ts";
import type { Logger } from "../lib/log.ts";
import { messageOf } from "../lib/text.ts";
import { CHANNELS } from "./channel.ts";
import type { EventKind, TimelineEvent } from "./event.ts";
import { POSITION } from "./log-page.ts";
import type { EventLog } from "./log.ts";

/** Somebody to whom events are delivered after their commit, each at least once. */
export type Consumer = {
  /** Under this name it is remembered how far it has come: it stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** Deliveries under way at once, which may overtake each other; with one, events come in order. */
  readonly concurrency: number;
  /** An event that is as old as this, in ms, is given up and reported, once it has been tried a few times. */
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
    INSERT INTO consumer (name, tenant, position) SELECT mark.name, l.tenant, ${POSITION} FROM mark, tenant_log l ON CONFLICT DO NOTHING`,
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
  text: `SELECT n.name, t.tenant FROM (SELECT l.tenant, ${POSITION} AS position FROM tenant_log l) t CROSS JOIN unnest($1::text[]) AS n(name) LEFT JOIN consumer c ON c.name = n.name AND c.tenant = t.tenant
    WHERE coalesce(c.position, 0) < t.position AND (c.lease_owner IS NULL OR c.lease_until < clock_timestamp()) ORDER BY random() LIMIT 100`,
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
  /** By consumer and tenant: what is under way, and whether more has come meanwhile. */
  readonly #drains = new Map<string, Drain>();
  readonly #ends = new Set<Promise<void>>();
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
    await Promise.all(this.#ends);
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
    if (underway !== undefined) return underway.moreCame();
    const drain = new Drain();
    this.#drains.set(key, drain);
    const ended = this.#drainOn(consumer, tenant, drain)
      .catch((error: unknown) =>
        this.#parts.logger.warn(`deliveries of ${consumer.name} stopped (${messageOf(error)}); they go on with the next look`),
      )
      .finally(() => {
        this.#drains.delete(key);
        this.#ends.delete(ended);
      });
    this.#ends.add(ended);
  }

  async #drainOn(consumer: Consumer, tenant: string, drain: Drain): Promise<void> {
    const { node, sql } = this.#parts;
    do {
      drain.lookAgain();
      const [claimed] = await sql.query<{ position: string | number }>(CLAIM, [consumer.name, tenant, node, this.#times.leaseMs]);
      if (claimed === undefined) return;
      const place = { consumer, tenant, position: Number(claimed.position) };
      await new Delivery(this.#parts, this.#times, place, drain, this.#closing.signal).run();
    } while (drain.isStale && !this.#closing.signal.aborted);
  }
}

/** Whether more has come since the log was last read, for who delivers from it. */
class Drain {
  #isStale = false;
  #wake: () => void = () => {};

  get isStale(): boolean {
    return this.#isStale;
  }

  /** The log is about to be read: what comes from now on is more. */
  lookAgain(): void {
    this.#isStale = false;
  }

  moreCame(): void {
    this.#isStale = true;
    this.#wake();
  }

  /** Resolves when more comes, or has come. */
  async more(): Promise<void> {
    if (this.#isStale) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** How many events may wait behind one that is not delivered yet. */
const WINDOW = 1_000;
/** An event is not given up before so many tries, however old it is: a server that was away begins anew. */
const LEAST_TRIES = 5;

type Place = { readonly consumer: Consumer; readonly tenant: string; readonly position: number };

/** The delivery of one tenant's events to one consumer, under one lease. */
class Delivery {
  readonly #parts: ConsumerParts;
  readonly #times: ConsumerTimes;
  readonly #consumer: Consumer;
  readonly #tenant: string;
  readonly #stop: AbortSignal;
  readonly #lost = new AbortController();
  readonly #drain: Drain;
  /** Events that were read and not delivered yet, in order; and whether each is. */
  readonly #window: { readonly event: TimelineEvent; isDone: boolean }[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  /** The number of deliveries that are tried now; one that was refused and waits for its next try lets another go first. */
  #trying = 0;
  #tellChange: () => void = () => {};
  /** Everything up to here is delivered, or given up. */
  #position: number;
  /** Everything up to here was read. */
  #read: number;
  /** How many events of the window have been begun. */
  #begun = 0;
  #failure: unknown = null;

  constructor(
    parts: ConsumerParts,
    times: ConsumerTimes,
    { consumer, tenant, position }: Place,
    drain: Drain,
    closing: AbortSignal,
  ) {
    this.#parts = parts;
    this.#times = times;
    this.#consumer = consumer;
    this.#tenant = tenant;
    this.#drain = drain;
    this.#position = position;
    this.#read = position;
    this.#stop = AbortSignal.any([closing, this.#lost.signal]);
  }

  /** Delivers until nothing is left, the server closes, or the lease is another's. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), this.#times.leaseMs / 3);
    try {
      await this.#deliverAll();
    } finally {
      clearInterval(renewing);
      this.#lost.abort();
      await Promise.all(this.#inFlight);
      await this.#parts.sql.query(RELEASE, [this.#consumer.name, this.#tenant, this.#parts.node, this.#position]);
    }
  }

  /** Reads on while less than a window waits, so that one event that fails does not hold the others back. */
  async #deliverAll(): Promise<void> {
    const { kinds, concurrency } = this.#consumer;
    const scope = { tenant: this.#tenant, agentId: null, createdBy: null, channels: CHANNELS, kinds };
    let isAtHead = false;
    while (!this.#stop.aborted) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#begun < this.#window.length && this.#trying < concurrency) {
        this.#begin();
      } else if (!isAtHead && this.#begun === this.#window.length && this.#window.length < WINDOW) {
        this.#drain.lookAgain();
        const page = await this.#parts.log.read(scope, this.#read);
        for (const event of page.events) this.#window.push({ event, isDone: false });
        this.#read = page.covered;
        isAtHead = page.covered >= page.head.position;
        this.#advance();
      } else if (isAtHead && this.#inFlight.size === 0 && this.#begun === this.#window.length) {
        return;
      } else {
        // More is of no use while what is there cannot be begun.
        const mayRead = this.#begun === this.#window.length && this.#window.length < WINDOW;
        const waiting = new AbortController();
        // What other servers commit rings here for nobody: the log is looked at again as often as a sweep would.
        const due = delay(this.#times.sweepMs, true, { signal: waiting.signal }).catch(() => false);
        const awaited = mayRead ? [this.#changed(), this.#drain.more(), due] : [this.#changed(), due];
        await orStopped(Promise.race(awaited), this.#stop).catch(() => {});
        waiting.abort();
        isAtHead = false;
      }
    }
  }

  #begin(): void {
    const entry = this.#window[this.#begun];
    if (entry === undefined) return;
    this.#begun += 1;
    this.#trying += 1;
    const delivery = this.#deliver(entry.event)
      .then((isDone) => {
        entry.isDone = isDone;
        this.#advance();
      })
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#trying -= 1;
        this.#inFlight.delete(delivery);
        this.#tellChange();
      });
    this.#inFlight.add(delivery);
  }

  /** Resolves when a delivery ends, or waits for its next try. */
  #changed(): Promise<void> {
    return new Promise((resolve) => (this.#tellChange = resolve));
  }

  /** Waits before the next try. Meanwhile others are tried, unless they must come in order. */
  async #pause(waitMs: number): Promise<void> {
    const isOrdered = this.#consumer.concurrency === 1;
    if (!isOrdered) this.#trying -= 1;
    this.#tellChange();
    await delay(waitMs, undefined, { signal: this.#stop }).catch(() => {});
    if (!isOrdered) this.#trying += 1;
  }

  /** Moves the position over what is delivered without a hole. */
  #advance(): void {
    while (this.#window[0]?.isDone === true) {
      this.#position = this.#window[0].event.position;
      this.#window.shift();
      this.#begun -= 1;
    }
    if (this.#window.length === 0) this.#position = this.#read;
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

  /** Tries until it is delivered or given up. False where the trying was stopped. */
  async #deliver(event: TimelineEvent): Promise<boolean> {
    if (!this.#consumer.wants(event)) return true;
    const { firstRetryMs, lastRetryMs } = this.#times;
    for (let tries = 1; ; tries += 1) {
      try {
        await orStopped(this.#consumer.deliver(event, this.#stop), this.#stop);
        return true;
      } catch (error) {
        if (this.#stop.aborted) return false;
        const age = Date.now() - event.at.getTime();
        if (error instanceof GiveUp || (tries >= LEAST_TRIES && age >= this.#consumer.giveUpMs)) {
          await this.#report(event, messageOf(error));
          return true;
        }
        this.#parts.logger.warn(
          `${event.body.kind} at ${event.position} was not delivered to ${this.#consumer.name} (${messageOf(error)}); trying again`,
        );
        const wait = Math.min(lastRetryMs, firstRetryMs * 2 ** (tries - 1)) * (0.8 + Math.random() * 0.4);
        await this.#pause(wait);
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
    await this.#parts.log.append(this.#tenant, [{ agentId, createdBy, fence: null, events: [{ at: new Date(), body }] }]);
  }
}

/** The work's outcome; rejects when the signal aborts first, and keeps nothing of the signal afterwards. */
async function orStopped<Outcome>(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(new Error("it was stopped"));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
