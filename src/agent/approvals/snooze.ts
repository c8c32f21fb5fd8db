import type { Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { DAY_MS } from "../../lib/time.ts";
import { missingAbility, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { findApproval } from "./approval.ts";
import { closedProblem } from "./decision.ts";
import type { ApprovalServices } from "./scope.ts";

type SnoozeServices = Pick<ApprovalServices, "sql" | "clock">;

/** The longest time of a snooze, in days. */
const DAYS = 90;

/** Only for an approval that is still open: its end removes all snoozes. */
const SNOOZE: Statement<{ id: string }, [approvalId: string, actorId: string, tenant: string, until: Date | null, at: Date]> = {
  name: "snooze_approval",
  text: `INSERT INTO approval_snooze AS s (approval_id, actor_id, tenant, until, snoozed_at)
    SELECT p.id, $2, p.tenant, $4, $5 FROM approval p WHERE p.id = $1 AND p.tenant = $3 AND p.state = 'PENDING' FOR SHARE
    ON CONFLICT (approval_id, actor_id) DO UPDATE SET (until, snoozed_at) = (excluded.until, excluded.snoozed_at) RETURNING s.approval_id AS id`,
};
const WAKE: Statement<object, [approvalId: string, actorId: string, tenant: string]> = {
  name: "wake_approval",
  text: "DELETE FROM approval_snooze WHERE approval_id = $1 AND actor_id = $2 AND tenant = $3",
};

/**
 * Puts a pending approval off for one person, until a time (null for none), and at most until it changes. The approval,
 * its expiry and the inboxes of others stay as they are.
 */
export async function snoozeApproval(
  { sql, clock }: SnoozeServices,
  actor: Actor,
  approvalId: string,
  until: Date | null,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findApproval(sql, actor, approvalId);
  if (!found.ok) return found;
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  const at = clock.now();
  const problem = closedProblem(found.value) ?? (until === null ? null : untilProblem(until, at));
  if (problem !== null) return refused(problem);
  const [snoozed] = await sql.query(SNOOZE, [approvalId, actor.id, actor.tenant, until, at]);
  return snoozed === undefined
    ? snoozeApproval({ sql, clock }, actor, approvalId, until)
    : accepted({ id: approvalId, position: null });
}

function untilProblem(until: Date, at: Date): CommandRefusal | null {
  const invalid = (message: string): CommandRefusal => ({ code: "INVALID", field: ["until"], message });
  if (until.getTime() <= at.getTime()) return invalid("must be in the future");
  return until.getTime() > at.getTime() + DAYS * DAY_MS ? invalid(`must be at most ${DAYS} days from now`) : null;
}

/** Ends the actor's own snooze of an approval. One without a snooze stays as it is. */
export async function wakeApproval(
  { sql }: Pick<SnoozeServices, "sql">,
  actor: Actor,
  approvalId: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findApproval(sql, actor, approvalId);
  if (!found.ok) return found;
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  await sql.query(WAKE, [approvalId, actor.id, actor.tenant]);
  return accepted({ id: approvalId, position: null });
}
