import type { ServerServices } from "../agent/loop/scope.ts";
import type { Statement } from "../db/sql.ts";
import { withCause } from "../lib/text.ts";
import { every } from "../lib/time.ts";

const SWEEP_MS = 60 * 60 * 1_000;
/** The versions that one statement looks at. */
const CHUNK = 1_000;

type Looked = { readonly tenant: string; readonly digest: string; readonly looked: number; readonly removed: number };

/** One that was taken within the last day stays: the commit that takes it may not be seen yet. */
const REMOVE_VERSIONS: Statement<Looked, [afterTenant: string, afterDigest: string]> = {
  name: "remove_template_versions",
  text: `WITH looked AS (SELECT tenant, digest FROM template_version WHERE (tenant, digest) > ($1, $2) ORDER BY tenant, digest LIMIT ${CHUNK}),
      gone AS (DELETE FROM template_version v USING looked l WHERE v.tenant = l.tenant AND v.digest = l.digest AND v.taken_at < policy_time() - interval '1 day'
        AND (SELECT a.id FROM agent a WHERE a.tenant = v.tenant AND a.template_version IS NOT NULL AND a.template_version ->> 'digest' = v.digest LIMIT 1) IS NULL RETURNING 1)
    SELECT tenant, digest, (count(*) OVER ())::int AS looked, (SELECT count(*)::int FROM gone) AS removed FROM looked ORDER BY tenant DESC, digest DESC LIMIT 1`,
};

/** The same of manuals: an agent that is given another one leaves its former one. */
const REMOVE_MANUALS: Statement<Looked, [afterTenant: string, afterDigest: string]> = {
  name: "remove_manuals",
  text: `WITH looked AS (SELECT tenant, digest FROM manual WHERE (tenant, digest) > ($1, $2) ORDER BY tenant, digest LIMIT ${CHUNK}),
      gone AS (DELETE FROM manual m USING looked l WHERE m.tenant = l.tenant AND m.digest = l.digest AND m.taken_at < policy_time() - interval '1 day'
        AND (SELECT a.agent_id FROM agent_manual a WHERE a.tenant = m.tenant AND a.digest = m.digest LIMIT 1) IS NULL RETURNING 1)
    SELECT tenant, digest, (count(*) OVER ())::int AS looked, (SELECT count(*)::int FROM gone) AS removed FROM looked ORDER BY tenant DESC, digest DESC LIMIT 1`,
};

/** Removes the data of versions of templates with which no agent's latest turn began, and manuals that no agent has. */
export class VersionsSweep {
  readonly #services: Pick<ServerServices, "sql" | "clockSkew">;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(services: Pick<ServerServices, "sql" | "clockSkew" | "logger">, everyMs: number = SWEEP_MS) {
    this.#services = services;
    const onFailure = (error: unknown): void =>
      services.logger.warn(
        `old versions of templates and manuals could not be removed (${withCause(error)}); trying again later`,
      );
    const firstMs = Math.random() * everyMs;
    this.#running = every({ pauseMs: () => everyMs, firstMs, task: () => this.tidy(), onFailure }, this.#closing.signal);
  }

  async tidy(): Promise<number> {
    return (await this.#remove(REMOVE_VERSIONS)) + (await this.#remove(REMOVE_MANUALS));
  }

  async #remove(statement: typeof REMOVE_VERSIONS): Promise<number> {
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
