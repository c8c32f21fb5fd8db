import type { BodyOf } from "../../events/event.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { DAY_MS } from "../../lib/time.ts";
import { actorRef, missingAbility, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { findApproval } from "./approval.ts";
import { closedProblem } from "./decision.ts";
import type { ApprovalServices } from "./scope.ts";

type SnoozeServices = Pick<ApprovalServices, "sql" | "log" | "clock">;

/** The longest time of a snooze, in days. */
const DAYS = 90;

/**
 * Puts a pending approval off for one person, until a time (null for none), and at most until it changes. The approval,
 * its expiry and the inboxes of others stay as they are. Only this person's readers hear of it.
 */
export async function snoozeApproval(
  services: SnoozeServices,
  actor: Actor,
  approvalId: string,
  until: Date | null,
): Promise<Result<Outcome, CommandRefusal>> {
  const { sql, log, clock } = services;
  const found = await findApproval(sql, actor, approvalId);
  if (!found.ok) return found;
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  const at = clock.now();
  const problem = closedProblem(found.value) ?? (until === null ? null : untilProblem(until, at));
  if (problem !== null) return refused(problem);
  const outcome = await log.commitTenant(
    actor.tenant,
    [{ at, body: snoozeChanged(actor, approvalId, { isSnoozed: true, until: until?.toISOString() ?? null }) }],
    { snooze: { approvalId, actorId: actor.id, tenant: actor.tenant, until, snoozedAt: at } },
  );
  // It was closed meanwhile.
  if (outcome.outcome !== "COMMITTED") return snoozeApproval(services, actor, approvalId, until);
  return accepted({ id: approvalId, position: outcome.position });
}

function snoozeChanged(
  actor: Actor,
  approvalId: string,
  { isSnoozed, until }: Pick<BodyOf<"SNOOZE_CHANGED">, "isSnoozed" | "until">,
): BodyOf<"SNOOZE_CHANGED"> {
  return { kind: "SNOOZE_CHANGED", approvalId, isSnoozed, until, changedBy: actorRef(actor) };
}

function untilProblem(until: Date, at: Date): CommandRefusal | null {
  const invalid = (message: string): CommandRefusal => ({ code: "INVALID", field: ["until"], message });
  if (until.getTime() <= at.getTime()) return invalid("must be in the future");
  return until.getTime() > at.getTime() + DAYS * DAY_MS ? invalid(`must be at most ${DAYS} days from now`) : null;
}

/** Ends the actor's own snooze of an approval. One without a snooze stays as it is. */
export async function wakeApproval(
  { sql, log, clock }: SnoozeServices,
  actor: Actor,
  approvalId: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findApproval(sql, actor, approvalId);
  if (!found.ok) return found;
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  const outcome = await log.commitTenant(
    actor.tenant,
    [{ at: clock.now(), body: snoozeChanged(actor, approvalId, { isSnoozed: false, until: null }) }],
    { wakeApproval: { approvalId, actorId: actor.id } },
  );
  return accepted({ id: approvalId, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}
