import type { Authentication } from "./authenticate.ts";
import type { TrustedDocuments } from "./trusted-documents.ts";

/** The actors who may connect, the web pages besides the server's own, and the documents that may be sent. */
export type Access = {
  readonly authentication: Authentication;
  readonly allowedOrigins: readonly string[];
  readonly documents: TrustedDocuments;
};
