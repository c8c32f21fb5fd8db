import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

const SWEEP_MS = 60 * 60 * 1_000;
const ASKED = 1_000;

const PRESENT: Statement<{ id: string }, [agentIds: readonly string[]]> = {
  name: "present_agents",
  text: "SELECT id FROM agent WHERE id = ANY ($1)",
};

type Swept = { readonly sweep: (now: Date) => Promise<void> };

/**
 * Removes the HOMEs on this server whose agents' rows are gone, measures those that programs used, and deletes old
 * removed files.
 */
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
    // With a wrong clock, files have wrong times.
    if (!clockSkew().isLarge) await this.#box?.sweep(clock.now());
    if (errors.length > 0) throw new Error(`${errors.length} of them`, { cause: errors[0] });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
