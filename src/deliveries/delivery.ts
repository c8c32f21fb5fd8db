import { setTimeout as delay } from "node:timers/promises";
import { aborted } from "../lib/aborted.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import { messageOf, withCause } from "../lib/text.ts";
import { Turns } from "../lib/turns.ts";
import { CHANNELS } from "../events/channel.ts";
import type { FailedTries } from "./failed-tries.ts";
import type { ConsumerOffset, ConsumerOffsets } from "./offsets.ts";
import { GiveUp, type Consumer } from "./consumer.ts";
import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { growingWait } from "../lib/growing-wait.ts";

/** The times of deliveries, in ms. */
export type ConsumerTimes = {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
};

/** The times of production: a lease of 30 s, a look each 5 s, waits from 1 s to 5 minutes. */
export const CONSUMER_TIMES: ConsumerTimes = { leaseMs: 30_000, sweepMs: 5_000, firstRetryMs: 1_000, lastRetryMs: 300_000 };

/** The services that a delivery works with. */
export type DeliveryServices = {
  readonly offsets: ConsumerOffsets;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly failedTries: FailedTries;
};

/** Tells a delivery if more has come since it last read the log. */
export class Drain {
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

/** The most events that may wait at once, and the most that may be delivered behind one that is refused: after a restart those come again. */
const WINDOW = { waiting: 1_000, behind: 100_000 };
/** An event is not given up before so many tries, however old it is: a server that was away begins anew. */
const LEAST_TRIES = 5;

/** An event that was read; null instead when it is delivered. */
type Entry = { readonly position: number; event: TimelineEvent | null };

/** The delivery of one tenant's events to one consumer, under one lease. */
export class Delivery {
  readonly #services: DeliveryServices;
  readonly #times: ConsumerTimes;
  readonly #consumer: Consumer;
  readonly #tenant: string;
  readonly #stop: AbortSignal;
  readonly #lost = new AbortController();
  readonly #drain: Drain;
  /** The events that were read, from the first one on that is not delivered yet, in order. */
  readonly #window: Entry[] = [];
  /** The number of those that are not delivered yet. */
  #waiting = 0;
  readonly #inFlight = new Set<Promise<void>>();
  /** The number of deliveries that are tried now or wait for their turn; one that was refused and pauses is none of them. */
  #trying = 0;
  readonly #tries: Turns;
  #tellChange: () => void = () => {};
  /** Everything up to here is delivered, or given up. */
  #position: number;
  /** Everything up to here was read. */
  #read: number;
  /** The number of events of the window that have been begun. */
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
    this.#tries = new Turns(consumer.concurrency);
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
      await this.#services.offsets.release(this.#offset);
    }
  }

  /** Reads on while less than a window waits, so that one event that fails does not hold the others back. */
  async #deliverAll(): Promise<void> {
    const { kinds, concurrency } = this.#consumer;
    const scope = { tenant: this.#tenant, agentIds: null, createdBy: null, channels: CHANNELS, kinds };
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
        this.#tellRemoved(page.head.floor);
        this.#read = Math.max(page.covered, page.head.floor);
        isAtHead = this.#read >= page.head.position;
        this.#advance();
      } else if (isAtHead && this.#inFlight.size === 0 && this.#begun === this.#window.length) {
        return;
      } else {
        // More is of no use while what is there cannot be begun.
        const waiting = new AbortController();
        // What other servers commit rings here for nobody: the log is looked at again as often as a sweep would.
        const due = delay(this.#times.sweepMs, true, { signal: waiting.signal }).catch(() => false);
        const awaited = this.#mayRead ? [this.#changed(), this.#drain.more(), due] : [this.#changed(), due];
        await orStopped(Promise.race(awaited), this.#stop).catch(() => {});
        waiting.abort();
        isAtHead = false;
      }
    }
  }

  /** Events that retention removed before they were delivered are passed over, and that is said. */
  #tellRemoved(floor: number): void {
    if (this.#read >= floor) return;
    const removed = `events of tenant ${this.#tenant} after ${this.#read} and up to ${floor}`;
    this.#services.logger.warn(
      `${this.#consumer.name} never gets the ${removed}: retention removed them before they were delivered`,
    );
  }

  get #offset(): ConsumerOffset {
    return { name: this.#consumer.name, tenant: this.#tenant, position: this.#position };
  }

  /** True if all that was read has begun, and more may be read. */
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

  /** Resolves when a delivery ends, or waits for its next try. */
  #changed(): Promise<void> {
    return new Promise((resolve) => (this.#tellChange = resolve));
  }

  /** Moves the position over what is delivered without a hole. */
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

  /** Tries until it is delivered or given up, each try in its turn. False if the trying was stopped. */
  async #deliver(event: TimelineEvent): Promise<boolean> {
    const isOrdered = this.#consumer.concurrency === 1;
    for (let tries = 1; !this.#stop.aborted; tries += 1) {
      this.#trying += 1;
      const tried = await this.#tries
        .run("", async () => {
          const isDone = await this.#try(event, tries);
          // If they come in order, the others wait as well.
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

  /** One try. True if the event is delivered, or given up. */
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
      this.#services.failedTries.tell(this.#consumer.name, `${event.body.kind} at ${event.position}`, withCause(error));
      return false;
    }
  }

  /** Waits before the next try: longer each time. */
  async #pause(tries: number): Promise<void> {
    const { firstRetryMs, lastRetryMs } = this.#times;
    await delay(growingWait(tries, firstRetryMs, lastRetryMs), undefined, { signal: this.#stop }).catch(() => {});
  }

  /** An event that is given up is reported in the agent's log, without its cause, unless it is such a report itself, or of no agent. */
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

/** The work's outcome; rejects if the signal aborts first. */
async function orStopped<Outcome>(work: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  using stopped = aborted(signal, () => new Error("it was stopped"));
  return await Promise.race([work, stopped.promise]);
}
