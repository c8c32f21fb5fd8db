import type { Role } from "../agent/actors/actor.ts";
import { clientError } from "../resolvers/context.ts";

export const OPERATIONS = ["any", "trusted"] as const;
export type RoleOperations = Readonly<Partial<Record<Role, (typeof OPERATIONS)[number]>>>;

export type SentDocument = { readonly query?: unknown; readonly documentId?: unknown; readonly extensions?: unknown };

/**
 * The operator's trusted documents by the ids that clients send in place of texts, and the roles that may send others.
 * `documentId` is as in the appendix of GraphQL over HTTP; `extensions.persistedQuery.sha256Hash` as Apollo's clients
 * send it.
 */
export class TrustedDocuments {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #operations: RoleOperations;

  constructor(texts: ReadonlyMap<string, string>, operations: RoleOperations) {
    this.#texts = texts;
    this.#operations = operations;
  }

  get dependsOnRoles(): boolean {
    return Object.values(this.#operations).includes("trusted");
  }

  /**
   * The text of a document's id, for an actor with these roles; null if the request has a text. Throws a typed error
   * before parsing.
   */
  textOf(sent: SentDocument, roles: readonly Role[]): string | null {
    const mayAny = !this.dependsOnRoles || roles.some((role) => this.#operations[role] !== "trusted");
    const id = idOf(sent);
    const text = id === null ? undefined : this.#texts.get(id);
    if (text !== undefined) return text;
    const isSent = typeof sent.query === "string" && sent.query !== "";
    if (id !== null && !(mayAny && isSent))
      throw clientError("UNKNOWN_DOCUMENT", "there is no document with this id: add it to the server's `trustedDocuments`");
    if (!mayAny)
      throw clientError(
        "UNTRUSTED_DOCUMENT",
        "your roles may only send trusted documents: send the `documentId` of one in the server's `trustedDocuments`",
      );
    return null;
  }
}

export function asksFor(parameters: URLSearchParams): boolean {
  return ["query", "documentId", "extensions"].some((name) => parameters.has(name));
}

function idOf({ documentId, extensions }: SentDocument): string | null {
  if (typeof documentId === "string") return documentId;
  if (!isObject(extensions)) return null;
  if ("documentId" in extensions && typeof extensions.documentId === "string") return extensions.documentId;
  const persisted = "persistedQuery" in extensions ? extensions.persistedQuery : null;
  if (!isObject(persisted) || !("sha256Hash" in persisted)) return null;
  return typeof persisted.sha256Hash === "string" ? persisted.sha256Hash : null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
