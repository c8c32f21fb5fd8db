import { readsTenant } from "../agent/actors/actor.ts";
import {
  allowAlways as allow,
  proposeRuleTo,
  revokeAllowRule as revoke,
  type AllowAlways,
  type RuleProposal,
} from "../agent/approvals/always-allow.ts";
import type { AllowRule, Prisma } from "../db/generated/client.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage, type PageArguments } from "./page.ts";
import { payloadOf, unplaced, type Payload } from "./payload.ts";

/** The rules that people have stored, newest first: for those who read the tenant. */
export async function allowRules(
  context: Context,
  args: PageArguments & { readonly active?: boolean | null | undefined; readonly templateId?: string | null | undefined },
  selection: Prisma.AllowRuleFindManyArgs,
): Promise<AllowRule[]> {
  checkPage(args);
  const { actor, prisma } = context;
  if (!readsTenant(actor)) return [];
  const { templateId } = args;
  return prisma.allowRule.findMany({
    ...selection,
    where: {
      tenant: actor.tenant,
      ...(args.active === true ? { revokedAt: null } : {}),
      ...(typeof templateId === "string" ? { templateId: templateId.replaceAll("\0", "") } : {}),
    },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

export async function allowRuleByRow(
  { prisma }: Context,
  id: string | null,
  selection: Pick<Prisma.AllowRuleFindUniqueArgs, "select">,
): Promise<AllowRule | null> {
  return id === null ? null : prisma.allowRule.findUnique({ ...selection, where: { id } });
}

/** The rule by which calls like an approval's would run without asking, for who may decide on it. */
export async function allowRuleProposal({ services, actor }: Context, approvalId: string): Promise<RuleProposal | null> {
  const proposed = await proposeRuleTo(services, actor, rowId("Approval", approvalId) ?? "");
  if (proposed.ok) return proposed.value;
  throw clientError(proposed.refusal.code === "FORBIDDEN" ? "FORBIDDEN" : "NOT_FOUND", proposed.refusal.message);
}

export async function allowAlways(context: Context, request: AllowAlways): Promise<Payload> {
  const approvalId = rowId("Approval", request.approvalId) ?? "";
  return payloadOf(context, unplaced(await allow(context.services, context.actor, { ...request, approvalId })));
}

export async function revokeAllowRule(context: Context, allowRuleId: string): Promise<Payload> {
  return payloadOf(context, unplaced(await revoke(context.services, context.actor, rowId("AllowRule", allowRuleId) ?? "")));
}
