import type { Sql, Statement } from "../db/sql.ts";
import { EVENT_KINDS, type EventKind, type TimelineEvent } from "../events/event.ts";
import { POSITION } from "../events/log-statements.ts";
import { PRIVATE_KINDS } from "../events/tenant-event.ts";

/** The kinds that consumers may ask for: a private event is for one person alone. */
export const DELIVERED_KINDS = EVENT_KINDS.filter((kind) => !PRIVATE_KINDS.some((each) => each === kind));

export type Consumer = {
  /** Identifies its offset, and stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** Null for events of all tenants. */
  readonly tenant: string | null;
  /** The number of concurrent deliveries, which may overtake each other; with 1, events come in order. */
  readonly concurrency: number;
  /** The age in ms at which an event is given up and reported, after a few tries. */
  readonly giveUpMs: number;
  /** Rejects to be tried again; with GiveUp if further tries are useless. */
  deliver(event: TimelineEvent, signal: AbortSignal): Promise<void>;
};

export class GiveUp extends Error {
  override readonly name = "GiveUp";
}

/** The days of absence after which a consumer begins anew in logs that continued: missed events are stale. */
const AWAY_DAYS = 7;

/** A new consumer begins at the ends of the present logs, and at the first event of later tenants. */
const REGISTER: Statement<object, [name: string]> = {
  name: "register_consumer",
  text: `WITH mark AS (INSERT INTO consumer (name, tenant, position, seen_at) VALUES ($1, '', 0, clock_timestamp()) ON CONFLICT DO NOTHING RETURNING name)
    INSERT INTO consumer (name, tenant, position) SELECT mark.name, l.tenant, ${POSITION} FROM mark, tenant_log l ON CONFLICT DO NOTHING`,
};
const RETURN: Statement<ReturnedConsumer, [name: string]> = {
  name: "return_consumer",
  text: `WITH mark AS (SELECT name, seen_at FROM consumer WHERE name = $1 AND tenant = '' AND seen_at < clock_timestamp() - make_interval(days => ${AWAY_DAYS}) FOR UPDATE)
    UPDATE consumer c SET position = ${POSITION}, lease_owner = NULL, lease_until = NULL FROM mark, tenant_log l
    WHERE c.name = mark.name AND c.tenant = l.tenant
      AND (SELECT e.at FROM event e WHERE e.tenant = l.tenant ORDER BY e.position DESC LIMIT 1) > mark.seen_at + make_interval(days => ${AWAY_DAYS})
    RETURNING c.tenant, mark.seen_at AS "seenAt"`,
};
const SEEN: Statement<object, [names: readonly string[]]> = {
  name: "seen_consumers",
  text: "UPDATE consumer SET seen_at = clock_timestamp() WHERE name = ANY ($1) AND tenant = ''",
};
/** Free, expired, or from before the database's clock was set back: deliveries are repeatable. */
const FREE = (row: string, leaseMs: string): string =>
  `(${row}.lease_owner IS NULL OR ${row}.lease_until < clock_timestamp() OR ${row}.lease_until > clock_timestamp() + 2 * make_interval(secs => ${leaseMs}::float8 / 1000))`;
const CLAIM: Statement<{ position: number }, [name: string, tenant: string, serverId: string, leaseMs: number]> = {
  name: "claim_consumer",
  text: `INSERT INTO consumer AS c (name, tenant, position, lease_owner, lease_until) VALUES ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4::float8 / 1000))
    ON CONFLICT (name, tenant) DO UPDATE SET lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
      WHERE ${FREE("c", "$4")} RETURNING position::float8 AS position`,
};
const RENEW: Statement<object, [name: string, tenant: string, serverId: string, leaseMs: number, position: number]> = {
  name: "renew_consumer",
  text: `UPDATE consumer SET lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000), position = greatest(position, $5)
    WHERE name = $1 AND tenant = $2 AND lease_owner = $3 RETURNING position`,
};
const RELEASE: Statement<object, [name: string, tenant: string, serverId: string, position: number]> = {
  name: "release_consumer",
  text: `UPDATE consumer SET lease_owner = NULL, lease_until = NULL, position = greatest(position, $4) WHERE name = $1 AND tenant = $2 AND lease_owner = $3`,
};
/**
 * The most offsets of one sweep, and the same number in logs without events for their consumer. `positions`: the most
 * positions of each log that it reads.
 */
const SWEEP = { offsets: 500, positions: 2_000 };
const DELIVERED = 100;
/**
 * Offsets behind their logs without a lease, with the log's end. `isWanted`: there may be events for the consumer; true
 * for an offset far behind, whose delivery reads to the end.
 */
const BEHIND: Statement<
  OffsetBehind,
  [names: readonly string[], leaseMs: number, kinds: readonly string[], tenants: readonly (string | null)[]]
> = {
  name: "consumers_behind",
  text: `WITH t AS MATERIALIZED (SELECT l.tenant, l.floor, ${POSITION} AS head FROM tenant_log l), behind AS (
      SELECT n.name, n.kinds, k.concerned, t.tenant, t.head, t.floor, c.position,
        row_number() OVER (PARTITION BY k.concerned ORDER BY random()) AS turn
      FROM t CROSS JOIN unnest($1::text[], $3::text[], $4::text[]) AS n(name, kinds, of)
      CROSS JOIN LATERAL (SELECT n.of IS NULL OR n.of = t.tenant AS concerned) k
      LEFT JOIN consumer c ON c.name = n.name AND c.tenant = t.tenant
      WHERE coalesce(c.position, 0) < t.head AND (c.name IS NULL OR ${FREE("c", "$2")})
    )
    SELECT b.name, b.tenant, b.position::float8 AS position, b.head::float8 AS head,
           b.concerned AND (b.position IS NULL OR b.position < greatest(b.floor, b.head - ${SWEEP.positions}) OR EXISTS (
             SELECT FROM event e WHERE e.tenant = b.tenant AND e.position > b.position AND e.position <= b.head AND e.kind = ANY (string_to_array(b.kinds, ','))
           )) AS "isWanted"
    FROM behind b WHERE b.turn <= ${SWEEP.offsets}`,
};
/**
 * Moves offsets over events that are not for their consumers, if they are unchanged and free, at most to the log's end.
 * A first offset in a log without events for its consumer is the end.
 */
const PASS: Statement<
  object,
  [
    names: readonly string[],
    leaseMs: number,
    tenants: readonly string[],
    positions: readonly (number | null)[],
    heads: readonly number[],
  ]
> = {
  name: "pass_events",
  text: `WITH given AS MATERIALIZED (
      SELECT g.name, g.tenant, g.position, least(g.head, ${POSITION}) AS head
      FROM unnest($1::text[], $3::text[], $4::bigint[], $5::bigint[]) AS g(name, tenant, position, head) JOIN tenant_log l ON l.tenant = g.tenant
    ), first AS (
      INSERT INTO consumer (name, tenant, position) SELECT name, tenant, head FROM given WHERE position IS NULL ORDER BY name, tenant ON CONFLICT DO NOTHING
    ), free AS (
      SELECT c.name, c.tenant, g.head FROM consumer c JOIN given g ON c.name = g.name AND c.tenant = g.tenant AND c.position = g.position
      WHERE ${FREE("c", "$2")} ORDER BY c.name, c.tenant FOR NO KEY UPDATE OF c SKIP LOCKED
    ) UPDATE consumer c SET position = free.head FROM free WHERE c.name = free.name AND c.tenant = free.tenant`,
};

type OffsetBehind = {
  readonly name: string;
  readonly tenant: string;
  readonly position: number | null;
  readonly head: number;
  readonly isWanted: boolean;
};

/** The result of a sweep: at most DELIVERED offsets to deliver from, and others without events for their consumer. */
export type OffsetsBehind = { readonly wanted: readonly OffsetBehind[]; readonly idle: readonly OffsetBehind[] };

export type ConsumerOffset = { readonly name: string; readonly tenant: string; readonly position: number };

export type ReturnedConsumer = { readonly tenant: string; readonly seenAt: Date };

/** Registers a consumer. Returns the logs in which it begins anew after a long absence. */
export async function registerConsumer(sql: Sql, name: string): Promise<readonly ReturnedConsumer[]> {
  await sql.query(REGISTER, [name]);
  const returned = await sql.query(RETURN, [name]);
  await sql.query(SEEN, [[name]]);
  return returned;
}

/** The offsets of consumers, and the leases of delivering servers: the rows of the table `consumer`. */
export class ConsumerOffsets {
  readonly #sql: Sql;
  readonly #serverId: string;
  readonly #leaseMs: number;

  constructor(sql: Sql, serverId: string, leaseMs: number) {
    this.#sql = sql;
    this.#serverId = serverId;
    this.#leaseMs = leaseMs;
  }

  async seen(names: readonly string[]): Promise<void> {
    await this.#sql.query(SEEN, [names]);
  }

  /** Free offsets behind their logs, in no order: those with possible events to deliver, and others. */
  async behind(consumers: readonly Pick<Consumer, "name" | "kinds" | "tenant">[]): Promise<OffsetsBehind> {
    const looked = await this.#sql.query(BEHIND, [
      consumers.map(({ name }) => name),
      this.#leaseMs,
      consumers.map(({ kinds }) => kinds.join(",")),
      consumers.map(({ tenant }) => tenant),
    ]);
    return {
      wanted: looked.filter(({ isWanted }) => isWanted).slice(0, DELIVERED),
      idle: looked.filter(({ isWanted }) => !isWanted),
    };
  }

  async pass(idle: OffsetsBehind["idle"]): Promise<void> {
    if (idle.length === 0) return;
    await this.#sql.query(PASS, [
      idle.map(({ name }) => name),
      this.#leaseMs,
      idle.map(({ tenant }) => tenant),
      idle.map(({ position }) => position),
      idle.map(({ head }) => head),
    ]);
  }

  async claim(name: string, tenant: string): Promise<ConsumerOffset | null> {
    const [claimed] = await this.#sql.query(CLAIM, [name, tenant, this.#serverId, this.#leaseMs]);
    return claimed === undefined ? null : { name, tenant, position: claimed.position };
  }

  /** Renews the lease and stores the position. False if another server has claimed it. */
  async renew({ name, tenant, position }: ConsumerOffset): Promise<boolean> {
    return (await this.#sql.query(RENEW, [name, tenant, this.#serverId, this.#leaseMs, position])).length > 0;
  }

  async release({ name, tenant, position }: ConsumerOffset): Promise<void> {
    await this.#sql.query(RELEASE, [name, tenant, this.#serverId, position]);
  }
}
