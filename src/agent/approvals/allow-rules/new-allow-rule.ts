import type { OutsideChange } from "../../../db/commit/change.ts";
import type { Actor } from "../../actors/actor.ts";

type AllowRuleRow = NonNullable<OutsideChange["keepRule"]>;

type NewAllowRule = Pick<AllowRuleRow, "id" | "tenant" | "templateId" | "agentId" | "rule" | "approvalId" | "note" | "expiresAt">;

export function newAllowRule(rule: NewAllowRule, { id, kind }: Actor, at: Date): AllowRuleRow {
  const unused = { useCount: 0, lastUsedAt: null, revokedAt: null, revokedBy: null, revokedByKind: null };
  return { ...rule, ...unused, createdBy: id, createdByKind: kind, createdAt: at };
}
