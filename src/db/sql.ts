import { errorClass, shownProblem, sqlState as stateOf } from "./error-class.ts";
import type { OutageWatch } from "./outage.ts";

/** A statement with a name, under which a connection keeps it prepared. */
export type Statement = { readonly name: string; readonly text: string };

/**
 * Runs single statements, each a transaction of its own. There is no way here to hold a transaction open: everything
 * that must commit together goes through one SQL function (docs/adr/0002).
 */
export type Sql = {
  /** The statement's rows, as the driver reads them. Rejects with an error that carries PostgreSQL's `code`. */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Whether the database answers at all. */
  readonly outages: OutageWatch;
};

/** The database does not answer, or not now. Whether what was asked of it was done is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

/** The statements of a database, and what they tell of whether it answers. */
export function watched(query: Sql["query"], outages: OutageWatch): Sql {
  return {
    outages,
    query: async <Row>(statement: Statement, values: readonly unknown[]) => {
      if (outages.isAway) throw new StorageUnavailable(outages.current?.problem);
      try {
        return await query<Row>(statement, values);
      } catch (error) {
        if (errorClass(error) === "outage") outages.suspect();
        throw storageError(error);
      }
    },
  };
}

/** The error of a statement as its callers should meet it: StorageUnavailable where the database cannot answer now. */
function storageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || errorClass(error) === "refused") return error;
  return new StorageUnavailable(shownProblem(error), { cause: error });
}

/** PostgreSQL's five-character code of an error, or undefined where the error is not the database's answer. */
export function sqlState(error: unknown): string | undefined {
  return stateOf(error instanceof StorageUnavailable ? error.cause : error);
}

/**
 * True if the statement may have committed although its answer was lost, or never ran. Such a statement is retried with
 * its append id.
 */
export function isConnectionLost(error: unknown): boolean {
  return classOf(error) === "outage";
}

/** True if nothing was done, and the same statement may be tried again. */
export function isContention(error: unknown): boolean {
  return classOf(error) === "contention";
}

/** That of what it was raised for. One without a cause was raised here, since the database is away. */
function classOf(error: unknown): ReturnType<typeof errorClass> {
  if (!(error instanceof StorageUnavailable)) return errorClass(error);
  return error.cause === undefined ? "outage" : errorClass(error.cause);
}
