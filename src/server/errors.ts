import { GraphQLError } from "graphql";
import { StorageUnavailable } from "../db/sql.ts";
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

/** Prisma's codes for a database that cannot be reached, timed out, closed the connection, or gave none. */
const PRISMA_OUTAGE = new Set(["P1001", "P1002", "P1008", "P1017", "P2024"]);

function isPrismaOutage(cause: unknown): boolean {
  return (
    typeof cause === "object" &&
    cause !== null &&
    "code" in cause &&
    typeof cause.code === "string" &&
    PRISMA_OUTAGE.has(cause.code)
  );
}

function shown(error: unknown, code: string, message: string, status: number): GraphQLError {
  const place = error instanceof GraphQLError ? { nodes: error.nodes, path: error.path } : {};
  return new GraphQLError(message, { ...place, extensions: { code, http: { status } } });
}
