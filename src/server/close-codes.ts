/** The close codes of RFC 6455, 7.4.1 and its registry, and of graphql-transport-ws, that the server sends itself. docs/graphql.md lists all. */
export const CLOSE_CODES = {
  /** The reader took nothing for too long, or sign-in failed: connect again. Clients of graphql-ws do; after 1008 and 4500 they would not. */
  TRY_AGAIN_LATER: 1013,
  /** The actor is no longer admitted: with a new token, connect again. */
  NOT_ADMITTED: 4403,
} as const;
