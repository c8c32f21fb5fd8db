import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from "graphql";
import { errorClass, sqlState, StorageUnavailable } from "../db/storage-error.ts";
import { endOfReads, READ_BYTES } from "../db/connections/reader-limits.ts";
import { CommitsLost } from "../events/log-page.ts";
import type { Logger } from "../telemetry/log.ts";
import { sizeOf } from "../lib/size.ts";
import { clientError } from "../resolvers/context.ts";

/**
 * The error as clients may see it: errors of this server and of GraphQL pass, all others are logged once and shown as
 * "Unexpected error."
 */
export function maskError(logger: Logger): (error: unknown) => GraphQLError {
  return (error) => {
    const cause = error instanceof GraphQLError ? error.originalError : error;
    if (error instanceof GraphQLError && cause === undefined) return error;
    if (error instanceof GraphQLError && cause instanceof GraphQLError) {
      // A library rejected an argument without an error code.
      return cause.extensions["code"] === undefined ? shown(error, "BAD_USER_INPUT", cause.message, 200) : error;
    }
    if (cause instanceof CommitsLost) return shown(error, "COMMITS_LOST", cause.message, 503);
    switch (endOfReads(cause)) {
      case "tooMuch":
        return shown(error, "ANSWER_TOO_LARGE", TOO_LARGE, 200);
      case "left":
        return shown(error, "CANCELLED", "The client has disconnected.", 200);
      case null:
    }
    if (isTooSlow(cause))
      return shown(error, "TOO_SLOW", "The database took too long: narrow the filter, or request less data at once.", 200);
    if (isUnavailable(cause))
      return shown(
        error,
        "STORAGE_UNAVAILABLE",
        "The database does not answer. A mutation may have been executed nevertheless: send it again, with the same idempotencyKey if it takes one.",
        503,
      );
    logger.error("an operation failed", withoutRequest(cause));
    return shown(error, "INTERNAL_SERVER_ERROR", "Unexpected error.", 500);
  };
}

/**
 * Prisma's message about an invalid request repeats all its values, among them clients' texts: only its last line, the
 * cause, is logged.
 */
function withoutRequest(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause.name !== "PrismaClientValidationError") return cause;
  const problem = new Error(`${cause.name}: ${cause.message.trim().split("\n").at(-1)}`);
  const calls = cause.stack?.split(cause.message).at(-1) ?? "";
  problem.stack = `${problem.message}${calls}`;
  return problem;
}

const TOO_LARGE =
  "The response has more than 32 million characters: request fewer rows or fewer long fields. A mutation was executed nevertheless.";

export function boundedAnswer<Result extends ExecutionResult>(result: Result): Result | ExecutionResult {
  const errors = result.errors?.map((error) => error.toJSON());
  if (sizeOf({ data: result.data, errors }) <= READ_BYTES) return result;
  return { data: null, errors: [clientError("ANSWER_TOO_LARGE", TOO_LARGE)] };
}

/** PostgreSQL cancelled a statement of a reader: it exceeded its time limit, or the reader has left. */
function isTooSlow(cause: unknown): boolean {
  // P2028: a timeout of Prisma's own transaction over several rows.
  if (cause instanceof Error && "code" in cause && cause.code === "P2028") return true;
  return sqlState(cause) === "57014" || (cause instanceof Error && /canceling statement due to/.test(cause.message));
}

/** Prisma's codes for a database that is unreachable, timed out, closed the connection, or had none free. */
const PRISMA_OUTAGE = new Set(["P1001", "P1002", "P1008", "P1017", "P2024"]);

/** True during an outage. Prisma passes on the driver's error, or one of its own codes. */
function isUnavailable(cause: unknown): boolean {
  if (cause instanceof StorageUnavailable || errorClass(cause) !== "refused") return true;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" && PRISMA_OUTAGE.has(cause.code);
}

function shown(error: unknown, code: string, message: string, status: number): GraphQLError {
  const place = error instanceof GraphQLError ? { nodes: error.nodes, path: error.path } : {};
  return new GraphQLError(message, { ...place, extensions: { code, http: { status } } });
}

export function formatted(error: GraphQLError): GraphQLFormattedError {
  const { extensions: { http: _, ...extensions } = {}, ...shown } = error.toJSON();
  return Object.keys(extensions).length === 0 ? shown : { ...shown, extensions };
}

/** The status that an error names for its answer; null if it names none. */
export function httpStatus({ extensions: { http } }: GraphQLError): number | null {
  return typeof http === "object" && http !== null && "status" in http && typeof http.status === "number" ? http.status : null;
}

/** The header that says when to try again, if an error says so. */
export function retryAfter({ extensions: { retryAfterMs } }: GraphQLError): { readonly "retry-after"?: string } {
  return typeof retryAfterMs === "number" ? { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) } : {};
}
