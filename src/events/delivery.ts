import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../lib/log.ts";
import { messageOf } from "../lib/text.ts";
import { CHANNELS } from "./channel.ts";
import type { ConsumerPlace, ConsumerPlaces } from "./consumer-places.ts";
import { GiveUp, type Consumer } from "./consumer.ts";
import type { TimelineEvent } from "./event.ts";
import type { EventLog } from "./log.ts";

/** The times of deliveries, in ms. */
export type ConsumerTimes = {
  readonly leaseMs: number;
  readonly sweepMs: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
};

/** The times of production: a lease of 30 s, a look each 5 s, waits from 1 s to 5 minutes. */
export const CONSUMER_TIMES: ConsumerTimes = { leaseMs: 30_000, sweepMs: 5_000, firstRetryMs: 1_000, lastRetryMs: 300_000 };

/** What a delivery works with. */
export type DeliveryParts = { readonly places: ConsumerPlaces; readonly log: EventLog; readonly logger: Logger };

/** Whether more has come since the log was last read, for who delivers from it. */
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

/** How many events may wait behind one that is not delivered yet. */
const WINDOW = 1_000;
/** An event is not given up before so many tries, however old it is: a server that was away begins anew. */
const LEAST_TRIES = 5;

/** The delivery of one tenant's events to one consumer, under one lease. */
export class Delivery {
  readonly #parts: DeliveryParts;
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
    parts: DeliveryParts,
    times: ConsumerTimes,
    consumer: Consumer,
    { tenant, position }: ConsumerPlace,
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
      await this.#parts.places.release(this.#place);
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
        this.#tellRemoved(page.head.floor);
        this.#read = Math.max(page.covered, page.head.floor);
        isAtHead = this.#read >= page.head.position;
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

  /** What retention removed before it was delivered is said, and passed over. */
  #tellRemoved(floor: number): void {
    if (this.#read >= floor) return;
    const removed = `events of tenant ${this.#tenant} after ${this.#read} and up to ${floor}`;
    this.#parts.logger.warn(
      `${this.#consumer.name} never gets the ${removed}: retention removed them before they were delivered`,
    );
  }

  get #place(): ConsumerPlace {
    return { name: this.#consumer.name, tenant: this.#tenant, position: this.#position };
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
      if (!(await this.#parts.places.renew(this.#place))) this.#lost.abort();
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
