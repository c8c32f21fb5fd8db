import { errorClass, shownProblem, sqlState as stateOf } from "./error-class.ts";

/** The database could not be opened; the message says what to do. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** The database does not answer, or not now. Whether what was asked of it was done is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

/** The error of a statement as its callers should meet it: StorageUnavailable if the database cannot answer now. */
export function storageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || errorClass(error) === "refused") return error;
  return new StorageUnavailable(shownProblem(error), { cause: error });
}

/** PostgreSQL's five-character code of an error, or undefined if the error is not the database's answer. */
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
