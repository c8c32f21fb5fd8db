import type { Sql, Statement } from "../db/sql.ts";
import { POSITION } from "./log-page.ts";

/** A consumer that nobody had for so many days, while agents went on, begins anew: what it missed is stale. */
export const AWAY_DAYS = 7;

/** One that is first known now begins with what comes from now on; a tenant that begins later, with its first event. */
const REGISTER: Statement = {
  name: "register_consumer",
  text: `WITH mark AS (INSERT INTO consumer (name, tenant, position, seen_at) VALUES ($1, '', 0, clock_timestamp()) ON CONFLICT DO NOTHING RETURNING name)
    INSERT INTO consumer (name, tenant, position) SELECT mark.name, l.tenant, ${POSITION} FROM mark, tenant_log l ON CONFLICT DO NOTHING`,
};
/** Its places in the logs that went on for so long after it was last seen. */
const RETURN: Statement = {
  name: "return_consumer",
  text: `WITH mark AS (SELECT name, seen_at FROM consumer WHERE name = $1 AND tenant = '' AND seen_at < clock_timestamp() - make_interval(days => ${AWAY_DAYS}) FOR UPDATE)
    UPDATE consumer c SET position = ${POSITION}, lease_owner = NULL, lease_until = NULL FROM mark, tenant_log l
    WHERE c.name = mark.name AND c.tenant = l.tenant
      AND (SELECT e.at FROM event e WHERE e.tenant = l.tenant ORDER BY e.position DESC LIMIT 1) > mark.seen_at + make_interval(days => ${AWAY_DAYS})
    RETURNING c.tenant, mark.seen_at AS "seenAt"`,
};
const SEEN: Statement = {
  name: "seen_consumers",
  text: "UPDATE consumer SET seen_at = clock_timestamp() WHERE name = ANY ($1) AND tenant = ''",
};
/** Free, run out, or from before the database's clock was set back: a delivery is made at least once, whoever makes it. */
const FREE = (row: string, leaseMs: string): string =>
  `(${row}.lease_owner IS NULL OR ${row}.lease_until < clock_timestamp() OR ${row}.lease_until > clock_timestamp() + 2 * make_interval(secs => ${leaseMs}::float8 / 1000))`;
const CLAIM: Statement = {
  name: "claim_consumer",
  text: `INSERT INTO consumer AS c (name, tenant, position, lease_owner, lease_until) VALUES ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4::float8 / 1000))
    ON CONFLICT (name, tenant) DO UPDATE SET lease_owner = $3, lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000)
      WHERE ${FREE("c", "$4")} RETURNING position::float8 AS position`,
};
const RENEW: Statement = {
  name: "renew_consumer",
  text: `UPDATE consumer SET lease_until = clock_timestamp() + make_interval(secs => $4::float8 / 1000), position = greatest(position, $5)
    WHERE name = $1 AND tenant = $2 AND lease_owner = $3 RETURNING position`,
};
const RELEASE: Statement = {
  name: "release_consumer",
  text: `UPDATE consumer SET lease_owner = NULL, lease_until = NULL, position = greatest(position, $4) WHERE name = $1 AND tenant = $2 AND lease_owner = $3`,
};
/** Tenants of whose log a consumer has not seen all, and that nobody looks after. */
const BEHIND: Statement = {
  name: "consumers_behind",
  text: `SELECT n.name, t.tenant FROM (SELECT l.tenant, ${POSITION} AS position FROM tenant_log l) t CROSS JOIN unnest($1::text[]) AS n(name) LEFT JOIN consumer c ON c.name = n.name AND c.tenant = t.tenant
    WHERE coalesce(c.position, 0) < t.position AND (c.name IS NULL OR ${FREE("c", "$2")}) ORDER BY random() LIMIT 100`,
};

/** The place of a consumer in the log of a tenant: everything up to `position` is delivered, or given up. */
export type ConsumerPlace = { readonly name: string; readonly tenant: string; readonly position: number };

/** A log in which a consumer that came back after long begins anew. */
export type ReturnedConsumer = { readonly tenant: string; readonly seenAt: Date };

/** The places that consumers have come to, and the nodes that deliver to them now, as the rows of the table `consumer` say. */
export class ConsumerPlaces {
  readonly #sql: Sql;
  readonly #node: string;
  readonly #leaseMs: number;

  constructor(sql: Sql, node: string, leaseMs: number) {
    this.#sql = sql;
    this.#node = node;
    this.#leaseMs = leaseMs;
  }

  /** Makes a consumer known. Answers the logs in which it begins anew, since it was away for too long. */
  async register(name: string): Promise<readonly ReturnedConsumer[]> {
    await this.#sql.query(REGISTER, [name]);
    const returned = await this.#sql.query<ReturnedConsumer>(RETURN, [name]);
    await this.seen([name]);
    return returned;
  }

  /** These consumers are configured now. */
  async seen(names: readonly string[]): Promise<void> {
    await this.#sql.query(SEEN, [names]);
  }

  /** Places that are behind their logs, and that nobody looks after: at most 100 of them, in no order. */
  async behind(names: readonly string[]): Promise<readonly { readonly name: string; readonly tenant: string }[]> {
    return this.#sql.query(BEHIND, [names, this.#leaseMs]);
  }

  /** Takes the place, for the time of a lease; null where another node has it. */
  async claim(name: string, tenant: string): Promise<ConsumerPlace | null> {
    const [claimed] = await this.#sql.query<{ position: number }>(CLAIM, [name, tenant, this.#node, this.#leaseMs]);
    return claimed === undefined ? null : { name, tenant, position: claimed.position };
  }

  /** Keeps the place, and remembers how far it is. False where it is another node's by now. */
  async renew({ name, tenant, position }: ConsumerPlace): Promise<boolean> {
    return (await this.#sql.query(RENEW, [name, tenant, this.#node, this.#leaseMs, position])).length > 0;
  }

  /** Gives the place back, and remembers how far it is. */
  async release({ name, tenant, position }: ConsumerPlace): Promise<void> {
    await this.#sql.query(RELEASE, [name, tenant, this.#node, position]);
  }
}
