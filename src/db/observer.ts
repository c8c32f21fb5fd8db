import type { Logger } from "../telemetry/log.ts";
import type { Meters } from "../telemetry/meters.ts";
import type { Sql } from "./sql.ts";

/** The connections of a server to its database, by what they are for. */
export const STATEMENT_POOLS = ["commits", "work", "leases", "reads"] as const;
export type StatementPool = (typeof STATEMENT_POOLS)[number];

/** Hears what happens at a database. */
export type DatabaseObserver = {
  /** What the start waits for, and what goes wrong later for nobody in particular. */
  tell(message: string): void;
  /** The schema was brought up to date by these migrations. */
  migrated(names: readonly string[], durationMs: number): void;
  statementRan(pool: StatementPool, name: string, durationMs: number, hasFailed: boolean): void;
};

/** Hears nothing. */
export const NO_OBSERVER: DatabaseObserver = { tell: () => {}, migrated: () => {}, statementRan: () => {} };

/** Statements that take longer are logged, in ms. */
const SLOW_MS = 1_000;
/** The migrations that one line names. */
const MIGRATIONS = 10;

/** Tells the operator, by log and metrics. */
export function observedBy(logger: Logger, meters: Meters): DatabaseObserver {
  return {
    tell: (message) => logger.warn(message),
    migrated: (names, durationMs) => {
      const more = names.length > MIGRATIONS ? `, and ${names.length - MIGRATIONS} before them` : "";
      const message = `the database was migrated: ${names.slice(-MIGRATIONS).join(", ")}${more}`;
      logger.tell("migrated", message, { count: names.length, durationMs: Math.round(durationMs) });
    },
    statementRan: (pool, name, durationMs, hasFailed) => {
      meters.statementRan(pool, durationMs / 1_000, hasFailed);
      if (durationMs < SLOW_MS) return;
      const fields = { statement: name, reason: pool, durationMs: Math.round(durationMs) };
      logger.tell("slow_statement", `the statement ${name} of the database was slow`, fields);
    },
  };
}

/** Runs a statement that is observed. */
export async function observed<Result>(
  { statementRan }: Pick<DatabaseObserver, "statementRan">,
  pool: StatementPool,
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const started = performance.now();
  let hasFailed = true;
  try {
    const result = await run();
    hasFailed = false;
    return result;
  } finally {
    statementRan(pool, name, performance.now() - started, hasFailed);
  }
}

/** Runs statements of a pool that are observed. */
export function observedQueries(
  query: Sql["query"],
  observer: Pick<DatabaseObserver, "statementRan">,
  pool: StatementPool,
): Sql["query"] {
  return (statement, values) => observed(observer, pool, statement.name, () => query(statement, values));
}
