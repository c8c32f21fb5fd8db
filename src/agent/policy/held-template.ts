import type { OwnPermission, VersionOfAgent } from "./own-permission.ts";
import type { Permission, PolicyBox } from "./permission.ts";

/** The facts of an agent's row by which its template is found. */
export type VersionedAgent = {
  readonly tenant: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly permission: OwnPermission | null;
};

/** The parts of a template by which its agents, and those below them, are judged. */
export type TreeTemplate = {
  readonly permission: Permission;
  /** The permission of the present version, for an agent that keeps an earlier one: it binds as well. Null otherwise. */
  readonly presentPermission: Permission | null;
  readonly box: PolicyBox | null;
};

/** The same of one agent, with the templates of the agents above it: the first of the tree first. */
export type PolicyTemplate = TreeTemplate & { readonly above: readonly TreeTemplate[] };

/** A part of an agent that is not configured on this server, in words. */
export type Missing = { readonly missing: string };

/**
 * The template of an agent: the present one, or the earlier version that the agent keeps, with the present code. It has
 * the templates of the agents above.
 */
export type HeldTemplate<Template> = (agent: VersionedAgent) => Promise<Template | Missing>;
