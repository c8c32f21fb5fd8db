/**
 * The close codes that the server sends, of RFC 6455, 7.4.1, its registry, and graphql-transport-ws. docs/graphql.md
 * lists all.
 */
export const CLOSE_CODES = {
  /**
   * The reader read no data for too long, or sign-in failed: connect again. Clients of graphql-ws do so, except after
   * 1008 and 4500.
   */
  TRY_AGAIN_LATER: 1013,
  /** The actor is no longer admitted: connect again with a new token. */
  NOT_ADMITTED: 4403,
} as const;
