import type { ActorKind } from "../db/generated/enums.ts";
import type { ActorRef } from "../events/event.ts";

/** What an actor may do. Roles add up. */
const ROLES = ["viewer", "user", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Who asks, as authentication says: one person or service of one tenant. */
export type Identity = {
  readonly id: string;
  readonly kind: ActorKind;
  readonly tenant: string;
  readonly roles: readonly Role[];
};

/** Who asks, and in whose names they may decide now, besides their own. */
export type Actor = Identity & { readonly delegators: readonly string[] };

/** The actor as rows and events name it. */
export function actorRef({ id, kind }: Actor): ActorRef {
  return { id, kind };
}

/** Reads the whole tenant, not only what they created. */
export function readsTenant(actor: Actor): boolean {
  return actor.delegators.length > 0 || actor.roles.some((role) => role === "viewer" || role === "approver" || role === "admin");
}

/** Whether the actor may see an agent of this creator. */
export function maySee(actor: Actor, agent: { readonly tenant: string; readonly createdBy: string }): boolean {
  return agent.tenant === actor.tenant && (readsTenant(actor) || (actor.roles.includes("user") && agent.createdBy === actor.id));
}

/** Whether the actor may create agents. */
export function mayCreate(actor: Actor): boolean {
  return actor.roles.includes("user") || actor.roles.includes("admin");
}

/** Whether the actor may send to and interrupt an agent of this creator. */
export function maySteer(actor: Actor, agent: { readonly tenant: string; readonly createdBy: string }): boolean {
  return (
    agent.tenant === actor.tenant &&
    (actor.roles.includes("admin") || (actor.roles.includes("user") && agent.createdBy === actor.id))
  );
}

/** Whether the actor may decide on approvals in their own name. */
export function mayDecide(actor: Identity): boolean {
  return actor.roles.includes("approver") || actor.roles.includes("admin");
}
