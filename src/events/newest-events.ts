import type { Sql, Statement } from "../db/sql.ts";
import type { TimelineEvent } from "./event.ts";

const TENANTS = 10_000;

/** The SQL condition that a tenant's log has lost no commits in a failover: others are not written before `npm run restored`. */
export function logIsWhole(tenant: string): string {
  return `(SELECT l.lost_at FROM tenant_log l WHERE l.tenant = ${tenant}) IS NULL`;
}

/** Those events that are missing or different. Events removed by retention do not count. */
const GONE: Statement<
  { tenant: string },
  [
    tenants: readonly string[],
    positions: readonly number[],
    agentIds: readonly (string | null)[],
    seqs: readonly number[],
    kinds: readonly string[],
    times: readonly string[],
  ]
> = {
  name: "gone_events",
  text: `SELECT k.tenant FROM unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::timestamptz[]) AS k(tenant, position, agent_id, seq, kind, at)
    JOIN tenant_log l ON l.tenant = k.tenant LEFT JOIN event e ON e.tenant = k.tenant AND e.position = k.position
    WHERE k.position > greatest(l.floor, l.compacted, l.erased) AND l.lost_at IS NULL AND (e.agent_id, e.seq, e.kind, e.at) IS DISTINCT FROM (k.agent_id, k.seq, k.kind, k.at)`,
};
const MARK: Statement<object, [tenants: readonly string[]]> = {
  name: "mark_lost",
  text: "UPDATE tenant_log SET lost_at = coalesce(lost_at, clock_timestamp()) WHERE tenant = ANY ($1)",
};

/**
 * Remembers the newest event of each tenant that this server knows, to detect a failover that lost commits. The event
 * is then missing, or another has its position.
 */
export class NewestEvents {
  readonly #newest = new Map<string, TimelineEvent>();

  saw(event: TimelineEvent): void {
    const known = this.#newest.get(event.tenant);
    if (known !== undefined && known.position >= event.position) return;
    this.#newest.delete(event.tenant);
    this.#newest.set(event.tenant, event);
    const [oldest] = this.#newest.keys();
    if (this.#newest.size > TENANTS && oldest !== undefined) this.#newest.delete(oldest);
  }

  /**
   * Compares the remembered events with the database. Marks logs that lost commits, so that no server reads or writes
   * them, and returns their tenants.
   */
  async compare(sql: Sql): Promise<readonly string[]> {
    const known = [...this.#newest.values()];
    if (known.length === 0) return [];
    const rows = await sql.query(GONE, [
      known.map(({ tenant }) => tenant),
      known.map(({ position }) => position),
      known.map(({ agentId }) => agentId),
      known.map(({ seq }) => seq),
      known.map(({ body }) => body.kind),
      known.map(({ at }) => at.toISOString()),
    ]);
    const tenants = rows.map(({ tenant }) => tenant);
    if (tenants.length > 0) await sql.query(MARK, [tenants]);
    return tenants;
  }
}
