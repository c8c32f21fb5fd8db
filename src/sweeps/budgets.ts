import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

const SWEEP_MS = 6 * 60 * 60 * 1_000;
/** The rows that one statement removes. */
const CHUNK = 1_000;

/** The periods of turns, days and months without any use for long. Those without an end are counted for ever. */
const REMOVE: Statement<{ removed: number }, []> = {
  name: "remove_budget_periods",
  text: `WITH gone AS (DELETE FROM budget_period WHERE (tenant, budget_id, ref, starts_at) IN (
      SELECT p.tenant, p.budget_id, p.ref, p.starts_at FROM budget_period p
      WHERE p.used_at < policy_time() - interval '400 days' AND (p.ends_at IS NOT NULL OR strpos(p.ref, '#') > 0) AND p.held_tokens = 0 AND p.held_millionths = 0 LIMIT ${CHUNK}) RETURNING 1)
    SELECT count(*)::int AS removed FROM gone`,
};

/** Removes the periods of budgets when their time is over. */
export class BudgetSweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`old periods of budgets could not be removed (${withCause(error)}); trying again later`);
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    const { sql, clockSkew } = this.#services;
    let all = 0;
    while (!clockSkew().isLarge && !this.#closing.signal.aborted) {
      const [{ removed } = { removed: 0 }] = await sql.query(REMOVE, []);
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
