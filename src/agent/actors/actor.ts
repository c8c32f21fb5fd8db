import type { ActorKind } from "../../db/generated/enums.ts";
import type { ActorRef } from "../../events/actor-ref.ts";

/** The roles of actors: each says what its actor may do, and roles add up. */
export const ROLES = ["viewer", "user", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** The actor who asks, as authentication says: one person or service of one tenant. */
export type Identity = {
  readonly id: string;
  readonly kind: ActorKind;
  readonly tenant: string;
  readonly roles: readonly Role[];
};

/** The actor who asks, and those in whose names they may decide now, besides their own. */
export type Actor = Identity & { readonly delegators: readonly ActorRef[] };

/** The actor as rows and events name it. */
export function actorRef({ id, kind }: Pick<Identity, "id" | "kind">): ActorRef {
  return { id, kind };
}

/** Reads the whole tenant, not only what they created. */
export function readsTenant(actor: Actor): boolean {
  return actor.delegators.length > 0 || actor.roles.some((role) => role === "viewer" || role === "approver" || role === "admin");
}

/** True if the actor may see an agent of this creator. */
export function maySee(actor: Actor, agent: { readonly tenant: string; readonly createdBy: string }): boolean {
  return agent.tenant === actor.tenant && (readsTenant(actor) || (actor.roles.includes("user") && agent.createdBy === actor.id));
}

/** True if the actor may create agents. */
export function mayCreate(actor: Actor): boolean {
  return actor.roles.includes("user") || actor.roles.includes("admin");
}

/** True if the actor may send to and interrupt an agent of this creator. */
export function maySteer(actor: Actor, agent: { readonly tenant: string; readonly createdBy: string }): boolean {
  return (
    agent.tenant === actor.tenant &&
    (actor.roles.includes("admin") || (actor.roles.includes("user") && agent.createdBy === actor.id))
  );
}

/** True if the actor may decide on approvals in their own name. */
export function mayDecide(actor: Identity): boolean {
  return actor.roles.includes("approver") || actor.roles.includes("admin");
}
