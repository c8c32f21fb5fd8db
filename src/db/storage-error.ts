import { messageOf, errorCode } from "../lib/text.ts";

/**
 * The meaning of a statement's error. `outage`: the database does not answer, or is read-only, and the outcome is
 * unknown. `contention`: refused because of others or missing resources; nothing was done, and the statement may be
 * retried. `refused`: the statement itself is wrong, and a retry would fail.
 */
export type ErrorClass = "outage" | "contention" | "refused";

/**
 * By SQLSTATE, or its class, the first two characters (PostgreSQL, appendix A); the longer entry counts. Others are
 * `refused`.
 */
const CLASSES: Readonly<Record<string, ErrorClass>> = {
  // Connections.
  "08": "outage",
  // Ended by the operator: shutdown, crash of another process, starting up. A cancelled statement has done nothing.
  "57P": "outage",
  "57014": "contention",
  // Read-only: a standby, or a primary that was demoted.
  "25006": "outage",
  // The server ended a connection that was idle in a transaction, or whose transaction took too long.
  "25P03": "outage",
  "25P04": "outage",
  // Unknown credentials, such as a changed password.
  "28": "outage",
  // The database is missing: it is being restored, or was renamed.
  "3D": "outage",
  // Serialisation and deadlocks.
  "40": "contention",
  // Disk, memory, connections, limits of the server.
  "53": "contention",
  // Locks, objects in use.
  "55": "contention",
  // Errors of the system outside: a file cannot be read or written.
  "58": "contention",
};

/**
 * SQLSTATEs, or classes of them, about the statement alone: refusals of our own functions, values, constraints, locks,
 * raised errors.
 */
const OF_STATEMENT = ["TP", "22", "23", "40", "55", "57014", "P0"];

/**
 * True if the connection of a failed statement is reusable. PostgreSQL's answers about the statement leave it intact;
 * broken connections, and prepared statements that no longer fit (0A000, 26000), do not.
 */
export function leavesConnection(error: unknown): boolean {
  const state = ownSqlState(error);
  return state !== undefined && OF_STATEMENT.some((prefix) => state.startsWith(prefix));
}

/** The driver's messages, without a code, for a connection that ended or could not be opened. */
const CONNECTION_ENDED =
  /^(Connection terminated|Connection ended|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|PGlite is clos)/;

/** The pool's message if all its connections are busy for too long: the database may be well. */
const NO_CONNECTION_FREE = "timeout exceeded when trying to connect";

export function errorClass(error: unknown): ErrorClass {
  const state = ownSqlState(error);
  if (state !== undefined) return CLASSES[state] ?? CLASSES[state.slice(0, 3)] ?? CLASSES[state.slice(0, 2)] ?? "refused";
  if (!(error instanceof Error)) return "refused";
  if (error.message === NO_CONNECTION_FREE) return "contention";
  return isOfSocket(error) || CONNECTION_ENDED.test(error.message) ? "outage" : "refused";
}

/**
 * The problem with the database for readers of an agent. The driver's message, which names hosts, users and
 * constraints, is only for the server's log.
 */
export function shownProblem(error: unknown): string {
  const state = ownSqlState(error);
  if (state !== undefined) return `${TITLES[errorClass(error)]} (SQLSTATE ${state})`;
  if (errorClass(error) !== "outage") return messageOf(error);
  const code = errorCode(error);
  return code === null ? TITLES.outage : `${TITLES.outage} (${code})`;
}

const TITLES: Readonly<Record<ErrorClass, string>> = {
  outage: "the database does not answer",
  contention: "the database is busy or full",
  refused: "the database refused a statement",
};

export function ownSqlState(error: unknown): string | undefined {
  // Socket errors have codes too, and "EPIPE" looks like PostgreSQL's.
  if (typeof error !== "object" || error === null || !("code" in error) || isOfSocket(error)) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

function isOfSocket(error: object): boolean {
  if ("syscall" in error) return true;
  return (
    "code" in error &&
    typeof error.code === "string" &&
    /^(E[A-Z]{4,}|ERR_(TLS|SSL|SOCKET|STREAM)_?|CERT_|SELF_SIGNED|UNABLE_TO)/.test(error.code)
  );
}

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
  return ownSqlState(error instanceof StorageUnavailable ? error.cause : error);
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
