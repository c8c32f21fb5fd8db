import { missingAbility } from "../agent/actors/actor.ts";
import type { Statement } from "../db/sql.ts";
import type { ConfiguredConsumer } from "../deliveries/consumers.ts";
import { formatCursor } from "../events/cursor.ts";
import { POSITION } from "../events/log-statements.ts";
import type { Context } from "./context.ts";

/** The part of the answer that reads no row; the others are read if they are selected. */
export type Operations = { readonly tenant: string };

/** Null for viewers who are not administrators. */
export function operations({ actor, tenant }: Context): Operations | null {
  return missingAbility(actor, "READ_OPERATIONS") === null ? { tenant } : null;
}

/** The most servers that are listed. */
const MOST_SERVERS = 100;

type ServerRow = {
  readonly serverId: string;
  readonly agents: number;
  readonly shells: number;
  readonly consumers: number;
  readonly leaseUntil: Date;
  readonly isLost: boolean;
};

/** A server with work of the tenant. Facts that only the server itself knows are null for all but the answering one. */
export type WorkingServer = Omit<ServerRow, "leaseUntil"> & {
  readonly leaseUntil: Date | null;
  readonly isAnswering: boolean;
  readonly version: string | null;
  readonly startedAt: Date | null;
};

/** Leases are few: those of agents and shells at work, and of consumers. */
const SERVERS: Statement<ServerRow, [tenant: string]> = {
  name: "servers_of_tenant",
  text: `SELECT l.id AS "serverId", sum(l.agents)::int AS agents, sum(l.shells)::int AS shells, sum(l.consumers)::int AS consumers, max(l.until) AS "leaseUntil", max(l.until) < clock_timestamp() AS "isLost"
    FROM (SELECT lease_owner AS id, 1 AS agents, 0 AS shells, 0 AS consumers, lease_until AS until FROM agent WHERE lease_owner IS NOT NULL AND tenant = $1
      UNION ALL SELECT server, 0, 1, 0, lease_until FROM shell WHERE state = 'RUNNING' AND tenant = $1
      UNION ALL SELECT lease_owner, 0, 0, 1, lease_until FROM consumer WHERE lease_owner IS NOT NULL AND tenant = $1) l
    GROUP BY l.id ORDER BY l.id LIMIT ${MOST_SERVERS}`,
};

/** The servers that work for the tenant, with the answering one, which may have no work. */
export async function workingServers({ services, operator, tenant }: Context): Promise<WorkingServer[]> {
  const { serverId: own, version, clock } = services;
  const unknown = { isAnswering: false, version: null, startedAt: null };
  const rows = (await services.reads.query(SERVERS, [tenant])).map((row) => Object.assign({}, row, unknown));
  const idle = { serverId: own, agents: 0, shells: 0, consumers: 0, leaseUntil: null, isLost: false };
  const startedAt = new Date(clock.now().getTime() - (performance.now() - operator.startedAt));
  const answering = {
    ...(rows.find(({ serverId }) => serverId === own) ?? idle),
    isAnswering: true,
    version: version.version,
    startedAt,
  };
  return [answering, ...rows.filter(({ serverId }) => serverId !== own)];
}

type ConsumerRow = {
  readonly name: string;
  readonly lag: number;
  readonly behindSince: Date | null;
  readonly leaseOwner: string | null;
};

export type ConsumerState = ConfiguredConsumer & Omit<ConsumerRow, "name">;

const CONSUMERS: Statement<ConsumerRow, [tenant: string, names: readonly string[]]> = {
  name: "consumers_of_tenant",
  text: `SELECT c.name, greatest(0, h.position - c.position)::float8 AS lag, c.lease_owner AS "leaseOwner",
      (SELECT e.at FROM event e WHERE e.tenant = $1 AND e.position > c.position ORDER BY e.position LIMIT 1) AS "behindSince"
    FROM consumer c CROSS JOIN (SELECT ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1) h WHERE c.tenant = $1 AND c.name = ANY ($2)`,
};

/** The consumers that this server has configured and that get events of the tenant. */
export async function consumerStates({ services, operator, tenant }: Context): Promise<ConsumerState[]> {
  const configured = operator.consumersOf(tenant);
  const rows = await services.reads.query(CONSUMERS, [tenant, configured.map(({ name }) => name)]);
  const states = new Map(rows.map((row) => [row.name, row]));
  const unread = { lag: 0, behindSince: null, leaseOwner: null };
  return configured.map((consumer) => Object.assign({}, unread, states.get(consumer.name), consumer));
}

type LogRow = {
  readonly oldestAt: Date | null;
  readonly newestAt: Date | null;
  readonly auditLag: number | null;
  readonly overdueWaits: number;
};

export type LogState = LogRow & { readonly head: string; readonly floor: string; readonly positions: number };

/** The most overdue waits that are counted, and the age from which a wait is one. */
const OVERDUE = { most: 1_000, age: "interval '1 minute'" };

const LOG: Statement<LogRow, [tenant: string]> = {
  name: "log_of_tenant",
  text: `SELECT (SELECT e.at FROM event e WHERE e.tenant = $1 ORDER BY e.position LIMIT 1) AS "oldestAt",
      (SELECT e.at FROM event e WHERE e.tenant = $1 ORDER BY e.position DESC LIMIT 1) AS "newestAt",
      (SELECT greatest(0, ${POSITION} - f.position)::float8 FROM audit_fold f WHERE f.tenant = $1 AND f.whole_at IS NOT NULL) AS "auditLag",
      (SELECT count(*)::int FROM (SELECT FROM wait w WHERE w.tenant = $1 AND w.settled_at IS NULL AND w.due < policy_time() - ${OVERDUE.age} LIMIT ${OVERDUE.most}) o) AS "overdueWaits"
    FROM tenant_log l WHERE l.tenant = $1`,
};

export async function logState(context: Context): Promise<LogState> {
  const { services, tenant } = context;
  const head = await context.snapshot();
  const [row] = await services.reads.query(LOG, [tenant]);
  const { oldestAt = null, newestAt = null, auditLag = null, overdueWaits = 0 } = row ?? {};
  return {
    oldestAt,
    newestAt,
    auditLag,
    overdueWaits,
    head: formatCursor(head, head.position),
    floor: formatCursor(head, head.floor),
    positions: head.position - head.floor,
  };
}
