import { errorCode, messageOf, withCause } from "../../lib/text.ts";
import { HttpRefused } from "./http-refused.ts";
import { takesLaterMs } from "./http-transport.ts";

/** The codes of errors of the SDK after which it is unknown if the call had an effect. */
const LOST = new Set([
  "CONNECTION_CLOSED",
  "REQUEST_TIMEOUT",
  "INVALID_RESULT",
  "UNSUPPORTED_RESULT_TYPE",
  "CLIENT_HTTP_UNEXPECTED_CONTENT",
]);

/** A call was not sent, since its server is away, or the server did not take it. */
export class NotSent extends Error {
  override readonly name = "Error";
  /** The time after which the server takes it, in ms; null if it names none. */
  readonly afterMs: number | null;

  constructor(reason: string, afterMs: number | null = null) {
    super(reason);
    this.afterMs = afterMs;
  }
}

/** The statuses with which a server does not take a request: it may be sent again. */
const NOT_TAKEN: ReadonlySet<number> = new Set([401, 429, 503]);

/**
 * The error of a call for the model. If the call may have had an effect, it says so. `end` is the reason why the
 * connection closed, or null. `plain` makes texts from outside plain. A call that took an answer along was not sent if its
 * server refused it by status.
 */
export function lostCall(
  server: string,
  error: unknown,
  end: string | null,
  plain: (text: string) => string,
  isAnswered = false,
): Error {
  const reason = plain(end ?? faultText(error));
  if (isAnswered && error instanceof HttpRefused && NOT_TAKEN.has(error.status))
    return new NotSent(plain(error.message), takesLaterMs(error));
  if (error instanceof NotSent || (!isLost(error) && refusedConnection(error) !== null)) return new NotSent(reason);
  if (!isLost(error)) return new Error(reason);
  return new Error(
    `the MCP server ${server} did not answer this call (${reason}): it is not known if the call had an effect, so look before you repeat it`,
  );
}

/** The reason of an error, once: a refused connection tells all, and the errors around it only repeat it. */
export function faultText(error: unknown): string {
  const refused = refusedConnection(error);
  return refused === null ? withCause(error) : messageOf(refused);
}

const CAUSES = 8;

/** The error of a connection that was never made, over which no call was sent. */
function refusedConnection(error: unknown): Error | null {
  let each = error;
  for (let causes = 0; each instanceof Error && causes <= CAUSES; causes += 1) {
    if (isUnreached(each)) return each;
    each = each.cause;
  }
  return null;
}

const UNREACHED: ReadonlySet<string | null> = new Set(["ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT"]);

/** True for the error of a connection while it is made: the look for the address of a name is a part of that. */
function isUnreached(error: Error): boolean {
  const addresses: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  if (addresses.length > 0) return addresses.every((each) => each instanceof Error && isUnreached(each));
  const syscall: unknown = "syscall" in error ? error.syscall : null;
  return UNREACHED.has(errorCode(error)) || syscall === "connect" || syscall === "getaddrinfo";
}

function isLost(error: unknown): boolean {
  if (error instanceof HttpRefused) return error.status >= 500;
  if (!(error instanceof Error)) return true;
  const code: unknown = "code" in error ? error.code : null;
  if (refusedConnection(error) !== null && !(typeof code === "string" && LOST.has(code))) return false;
  // Numbers are the server's own answers (JSON-RPC).
  return typeof code === "string" ? LOST.has(code) : typeof code !== "number" && error.name !== "Error";
}
