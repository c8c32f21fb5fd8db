import type { Sql, Statement } from "../../../db/sql.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { missingAbility, mayDecide, type Actor, type Outcome, noteProblem, type CommandRefusal } from "../../actors/actor.ts";
import { definitionChange } from "../../mcp/pins.ts";
import { agentPolicy } from "../../policy/agent-policy.ts";
import type { OwnPermission, VersionOfAgent } from "../../policy/own-permission.ts";
import type { Verdict } from "../../policy/permission.ts";
import { RULE_CHARACTERS } from "../../policy/permission-source.ts";
import { judge } from "../../policy/judge.ts";
import { type NoRule, fileRules, narrowestRule } from "./narrowest-rule.ts";
import { effectOn, matchedBy, type MatchedCall, pastCalls, type RecordedCalls } from "./past-calls.ts";
import { ruleExamples, type RuleProposal } from "./rule-examples.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";
import { parseRule } from "../../policy/parse-rule.ts";
import { isReading, wholeValues, type RuleValues } from "../../policy/rule-values.ts";
import type { ApprovalServices } from "../scope.ts";
import { findApproval, type FoundApproval, authorityOf } from "../approval.ts";
import { hostRuleToStore, proposeHostRule } from "./always-allow-host.ts";
import { endOf, type RuleEnd, storeAllowRule } from "./stored-rule.ts";

/** The request of allowAlways. A null `rule` takes the proposed one. */
export type AllowAlways = {
  readonly approvalId: string;
  readonly rule: string | null;
  readonly note: string | null;
  readonly end: RuleEnd;
};

const FIND_CALLS: Statement<CallValues & { readonly approvalId: string }, [approvalIds: readonly string[]]> = {
  name: "find_call_values",
  text: `SELECT p.id AS "approvalId", t.name, t.rule_values AS values, coalesce(t.effective_input, t.requested_input) AS input, t.hook_verdict AS "hookVerdict", a.id AS "agentId", a.tenant, a.template_id AS "templateId", a.template_version AS "templateVersion", a.permission FROM approval p
    JOIN tool_call t ON t.id = p.tool_call_id JOIN agent a ON a.id = t.agent_id WHERE p.id = ANY ($1)`,
};
type CallValues = {
  readonly name: string;
  readonly input: JsonObject;
  readonly values: RuleValues | null;
  readonly hookVerdict: Verdict | null;
  readonly agentId: string;
  readonly tenant: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly permission: OwnPermission | null;
};

type JudgedValues = CallValues & { readonly values: RuleValues };

/**
 * The narrowest rule that matches an approval's call or host, or the given rule, with its effect on past calls. INVALID
 * if no rule is useful.
 */
export async function proposeRuleTo(
  services: ApprovalServices,
  actor: Actor,
  approvalId: string,
  given: string | null,
): Promise<Result<RuleProposal, CommandRefusal>> {
  const found = await findApproval(services.sql, actor, approvalId);
  if (!found.ok) return found;
  const missing = missingAbility(actor, "STORE_ALLOW_RULES");
  if (missing !== null) return refused(missing);
  const tooLong = ruleProblem(given);
  if (tooLong !== null) return refused(tooLong);
  if (found.value.kind === "NETWORK_HOST") {
    const rule = await hostRuleToStore(services, found.value, given);
    return rule.ok ? accepted(await proposeHostRule(services, found.value, rule.value)) : rule;
  }
  const call = found.value.kind === "TOOL_INPUT" ? null : await callOf(services.sql, approvalId);
  if (given === null) return proposeRule(services, call);
  const checked = await checkRule(services, call, given);
  if (!checked.ok) return checked;
  const { rule, call: judged } = checked.value;
  return accepted(await proposal(services, rule, judged, await pastCalls(services, judged)));
}

async function proposeRule(services: ApprovalServices, call: CallValues | null): Promise<Result<RuleProposal, CommandRefusal>> {
  const tool = services.tools.get(call?.name ?? "");
  if (call === null || tool === undefined || call.values === null)
    return noRule({ reason: "the approval is not about a call of a configured tool", byHand: false });
  const judged = { ...call, values: call.values };
  const past = await pastCalls(services, judged);
  const source = narrowestRule(
    tool,
    judged.values,
    call.input,
    past.calls.map(({ values }) => values),
  );
  if (!source.ok) return noRule(source.refusal);
  if (ruleProblem(source.value) !== null)
    return noRule({ reason: `the rule would have more than ${RULE_CHARACTERS} characters`, byHand: true });
  const rule = parseRule(source.value, "proposal", services.tools);
  if (!rule.ok || !ruleMatches(rule.value, call.name, judged.values, "covers"))
    return noRule({ reason: "the values of the call cannot be written as a pattern", byHand: true });
  const stillAsked = await whyStillAsked(services, judged, rule.value);
  return stillAsked === null
    ? accepted(await proposal(services, rule.value, judged, past))
    : noRule({ reason: `the call would still need approval: ${stillAsked.reason}`, byHand: false }, stillAsked.remedy);
}

/** Why a call is asked about or denied, and the rules in its template's `allow` that would let it run; null if there are none. */
type StillAsked = { readonly reason: string; readonly remedy: string | null };

/** Why a call would be asked about, or denied, although a rule matches it; null if it would run. */
export async function whyStillAsked(services: ApprovalServices, judged: JudgedValues, rule: Rule): Promise<StillAsked | null> {
  const { agentId, name, values, hookVerdict, permission } = judged;
  const template = await services.heldTemplate(judged);
  if ("missing" in template) return null;
  if (hookVerdict === "ask") return { reason: "a hook requires approval, whatever the rules say", remedy: null };
  const tool = services.tools.get(name);
  const changed = tool === undefined ? null : await definitionChange(services, tool, judged.tenant);
  if (changed !== null) return { reason: changed, remedy: null };
  const stored = { ...rule, id: "proposal", createdBy: "a person" };
  const call = { agentId, name, readOnly: tool !== undefined && isReading(tool, values), values };
  const { verdict, reason } = judge(call, agentPolicy(template, permission, [stored], services));
  if (verdict === "allow") return null;
  // Rules that are added now do not help an agent that keeps an earlier version.
  if (template.presentPermission !== null) return { reason, remedy: null };
  const files = fileRules(values, services.tools);
  const allow = [...template.permission.allow, ...files];
  const opened = { ...template, permission: { ...template.permission, allow } };
  const runs = files.length > 0 && judge(call, agentPolicy(opened, permission, [stored], services)).verdict === "allow";
  return { reason, remedy: runs ? files.map(({ source }) => source).join(" and ") : null };
}

/** Accepts a person's rule if it names only the call's tool, matches the call, and would let it run. */
async function checkRule(
  services: ApprovalServices,
  call: CallValues | null,
  source: string,
): Promise<Result<{ readonly rule: Rule; readonly call: JudgedValues }, CommandRefusal>> {
  const invalid = (message: string): Result<never, CommandRefusal> => refused({ code: "INVALID", field: ["rule"], message });
  if (call === null || call.values === null) return invalid("the approval has no call that was checked against the permission");
  const rule = parseRule(source, "rule", services.tools);
  if (!rule.ok) return invalid(`at character ${rule.refusal.character} of ${JSON.stringify(source)}: ${rule.refusal.message}`);
  if (source !== call.name && !source.startsWith(`${call.name}(`))
    return invalid(`the rule must name the tool ${call.name} only`);
  if (!ruleMatches(rule.value, call.name, call.values, "covers"))
    return invalid("the rule does not match the call of this approval");
  const judged = { ...call, values: call.values };
  const stillAsked = await whyStillAsked(services, judged, rule.value);
  if (stillAsked !== null)
    return invalid(`the call of this approval would still need approval: ${stillAsked.reason}${remedied(stillAsked.remedy)}`);
  return accepted({ rule: rule.value, call: judged });
}

function remedied(remedy: string | null): string {
  return remedy === null ? "" : `. Add ${remedy} to \`allow\` of the template first`;
}

function noRule({ reason, byHand }: NoRule, remedy: string | null = null): Result<never, CommandRefusal> {
  const advice = byHand
    ? "Write a rule yourself, or decide each call"
    : remedy === null
      ? "Decide each call"
      : "Or decide each call";
  const message = `there is no narrow rule for this call: ${reason}${remedied(remedy)}. ${advice}`;
  return refused({ code: "INVALID", field: ["rule"], message });
}

/**
 * Stores a rule that lets calls of the template run without a question, with its author. It matches the approval's call
 * and names only its tool, or it matches the approval's host. Deny rules still hold.
 */
export async function allowAlways(
  services: ApprovalServices,
  actor: Actor,
  request: AllowAlways,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findApproval(services.sql, actor, request.approvalId);
  if (!found.ok) return found;
  const held = await services.heldTemplate(found.value);
  const template = "missing" in held ? undefined : held;
  const authority = authorityOf(actor, found.value, template);
  if (!authority.ok) return authority;
  if (!mayDecide(actor))
    return refused({ code: "FORBIDDEN", field: null, message: "delegates may decide single calls, but not store rules" });
  if (Math.max(found.value.quorum, template?.approvalQuorum ?? 1) > 1 && !actor.roles.includes("admin"))
    return refused({
      code: "FORBIDDEN",
      field: null,
      message: "several people must allow this: only an administrator may store a rule for it",
    });
  const tooLong = noteProblem(request.note) ?? ruleProblem(request.rule);
  if (tooLong !== null) return refused(tooLong);
  const at = services.clock.now();
  const expiresAt = endOf(request.end, at);
  if (!expiresAt.ok) return expiresAt;
  const rule = await ruleToStore(services, found.value, request);
  if (!rule.ok) return rule;
  const { tenant, templateId } = found.value;
  const { approvalId, note } = request;
  return storeAllowRule(
    services,
    actor,
    { tenant, templateId, approvalId, note, rule: rule.value, expiresAt: expiresAt.value },
    at,
  );
}

async function ruleToStore(
  services: ApprovalServices,
  approval: FoundApproval,
  request: AllowAlways,
): Promise<Result<string, CommandRefusal>> {
  if (approval.kind === "NETWORK_HOST") {
    const rule = await hostRuleToStore(services, approval, request.rule);
    return rule.ok ? accepted(rule.value.source) : rule;
  }
  const call = approval.kind === "TOOL_INPUT" ? null : await callOf(services.sql, request.approvalId);
  const proposed = request.rule === null ? await proposeRule(services, call) : accepted({ rule: request.rule });
  if (!proposed.ok) return proposed;
  const checked = await checkRule(services, call, proposed.value.rule);
  return checked.ok ? accepted(proposed.value.rule) : checked;
}

function ruleProblem(rule: string | null): CommandRefusal | null {
  if (rule === null || rule.length <= RULE_CHARACTERS) return null;
  return { code: "TOO_LARGE", field: ["rule"], message: `a rule has at most ${RULE_CHARACTERS} characters` };
}

/** The record of an approval's call as the gate saw it, with complete texts. */
export async function callOf(sql: Sql, approvalId: string): Promise<CallValues | null> {
  return (await callsOf(sql, [approvalId])).get(approvalId) ?? null;
}

export async function callsOf(sql: Sql, approvalIds: readonly string[]): Promise<ReadonlyMap<string, CallValues>> {
  const calls = await sql.query(FIND_CALLS, [approvalIds]);
  return new Map(
    calls.map(({ approvalId, ...call }) => [
      approvalId,
      call.values === null ? call : { ...call, values: wholeValues(call.values, call.input) },
    ]),
  );
}

async function proposal(
  services: ApprovalServices,
  rule: Rule,
  judged: JudgedValues,
  past: RecordedCalls,
): Promise<RuleProposal> {
  const { name, values } = judged;
  const calls = await matchedBy(rule, name, past.calls);
  return {
    rule: rule.source,
    past: await effectOn(services, rule, judged, { ...past, calls }),
    ...ruleExamples(rule, name, values, calls),
    matchingCalls: idsOf(calls, true),
    notMatchingCalls: idsOf(calls, false),
  };
}

const RECORDED = 5;

function idsOf(calls: readonly MatchedCall[], isMatch: boolean): readonly string[] {
  return calls.flatMap((call) => (call.isMatch === isMatch ? [call.id] : [])).slice(0, RECORDED);
}
