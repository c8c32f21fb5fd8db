import type { PermissionSource } from "./permission-source.ts";

/**
 * A permission block of one agent's own: it holds besides its template's, or, if an administrator said so, instead. Of an
 * agent that another started, also the agents above it, the first of the tree first: their limits bind it.
 */
export type OwnPermission = {
  readonly scope: "TIGHTEN" | "REPLACE";
  readonly source: PermissionSource;
  /** Further blocks: all of them hold. */
  readonly more?: readonly PermissionSource[];
  readonly ancestors?: readonly Ancestor[];
};

/**
 * An agent above another, with the sources of its permissions, and the version of its template when it started the other.
 */
export type Ancestor = {
  readonly agentId: string;
  readonly templateId: string;
  readonly templateVersion?: VersionOfAgent;
  readonly permission: Omit<OwnPermission, "ancestors"> | null;
};

/** The version of an agent's template at its latest turn; null before its first. */
export type VersionOfAgent = { readonly digest: string } | null;
