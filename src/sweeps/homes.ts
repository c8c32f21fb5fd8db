import type { ServerServices } from "../agent/loop/services.ts";
import type { Statement } from "../db/sql.ts";
import { every } from "../lib/every.ts";
import { withCause } from "../lib/text.ts";

/** The time between two looks, in ms. */
const SWEEP_MS = 60 * 60 * 1_000;
/** The most agents that one statement is asked about. */
const ASKED = 1_000;

const PRESENT: Statement<{ id: string }, [agentIds: readonly string[]]> = {
  name: "present_agents",
  text: "SELECT id FROM agent WHERE id = ANY ($1)",
};

/** A database and its copies have the same key for what servers sign, and another database has another: its digest names them. */
const DATABASE: Statement<{ database: string }, []> = {
  name: "database_of_homes",
  text: "SELECT encode(sha256(key), 'hex') AS database FROM signing_key WHERE name = 'images'",
};

/**
 * Removes the HOMEs of agents whose rows are gone, of this server. Those of another database's agents stay: a server that was
 * started with a wrong `DATABASE_URL` finds none of their rows.
 */
export class HomesSweep {
  readonly #services: Pick<ServerServices, "sql" | "homes" | "logger">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #isToldOfOthers = false;

  constructor(services: Pick<ServerServices, "sql" | "homes" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`HOMEs of agents that are gone could not be removed (${withCause(error)}); trying again later`);
    this.#running = every({ pauseMs: () => everyMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  /** Looks once. A HOME that cannot be removed keeps no other; rejects in the end, with the first of such errors as its cause. */
  async tidy(): Promise<void> {
    const { sql, homes } = this.#services;
    const errors: unknown[] = [];
    const agents = await homes.agents();
    if (agents.length > 0 && !(await this.#areOwn())) return;
    for (let from = 0; from < agents.length && !this.#closing.signal.aborted; from += ASKED) {
      const asked = agents.slice(from, from + ASKED);
      const present = new Set((await sql.query(PRESENT, [asked])).map(({ id }) => id));
      for (const agentId of asked)
        if (!present.has(agentId)) await homes.remove(agentId).catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw new Error(`${errors.length} of them`, { cause: errors[0] });
  }

  async #areOwn(): Promise<boolean> {
    const { sql, homes, logger } = this.#services;
    const [row] = await sql.query(DATABASE, []);
    const areOwn = row !== undefined && (await homes.areOf(row.database));
    if (!areOwn && !this.#isToldOfOthers)
      logger.warn(
        `the HOMEs of this data folder are of agents of another database, so none of them is removed. If DATABASE_URL is right and that database is gone, remove ${homes.mark}`,
      );
    this.#isToldOfOthers = !areOwn;
    return areOwn;
  }

  /** Ends after the statement that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
