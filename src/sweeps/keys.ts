import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

/** The days for which an idempotency key is known, longer than clients retry. */
const KEPT_DAYS = 30;
/**
 * The time between two sweeps, in ms. The first comes at a random time within it, so that servers that start together
 * sweep apart.
 */
const SWEEP_MS = 60 * 60 * 1_000;
const CHUNK = 5_000;

const REMOVE: Statement<object, []> = {
  name: "remove_idempotency_keys",
  text: `DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_key
    WHERE created_at < policy_time() - make_interval(days => ${KEPT_DAYS}) ORDER BY created_at LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)) RETURNING 1`,
};

/** Removes old idempotency keys: nearly every create has one. */
export class KeysSweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`old idempotency keys could not be removed (${withCause(error)}); trying again later`);
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    const { sql, clockSkew } = this.#services;
    let removed = 0;
    while (!clockSkew().isLarge && !this.#closing.signal.aborted) {
      const { length } = await sql.query(REMOVE, []);
      removed += length;
      if (length < CHUNK) break;
    }
    return removed;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
