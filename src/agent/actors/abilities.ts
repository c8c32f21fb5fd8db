import { mayCreate, mayDecide, readsTenant, type Actor } from "./actor.ts";
import type { CommandRefusal } from "./refusal.ts";

export const ACTIONS = [
  "READ_TENANT",
  "CREATE_AGENTS",
  "STEER_ALL_AGENTS",
  "DECIDE",
  "STORE_ALLOW_RULES",
  "DELEGATE",
  "REPLACE_PERMISSION",
] as const;
export type Action = (typeof ACTIONS)[number];

/** `reason` says why it is not allowed. */
export type Ability = { readonly action: Action; readonly isAllowed: boolean; readonly reason: string | null };

const NEEDS: Readonly<Record<Action, { readonly isAllowed: (actor: Actor) => boolean; readonly otherwise: string }>> = {
  READ_TENANT: { isAllowed: readsTenant, otherwise: "reading agents of others needs the role viewer, approver or admin" },
  CREATE_AGENTS: { isAllowed: mayCreate, otherwise: "creating and forking agents needs the role user or admin" },
  STEER_ALL_AGENTS: {
    isAllowed: isAdministrator,
    otherwise: "sending to and interrupting agents of others needs the role admin",
  },
  DECIDE: {
    isAllowed: (actor) => mayDecide(actor) || actor.delegators.length > 0,
    otherwise: "deciding needs the role approver or admin, or somebody with one of them who delegates to you",
  },
  STORE_ALLOW_RULES: {
    isAllowed: mayDecide,
    otherwise: "proposing, storing and revoking rules needs the role approver or admin",
  },
  DELEGATE: { isAllowed: mayDecide, otherwise: "only who decides in their own name, as approver or admin, can delegate it" },
  REPLACE_PERMISSION: {
    isAllowed: isAdministrator,
    otherwise: "a permission in the place of a template's needs the role admin: TIGHTEN adds to it",
  },
};

export function missingAbility(actor: Actor, action: Action): CommandRefusal | null {
  const { isAllowed, otherwise } = NEEDS[action];
  return isAllowed(actor) ? null : { code: "FORBIDDEN", field: null, message: otherwise };
}

export function abilitiesOf(actor: Actor): readonly Ability[] {
  return ACTIONS.map((action) => {
    const missing = missingAbility(actor, action);
    return { action, isAllowed: missing === null, reason: missing?.message ?? null };
  });
}

function isAdministrator({ roles }: Actor): boolean {
  return roles.includes("admin");
}
