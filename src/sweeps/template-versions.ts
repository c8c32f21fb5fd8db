import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

const SWEEP_MS = 60 * 60 * 1_000;
/** The versions that one statement looks at. */
const CHUNK = 1_000;

type Looked = { readonly tenant: string; readonly digest: string; readonly looked: number; readonly removed: number };

/** Removes rows `r` that no row names. One that was taken within the last day stays: the commit that takes it may not be seen yet. */
function removal(table: string, named: string): Statement<Looked, [afterTenant: string, afterDigest: string]> {
  return {
    name: `remove_${table}`,
    text: `WITH looked AS (SELECT tenant, digest FROM ${table} WHERE (tenant, digest) > ($1, $2) ORDER BY tenant, digest LIMIT ${CHUNK}),
      gone AS (DELETE FROM ${table} r USING looked l WHERE r.tenant = l.tenant AND r.digest = l.digest AND r.taken_at < policy_time() - interval '1 day'
        AND (SELECT 1 FROM ${named} LIMIT 1) IS NULL RETURNING 1)
    SELECT tenant, digest, (count(*) OVER ())::int AS looked, (SELECT count(*)::int FROM gone) AS removed FROM looked ORDER BY tenant DESC, digest DESC LIMIT 1`,
  };
}

const REMOVALS = [
  removal(
    "template_version",
    "agent a WHERE a.tenant = r.tenant AND a.template_version IS NOT NULL AND a.template_version ->> 'digest' = r.digest",
  ),
  // An agent that is given another manual leaves its former one.
  removal("manual", "agent_manual a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
  // An agent keeps the parts of all its requests.
  removal("request_part", "agent_request_part a WHERE a.tenant = r.tenant AND a.digest = r.digest"),
];

/** Removes versions of templates with which no agent's latest turn began, manuals that no agent has, and parts of requests without an agent. */
export class VersionsSweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(
        `versions of templates, manuals and parts of requests could not be removed (${withCause(error)}); trying again later`,
      );
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    let removed = 0;
    for (const removes of REMOVALS) removed += await this.#remove(removes);
    return removed;
  }

  async #remove(statement: (typeof REMOVALS)[number]): Promise<number> {
    const { sql, clockSkew } = this.#services;
    let removed = 0;
    let [tenant, digest] = ["", ""];
    while (!clockSkew().isLarge && !this.#closing.signal.aborted) {
      const [last] = await sql.query(statement, [tenant, digest]);
      removed += last?.removed ?? 0;
      if (last === undefined || last.looked < CHUNK) break;
      ({ tenant, digest } = last);
    }
    return removed;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }
}
