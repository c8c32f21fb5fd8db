import { messageOf } from "../lib/text.ts";
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

/** The database does not answer. Whether what was asked of it was done is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

/** The statements of a database, and what they tell of whether it answers. */
export function watched(query: Sql["query"], outages: OutageWatch): Sql {
  return {
    outages,
    query: async <Row>(statement: Statement, values: readonly unknown[]) => {
      if (outages.isAway) throw new StorageUnavailable(`the database does not answer: ${outages.current?.problem}`);
      try {
        return await query<Row>(statement, values);
      } catch (error) {
        const shown = storageError(error);
        if (shown instanceof StorageUnavailable && isConnectionLost(error)) outages.suspect();
        throw shown;
      }
    },
  };
}

/** The error of a statement as its callers should meet it: StorageUnavailable where the database cannot answer now. */
export function storageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || !(isConnectionLost(error) || isContention(error))) return error;
  return new StorageUnavailable(`the database does not answer: ${messageOf(error)}`, { cause: error });
}

/** PostgreSQL's five-character code of an error, or undefined where the error is not the database's answer. */
export function sqlState(error: unknown): string | undefined {
  // An error of the socket has a code as well, and "EPIPE" looks like PostgreSQL's.
  if (error instanceof StorageUnavailable) return sqlState(error.cause);
  if (typeof error !== "object" || error === null || !("code" in error) || "syscall" in error) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/**
 * Whether the statement may have committed although its answer was lost, or never ran: the connection broke, or the
 * server ended it. Such a statement is retried with its append id.
 */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? true : state.startsWith("08") || state.startsWith("57P");
}

/** Whether the database refused for others' sake (locks, deadlocks, its resources): nothing was done, and the same statement may be tried again. */
export function isContention(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && ["40", "53", "55"].includes(state.slice(0, 2));
}
