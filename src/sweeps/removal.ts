import type { ServerServices } from "../agent/loop/scope.ts";
import type { Sql, Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

/** The rows that one statement removes, or looks at. */
export const CHUNK = 1_000;

type RemovalServices = Pick<ServerServices, "sql" | "clockSkew" | "logger">;

/** Rows whose time is over. `remove` removes them while `mayRemove` is true, and returns their number. */
export type Removal = {
  /** Their name in the log. */
  readonly rows: string;
  readonly everyMs: number;
  readonly remove: (sql: Sql, mayRemove: () => boolean) => Promise<number>;
};

/**
 * Removes rows periodically, on every server. One whose clock differs from the database's waits, since removal is
 * final.
 */
export class RemovalSweep {
  readonly #services: RemovalServices;
  readonly #removal: Removal;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: RemovalServices, removal: Removal) {
    this.#services = services;
    this.#removal = removal;
    const { rows, everyMs } = removal;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`${rows} could not be removed (${withCause(error)}); trying again later`);
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  /** The number of removed rows. */
  async tidy(): Promise<number> {
    const { sql, clockSkew } = this.#services;
    return this.#removal.remove(sql, () => !clockSkew().isLarge && !this.#closing.signal.aborted);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}

/** Runs a statement that removes up to CHUNK rows until it removes fewer. */
export async function removeAll(
  sql: Sql,
  statement: Statement<{ removed: number }, []>,
  mayRemove: () => boolean,
): Promise<number> {
  let all = 0;
  while (mayRemove()) {
    const [{ removed } = { removed: 0 }] = await sql.query(statement, []);
    all += removed;
    if (removed < CHUNK) break;
  }
  return all;
}
