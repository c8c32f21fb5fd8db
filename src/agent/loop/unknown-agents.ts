import type { Statement } from "../../db/sql.ts";
import { withCause } from "../../lib/text.ts";
import { every } from "../../lib/time.ts";
import { isKnown } from "./lease.ts";
import type { ServerServices } from "./scope.ts";

const LOOK_MS = 15_000;
/** The time within which a server that knows the parts of an agent claims it, in s. */
const PATIENCE_S = 10;

type Found = { readonly template: string; readonly model: string; readonly count: number };

const UNKNOWN: Statement<Found, [known: string]> = {
  name: "unknown_agents",
  text: `SELECT template_id AS template, model, count(*)::int AS count FROM agent
    WHERE runnable_at < clock_timestamp() - interval '${PATIENCE_S} s' AND lease_owner IS NULL AND NOT ${isKnown("$1")}
    GROUP BY template_id, model ORDER BY count DESC, template_id, model LIMIT 100`,
};

/**
 * Counts and logs runnable agents that no server claims. No configuration has their template, model, hooks or folder:
 * it was renamed or removed while they worked.
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

  get count(): number {
    return this.#found.reduce((sum, { count }) => sum + count, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { sql, knownParts, logger } = this.#services;
    // A single server ends the turns of such agents itself.
    if (knownParts === null || sql.outages.current !== null) return;
    const before = this.#found;
    this.#found = await sql.query(UNKNOWN, [knownParts]);
    for (const { template, model, count } of this.#found) {
      if (before.some((known) => known.template === template && known.model === model && known.count >= count)) continue;
      logger.tell(
        "agents_unknown",
        `agents of template ${template} with model ${model} are not claimed: a part of them is missing in the configuration`,
        { template, model, count },
      );
    }
  }
}
