import {
  delegateApprovals as delegate,
  revokeDelegation as revoke,
  type DelegateApprovals,
} from "../agent/approvals/delegate.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import type { Delegation, Prisma } from "../db/generated/client.ts";
import { actorNamed, type ActorNameOrId } from "./actor.ts";
import type { Context } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { connection, type Connection, type PageArguments } from "./connection.ts";
import type { Order } from "./keyset.ts";
import { payloadOf, type Payload } from "./payload.ts";

export type DelegationFilter = { readonly isActive?: boolean | null | undefined };

type DelegationSelection = Pick<Prisma.DelegationFindUniqueArgs, "select">;

const NEWEST_FIRST: Order<Delegation> = {
  name: "delegations",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};

/** The visible delegations, newest first: all for readers of the tenant, otherwise those from and to the actor. */
export async function delegations(
  context: Context,
  args: PageArguments & { readonly filter?: DelegationFilter | null | undefined },
  selection: DelegationSelection,
): Promise<Connection<Delegation>> {
  await context.snapshot();
  const { actor, prisma, services, tenant } = context;
  const at = services.clock.now();
  const active = { revokedAt: null, endsAt: { gt: at } };
  const isActive = args.filter?.isActive ?? null;
  return connection<Delegation, Prisma.DelegationWhereInput, Prisma.DelegationOrderByWithRelationInput>(args, {
    order: NEWEST_FIRST,
    where: {
      tenant,
      ...(readsTenant(actor) ? {} : { OR: [{ fromId: actor.id }, { toId: actor.id }] }),
      ...(isActive === null ? {} : isActive ? active : { NOT: active }),
    },
    read: async (query) => prisma.delegation.findMany({ ...selection, ...query }),
    count: async (query) => prisma.delegation.count(query),
  });
}

export async function delegationByRow(
  { prisma }: Context,
  id: string | null,
  selection: DelegationSelection,
): Promise<Delegation | null> {
  return id === null ? null : prisma.delegation.findUnique({ ...selection, where: { id } });
}

export type DelegateRequest = Omit<DelegateApprovals, "to"> & { readonly toActorId: ActorNameOrId };

export async function delegateApprovals(context: Context, { toActorId, ...request }: DelegateRequest): Promise<Payload> {
  return payloadOf(context, await delegate(context.services, context.actor, { ...request, to: actorNamed(toActorId) }));
}

export async function revokeDelegation(context: Context, delegationId: string): Promise<Payload> {
  return payloadOf(context, await revoke(context.services, context.actor, rowId("Delegation", delegationId)));
}
