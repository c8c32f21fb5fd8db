import type { Authentication } from "./authenticate.ts";

/** The actors who may connect, and the web pages besides the server's own. */
export type Access = { readonly authentication: Authentication; readonly allowedOrigins: readonly string[] };
