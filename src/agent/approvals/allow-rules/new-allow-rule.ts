import type { OutsideChange } from "../../../db/commit/change.ts";
import type { Actor } from "../../actors/actor.ts";

type AllowRuleRow = NonNullable<OutsideChange["keepRule"]>;

type NewAllowRule = Pick<AllowRuleRow, "id" | "tenant" | "templateId" | "agentId" | "rule" | "approvalId" | "note">;

export function newAllowRule(rule: NewAllowRule, { id, kind }: Actor, at: Date): AllowRuleRow {
  return { ...rule, createdBy: id, createdByKind: kind, createdAt: at, revokedAt: null, revokedBy: null, revokedByKind: null };
}
