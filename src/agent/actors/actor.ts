import type { ActorKind } from "../../db/generated/enums.ts";
import type { ActorRef } from "../../events/actor-ref.ts";

export const ROLES = ["viewer", "user", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** The authenticated actor: one person or service of one tenant. */
export type Identity = {
  readonly id: string;
  readonly kind: ActorKind;
  readonly tenant: string;
  readonly roles: readonly Role[];
};

export type Actor = Identity & { readonly delegators: readonly ActorRef[] };

export function actorRef({ id, kind }: Pick<Identity, "id" | "kind">): ActorRef {
  return { id, kind };
}

/** True if the actor reads the whole tenant, not only their own agents. */
export function readsTenant(actor: Actor): boolean {
  return actor.delegators.length > 0 || actor.roles.some((role) => role === "viewer" || role === "approver" || role === "admin");
}

export function maySee(actor: Actor, agent: { readonly tenant: string; readonly createdBy: string }): boolean {
  return agent.tenant === actor.tenant && (readsTenant(actor) || (actor.roles.includes("user") && agent.createdBy === actor.id));
}

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

export function mayDecide(actor: Identity): boolean {
  return actor.roles.includes("approver") || actor.roles.includes("admin");
}
