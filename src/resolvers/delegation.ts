import {
  delegateApprovals as delegate,
  revokeDelegation as revoke,
  type DelegateApprovals,
} from "../agent/approvals/delegate.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import type { Delegation, Prisma } from "../db/generated/client.ts";
import type { Context } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage, type PageArguments } from "./page.ts";
import { payloadOf, unplaced, type Payload } from "./payload.ts";

/** The delegations that the actor may see, newest first: all of the tenant, or those from and to them. */
export async function delegations(
  context: Context,
  args: PageArguments & { readonly active?: boolean | null | undefined },
  selection: Prisma.DelegationFindManyArgs,
): Promise<Delegation[]> {
  checkPage(args);
  const { actor, prisma, services } = context;
  const at = services.clock.now();
  return prisma.delegation.findMany({
    ...selection,
    where: {
      tenant: actor.tenant,
      ...(readsTenant(actor) ? {} : { OR: [{ fromId: actor.id }, { toId: actor.id }] }),
      ...(args.active === true ? { revokedAt: null, startsAt: { lte: at }, endsAt: { gt: at } } : {}),
    },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

export async function delegationByRow(
  { prisma }: Context,
  id: string | null,
  selection: Pick<Prisma.DelegationFindUniqueArgs, "select">,
): Promise<Delegation | null> {
  return id === null ? null : prisma.delegation.findUnique({ ...selection, where: { id } });
}

export async function delegateApprovals(context: Context, request: DelegateApprovals): Promise<Payload> {
  return payloadOf(context, unplaced(await delegate(context.services, context.actor, request)));
}

export async function revokeDelegation(context: Context, delegationId: string): Promise<Payload> {
  return payloadOf(context, unplaced(await revoke(context.services, context.actor, rowId("Delegation", delegationId) ?? "")));
}
