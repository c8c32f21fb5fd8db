import type { Sql, Statement } from "../../db/sql.ts";
import { logIsWhole } from "../../events/newest-events.ts";
import { Deadline } from "../../lib/time.ts";

/**
 * The times of a lease, in ms. `ttlMs`: its duration. `renewMs`: the interval of renewals. `startMs`: how long after a
 * renewal new work may start. `sweepMs`: the interval of sweeps for free agents; by the bell if omitted.
 */
export type LeaseTimes = {
  readonly ttlMs: number;
  readonly renewMs: number;
  readonly startMs: number;
  readonly sweepMs?: number;
};

export const LEASE_TIMES: LeaseTimes = { ttlMs: 15_000, renewMs: 5_000, startMs: 10_000 };

/**
 * The deadlines of a term, counted from the moment at which its claim or renewal was sent: for starting work, and for
 * programs.
 */
export type Term = { readonly startUntil: Deadline; readonly programsUntil: Deadline };

/** Begins a term. `programMs`: for how long programs may run without a renewal; Infinity for no bound. */
export function beginTerm({ leaseTimes, programMs }: { readonly leaseTimes: LeaseTimes; readonly programMs: number }): Term {
  return { startUntil: new Deadline(leaseTimes.startMs), programsUntil: new Deadline(programMs) };
}

export type AgentOfTenant = { readonly agentId: string; readonly tenant: string };

/** The right to advance one agent, fenced by its owner and epoch. */
export type Lease = AgentOfTenant & {
  readonly createdBy: string;
  readonly owner: string;
  readonly epoch: number;
  /** True if the earlier owner did not release it: its server stopped or was unreachable. */
  readonly isTakeover: boolean;
};

/**
 * The abilities that an agent's rows may require of its owner (`agent.needs`): none, background shells, or questions
 * about hosts.
 */
export const NEEDS = { nothing: 0, shells: 1, hosts: 2 } as const;

const KNOWN_NEEDS = NEEDS.hosts;

const LATER_S = 30;
/**
 * The condition of an agent that is due. A time further away than any pause was written before the database's clock was
 * set back.
 */
const DUE = "(runnable_at <= clock_timestamp() OR runnable_at > clock_timestamp() + interval '1 minute')";

/** A runnable agent without an owner: the condition of the index agent_waiting. */
const IS_UNOWNED = "runnable_at IS NOT NULL AND lease_owner IS NULL";

/**
 * The configured parts of agents as JSON: templates, models, sets of hooks and workspace folders, by tenant; "" for all
 * others. An agent with other parts is left to servers that have them, except to end an interrupted turn. Null if there
 * are no other servers.
 */
export type KnownParts = string | null;

export type PartNames = {
  readonly templates: readonly string[];
  readonly models: readonly string[];
  readonly hooks: readonly string[];
  /** The folders in and below which agents may work, each with a separator at its end; null for any. */
  readonly folders: readonly string[] | null;
};

export function knownParts(everybody: PartNames, named: ReadonlyMap<string, PartNames>): string {
  return JSON.stringify({ ...Object.fromEntries(named), "": everybody });
}

/** The agent is made of known parts, or its turn is interrupted. `parts`: a parameter with KnownParts. */
export const isKnown = (parts: string): string => {
  const own = `coalesce(${parts}::jsonb -> agent.tenant, ${parts}::jsonb -> '')`;
  return `(${parts}::jsonb IS NULL OR interrupt_at IS NOT NULL OR (
    ${own} @> jsonb_build_object('templates', jsonb_build_array(template_id), 'models', jsonb_build_array(model), 'hooks', coalesce(hooks::jsonb, '[]'))
    AND (${own} -> 'folders' = 'null' OR EXISTS (SELECT FROM jsonb_array_elements_text(nullif(${own} -> 'folders', 'null')) AS folder
      WHERE starts_with(workspace || right(folder, 1), folder)))))`;
};

/**
 * The most agents with an expired lease that one sweep finds: more than there are places, since some are left to their
 * owners.
 */
const RUN_OUT_MOST = 100;

const CLAIM: Statement<
  Lease,
  [serverId: string, ttlMs: number, agentIds: readonly string[], alsoRunOut: boolean, known: KnownParts]
> = {
  name: "claim_agents",
  text: `UPDATE agent a SET lease_owner = $1, lease_epoch = lease_epoch + 1, lease_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
    FROM (SELECT id, lease_owner IS NOT NULL AS is_takeover FROM agent WHERE id = ANY ($3) AND ${DUE} AND needs <= ${KNOWN_NEEDS} AND ${isKnown("$5")} AND ${logIsWhole("agent.tenant")} AND (lease_owner IS NULL OR ($4 AND lease_until < clock_timestamp())) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) free
    WHERE a.id = free.id RETURNING a.id AS "agentId", a.tenant, a.created_by AS "createdBy", a.lease_owner AS owner, a.lease_epoch AS epoch, free.is_takeover AS "isTakeover"`,
};
const FIND_WORK: Statement<
  { found: "UNOWNED" | "RUN_OUT" | "OWN"; agentId: string; tenant: string; signal: number },
  [
    serverId: string,
    tenants: readonly string[] | null,
    most: number,
    alsoRunOut: boolean,
    crowded: readonly string[],
    known: KnownParts,
  ]
> = {
  name: "look_for_agents",
  text: `WITH RECURSIVE waiting (tenant) AS (
      (SELECT tenant FROM agent WHERE ${IS_UNOWNED} ORDER BY tenant LIMIT 1)
      UNION ALL SELECT (SELECT tenant FROM agent WHERE ${IS_UNOWNED} AND tenant > waiting.tenant ORDER BY tenant LIMIT 1) FROM waiting WHERE waiting.tenant IS NOT NULL
    )
    (SELECT 'UNOWNED' AS found, a.id AS "agentId", w.tenant, a.signal FROM waiting w CROSS JOIN LATERAL (
        SELECT id, signal, runnable_at, row_number() OVER (ORDER BY runnable_at) AS nth FROM agent WHERE agent.tenant = w.tenant AND ${IS_UNOWNED} AND ${DUE} AND needs <= ${KNOWN_NEEDS} AND ${isKnown("$6")} ORDER BY runnable_at LIMIT (SELECT least($3::bigint, ceil(($3::bigint + 1) ^ 2 / (4 * count(tenant)))::bigint) FROM waiting)
      ) a WHERE w.tenant <> ALL ($5) AND ${logIsWhole("w.tenant")} ORDER BY a.nth, a.runnable_at LIMIT $3)
    UNION ALL (SELECT 'RUN_OUT', id, tenant, signal FROM (
        SELECT id, tenant, signal, lease_until, row_number() OVER (PARTITION BY tenant ORDER BY lease_until) AS nth FROM agent WHERE $4 AND lease_owner IS NOT NULL AND lease_until < clock_timestamp() AND runnable_at IS NOT NULL AND needs <= ${KNOWN_NEEDS} AND ${isKnown("$6")} AND ${logIsWhole("agent.tenant")}
      ) a ORDER BY tenant = ANY ($5), nth, lease_until LIMIT ${RUN_OUT_MOST})
    UNION ALL SELECT 'OWN', id, tenant, signal FROM agent WHERE lease_owner = $1 AND ($2::text[] IS NULL OR tenant = ANY ($2))`,
};
/** A shared lock, so that the sweeps of two servers do not lock each other out. */
const UNLOCKED: Statement<{ id: string }, [agentIds: readonly string[]]> = {
  name: "unlocked_agents",
  text: "SELECT id FROM agent WHERE id = ANY ($1) FOR SHARE SKIP LOCKED",
};
const RENEW: Statement<
  { id: string },
  [serverId: string, ttlMs: number, agentIds: readonly string[], epochs: readonly number[]]
> = {
  name: "renew_leases",
  text: `WITH held AS (
      SELECT a.id FROM agent a JOIN unnest($3::text[], $4::int[]) AS given(id, epoch) ON a.id = given.id AND a.lease_epoch = given.epoch
      WHERE a.lease_owner = $1 ORDER BY a.id FOR NO KEY UPDATE OF a SKIP LOCKED
    ) UPDATE agent a SET lease_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000) FROM held WHERE a.id = held.id RETURNING a.id`,
};
const HELD: Statement<{ id: string }, [serverId: string, agentIds: readonly string[], epochs: readonly number[]]> = {
  name: "held_leases",
  text: `SELECT a.id FROM agent a JOIN unnest($2::text[], $3::int[]) AS given(id, epoch) ON a.id = given.id AND a.lease_epoch = given.epoch WHERE a.lease_owner = $1`,
};
const RELEASE: Statement<object, [agentId: string, epoch: number, owner: string]> = {
  name: "release_lease",
  text: "UPDATE agent SET lease_owner = NULL, lease_until = NULL WHERE id = $1 AND lease_epoch = $2 AND lease_owner = $3",
};
const RELEASE_FOR_LATER: Statement<object, [agentId: string, epoch: number, owner: string]> = {
  name: "release_lease_for_later",
  text: `UPDATE agent SET lease_owner = NULL, lease_until = NULL, runnable_at = clock_timestamp() + interval '${LATER_S} s' WHERE id = $1 AND lease_epoch = $2 AND lease_owner = $3`,
};
/** Twice the duration of a lease tolerates small corrections of the clock. */
const BEYOND: Statement<BeyondLease, [ttlMs: number]> = {
  name: "leases_beyond",
  text: `SELECT id, lease_epoch AS epoch, lease_until::text AS until FROM agent
    WHERE lease_owner IS NOT NULL AND lease_until > clock_timestamp() + 2 * make_interval(secs => $1::float8 / 1000) ORDER BY lease_until LIMIT 1000`,
};
const END_BEYOND: Statement<object, [agentIds: readonly string[], epochs: readonly number[], untils: readonly string[]]> = {
  name: "end_leases_beyond",
  text: `UPDATE agent a SET lease_until = clock_timestamp() FROM unnest($1::text[], $2::int[], $3::text[]) AS given(id, epoch, until)
    WHERE a.id = given.id AND a.lease_epoch = given.epoch AND a.lease_until = given.until::timestamptz`,
};
const END_ALL: Statement<object, []> = {
  name: "end_all_leases",
  text: "UPDATE agent SET lease_until = clock_timestamp() WHERE lease_owner IS NOT NULL",
};

export type Free = "RUN_OUT" | "GIVEN_BACK";

/** Claims those agents that are runnable and free. Only the database's clock counts. */
export async function claim(
  sql: Sql,
  serverId: string,
  agentIds: readonly string[],
  { ttlMs }: LeaseTimes,
  free: Free,
  known: KnownParts = null,
): Promise<Lease[]> {
  return sql.query(CLAIM, [serverId, ttlMs, agentIds, free === "RUN_OUT", known]);
}

/**
 * A sweep request: whose signals to read (tenants, or null for all), and how many free agents to find at most. Crowded
 * tenants get no free agents; their agents with expired leases come last.
 */
export type SweepRequest = {
  readonly tenants: readonly string[] | null;
  readonly most: number;
  readonly free: Free;
  readonly crowded: readonly string[];
};

/**
 * The result of a sweep: free agents and agents with expired leases, the longest waiting of each tenant first.
 * `signals` counts the outside signals of this server's agents.
 */
export type FoundAgents = {
  readonly unowned: readonly AgentOfTenant[];
  readonly runOut: readonly AgentOfTenant[];
  readonly signals: ReadonlyMap<string, number>;
};

export async function lookForAgents(
  sql: Sql,
  serverId: string,
  { tenants, most, free, crowded }: SweepRequest,
  known: KnownParts = null,
): Promise<FoundAgents> {
  const rows = await sql.query(FIND_WORK, [serverId, tenants, most, free === "RUN_OUT", crowded, known]);
  const { UNOWNED = [], RUN_OUT = [], OWN = [] } = Object.groupBy(rows, ({ found }) => found);
  const signals = new Map(OWN.map(({ agentId, signal }) => [agentId, signal]));
  return { unowned: UNOWNED, runOut: RUN_OUT, signals };
}

export async function unlockedAgents(sql: Sql, agentIds: readonly string[]): Promise<Set<string>> {
  return new Set((await sql.query(UNLOCKED, [agentIds])).map((row) => row.id));
}

/** Renews those leases that are still this server's and whose rows are not locked. Returns their agents. */
export async function renew(sql: Sql, serverId: string, leases: readonly Lease[], { ttlMs }: LeaseTimes): Promise<Set<string>> {
  const rows = await sql.query(RENEW, [
    serverId,
    ttlMs,
    leases.map((lease) => lease.agentId),
    leases.map((lease) => lease.epoch),
  ]);
  return new Set(rows.map((row) => row.id));
}

export async function stillHeld(sql: Sql, serverId: string, leases: readonly Lease[]): Promise<Set<string>> {
  const rows = await sql.query(HELD, [serverId, leases.map((lease) => lease.agentId), leases.map((lease) => lease.epoch)]);
  return new Set(rows.map((row) => row.id));
}

/** Releases an agent. It stays runnable, so that another server can continue immediately. */
export async function release(sql: Sql, lease: Lease): Promise<void> {
  await sql.query(RELEASE, [lease.agentId, lease.epoch, lease.owner]);
}

/** Releases an agent that failed right after its claim. It is not claimed for half a minute. */
export async function releaseForLater(sql: Sql, lease: Lease): Promise<void> {
  await sql.query(RELEASE_FOR_LATER, [lease.agentId, lease.epoch, lease.owner]);
}

/** A lease that ends later than possible; `until` as the database writes it. */
export type BeyondLease = { readonly id: string; readonly epoch: number; readonly until: string };

export async function leasesBeyond(sql: Sql, { ttlMs }: LeaseTimes): Promise<readonly BeyondLease[]> {
  return sql.query(BEYOND, [ttlMs]);
}

/** Expires these leases if they are unchanged since they were read. */
export async function endBeyond(sql: Sql, leases: readonly BeyondLease[]): Promise<void> {
  await sql.query(END_BEYOND, [leases.map(({ id }) => id), leases.map(({ epoch }) => epoch), leases.map(({ until }) => until)]);
}

/** Expires all leases. Only for a server without others: the leases of its earlier process must not delay it. */
export async function endAll(sql: Sql): Promise<void> {
  await sql.query(END_ALL, []);
}

/** An agent is claimed after this many sweeps that found its row unlocked. */
const FREE_LOOKS = 3;
/** Sweeps that are answered closer together, in ms, count once. Sweeps are about a second apart. */
const APART_MS = 900;

type Freed = { readonly looks: number; readonly answeredAt: number };

/**
 * Agents whose lease expired while their row was locked, so that the owner could not renew it. Once the row is
 * unlocked, the owner has about two seconds to renew. Three sweeps must find the row unlocked: whatever delays a
 * sweep's answer delays the owner as well.
 */
export class LockedRows {
  readonly #now: () => number;
  #rows: ReadonlyMap<string, Freed> = new Map();

  /** `now` returns monotonic ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  claimable<Agent extends AgentOfTenant>(runOut: readonly Agent[], unlocked: ReadonlySet<string>): readonly Agent[] {
    const rows = new Map<string, Freed>();
    for (const { agentId } of runOut) {
      const freed = unlocked.has(agentId) ? this.#foundFree(agentId) : { looks: 0, answeredAt: -Infinity };
      if (freed !== null) rows.set(agentId, freed);
    }
    this.#rows = rows;
    return runOut.filter(({ agentId }) => !rows.has(agentId));
  }

  /** Null if the agent may be claimed. */
  #foundFree(agentId: string): Freed | null {
    const before = this.#rows.get(agentId);
    if (before === undefined) return null;
    const answeredAt = this.#now();
    if (answeredAt - before.answeredAt < APART_MS) return before;
    const looks = before.looks + 1;
    return looks < FREE_LOOKS ? { looks, answeredAt } : null;
  }
}
