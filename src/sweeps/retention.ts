import { applyRetention, type KnownConsumer, type RetentionPolicy } from "../events/retention.ts";
import { counted } from "../lib/counted.ts";
import { every } from "../lib/every.ts";
import { withCause } from "../lib/text.ts";
import type { ServerServices } from "../agent/loop/services.ts";

/** The time between two removals of what is no longer kept, in ms. */
export const RETENTION_SWEEP_MS = 60 * 60 * 1_000;
/** After the start it is removed within so many ms, at random, so that servers that start together do not do so together. */
const FIRST_MS = 60_000;

/**
 * Removes what the policy does not keep: once an hour, on every server, which find nothing to do after the first. A server whose
 * machine has another time than the database removes nothing: what is removed is lost for ever.
 */
export class RetentionSweep {
  readonly #services: ServerServices;
  readonly #policy: RetentionPolicy;
  readonly #consumers: readonly KnownConsumer[];
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** `consumers` are delivered events, which do not go before that. */
  constructor(services: ServerServices, policy: RetentionPolicy, consumers: readonly KnownConsumer[], everyMs: number) {
    this.#services = services;
    this.#policy = policy;
    this.#consumers = consumers;
    const rhythm = {
      pauseMs: () => everyMs,
      firstMs: Math.random() * Math.min(FIRST_MS, everyMs),
      task: () => this.#tidy(),
      onFailure: (error: unknown) =>
        services.logger.warn(`what is no longer kept could not be removed (${withCause(error)}); trying again later`),
    };
    const keepsAll = Object.values(policy).every((kept) => kept === null);
    this.#running = keepsAll ? Promise.resolve() : every(rhythm, this.#closing.signal);
  }

  /** Ends after the statement that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #tidy(): Promise<void> {
    const { sql, clock, clockSkew, outputs, logger } = this.#services;
    if (clockSkew().isLarge) return;
    const { outputsMs } = this.#policy;
    try {
      const removals = await applyRetention(sql, { policy: this.#policy, consumers: this.#consumers }, this.#closing.signal);
      for (const { tenant, events, deltas } of removals)
        if (events + deltas > 0)
          logger.tell("removed", `the retention removed ${counted(events, "event")} and ${counted(deltas, "delta")}`, { tenant });
    } finally {
      if (outputsMs !== null) await outputs.removeOlder(new Date(clock.now().getTime() - outputsMs));
    }
  }
}
