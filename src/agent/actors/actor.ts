import type { ActorKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/snapshots.ts";

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

export const ACTIONS = [
  "READ_TENANT",
  "CREATE_AGENTS",
  "STEER_ALL_AGENTS",
  "DECIDE",
  "STORE_ALLOW_RULES",
  "DELEGATE",
  "REPLACE_PERMISSION",
  "DELETE_AGENTS",
  "SET_BUDGETS",
  "READ_OPERATIONS",
  "EXPORT_TEXTS",
  "CREATE_ACCESS_TOKENS",
] as const;
export type Action = (typeof ACTIONS)[number];

/** `reason` says why it is not allowed. */
export type Ability = { readonly action: Action; readonly isAllowed: boolean; readonly reason: string | null };

/** The rights that an actor has by their roles and delegators. */
type RightOfRoles = Exclude<Action, "CREATE_ACCESS_TOKENS">;

const NEEDS: Readonly<Record<RightOfRoles, { readonly isAllowed: (actor: Actor) => boolean; readonly otherwise: string }>> = {
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
  DELETE_AGENTS: { isAllowed: isAdministrator, otherwise: "deleting agents needs the role admin: archive it instead" },
  SET_BUDGETS: { isAllowed: isAdministrator, otherwise: "setting and revoking budgets needs the role admin" },
  EXPORT_TEXTS: { isAllowed: isAdministrator, otherwise: "exporting texts needs the role admin: leave `withTexts` out" },
  READ_OPERATIONS: { isAllowed: isAdministrator, otherwise: "reading the operations of the servers needs the role admin" },
};

export function missingAbility(actor: Actor, action: RightOfRoles): CommandRefusal | null {
  const { isAllowed, otherwise } = NEEDS[action];
  return isAllowed(actor) ? null : { code: "FORBIDDEN", field: null, message: otherwise };
}

/** `whyNoToken`: why the actor makes no access token, which depends on their sign-in; null if they may. */
export function abilitiesOf(actor: Actor, whyNoToken: string | null): readonly Ability[] {
  return ACTIONS.map((action) => {
    const reason = action === "CREATE_ACCESS_TOKENS" ? whyNoToken : (missingAbility(actor, action)?.message ?? null);
    return { action, isAllowed: reason === null, reason };
  });
}

function isAdministrator({ roles }: Actor): boolean {
  return roles.includes("admin");
}

/** A delegation holds from its commit on. */
const FIND: Statement<ActorRef, [tenant: string, toId: string]> = {
  name: "find_delegators",
  text: `SELECT DISTINCT ON (from_id) from_id AS id, from_kind AS kind FROM delegation
    WHERE tenant = $1 AND to_id = $2 AND ends_at > policy_time() AND revoked_at IS NULL ORDER BY from_id`,
};

/**
 * The actor, with those in whose names they may decide at present; none if the actor may decide in their own name.
 * `mayStill` says whether a delegator may still decide: otherwise the delegation has no effect.
 */
export async function withDelegators(sql: Sql, identity: Identity, mayStill: (delegator: string) => boolean): Promise<Actor> {
  if (mayDecide(identity)) return { ...identity, delegators: [] };
  const rows = await sql.query(FIND, [identity.tenant, identity.id]);
  return { ...identity, delegators: rows.filter(({ id }) => mayStill(id)) };
}

/** The codes are part of the GraphQL contract (UserErrorCode). */
export const COMMAND_REFUSAL_CODES = [
  "NOT_FOUND",
  "FORBIDDEN",
  "INVALID",
  "TOO_LARGE",
  "QUEUE_FULL",
  "ARCHIVED",
  "ALREADY_JOINED",
  "ALREADY_ENDED",
  "CALL_ENDED",
  "NOT_WAITING",
  "CHILDREN_WORK",
  "NOT_ARCHIVED",
  "AT_WORK",
  "NOTHING_TO_RETRY",
  "COMPACTING",
  "IDEMPOTENCY_KEY_REUSED",
  "ALREADY_DECIDED",
  "HASH_MISMATCH",
  "SEALED",
  "STALE",
  "CONFLICT",
  "EXPIRED",
  "DENIED_BY_POLICY",
  "UNAVAILABLE",
  "SELF_APPROVAL",
] as const;
export type CommandRefusalCode = (typeof COMMAND_REFUSAL_CODES)[number];

/** The refused part of the input, and advice. */
export type CommandRefusal = {
  readonly code: CommandRefusalCode;
  readonly field: readonly string[] | null;
  readonly message: string;
  /** Further problems of the same input. None if omitted. */
  readonly others?: readonly CommandRefusal[];
};

/** All problems of a refusal, one by one. */
export function eachProblem(refusal: CommandRefusal): readonly CommandRefusal[] {
  return [refusal, ...(refusal.others ?? [])];
}

const NOTE_CHARACTERS = 4_000;

export function noteProblem(note: string | null): CommandRefusal | null {
  if (note === null || note.length <= NOTE_CHARACTERS) return null;
  return { code: "TOO_LARGE", field: ["note"], message: `a note has at most ${NOTE_CHARACTERS} characters` };
}

/**
 * The result of a command: the id of its row, and the position that it reached; null without an event. A repeated key
 * returns the position of its first use.
 */
export type Outcome = { readonly id: string; readonly position: number | null };
