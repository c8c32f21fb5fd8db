import { messageOf } from "../lib/text.ts";
import { errorCode } from "../lib/error-code.ts";

/**
 * The meaning of a statement's error for who asked. `outage`: the database does not answer, or takes no writes; nobody
 * knows if the statement was done. `contention`: it refused for others' sake or for want of resources; nothing was done,
 * and the same statement may be tried again. `refused`: the statement itself is wrong, and would be again.
 */
export type ErrorClass = "outage" | "contention" | "refused";

/**
 * By SQLSTATE, or the class that its first two characters are (PostgreSQL, appendix A); the longer entry counts. What is
 * not listed is `refused`.
 */
const CLASSES: Readonly<Record<string, ErrorClass>> = {
  // Connections.
  "08": "outage",
  // The operator ends it: shutdown, crash of another process, starting up. A cancelled statement has done nothing.
  "57P": "outage",
  "57014": "contention",
  // Read-only: a standby, or a primary that was demoted.
  "25006": "outage",
  // The server ended a connection that was idle in a transaction, or whose transaction took too long.
  "25P03": "outage",
  "25P04": "outage",
  // Who connects is not known, or no longer: a password that was changed.
  "28": "outage",
  // The database is not there: it is restored, or renamed.
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

/** SQLSTATEs, or classes of them, that speak of the statement alone: refusals of our own functions, values, constraints, locks, raised errors. */
const OF_STATEMENT = ["TP", "22", "23", "40", "55", "57014", "P0"];

/**
 * True if the connection on which a statement met the error is as good as before. What PostgreSQL has answered about the statement
 * leaves its connection well; not so what breaks connections, and a prepared statement that no longer fits (0A000, 26000).
 */
export function leavesConnection(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && OF_STATEMENT.some((prefix) => state.startsWith(prefix));
}

/** The driver's messages, without a code, of a connection that ended or could not be made. */
const CONNECTION_ENDED =
  /^(Connection terminated|Connection ended|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|PGlite is clos)/;

/** The pool's message if all its connections are at work for too long: the database may be well. */
const NO_CONNECTION_FREE = "timeout exceeded when trying to connect";

/** The meaning of a statement's error, whoever raised it: PostgreSQL, the socket or the driver. */
export function errorClass(error: unknown): ErrorClass {
  const state = sqlState(error);
  if (state !== undefined) return CLASSES[state] ?? CLASSES[state.slice(0, 3)] ?? CLASSES[state.slice(0, 2)] ?? "refused";
  if (!(error instanceof Error)) return "refused";
  if (error.message === NO_CONNECTION_FREE) return "contention";
  return isOfSocket(error) || CONNECTION_ENDED.test(error.message) ? "outage" : "refused";
}

/**
 * The problem with the database as everybody may read it who may read an agent. What the driver says names hosts, users
 * and constraints: that is for the server's own log.
 */
export function shownProblem(error: unknown): string {
  const state = sqlState(error);
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

/** PostgreSQL's five-character code of an error, or undefined if the error is not the database's answer. */
export function sqlState(error: unknown): string | undefined {
  // An error of the socket has a code as well, and "EPIPE" looks like PostgreSQL's.
  if (typeof error !== "object" || error === null || !("code" in error) || isOfSocket(error)) return undefined;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined;
}

/** Node's errors of sockets, of names and of TLS have codes of their own. */
function isOfSocket(error: object): boolean {
  if ("syscall" in error) return true;
  return (
    "code" in error &&
    typeof error.code === "string" &&
    /^(E[A-Z]{4,}|ERR_(TLS|SSL|SOCKET|STREAM)_?|CERT_|SELF_SIGNED|UNABLE_TO)/.test(error.code)
  );
}
