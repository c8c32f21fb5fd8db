/** An orderly end (RFC 6455, 7.4.1): also what a proxy says that ends a connection in the middle of a stream. */
export const NORMAL = 1000;
/** Closed without a close frame (RFC 6455, 7.4.1). */
export const LOST = 1006;

/** After these the same again would end the same: the client breaks the protocol, or sends more than a message holds. */
export const FATAL: ReadonlySet<number> = new Set([
  1009, // a message is too large (RFC 6455, 7.4.1)
  4400, // of graphql-transport-ws: a bad message, and what follows
  4401, // a subscription before the acknowledgement
  4406, // a subprotocol that the server does not speak
  4409, // an operation id twice
  4429, // connection_init twice
]);

/** Who asks is not admitted: a new token may help. */
export const NOT_ADMITTED = 4403;

/** The server refuses: who asks is not admitted, or an error of its own (4500). */
export const REFUSED: ReadonlySet<number> = new Set([NOT_ADMITTED, 4500]);

/** The close code of a socket's close event; null for anything else. */
export function closeCodeOf(error: unknown): number | null {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "number" ? error.code : null;
}

/** The words of a close event, or of an error. Events of browsers that open no socket have none. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  const reason = typeof error === "object" && error !== null && "reason" in error ? String(error.reason) : "";
  const code = closeCodeOf(error);
  return code === null ? "the connection could not be opened" : `the connection was closed with ${code} ${reason}`.trim();
}
