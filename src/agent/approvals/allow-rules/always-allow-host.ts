import type { ApprovalState } from "../../../db/generated/enums.ts";
import type { Statement } from "../../../db/sql.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { refused, type Result } from "../../../lib/result.ts";
import type { CommandRefusal } from "../../actors/actor.ts";
import { agentPermissions } from "../../policy/agent-policy.ts";
import { judgeConnection } from "../../policy/judge.ts";
import {
  hostRuleAllows,
  hostRuleFor,
  isHostRule,
  parseHostRule,
  type HostRule,
  hostText,
  type Host,
} from "../../policy/hosts/host-rule.ts";
import type { FoundHost } from "../approval.ts";
import { PAST_CALLS, PAST_DAYS } from "./past-calls.ts";
import type { RuleProposal } from "./rule-examples.ts";
import type { ApprovalServices } from "../scope.ts";

const FIND_PAST: Statement<
  { host: string; port: number; state: ApprovalState },
  [tenant: string, templateId: string, since: Date, states: readonly ApprovalState[]]
> = {
  name: "find_past_hosts",
  text: `SELECT p.host, p.port, p.state FROM approval p JOIN agent a ON a.id = p.agent_id
    WHERE p.tenant = $1 AND p.state = ANY ($4::approval_state[]) AND p.requested_at > $3 AND p.host IS NOT NULL AND a.template_id = $2
    ORDER BY p.requested_at DESC LIMIT ${PAST_CALLS}`,
};

/** The states of questions with a known outcome. */
const ANSWERED: readonly ApprovalState[] = ["ALLOWED", "DENIED", "EXPIRED"];

const EXAMPLES = 3;

/** A rule that matches an approval's host, with its effect on the recent host questions of the template's agents. */
export async function proposeHostRule(services: ApprovalServices, approval: FoundHost, rule: HostRule): Promise<RuleProposal> {
  const { tenant, templateId } = approval;
  const since = new Date(services.clock.now().getTime() - PAST_DAYS * DAY_MS);
  const rows = await services.sql.query(FIND_PAST, [tenant, templateId, since, ANSWERED]);
  const allows = (host: Host): boolean => hostRuleAllows(rule, host);
  const matched = rows.filter(allows);
  const denied = matched.filter(({ state }) => state === "DENIED").length;
  const examples = (hosts: readonly Host[]): readonly string[] => [...new Set(hosts.map(hostText))].slice(0, EXAMPLES);
  return {
    rule: rule.source,
    past: {
      since,
      examined: rows.length,
      isPartial: rows.length === PAST_CALLS,
      matched: matched.length,
      asked: matched.length,
      denied,
      letThrough: matched.length,
      letThroughCalls: [],
    },
    matchingCalls: [],
    notMatchingCalls: [],
    matching: examples([approval, ...matched]),
    notMatching: examples(rows.filter((row) => !allows(row))),
    takesInAll: rule.hosts.kind === "every" && typeof rule.port !== "number",
  };
}

/**
 * The rule to store for an approval's host: the given one, otherwise the narrowest. It must match the host and let the
 * agent reach it.
 */
export async function hostRuleToStore(
  services: ApprovalServices,
  approval: FoundHost,
  given: string | null,
): Promise<Result<HostRule, CommandRefusal>> {
  const invalid = (message: string): Result<never, CommandRefusal> => refused({ code: "INVALID", field: ["rule"], message });
  const source = given ?? hostRuleFor(approval);
  if (!isHostRule(source)) return invalid(`the rule must name hosts, for example ${hostRuleFor(approval)}`);
  const rule = readHostRule(source);
  if (!rule.ok) return invalid(rule.refusal);
  if (!hostRuleAllows(rule.value, approval))
    return invalid(`the rule does not match ${hostText(approval)}, the host of this approval`);
  const closed = await whyStillClosed(services, approval, rule.value);
  return closed === null ? rule : invalid(`with this rule the agent still could not reach the host: ${closed}`);
}

export async function whyStillClosed(services: ApprovalServices, approval: FoundHost, rule: HostRule): Promise<string | null> {
  const template = await services.heldTemplate(approval);
  if ("missing" in template) return null;
  const { permission, host, port } = approval;
  const storedHosts = permission?.scope === "REPLACE" ? [] : [{ ...rule, id: "proposal", createdBy: "a person" }];
  const permissions = agentPermissions(template, permission, services);
  const { verdict, reason } = judgeConnection({ ...permissions, listedHosts: [], storedHosts }, host, port);
  if (verdict === "allow") return null;
  return verdict === "deny"
    ? reason
    : "the agent's own permission replaces that of its template, so stored rules of the template do not apply";
}

export function readHostRule(source: string): Result<HostRule, string> {
  const rule = parseHostRule(source, "rule");
  if (rule.ok) return rule;
  return refused(`at character ${rule.refusal.character} of ${JSON.stringify(source)}: ${rule.refusal.message}`);
}
