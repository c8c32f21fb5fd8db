import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

const SWEEP_MS = 60 * 60 * 1_000;
/** The rows that one statement removes. */
const CHUNK = 1_000;
const KEPT = "interval '30 days'";

type Removed = Statement<{ removed: number }, []>;

const REMOVE_VERSIONS: Removed = {
  name: "remove_memory_versions",
  text: `WITH gone AS (DELETE FROM memory_version WHERE (entry_id, version) IN
      (SELECT entry_id, version FROM memory_version WHERE replaced_at < policy_time() - ${KEPT} ORDER BY replaced_at LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** An entry that is written anew meanwhile stays. */
const REMOVE_DELETED: Removed = {
  name: "remove_deleted_memory",
  text: `WITH gone AS (DELETE FROM memory_entry WHERE deleted_at < policy_time() - ${KEPT} AND id IN
      (SELECT id FROM memory_entry WHERE deleted_at < policy_time() - ${KEPT} ORDER BY deleted_at LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** Removes former versions and deleted entries of memory when their time is over. */
export class MemorySweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`old versions of memory could not be removed (${withCause(error)}); trying again later`);
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    return (await this.#removeAll(REMOVE_VERSIONS)) + (await this.#removeAll(REMOVE_DELETED));
  }

  async #removeAll(statement: Removed): Promise<number> {
    const { sql, clockSkew } = this.#services;
    let all = 0;
    while (!clockSkew().isLarge && !this.#closing.signal.aborted) {
      const [{ removed } = { removed: 0 }] = await sql.query(statement, []);
      all += removed;
      if (removed < CHUNK) break;
    }
    return all;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
