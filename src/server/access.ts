import type { Authentication } from "./authenticate.ts";

/** Who may connect, and from which web pages besides the server's own. */
export type Access = { readonly authentication: Authentication; readonly allowedOrigins: readonly string[] };
