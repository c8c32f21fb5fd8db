import type { Authentication } from "./authenticate.ts";
import type { TrustedDocuments } from "./trusted-documents.ts";

export type Access = {
  readonly authentication: Authentication;
  readonly allowedOrigins: readonly string[];
  readonly documents: TrustedDocuments;
};
