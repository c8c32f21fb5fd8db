import { setTimeout as delay } from "node:timers/promises";
import { CHANNELS, type TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { aborted } from "../lib/aborted.ts";
import { KeyedSemaphore } from "../lib/keyed-semaphore.ts";
import { messageOf, withCause } from "../lib/text.ts";
import { type Clock, growingWait } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import { type ConsumerOffset, type ConsumerOffsets, GiveUp, type Consumer } from "./consumer.ts";

/** In ms. */
export type ConsumerTimes = {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
};

/** The times of production: a lease of 30 s, a sweep each 5 s, waits from 1 s to 5 minutes. */
export const CONSUMER_TIMES: ConsumerTimes = { leaseMs: 30_000, sweepMs: 5_000, firstRetryMs: 1_000, lastRetryMs: 300_000 };

export type DeliveryServices = {
  readonly offsets: ConsumerOffsets;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly failedTries: FailedTries;
};

export class Drain {
  #isStale = false;
  #wake: () => void = () => {};

  get isStale(): boolean {
    return this.#isStale;
  }

  lookAgain(): void {
    this.#isStale = false;
  }

  moreCame(): void {
    this.#isStale = true;
    this.#wake();
  }

  async more(): Promise<void> {
    if (this.#isStale) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The most waiting events, and the most that are delivered after a refused one: after a restart those are repeated. */
const WINDOW = { waiting: 1_000, behind: 100_000 };
/** The least tries before an event of any age is given up, since a server may have been absent. */
const LEAST_TRIES = 5;

type Entry = { readonly position: number; event: TimelineEvent | null };

export class Delivery {
  readonly #services: DeliveryServices;
  readonly #times: ConsumerTimes;
  readonly #consumer: Consumer;
  readonly #tenant: string;
  readonly #stop: AbortSignal;
  readonly #lost = new AbortController();
  readonly #drain: Drain;
  readonly #window: Entry[] = [];
  #waiting = 0;
  readonly #inFlight = new Set<Promise<void>>();
  #trying = 0;
  readonly #tries: KeyedSemaphore;
  #tellChange: () => void = () => {};
  /** All events up to here are delivered or given up. */
  #position: number;
  #read: number;
  #begun = 0;
  #failure: unknown = null;

  constructor(
    services: DeliveryServices,
    times: ConsumerTimes,
    consumer: Consumer,
    { tenant, position }: ConsumerOffset,
    drain: Drain,
    closing: AbortSignal,
  ) {
    this.#services = services;
    this.#times = times;
    this.#consumer = consumer;
    this.#tenant = tenant;
    this.#drain = drain;
    this.#position = position;
    this.#read = position;
    this.#tries = new KeyedSemaphore(consumer.concurrency);
    this.#stop = AbortSignal.any([closing, this.#lost.signal]);
  }

  /** Delivers until no events are left, the server closes, or the lease is lost. */
  async run(): Promise<void> {
    const renewing = setInterval(() => void this.#renew(), this.#times.leaseMs / 3);
    try {
      await this.#deliverAll();
    } finally {
      clearInterval(renewing);
      this.#lost.abort();
      await Promise.all(this.#inFlight);
      await this.#services.offsets.release(this.#offset);
    }
  }

  /** Continues to read while the window has room, so that a failing event does not block the others. */
  async #deliverAll(): Promise<void> {
    const { kinds, concurrency } = this.#consumer;
    const scope = { tenant: this.#tenant, agentIds: null, withDescendants: false, createdBy: null, channels: CHANNELS, kinds };
    let isAtHead = false;
    while (!this.#stop.aborted) {
      if (this.#failure !== null) throw this.#failure;
      if (this.#begun < this.#window.length && this.#trying < concurrency) {
        this.#begin();
      } else if (!isAtHead && this.#mayRead) {
        this.#drain.lookAgain();
        const page = await this.#services.log.read(scope, this.#read);
        for (const event of page.events) this.#window.push({ position: event.position, event });
        this.#waiting += page.events.length;
        this.#reportRemoved(page.head.floor);
        this.#read = Math.max(page.covered, page.head.floor);
        isAtHead = this.#read >= page.head.position;
        this.#advance();
      } else if (isAtHead && this.#inFlight.size === 0 && this.#begun === this.#window.length) {
        return;
      } else {
        // Further events are useless while present ones cannot be started.
        const waiting = new AbortController();
        // Other servers' commits do not ring for this delivery: the log is read as often as by a sweep.
        const due = delay(this.#times.sweepMs, true, { signal: waiting.signal }).catch(() => false);
        const awaited = this.#mayRead ? [this.#changed(), this.#drain.more(), due] : [this.#changed(), due];
        await orStopped(Promise.race(awaited), this.#stop).catch(() => {});
        waiting.abort();
        isAtHead = false;
      }
    }
  }

  #reportRemoved(floor: number): void {
    if (this.#read >= floor) return;
    const removed = `events of tenant ${this.#tenant} after ${this.#read} and up to ${floor}`;
    this.#services.logger.warn(
      `${this.#consumer.name} never gets the ${removed}: retention removed them before they were delivered`,
    );
  }

  get #offset(): ConsumerOffset {
    return { name: this.#consumer.name, tenant: this.#tenant, position: this.#position };
  }

  get #mayRead(): boolean {
    return (
      this.#begun === this.#window.length &&
      this.#waiting < WINDOW.waiting &&
      this.#window.length < WINDOW.waiting + WINDOW.behind
    );
  }

  #begin(): void {
    const entry = this.#window[this.#begun];
    if (entry?.event === undefined || entry.event === null) return;
    this.#begun += 1;
    const delivery = this.#deliver(entry.event)
      .then((isDone) => {
        if (!isDone) return;
        entry.event = null;
        this.#waiting -= 1;
        this.#advance();
      })
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => {
        this.#inFlight.delete(delivery);
        this.#tellChange();
      });
    this.#inFlight.add(delivery);
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => (this.#tellChange = resolve));
  }

  #advance(): void {
    const first = this.#window.findIndex(({ event }) => event !== null);
    const delivered = this.#window.splice(0, first < 0 ? this.#window.length : first);
    this.#position = this.#window.length === 0 ? this.#read : (delivered.at(-1)?.position ?? this.#position);
    this.#begun -= delivered.length;
  }

  async #renew(): Promise<void> {
    try {
      if (!(await this.#services.offsets.renew(this.#offset))) this.#lost.abort();
    } catch (error) {
      this.#services.logger.warn(`the lease of ${this.#consumer.name} could not be renewed (${withCause(error)}); trying again`);
    }
  }

  /** Tries until it is delivered or given up, each try in its turn. False if it was stopped. */
  async #deliver(event: TimelineEvent): Promise<boolean> {
    const isOrdered = this.#consumer.concurrency === 1;
    for (let tries = 1; !this.#stop.aborted; tries += 1) {
      this.#trying += 1;
      const tried = await this.#tries
        .run("", async () => {
          const isDone = await this.#try(event, tries);
          // With ordered events, the others wait as well.
          if (!isDone && isOrdered) await this.#pause(tries);
          return isDone;
        })
        .finally(() => {
          this.#trying -= 1;
          this.#tellChange();
        });
      if (tried) return true;
      if (!isOrdered) await this.#pause(tries);
    }
    return false;
  }

  async #try(event: TimelineEvent, tries: number): Promise<boolean> {
    if (this.#stop.aborted) return false;
    try {
      await orStopped(this.#consumer.deliver(event, this.#stop), this.#stop);
      return true;
    } catch (error) {
      if (this.#stop.aborted) return false;
      const age = this.#services.clock.now().getTime() - event.at.getTime();
      if (error instanceof GiveUp || (tries >= LEAST_TRIES && age >= this.#consumer.giveUpMs)) {
        await this.#report(event, error);
        return true;
      }
      this.#services.failedTries.record(
        this.#tenant,
        this.#consumer.name,
        `${event.body.kind} at ${event.position}`,
        withCause(error),
      );
      return false;
    }
  }

  async #pause(tries: number): Promise<void> {
    const { firstRetryMs, lastRetryMs } = this.#times;
    await delay(growingWait(tries, firstRetryMs, lastRetryMs), undefined, { signal: this.#stop }).catch(() => {});
  }

  /**
   * Reports an event that is given up in the agent's log, without the cause. Not for such reports themselves, and
   * events without an agent.
   */
  async #report(event: TimelineEvent, error: unknown): Promise<void> {
    const what = `${event.body.kind} at ${event.position}`;
    const given = `${what} could not be delivered to ${this.#consumer.name}`;
    this.#services.failedTries.giveUp(this.#tenant, this.#consumer.name, what, withCause(error));
    const { agentId, createdBy } = event;
    if (event.body.kind === "ERROR" || agentId === null || createdBy === null) return;
    const message = `${given}: ${messageOf(error)}`;
    const body = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: "delivery_failed" } as const;
    await this.#services.log.append(this.#tenant, [{ agentId, createdBy, events: [{ at: this.#services.clock.now(), body }] }]);
  }
}

async function orStopped<Outcome>(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  using stopped = aborted(signal, () => new Error("it was stopped"));
  return await Promise.race([work, stopped.promise]);
}

const AGAIN_MS = 60 * 60 * 1_000;
const REASONS = 1_000;

type Said = { readonly at: number; since: number };

/** The failures of a consumer with events of a tenant, since this server started. */
export type DeliveryFailures = { readonly failedTries: number; readonly givenUp: number };

const NO_FAILURES: DeliveryFailures = { failedTries: 0, givenUp: 0 };

/** Counts failed tries, and logs each reason of a consumer once an hour, with its number of repetitions. */
export class FailedTries {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #said = new Map<string, Said>();
  readonly #failures = new Map<string, DeliveryFailures>();
  #count = 0;
  #givenUp = 0;

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  get count(): number {
    return this.#count;
  }

  get givenUp(): number {
    return this.#givenUp;
  }

  of(tenant: string, consumer: string): DeliveryFailures {
    return this.#failures.get(`${tenant}\n${consumer}`) ?? NO_FAILURES;
  }

  #add(tenant: string, consumer: string, { failedTries, givenUp }: DeliveryFailures): void {
    const known = this.of(tenant, consumer);
    const sum = { failedTries: known.failedTries + failedTries, givenUp: known.givenUp + givenUp };
    this.#failures.set(`${tenant}\n${consumer}`, sum);
  }

  /** Logs each event that is given up: they are few, and never repeated. */
  giveUp(tenant: string, consumer: string, what: string, reason: string): void {
    this.#givenUp += 1;
    this.#add(tenant, consumer, { failedTries: 0, givenUp: 1 });
    this.#logger.tell("delivery_given_up", `${what} could not be delivered to ${consumer}: ${reason}`, { tenant, consumer });
  }

  record(tenant: string, consumer: string, what: string, reason: string): void {
    this.#count += 1;
    this.#add(tenant, consumer, { failedTries: 1, givenUp: 0 });
    const key = `${consumer}\n${reason}`;
    const said = this.#said.get(key);
    if (said !== undefined && this.#now() - said.at < AGAIN_MS) {
      said.since += 1;
      return;
    }
    if (this.#said.size >= REASONS) this.#said.clear();
    this.#said.set(key, { at: this.#now(), since: 0 });
    const before = said === undefined || said.since === 0 ? "" : ` (${said.since} more since the last such line)`;
    this.#logger.tell("delivery_failed", `${what} was not delivered to ${consumer} (${reason}); trying again${before}`, {
      consumer,
    });
  }
}
