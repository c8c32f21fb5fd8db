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

/** What keeps things for a time. */
type Swept = { readonly sweep: (now: Date) => Promise<void> };

/** Removes the HOMEs of agents of this server's database whose rows are gone, on this server, measures those that programs used, and removes what was taken away long ago. */
export class HomesSweep {
  readonly #services: Pick<ServerServices, "sql" | "homes" | "clock" | "clockSkew">;
  readonly #box: Swept | null;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(
    services: Pick<ServerServices, "sql" | "homes" | "clock" | "clockSkew" | "logger">,
    box: Swept | null,
    everyMs: number = SWEEP_MS,
  ) {
    this.#services = services;
    this.#box = box;
    const onFailure = (error: unknown): void =>
      services.logger.warn(`HOMEs of agents that are gone could not be removed (${withCause(error)}); trying again later`);
    this.#running = every({ pauseMs: () => everyMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  /** Looks once. A HOME that cannot be removed keeps no other; rejects in the end, with the first of such errors as its cause. */
  async tidy(): Promise<void> {
    const { sql, homes, clock, clockSkew } = this.#services;
    const errors: unknown[] = [];
    const agents = await homes.agents();
    for (let from = 0; from < agents.length && !this.#closing.signal.aborted; from += ASKED) {
      const asked = agents.slice(from, from + ASKED);
      const present = new Set((await sql.query(PRESENT, [asked])).map(({ id }) => id));
      for (const agentId of asked)
        if (!present.has(agentId)) await homes.remove(agentId).catch((error: unknown) => errors.push(error));
    }
    await homes.measure();
    // Where the machine's clock is wrong, files have the wrong times.
    if (!clockSkew().isLarge) await this.#box?.sweep(clock.now());
    if (errors.length > 0) throw new Error(`${errors.length} of them`, { cause: errors[0] });
  }

  /** Ends after the statement that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
