import { newAllowRule } from "../allow-rules/new-allow-rule.ts";
import { randomUUIDv7 } from "node:crypto";
import type { OutsideChange } from "../../../db/commit/change.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import type { CommandRefusal } from "../../actors/actor.ts";
import { agentPermissions } from "../../policy/agent-policy.ts";
import { judgeConnection } from "../../policy/judge.ts";
import { hostRuleFor } from "../../policy/hosts/host-rule.ts";
import type { FoundHost } from "../approval.ts";
import { decisionPart, stateAfter, storedNote, type DecisionCommit, type DecisionMade } from "../decided.ts";
import type { ApprovalServices } from "../scope.ts";
import { answerTold } from "./answered-host.ts";

export type HostDecided = DecisionMade & { readonly approval: FoundHost };

const FIND_KEPT: Statement<{ id: string }, [tenant: string, templateId: string, agentId: string, rule: string]> = {
  name: "find_kept_rule",
  text: "SELECT id FROM allow_rule WHERE tenant = $1 AND template_id = $2 AND agent_id = $3 AND rule = $4 AND revoked_at IS NULL",
};

/**
 * The commit of a decision on a host. The last required ALLOW is stored as a rule for the agent, until the rule is
 * revoked. Refuses an ALLOW that a rule of the agent denies.
 */
export async function decidedHost(
  services: ApprovalServices,
  made: HostDecided,
): Promise<Result<DecisionCommit, CommandRefusal>> {
  const denied = made.request.decision === "ALLOW" ? await denial(services, made.approval) : null;
  if (denied !== null)
    return refused({
      code: "DENIED_BY_POLICY",
      field: ["decision"],
      message: `the permission denies this, whoever allows it: ${denied}`,
    });
  const { state } = stateAfter(made);
  if (state === "PENDING") return accepted(decisionPart(made, null));
  const told = await answerTold(services.sql, made.approval.id, { state, note: storedNote(made.request) }, made.at);
  const { id, keepRule } = state === "ALLOWED" ? await ruleOf(services.sql, made) : NO_RULE;
  const { change, events } = decisionPart(made, null, stateAfter(made), id);
  return accepted({ change: { ...change, ...told, ...(keepRule === null ? {} : { keepRule }) }, events });
}

async function denial(services: ApprovalServices, approval: FoundHost): Promise<string | null> {
  const { permission, host, port } = approval;
  const template = await services.heldTemplate(approval);
  if ("missing" in template) return null;
  const permissions = agentPermissions(template, permission, services);
  const { verdict, reason } = judgeConnection({ ...permissions, listedHosts: [], storedHosts: [] }, host, port);
  return verdict === "deny" ? reason : null;
}

const NO_RULE = { id: null, keepRule: null } as const;

/** The rule that allows the host for the agent: an existing one, or a new one to store. */
async function ruleOf(
  sql: Sql,
  { approval, actor, request, at }: HostDecided,
): Promise<{ readonly id: string; readonly keepRule: NonNullable<OutsideChange["keepRule"]> | null }> {
  const { tenant, templateId, agentId } = approval;
  const rule = hostRuleFor(approval);
  const [kept] = await sql.query(FIND_KEPT, [tenant, templateId, agentId, rule]);
  if (kept !== undefined) return { id: kept.id, keepRule: null };
  const id = randomUUIDv7();
  const note = storedNote(request);
  const stored = { id, tenant, templateId, agentId, rule, approvalId: approval.id, note, expiresAt: null };
  return { id, keepRule: newAllowRule(stored, actor, at) };
}
