import { GraphQLError } from "graphql";
import { errorClass } from "../db/error-class.ts";
import { sqlState, StorageUnavailable } from "../db/sql.ts";
import { CommitsLost } from "../events/log-page.ts";
import type { Logger } from "../lib/log.ts";

/**
 * What the client may know of an error: what we or GraphQL itself said passes, everything else is logged, once, and
 * shown as "Unexpected error."
 */
export function maskError(logger: Logger): (error: unknown) => GraphQLError {
  return (error) => {
    const cause = error instanceof GraphQLError ? error.originalError : error;
    if (error instanceof GraphQLError && cause === undefined) return error;
    if (error instanceof GraphQLError && cause instanceof GraphQLError) {
      // A library refused an argument, and says so without a code.
      return cause.extensions["code"] === undefined ? shown(error, "BAD_USER_INPUT", cause.message, 200) : error;
    }
    if (cause instanceof CommitsLost) return shown(error, "COMMITS_LOST", cause.message, 503);
    if (isTooSlow(cause))
      return shown(error, "TOO_SLOW", "The database took too long for this: narrow the filter, or ask for less at once.", 200);
    if (isUnavailable(cause))
      return shown(
        error,
        "STORAGE_UNAVAILABLE",
        "The database does not answer. A mutation may have been done all the same: send it again, with the same idempotencyKey where it takes one.",
        503,
      );
    logger.error("an operation failed", cause);
    return shown(error, "INTERNAL_SERVER_ERROR", "Unexpected error.", 500);
  };
}

/** PostgreSQL ended a statement of a reader: it took longer than it may, or who asked has left. */
function isTooSlow(cause: unknown): boolean {
  return sqlState(cause) === "57014" || (cause instanceof Error && /canceling statement due to/.test(cause.message));
}

/** Prisma's codes for a database that cannot be reached, timed out, closed the connection, or gave none. */
const PRISMA_OUTAGE = new Set(["P1001", "P1002", "P1008", "P1017", "P2024"]);

/** True if the database cannot answer now. Prisma passes on what the driver said, or a code of its own. */
function isUnavailable(cause: unknown): boolean {
  if (cause instanceof StorageUnavailable || errorClass(cause) !== "refused") return true;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && PRISMA_OUTAGE.has(cause.code);
}

function shown(error: unknown, code: string, message: string, status: number): GraphQLError {
  const place = error instanceof GraphQLError ? { nodes: error.nodes, path: error.path } : {};
  return new GraphQLError(message, { ...place, extensions: { code, http: { status } } });
}
