import { setTimeout as delay } from "node:timers/promises";
import { applyRetention, type Reader, type RetentionPolicy } from "../events/retention.ts";
import { withCause } from "../lib/text.ts";
import type { AgentParts } from "./parts.ts";

/** How often what is not kept any more is removed, in ms. */
export const HOUSEKEEPING_MS = 60 * 60 * 1_000;
/** After the start it is removed within so many ms, at random, so that servers that start together do not do so together. */
const FIRST_MS = 60_000;

/** Removes what the policy does not keep: once an hour, on every node, which find nothing to do after the first. */
export class Housekeeping {
  readonly #parts: AgentParts;
  readonly #policy: RetentionPolicy;
  readonly #readers: readonly Reader[];
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** `readers` are delivered events, which do not go before that. */
  constructor(parts: AgentParts, policy: RetentionPolicy, readers: readonly Reader[], everyMs: number) {
    this.#parts = parts;
    this.#policy = policy;
    this.#readers = readers;
    this.#running = Object.values(policy).every((kept) => kept === null) ? Promise.resolve() : this.#run(everyMs);
  }

  /** Ends after the statement that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(everyMs: number): Promise<void> {
    const { signal } = this.#closing;
    for (let waitMs = Math.random() * Math.min(FIRST_MS, everyMs); !signal.aborted; waitMs = everyMs) {
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await this.#tidy();
    }
  }

  async #tidy(): Promise<void> {
    const { sql, clock, outputs, logger } = this.#parts;
    try {
      const now = clock.now();
      await applyRetention(sql, { policy: this.#policy, readers: this.#readers, now }, this.#closing.signal);
      const { outputsMs } = this.#policy;
      if (outputsMs !== null) await outputs.removeOlder(new Date(now.getTime() - outputsMs));
    } catch (error) {
      logger.warn(`what is not kept any more could not be removed (${withCause(error)}); trying again in an hour`);
    }
  }
}
