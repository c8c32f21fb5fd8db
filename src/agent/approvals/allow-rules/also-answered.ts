import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../../db/connections/reader-limits.ts";
import type { Statement } from "../../../db/sql.ts";
import type { Actor } from "../../actors/actor.ts";
import { hostRuleAllows, isHostRule } from "../../policy/hosts/host-rule.ts";
import { ruleMatches } from "../../policy/rule.ts";
import { parseRule } from "../../policy/parse-rule.ts";
import { readApprovals, type FoundApproval, authorityOf } from "../approval.ts";
import type { ApprovalServices } from "../scope.ts";
import { readHostRule, whyStillClosed } from "./always-allow-host.ts";
import { callsOf, whyStillAsked } from "./always-allow.ts";

/** The most approvals that are checked, oldest first, and the most that are returned: as many as decideApprovals takes. */
const MOST_LOOKED_AT = 500;
const MOST_TOLD = 100;

const FIND_RULE: Statement<{ rule: string; templateId: string; approvalId: string }, [id: string, tenant: string]> = {
  name: "find_held_allow_rule",
  text: `SELECT r.rule, r.template_id AS "templateId", r.approval_id AS "approvalId" FROM allow_rule r
    WHERE r.id = $1 AND r.tenant = $2 AND r.agent_id IS NULL AND r.revoked_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > policy_time())`,
};
const FIND_PENDING: Statement<{ id: string }, [tenant: string, templateId: string, but: string]> = {
  name: "find_pending_of_template",
  text: `SELECT p.id FROM approval p JOIN agent a ON a.id = p.agent_id
    WHERE p.tenant = $1 AND p.state = 'PENDING' AND p.kind IN ('TOOL_CALL', 'NETWORK_HOST') AND a.template_id = $2 AND p.id <> $3
    ORDER BY p.requested_at, p.id LIMIT ${MOST_LOOKED_AT}`,
};

/** The calls that are compared in one piece: their inputs may be large, and other work runs in between. */
const PIECE = 20;

/**
 * The pending approvals that a rule stored for a template would answer, in order of their requests. Only those that the
 * actor may decide, without the rule's own approval.
 */
export async function alsoAnswered(services: ApprovalServices, actor: Actor, ruleId: string): Promise<readonly string[]> {
  const { reads } = services;
  const [stored] = await reads.query(FIND_RULE, [ruleId, actor.tenant]);
  if (stored === undefined) return [];
  const { rule: source, templateId, approvalId } = stored;
  const pending = (await reads.query(FIND_PENDING, [actor.tenant, templateId, approvalId])).map(({ id }) => id);
  const found = new Map((await readApprovals(reads, pending)).map((approval) => [approval.id, approval]));
  const own: FoundApproval[] = [];
  for (const id of pending) {
    const approval = found.get(id);
    if (approval === undefined) continue;
    const held = await services.heldTemplate(approval);
    if (authorityOf(actor, approval, "missing" in held ? undefined : held).ok) own.push(approval);
  }
  const answered: string[] = [];
  for (let at = 0; at < own.length && answered.length < MOST_TOLD; at += PIECE) {
    const piece = own.slice(at, at + PIECE);
    const isAnswered = isHostRule(source) ? answersHost(services, source) : await answersCall(services, source, piece);
    for (const approval of piece) if (await isAnswered(approval)) answered.push(approval.id);
    await setImmediate();
  }
  return answered.slice(0, MOST_TOLD);
}

function answersHost(services: ApprovalServices, source: string): (approval: FoundApproval) => Promise<boolean> {
  const rule = readHostRule(source);
  return async (approval) =>
    rule.ok &&
    approval.kind === "NETWORK_HOST" &&
    hostRuleAllows(rule.value, approval) &&
    (await whyStillClosed(services, approval, rule.value)) === null;
}

async function answersCall(
  services: ApprovalServices,
  source: string,
  approvals: readonly FoundApproval[],
): Promise<(approval: FoundApproval) => Promise<boolean>> {
  const rule = parseRule(source, "rule", services.tools);
  const ids = approvals.map(({ id }) => id);
  const calls = await readPiece(() => callsOf(services.reads, ids));
  return async ({ id, kind }) => {
    const call = calls.get(id);
    if (!rule.ok || kind !== "TOOL_CALL" || call === undefined || call.values === null) return false;
    const { values } = call;
    return (
      ruleMatches(rule.value, call.name, values, "covers") &&
      (await whyStillAsked(services, { ...call, values }, rule.value)) === null
    );
  };
}
