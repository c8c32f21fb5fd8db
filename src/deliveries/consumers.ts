import type { Sql } from "../db/sql.ts";
import { type Clock, every } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import { withCause } from "../lib/text.ts";
import { ConsumerOffsets, registerConsumer, type Consumer } from "./consumer.ts";
import { concerns } from "../events/cursor.ts";
import { FailedTries, Delivery, type DeliveryFailures, Drain, type ConsumerTimes, type DeliveryServices } from "./delivery.ts";
import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";

/** The time between two notes in the database that the consumers are configured, in ms. */
const SEEN_MS = 60_000;

export type ConfiguredConsumer = Pick<Consumer, "name" | "kinds"> & DeliveryFailures;

export type ConsumerServices = {
  readonly serverId: string;
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * Registers consumers before this server writes: a consumer that was absent while others wrote to a log may begin anew
 * there. This server's own first events do not count for that.
 */
export async function registerConsumers(services: ConsumerServices, consumers: readonly Consumer[]): Promise<void> {
  for (const { name } of consumers)
    for (const { tenant, seenAt } of await registerConsumer(services.sql, name))
      services.logger.warn(
        `${name} was not configured since ${seenAt.toISOString()}: of tenant ${tenant} it gets what comes from now on, and not what it missed`,
      );
}

/**
 * Delivers committed events to consumers, at least once each, on the server with the lease of the consumer and tenant.
 * Offsets are rows: another server continues after this one has ended. Work never waits for a delivery.
 */
export class Consumers {
  readonly #services: DeliveryServices;
  readonly #times: ConsumerTimes;
  readonly #consumers: ReadonlyMap<string, Consumer>;
  readonly #closing = new AbortController();
  readonly #drains = new Map<string, Drain>();
  readonly #ends = new Set<Promise<void>>();
  readonly #sweeping: Promise<void>;
  #seenAt = performance.now();

  constructor(services: ConsumerServices, consumers: readonly Consumer[], times: ConsumerTimes) {
    const { serverId, sql, log, clock, logger } = services;
    const offsets = new ConsumerOffsets(sql, serverId, times.leaseMs);
    this.#services = { offsets, log, clock, logger, failedTries: new FailedTries(logger) };
    this.#times = times;
    this.#consumers = new Map(consumers.map((consumer) => [consumer.name, consumer]));
    services.log.onCommitted((tenant, events) => this.#wake(tenant, events));
    const rhythm = {
      pauseMs: () => times.sweepMs,
      firstMs: 0,
      task: () => this.#sweep(),
      onFailure: (error: unknown) =>
        services.logger.warn(`deliveries could not be looked for (${withCause(error)}); trying again`),
    };
    this.#sweeping = consumers.length === 0 ? Promise.resolve() : every(rhythm, this.#closing.signal);
  }

  get givenUp(): number {
    return this.#services.failedTries.givenUp;
  }

  get failedTries(): number {
    return this.#services.failedTries.count;
  }

  /** The consumers that get events of a tenant, with their failures on this server. */
  of(tenant: string): readonly ConfiguredConsumer[] {
    return [...this.#consumers.values()]
      .filter((consumer) => concerns(consumer, tenant))
      .map(({ name, kinds }) => Object.assign({ name, kinds }, this.#services.failedTries.of(tenant, name)));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sweeping;
    await Promise.all(this.#ends);
  }

  #wake(tenant: string, events: readonly TimelineEvent[]): void {
    for (const consumer of this.#consumers.values())
      if (concerns(consumer, tenant) && events.some(({ body }) => consumer.kinds.includes(body.kind)))
        this.#drain(consumer, tenant);
  }

  async #sweep(): Promise<void> {
    const { offsets } = this.#services;
    if (performance.now() - this.#seenAt >= SEEN_MS) {
      await offsets.seen([...this.#consumers.keys()]);
      this.#seenAt = performance.now();
    }
    const { wanted, idle } = await offsets.behind([...this.#consumers.values()]);
    for (const { name, tenant } of wanted) {
      const consumer = this.#consumers.get(name);
      if (consumer !== undefined) this.#drain(consumer, tenant);
    }
    await offsets.pass(idle);
  }

  #drain(consumer: Consumer, tenant: string): void {
    if (this.#closing.signal.aborted) return;
    const key = `${consumer.name}\n${tenant}`;
    const underway = this.#drains.get(key);
    if (underway !== undefined) return underway.moreCame();
    const drain = new Drain();
    this.#drains.set(key, drain);
    const ended = this.#drainOn(consumer, tenant, drain)
      .catch((error: unknown) =>
        this.#services.logger.warn(
          `deliveries of ${consumer.name} stopped (${withCause(error)}); they continue with the next sweep`,
        ),
      )
      .finally(() => {
        this.#drains.delete(key);
        this.#ends.delete(ended);
      });
    this.#ends.add(ended);
  }

  async #drainOn(consumer: Consumer, tenant: string, drain: Drain): Promise<void> {
    do {
      drain.lookAgain();
      const offset = await this.#services.offsets.claim(consumer.name, tenant);
      if (offset === null) return;
      await new Delivery(this.#services, this.#times, consumer, offset, drain, this.#closing.signal).run();
    } while (drain.isStale && !this.#closing.signal.aborted);
  }
}
