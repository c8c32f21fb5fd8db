import type { OutsideChange } from "../../../db/commit/change.ts";
import type { Actor } from "../../actors/actor.ts";

/** The row of an allow rule. */
type AllowRuleRow = NonNullable<OutsideChange["keepRule"]>;

/** The parts of an allow rule that differ from one to the next. */
type NewAllowRule = Pick<AllowRuleRow, "id" | "tenant" | "templateId" | "agentId" | "rule" | "approvalId" | "note">;

/** The row of an allow rule that an actor stores now. */
export function newAllowRule(rule: NewAllowRule, { id, kind }: Actor, at: Date): AllowRuleRow {
  return { ...rule, createdBy: id, createdByKind: kind, createdAt: at, revokedAt: null, revokedBy: null, revokedByKind: null };
}
