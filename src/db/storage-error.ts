import { errorClass, shownProblem, sqlState as stateOf } from "./error-class.ts";

export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** The database does not answer at present. The outcome of the statement is unknown. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

export function storageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || errorClass(error) === "refused") return error;
  return new StorageUnavailable(shownProblem(error), { cause: error });
}

export function sqlState(error: unknown): string | undefined {
  return stateOf(error instanceof StorageUnavailable ? error.cause : error);
}

/** True if the statement may have committed although its answer was lost. It is retried with its append id. */
export function isConnectionLost(error: unknown): boolean {
  return classOf(error) === "outage";
}

export function isContention(error: unknown): boolean {
  return classOf(error) === "contention";
}

function classOf(error: unknown): ReturnType<typeof errorClass> {
  if (!(error instanceof StorageUnavailable)) return errorClass(error);
  return error.cause === undefined ? "outage" : errorClass(error.cause);
}
