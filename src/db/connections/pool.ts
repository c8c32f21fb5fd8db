import pg from "pg";
import { connectionName } from "../connected-servers.ts";
import { OutageWatch } from "../outage.ts";
import { ANSWER_MS, queryPrepared } from "./prepared-query.ts";
import { boundReaders, onConnection } from "./reader-limits.ts";
import { inTurn, tenantTurns } from "./tenant-turns.ts";
import {
  NO_OBSERVER,
  observed,
  observedQueries,
  STATEMENT_POOLS,
  type DatabaseObserver,
  type StatementPool,
} from "../observer.ts";
import { nameOf, watched, type Sql, type Statement } from "../sql.ts";

/**
 * The address of a PostgreSQL, the number of connections that one server holds to it for commits, as many for its other work and as
 * many for readers, and the version of the schema that the server knows.
 */
export type PoolConfig = { readonly url: string; readonly connections: number; readonly version: string };

/** The connections to a PostgreSQL, by what they are for: none of them waits for the others. */
export type Pools = {
  /** Commits and appends of the log, and nothing else. */
  readonly commits: Sql;
  /** What owners and commands read, what the server looks for, and what is written besides the log. */
  readonly work: Sql;
  /** Claims and renewals of leases: what an agent loses when it is late. */
  readonly leases: Sql;
  /** The connections for what people and followers read. */
  readonly reads: Sql;
  connections(): readonly PoolLoad[];
  /** The connections of `reads`, for Prisma. */
  readonly readPool: pg.Pool;
  /** The settings that do not reach PostgreSQL as they should. Rejects if no connection can be made with them. */
  lostSettings(): Promise<readonly string[]>;
  end(): Promise<void>;
};

/** The load of a pool: connections that are open, those of them that are idle, and statements that wait for one, or for their tenant's turn. */
export type PoolLoad = { readonly pool: StatementPool; readonly open: number; readonly idle: number; readonly waiting: number };

/** Two, so that a sweep does not wait for a renewal. */
const LEASE_CONNECTIONS = 2;
/** The time that a statement of a reader may run, in ms. PostgreSQL ends it: a driver that gave up would leave it running. */
export const READ_STATEMENT_MS = 8_000;

/** Settings of PostgreSQL that a connection begins with, by their names, with the values as `current_setting` says them. */
type Settings = Readonly<Record<string, string>>;

/** Holds for every connection of a pool, whatever the database or the role says. */
const EVERY_CONNECTION: Settings = {
  // Positions are read behind the lock of a log, which only this isolation allows.
  default_transaction_isolation: "read committed",
  // To compile a statement takes PostgreSQL some hundred ms, each time that it runs one whose plan seems expensive.
  jit: "off",
  // Prisma's adapter takes every time for one of UTC, and the driver reads times in the form of ISO 8601 alone.
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  lock_timeout: "2s",
  idle_in_transaction_session_timeout: "5s",
};
/**
 * A commit, and who works for agents, finds every row by an index, whatever its values are: it is planned once a connection. A plan that was made while
 * the tables were small would otherwise read whole tables until PostgreSQL's statistics follow.
 */
const WRITERS: Settings = {
  ...EVERY_CONNECTION,
  // A write that PostgreSQL ended would be tried again, and ended again.
  statement_timeout: "0",
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
};
/** One reader uses one process of the database. */
const READERS: Settings = {
  ...EVERY_CONNECTION,
  statement_timeout: `${READ_STATEMENT_MS / 1_000}s`,
  max_parallel_workers_per_gather: "0",
};

/** The settings, as the parameter `options` of a connection's beginning. */
function optionsOf(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`)
    .join(" ");
}

const LOST_SETTINGS: Statement<{ name: string }, [names: readonly string[], values: readonly string[]]> = {
  name: "lost_settings",
  text: "SELECT name FROM unnest($1::text[], $2::text[]) AS given(name, value) WHERE current_setting(name) <> value",
};

/** The settings that a connection has otherwise than the pool gave them: something has dropped or replaced them. */
async function lostSettings(query: Sql["query"], settings: Settings): Promise<readonly string[]> {
  const rows = await query(LOST_SETTINGS, [Object.keys(settings), Object.values(settings)]);
  return rows.map(({ name }) => name);
}

/**
 * The connections of one server, and single statements by them. A connection
 * on which no answer comes within `answerMs` is given up.
 */
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
    // A connection that breaks is told to its statement if it has one, and is replaced by the pool. The one that replaces it may
    // lead to another database: one that was promoted meanwhile, and that answers as if nothing had happened.
    pool.on("connect", (client) => client.on("error", () => outages.suspect()));
    // The pool says once more what an idle connection said.
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
  // The statements of readers go through the pool's own `query`, which bounds them.
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
      // First: a connection that breaks while it ends is suspicious, and a database that is away is asked for as long as it is.
      outages.end();
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

/**
 * Asks by a connection of its own, since those of the pools may all be at work. Rejects if the database does not answer,
 * and if it answers but takes no writes: a standby, or a primary that was demoted.
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
