import { readsTenant } from "../agent/actors/actor.ts";
import { allowAlways as allow, proposeRuleTo, type AllowAlways } from "../agent/approvals/allow-rules/always-allow.ts";
import { revokeAllowRule as revoke } from "../agent/approvals/allow-rules/stored-rule.ts";
import { alsoAnswered } from "../agent/approvals/allow-rules/also-answered.ts";
import type { ExaminedRule } from "../agent/calls/audit/rule-matches.ts";
import { isHostRule } from "../agent/policy/hosts/host-rule.ts";
import { parseRule } from "../agent/policy/parse-rule.ts";
import type { RuleProposal } from "../agent/approvals/allow-rules/rule-examples.ts";
import type { AllowRule, Approval, Prisma } from "../db/generated/client.ts";
import { type Context, type UserError, payloadOf, type Payload } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { connection, type Connection, type PageArguments, type Order } from "./connection.ts";
import { namesIn } from "./actor.ts";
import { MOST_GROUPS, readRange, type GroupRange } from "./groups/buckets.ts";

export type AllowRuleFilter = {
  readonly isActive?: boolean | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
};

type AllowRuleSelection = Pick<Prisma.AllowRuleFindUniqueArgs, "select">;

const NEWEST_FIRST: Order<AllowRule> = {
  name: "allowRules",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};

/** The stored rules, newest first; empty for actors who do not read the tenant. */
export async function allowRules(
  context: Context,
  args: PageArguments & { readonly filter?: AllowRuleFilter | null | undefined },
  selection: AllowRuleSelection,
): Promise<Connection<AllowRule>> {
  await context.snapshot();
  const { actor, prisma, services, tenant } = context;
  const { isActive, templateIds } = args.filter ?? {};
  const active = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: services.clock.now() } }] };
  return connection<AllowRule, Prisma.AllowRuleWhereInput, Prisma.AllowRuleOrderByWithRelationInput>(args, {
    order: NEWEST_FIRST,
    where: {
      tenant,
      ...(readsTenant(actor) ? {} : { id: { in: [] } }),
      ...(typeof isActive === "boolean" ? (isActive ? active : { NOT: active }) : {}),
      ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
    },
    read: async (query) => prisma.allowRule.findMany({ ...selection, ...query }),
    count: async (query) => prisma.allowRule.count(query),
  });
}

/** The recorded calls that a stored rule matches; null for a rule of hosts, and one of a tool that is not configured. */
export async function matchesOfAllowRule(
  { actor, services, loaders }: Context,
  { id, rule, templateId }: Pick<AllowRule, "id" | "rule" | "templateId">,
  range: Pick<GroupRange, "from" | "to">,
): Promise<ExaminedRule | null> {
  // A call names the rule that allowed it, also to actors who do not see the calls of others.
  if (isHostRule(rule) || !readsTenant(actor)) return null;
  const parsed = parseRule(rule, `allowRules.${id}`, services.tools);
  const { from, to } = readRange(range, MOST_GROUPS, services.clock.now());
  return parsed.ok ? loaders.ruleMatches.load({ rule: parsed.value, templateId, from, to }) : null;
}

export async function allowRuleByRow(
  { prisma }: Context,
  id: string | null,
  selection: AllowRuleSelection,
): Promise<AllowRule | null> {
  return id === null ? null : prisma.allowRule.findUnique({ ...selection, where: { id } });
}

/** One of the two is empty. */
export type RuleProposalResult = { readonly proposal: RuleProposal | null; readonly problems: readonly UserError[] };

/** The rule that would let an approval's and similar calls run without a question, or why there is none for this actor. */
export async function allowRuleProposal(
  { services, actor }: Context,
  approvalId: string,
  rule: string | null,
): Promise<RuleProposalResult> {
  const proposed = await proposeRuleTo(services, actor, rowId("Approval", approvalId), rule);
  return proposed.ok ? { proposal: proposed.value, problems: [] } : { proposal: null, problems: [proposed.refusal] };
}

export async function allowAlways(context: Context, request: AllowAlways): Promise<Payload> {
  const approvalId = rowId("Approval", request.approvalId);
  return payloadOf(context, await allow(context.services, context.actor, { ...request, approvalId }));
}

export async function alsoAnsweredBy(
  { services, actor, prisma }: Context,
  rowId: string | null,
  selection: Pick<Prisma.ApprovalFindManyArgs, "include" | "select">,
): Promise<Approval[]> {
  if (rowId === null) return [];
  const ids = await alsoAnswered(services, actor, rowId);
  return prisma.approval.findMany({
    ...selection,
    where: { id: { in: [...ids] } },
    orderBy: [{ requestedAt: "asc" }, { id: "asc" }],
  });
}

export async function revokeAllowRule(context: Context, allowRuleId: string): Promise<Payload> {
  return payloadOf(context, await revoke(context.services, context.actor, rowId("AllowRule", allowRuleId)));
}
