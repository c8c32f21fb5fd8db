import type { Statement } from "../../db/sql.ts";
import { every } from "../../lib/every.ts";
import { withCause } from "../../lib/text.ts";
import { isKnown } from "./lease.ts";
import type { ServerServices } from "./services.ts";

/** The time between two looks, in ms. */
const LOOK_MS = 15_000;
/** Another server that has the parts has claimed an agent by then, in s. */
const PATIENCE_S = 10;

type Found = { readonly template: string; readonly model: string; readonly count: number };

const UNKNOWN: Statement<Found, [known: string]> = {
  name: "unknown_agents",
  text: `SELECT template_id AS template, model, count(*)::int AS count FROM agent
    WHERE runnable_at < clock_timestamp() - interval '${PATIENCE_S} s' AND lease_owner IS NULL AND NOT ${isKnown("$1")}
    GROUP BY template_id, model ORDER BY count DESC, template_id, model LIMIT 100`,
};

/**
 * Agents that could go on, and that no server takes, since none has what they are made of: a template or a model that was renamed or
 * removed while they worked. They are logged when there are others than before, and counted for metrics.
 */
export class UnknownAgents {
  readonly #services: ServerServices;
  readonly #closing = new AbortController();
  readonly #looking: Promise<void>;
  #found: readonly Found[] = [];

  constructor(services: ServerServices, lookMs = LOOK_MS) {
    this.#services = services;
    this.#looking = every(
      {
        pauseMs: () => lookMs,
        task: () => this.#look(),
        onFailure: (error) =>
          services.logger.warn(`agents that wait could not be looked for (${withCause(error)}); trying again`),
      },
      this.#closing.signal,
    );
  }

  /** The number of them at the last look. */
  get count(): number {
    return this.#found.reduce((sum, { count }) => sum + count, 0);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { sql, knownParts, logger } = this.#services;
    // Where there is one server, nobody else could have them: it ends their turns.
    if (knownParts === null || sql.outages.current !== null) return;
    const before = this.#found;
    this.#found = await sql.query(UNKNOWN, [knownParts]);
    for (const { template, model, count } of this.#found) {
      if (before.some((known) => known.template === template && known.model === model && known.count >= count)) continue;
      const what = `template ${template} with model ${model}`;
      logger.tell(
        "agents_unknown",
        `agents of ${what} wait for a server whose configuration has what they are made of: this one's has not, and no other takes them`,
        { template, model, count },
      );
    }
  }
}
