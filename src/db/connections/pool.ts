import pg from "pg";
import { connectionName } from "../connected-servers.ts";
import { OutageWatch, nameOf, watched, type Sql, type Statement } from "../sql.ts";
import { ANSWER_MS, queryPrepared } from "./prepared-query.ts";
import { boundReaders, onConnection, inTurn, tenantTurns } from "./reader-limits.ts";
import {
  NO_OBSERVER,
  observed,
  observedQueries,
  STATEMENT_POOLS,
  type DatabaseObserver,
  type StatementPool,
} from "../observer.ts";

/**
 * `connections`: the number of connections of one server for commits, and the same again for other work and for
 * readers. `version`: the schema version that the server knows.
 */
export type PoolConfig = { readonly url: string; readonly connections: number; readonly version: string };

/** A PostgreSQL's connections by purpose: none waits for the others. */
export type Pools = {
  readonly commits: Sql;
  readonly work: Sql;
  /** Claims and renewals of leases, which must not be late. */
  readonly leases: Sql;
  readonly reads: Sql;
  connections(): readonly PoolLoad[];
  readonly readPool: pg.Pool;
  /** The settings that PostgreSQL did not accept. Rejects if it cannot be connected. */
  lostSettings(): Promise<readonly string[]>;
  end(): Promise<void>;
};

/** The load of a pool: open and idle connections, and statements that wait for a connection, or for their tenant's turn. */
export type PoolLoad = { readonly pool: StatementPool; readonly open: number; readonly idle: number; readonly waiting: number };

const LEASE_CONNECTIONS = 2;
/** The time limit of a reader's statement, in ms. PostgreSQL ends it: a timeout of the driver would leave it running. */
export const READ_STATEMENT_MS = 8_000;

type Settings = Readonly<Record<string, string>>;

/** For every connection of a pool, whatever the database or the role sets. */
const EVERY_CONNECTION: Settings = {
  // Positions are read after locking a log, which requires this isolation.
  default_transaction_isolation: "read committed",
  // Compiling a statement takes PostgreSQL some hundred ms, at each run with a plan that seems expensive.
  jit: "off",
  // Prisma's adapter takes all times for UTC, and the driver reads only ISO 8601.
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  lock_timeout: "2s",
  idle_in_transaction_session_timeout: "5s",
};
/**
 * Commits and the agents' work find every row by an index, for any values, so that one plan a connection is enough. A
 * plan from the time when the tables were small would otherwise read whole tables until PostgreSQL's statistics follow.
 */
const WRITERS: Settings = {
  ...EVERY_CONNECTION,
  // A write that PostgreSQL ended would be retried, and ended again.
  statement_timeout: "0",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
};
/**
 * One reader uses one process of the database. Groups are hashed in up to 32 MB: sorting all counters takes twice the time.
 * The list of rows that an index found has up to 16 MB. One of 4 MB named pages alone, with ten times the rows.
 */
const READERS: Settings = {
  ...EVERY_CONNECTION,
  statement_timeout: `${READ_STATEMENT_MS / 1_000}s`,
  max_parallel_workers_per_gather: "0",
  work_mem: "16MB",
  hash_mem_multiplier: "2",
};

function optionsOf(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
    .join(" ");
}

const LOST_SETTINGS: Statement<{ name: string }, [names: readonly string[], values: readonly string[]]> = {
  name: "lost_settings",
  text: "SELECT name FROM unnest($1::text[], $2::text[]) AS given(name, value) WHERE current_setting(name) <> value",
};

async function lostSettings(query: Sql["query"], settings: Settings): Promise<readonly string[]> {
  const rows = await query(LOST_SETTINGS, [Object.keys(settings), Object.values(settings)]);
  return rows.map(({ name }) => name);
}

export function openPools(
  { url, connections, version }: PoolConfig,
  observer: DatabaseObserver = NO_OBSERVER,
  answerMs = ANSWER_MS,
): Pools {
  const open = (purpose: StatementPool, max: number, settings: Settings): pg.Pool => {
    const pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      options: optionsOf(settings),
      application_name: connectionName(version, purpose),
    });
    // A broken connection rejects its statement and is replaced. The new one may lead to another database, such as one
    // that was promoted meanwhile.
    pool.on("connect", (client) => client.on("error", () => outages.suspect()));
    // The pool repeats the errors of idle connections.
    pool.on("error", () => {});
    return pool;
  };
  const outages = new OutageWatch(() => probe(url, connectionName(version, "probe")));
  const pools = {
    commits: open("commits", connections, WRITERS),
    work: open("work", connections, WRITERS),
    leases: open("leases", LEASE_CONNECTIONS, WRITERS),
    reads: open("reads", connections, READERS),
  };
  const turns = { commits: tenantTurns(connections), work: tenantTurns(connections), reads: tenantTurns(connections) };
  boundReaders({ pool: pools.reads, turns: turns.reads, cancelling: pools.leases, tell: observer.tell }, answerMs);
  const connect = async (pool: StatementPool): Promise<pg.PoolClient> => {
    try {
      return await pools[pool].connect();
    } catch (error) {
      observer.connectionFailed(error);
      throw error;
    }
  };
  const write =
    (pool: Exclude<StatementPool, "reads">): Sql["query"] =>
    (statement, values) =>
      onConnection(
        () => connect(pool),
        (client) => observed(observer, pool, nameOf(statement), () => queryPrepared(client, statement, values, answerMs)),
      );
  // Readers' statements use the pool's own `query`, which bounds them.
  const read: Sql["query"] = async <Row>({ name, text }: Statement, values: readonly unknown[]) =>
    (await pools.reads.query({ name, text }, [...values])).rows as Row[];
  const sqlOf = (query: Sql["query"]): Sql => watched(query, { outages, keepsPrepared: true });
  const inTurns =
    (pool: "commits" | "work", query: Sql["query"]): Sql["query"] =>
    (statement, values) =>
      inTurn(turns[pool], () => query(statement, values));
  const commit = write("commits");
  return {
    commits: sqlOf(inTurns("commits", commit)),
    work: sqlOf(inTurns("work", write("work"))),
    leases: sqlOf(write("leases")),
    reads: sqlOf(observedQueries(read, observer, "reads")),
    connections: () =>
      STATEMENT_POOLS.map((pool) => {
        const { totalCount: open, idleCount: idle, waitingCount } = pools[pool];
        const waitingForTurn = pool === "leases" ? 0 : turns[pool].allWaiting;
        return { pool, open, idle, waiting: waitingCount + waitingForTurn };
      }),
    readPool: pools.reads,
    lostSettings: async () => [...new Set([...(await lostSettings(commit, WRITERS)), ...(await lostSettings(read, READERS))])],
    end: async () => {
      // First: connections that break while they end would be suspicious, and an absent database would be probed for
      // ever.
      outages.end();
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

/**
 * Probes on a separate connection, since those of the pools may all be busy. Rejects during an outage, and if the
 * database is read-only: a standby, or a primary that was demoted.
 */
async function probe(url: string, applicationName: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
    application_name: applicationName,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ state: string }>(
      "SELECT CASE WHEN pg_is_in_recovery() THEN 'it is a standby' WHEN current_setting('transaction_read_only')::boolean THEN 'it is read-only' ELSE '' END AS state",
    );
    const state = rows[0]?.state ?? "";
    if (state !== "") throw new Error(`the database takes no writes: ${state}`);
  } finally {
    await client.end();
  }
}
