import { GraphQLError } from "graphql";
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
    if (cause instanceof StorageUnavailable || isPrismaOutage(cause))
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

/** Codes of a socket, and of PostgreSQL where it ends a connection, as Prisma's adapter passes them on. */
const CONNECTION_LOST = /^(ECONN|EPIPE|ETIMEDOUT|57P|08)/;
/** What the driver says of a connection that ended without a code. */
const CONNECTION_ENDED = /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/;

function isPrismaOutage(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return PRISMA_OUTAGE.has(code) || CONNECTION_LOST.test(code) || CONNECTION_ENDED.test(cause.message);
}

function shown(error: unknown, code: string, message: string, status: number): GraphQLError {
  const place = error instanceof GraphQLError ? { nodes: error.nodes, path: error.path } : {};
  return new GraphQLError(message, { ...place, extensions: { code, http: { status } } });
}
