import { applyRetention, type KnownConsumer, type RetentionPolicy } from "../events/retention.ts";
import { counted, withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";
import type { ServerServices } from "../agent/loop/scope.ts";

/** The time between two sweeps, in ms. */
export const RETENTION_SWEEP_MS = 60 * 60 * 1_000;
/** The first sweep comes at a random time within so many ms, so that servers that start together sweep apart. */
const FIRST_MS = 60_000;

/**
 * Applies the retention policy every hour, on every server; after the first one the others find nothing. A server whose
 * clock differs from the database's removes nothing: removal is final.
 */
export class RetentionSweep {
  readonly #services: ServerServices;
  readonly #policy: RetentionPolicy;
  readonly #consumers: readonly KnownConsumer[];
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** Events stay until they are delivered to `consumers`. */
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
