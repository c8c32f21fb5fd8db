import { randomUUID } from "node:crypto";
import type { ActorKind } from "../../db/generated/enums.ts";
import type { Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { mayDecide, type Actor } from "../actors/actor.ts";
import type { ApprovalServices } from "./services.ts";
import { noteProblem, type CommandRefusal } from "../actors/refusal.ts";
import { DAY_MS } from "../../lib/clock.ts";

/** The request of delegateApprovals. */
export type DelegateApprovals = { readonly toActorId: string; readonly until: Date; readonly note: string | null };

/** The longest time for which somebody may decide in another's name, in days. */
const DAYS = 90;
const ID_CHARACTERS = 200;

const INSERT: Statement<
  object,
  [id: string, tenant: string, from: string, kind: ActorKind, to: string, note: string | null, at: Date, until: Date]
> = {
  name: "insert_delegation",
  text: `INSERT INTO delegation (id, tenant, from_id, from_kind, to_id, note, starts_at, ends_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $7)`,
};
const REVOKE: Statement<object, [id: string, tenant: string, by: string, at: Date, isAdmin: boolean]> = {
  name: "revoke_delegation",
  text: `UPDATE delegation SET revoked_at = coalesce(revoked_at, $4), revoked_by = coalesce(revoked_by, $3)
    WHERE id = $1 AND tenant = $2 AND (from_id = $3 OR $5) RETURNING id`,
};

/** Lets another actor decide in one's own name until a time. What they decide is recorded as theirs, on one's behalf. */
export async function delegateApprovals(
  services: ApprovalServices,
  actor: Actor,
  { toActorId, until, note }: DelegateApprovals,
): Promise<Result<string, CommandRefusal>> {
  const invalid = (field: string, message: string): Result<never, CommandRefusal> =>
    refused({ code: "INVALID", field: [field], message });
  if (!mayDecide(actor))
    return refused({
      code: "FORBIDDEN",
      field: null,
      message: "only who may decide in their own name can delegate: roles approver and admin",
    });
  const at = services.clock.now();
  if (toActorId.trim() !== toActorId || toActorId === "" || toActorId.length > ID_CHARACTERS || toActorId.includes("\0"))
    return invalid("toActorId", `name the actor who shall decide, by their id of at most ${ID_CHARACTERS} characters`);
  if (toActorId === actor.id) return invalid("toActorId", "you decide in your own name anyway");
  if (!(until.getTime() > at.getTime())) return invalid("until", "must lie in the future");
  if (until.getTime() > at.getTime() + DAYS * DAY_MS) return invalid("until", `must be at most ${DAYS} days from now`);
  const tooLong = noteProblem(note);
  if (tooLong !== null) return refused(tooLong);
  const id = randomUUID();
  await services.sql.query(INSERT, [
    id,
    actor.tenant,
    actor.id,
    actor.kind,
    toActorId,
    note === null ? null : storable(note),
    at,
    until,
  ]);
  return accepted(id);
}

/** Ends a delegation at once: one's own, or, for an administrator, anybody's. One that has ended stays ended. */
export async function revokeDelegation(
  services: ApprovalServices,
  actor: Actor,
  id: string,
): Promise<Result<string, CommandRefusal>> {
  const [row] = await services.sql.query(REVOKE, [
    id,
    actor.tenant,
    actor.id,
    services.clock.now(),
    actor.roles.includes("admin"),
  ]);
  if (row !== undefined) return accepted(id);
  return refused({
    code: "NOT_FOUND",
    field: ["delegationId"],
    message: "there is no such delegation of yours: list them with `delegations`",
  });
}
