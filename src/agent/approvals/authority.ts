import type { ActorRef } from "../../events/actor-ref.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { missingAbility } from "../actors/abilities.ts";
import { mayDecide, type Actor } from "../actors/actor.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { DecisionRow, FoundApproval } from "./approval.ts";

export type Authority = { readonly onBehalfOf: ActorRef | null };

/**
 * The name in which the actor may decide: their own, or that of a delegator. Requesters may not decide, nor delegate
 * the decision, unless the template allows it.
 */
export function authorityOf(
  actor: Actor,
  { requesters, decisions }: FoundApproval,
  template: { readonly selfApproval: boolean } | undefined,
): Result<Authority, CommandRefusal> {
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  const isDecider = mayDecide(actor);
  const mayBe = (id: string): boolean => template?.selfApproval === true || !requesters.some((requester) => requester.id === id);
  const hasDecided = (id: string): boolean => decisions.some(({ actorId, onBehalfOf }) => (onBehalfOf ?? actorId) === id);
  const allowed = actor.delegators.filter(({ id }) => mayBe(id));
  const delegator = allowed.find(({ id }) => !hasDecided(id)) ?? allowed[0];
  if (mayBe(actor.id) && (isDecider || delegator !== undefined))
    return accepted({ onBehalfOf: isDecider ? null : (delegator ?? null) });
  return refused({
    code: "SELF_APPROVAL",
    field: null,
    message:
      "you, or the actor who delegates to you, asked for this, and the template forbids self-approval: another approver must decide",
  });
}

export function earlierDecision(
  actor: Pick<Actor, "id">,
  { decisions }: Pick<FoundApproval, "decisions">,
  { onBehalfOf: delegator }: Authority,
): DecisionRow | undefined {
  const principal = delegator?.id ?? actor.id;
  return decisions.find(({ actorId, onBehalfOf }) => actorId === actor.id || (onBehalfOf ?? actorId) === principal);
}
