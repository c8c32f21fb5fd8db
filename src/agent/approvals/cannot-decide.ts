import type { Actor } from "../actors/actor.ts";
import type { FoundApproval } from "./approval.ts";
import { authorityOf, earlierDecision } from "./authority.ts";

export const CANNOT_DECIDE_REASONS = ["CLOSED", "EXPIRED", "NO_ROLE", "SELF_APPROVAL", "ALREADY_DECIDED"] as const;
export type CannotDecideReason = (typeof CANNOT_DECIDE_REASONS)[number];

/** Every reason for which `decideApproval` would refuse the actor at present; none if they may decide. */
export function cannotDecide(
  actor: Actor,
  approval: FoundApproval,
  template: { readonly selfApproval: boolean } | undefined,
): readonly CannotDecideReason[] {
  const reasons: CannotDecideReason[] = [];
  if (approval.state !== "PENDING") reasons.push("CLOSED");
  else if (approval.isOverdue) reasons.push("EXPIRED");
  const authority = authorityOf(actor, approval, template);
  if (!authority.ok) reasons.push(authority.refusal.code === "SELF_APPROVAL" ? "SELF_APPROVAL" : "NO_ROLE");
  else if (earlierDecision(actor, approval, authority.value) !== undefined) reasons.push("ALREADY_DECIDED");
  return reasons;
}
