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

/** The server refuses: who asks is not admitted (4403; a new token may help), or an error of its own (4500). */
export const REFUSED: ReadonlySet<number> = new Set([4403, 4500]);
