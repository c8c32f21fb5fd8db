import type { Logger } from "../telemetry/log.ts";
import type { Meters } from "../telemetry/meters.ts";
import { endOfReads } from "./connections/reader-limits.ts";
import { nameOf, type Sql } from "./sql.ts";
import { sqlState } from "./storage-error.ts";

export const STATEMENT_POOLS = ["commits", "work", "leases", "reads"] as const;
export type StatementPool = (typeof STATEMENT_POOLS)[number];

export type DatabaseObserver = {
  tell(message: string): void;
  migrated(names: readonly string[], durationMs: number): void;
  connectionFailed(error: unknown): void;
  /** `failure` has the error of the statement; null for none. */
  statementRan(pool: StatementPool, name: string, durationMs: number, failure: { readonly error: unknown } | null): void;
};

export const NO_OBSERVER: DatabaseObserver = {
  tell: () => {},
  migrated: () => {},
  connectionFailed: () => {},
  statementRan: () => {},
};

const SLOW_MS = 1_000;
const MIGRATIONS = 10;

const ROOM: ReadonlyMap<string, string> = new Map([
  ["53100", "its disk is full: make room there. What agents write waits meanwhile, and what people send is refused"],
  ["53200", "it has no memory left: give it more, or fewer connections"],
  ["53300", "it takes no more connections: raise max_connections, or let fewer servers and programs connect"],
]);
const ROOM_MS = 60_000;

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

/** False for expected failures: refusals of the log's functions, and reads that ended with their operation. */
function isFault(error: unknown): boolean {
  return sqlState(error)?.startsWith("TP") !== true && endOfReads(error) === null;
}

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

export function observedQueries(
  query: Sql["query"],
  observer: Pick<DatabaseObserver, "statementRan">,
  pool: StatementPool,
): Sql["query"] {
  return (statement, values) => observed(observer, pool, nameOf(statement), () => query(statement, values));
}
