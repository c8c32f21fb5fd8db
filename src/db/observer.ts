import type { Logger } from "../telemetry/log.ts";
import type { Meters } from "../telemetry/meters.ts";
import { endOfReads } from "./connections/reader-limits.ts";
import { nameOf, type Sql } from "./sql.ts";
import { sqlState } from "./storage-error.ts";

/** The connections of a server to its database, by what they are for. */
export const STATEMENT_POOLS = ["commits", "work", "leases", "reads"] as const;
export type StatementPool = (typeof STATEMENT_POOLS)[number];

/** Hears what happens at a database. */
export type DatabaseObserver = {
  /** What the start waits for, and what goes wrong later for nobody in particular. */
  tell(message: string): void;
  /** The schema was brought up to date by these migrations. */
  migrated(names: readonly string[], durationMs: number): void;
  /** No connection could be had. */
  connectionFailed(error: unknown): void;
  /** `failure` has the error with which it ended; null for none. */
  statementRan(pool: StatementPool, name: string, durationMs: number, failure: { readonly error: unknown } | null): void;
};

/** Hears nothing. */
export const NO_OBSERVER: DatabaseObserver = {
  tell: () => {},
  migrated: () => {},
  connectionFailed: () => {},
  statementRan: () => {},
};

/** Statements that take longer are logged, in ms. */
const SLOW_MS = 1_000;
/** The migrations that one line names. */
const MIGRATIONS = 10;

/** What an operator does where a database has no room, by SQLSTATE (PostgreSQL, appendix A). */
const ROOM: ReadonlyMap<string, string> = new Map([
  ["53100", "its disk is full: make room there. What agents write waits meanwhile, and what people send is refused"],
  ["53200", "it has no memory left: give it more, or fewer connections"],
  ["53300", "it takes no more connections: raise max_connections, or let fewer servers and programs connect"],
]);
/** The time between two lines about it, in ms. */
const ROOM_MS = 60_000;

/** Tells the operator, by log and metrics. */
export function observedBy(logger: Logger, meters: Meters): DatabaseObserver {
  let toldOfRoom = -Infinity;
  const adviseRoom = (error: unknown, statement: string | null): void => {
    const state = sqlState(error) ?? "";
    const advice = ROOM.get(state);
    if (advice === undefined || performance.now() - toldOfRoom < ROOM_MS) return;
    toldOfRoom = performance.now();
    const fields = { reason: `SQLSTATE ${state}`, ...(statement === null ? {} : { statement }) };
    logger.tell("no_room", `the database refuses statements: ${advice}`, fields);
  };
  return {
    tell: (message) => logger.warn(message),
    migrated: (names, durationMs) => {
      const more = names.length > MIGRATIONS ? `, and ${names.length - MIGRATIONS} before them` : "";
      const message = `the database was migrated: ${names.slice(-MIGRATIONS).join(", ")}${more}`;
      logger.tell("migrated", message, { count: names.length, durationMs: Math.round(durationMs) });
    },
    connectionFailed: (error) => adviseRoom(error, null),
    statementRan: (pool, name, durationMs, failure) => {
      meters.statementRan(pool, durationMs / 1_000, failure !== null && isFault(failure.error));
      if (failure !== null) adviseRoom(failure.error, name);
      if (durationMs < SLOW_MS) return;
      const fields = { statement: name, reason: pool, durationMs: Math.round(durationMs) };
      logger.tell("slow_statement", `the statement ${name} of the database was slow`, fields);
    },
  };
}

/** False for what is meant to fail: refusals of the log's own functions, and reads whose reader has left or read too much. */
function isFault(error: unknown): boolean {
  return sqlState(error)?.startsWith("TP") !== true && endOfReads(error) === null;
}

/** Runs a statement that is observed. */
export async function observed<Result>(
  { statementRan }: Pick<DatabaseObserver, "statementRan">,
  pool: StatementPool,
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  try {
    const result = await run();
    statementRan(pool, name, performance.now() - started, null);
    return result;
  } catch (error) {
    statementRan(pool, name, performance.now() - started, { error });
    throw error;
  }
}

/** Runs statements of a pool that are observed. */
export function observedQueries(
  query: Sql["query"],
  observer: Pick<DatabaseObserver, "statementRan">,
  pool: StatementPool,
): Sql["query"] {
  return (statement, values) => observed(observer, pool, nameOf(statement), () => query(statement, values));
}
