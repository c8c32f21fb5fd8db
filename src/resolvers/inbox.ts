import { snoozeApproval as snooze, wakeApproval as wake } from "../agent/approvals/snooze.ts";
import type { Approval, Prisma } from "../db/generated/client.ts";
import type { ApprovalKind, ApprovalState } from "../db/generated/enums.ts";
import { rowId } from "../lib/global-id.ts";
import { actorIds, type ActorNameOrId, namesIn } from "./actor.ts";
import { connection, type Connection, type Order, type PageArguments, within, type TimeRange } from "./connection.ts";
import { type Context, payloadOf, type Payload, visibleAgents } from "./context.ts";

export type ApprovalFilter = {
  readonly states?: readonly ApprovalState[] | null | undefined;
  readonly kinds?: readonly ApprovalKind[] | null | undefined;
  readonly risks?: readonly string[] | null | undefined;
  readonly agentIds?: readonly string[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
  readonly requestedBy?: readonly ActorNameOrId[] | null | undefined;
  readonly requested?: TimeRange | null | undefined;
  readonly decided?: TimeRange | null | undefined;
  readonly decidedBy?: readonly ActorNameOrId[] | null | undefined;
  readonly viewerSnoozed?: boolean | null | undefined;
};

export type ApprovalOrder = "OLDEST_FIRST" | "MOST_URGENT_FIRST" | "LAST_CLOSED_FIRST";

const REQUESTED_AT = { name: "requestedAt", direction: "asc", holds: "time", nulls: "never" } as const;
const ID = { name: "id", direction: "asc", holds: "text", nulls: "never" } as const;

const ORDERS: Readonly<Record<ApprovalOrder, Order<Approval>>> = {
  OLDEST_FIRST: { name: "approvals", columns: [REQUESTED_AT, ID] },
  MOST_URGENT_FIRST: {
    name: "urgentApprovals",
    columns: [
      { name: "riskRank", direction: "desc", holds: "integer", nulls: "never" },
      { name: "expiresAt", direction: "asc", holds: "time", nulls: "last" },
      REQUESTED_AT,
      ID,
    ],
  },
  LAST_CLOSED_FIRST: {
    name: "closedApprovals",
    columns: [
      { name: "closedAt", direction: "desc", holds: "time", nulls: "never" },
      { ...ID, direction: "desc" },
    ],
  },
};

type ApprovalSelection = Pick<Prisma.ApprovalFindUniqueArgs, "include" | "select">;

export async function approvals(
  context: Context,
  args: PageArguments & {
    readonly filter?: ApprovalFilter | null | undefined;
    readonly orderBy?: ApprovalOrder | null | undefined;
  },
  selection: ApprovalSelection,
): Promise<Connection<Approval>> {
  await context.snapshot();
  const { prisma } = context;
  const order = args.orderBy ?? "OLDEST_FIRST";
  const where = visibleApprovals(context, args.filter ?? {});
  return connection<Approval, Prisma.ApprovalWhereInput, Prisma.ApprovalOrderByWithRelationInput>(args, {
    order: ORDERS[order],
    where: order === "LAST_CLOSED_FIRST" ? { ...where, closedAt: { not: null } } : where,
    read: async (query) => prisma.approval.findMany({ ...selection, ...query }),
    count: async (query) => prisma.approval.count(query),
  });
}

function visibleApprovals(context: Context, filter: ApprovalFilter): Prisma.ApprovalWhereInput {
  const { actor, tenant } = context;
  const {
    states,
    kinds,
    risks,
    agentIds,
    templateIds,
    tools,
    createdBy,
    requestedBy,
    requested,
    decided,
    decidedBy,
    viewerSnoozed,
  } = filter;
  const decision = {
    ...(decidedBy ? { actorId: { in: actorIds(decidedBy) } } : {}),
    ...(decided ? { decidedAt: within(decided) } : {}),
  };
  const snoozes = presentSnoozes(context);
  return {
    tenant,
    agent: {
      AND: [visibleAgents(actor), ...(createdBy ? [{ createdBy: { in: actorIds(createdBy) } }] : [])],
      ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
    },
    ...(states ? { state: { in: [...states] } } : {}),
    ...(kinds ? { kind: { in: [...kinds] } } : {}),
    ...(risks ? { risk: { in: [...risks] } } : {}),
    ...(agentIds ? { agentId: { in: agentIds.map((id) => rowId("Agent", id)) } } : {}),
    ...(tools ? { toolCall: { name: { in: namesIn(tools) } } } : {}),
    ...(requestedBy ? { requesters: { hasSome: actorIds(requestedBy) } } : {}),
    ...(Object.keys(decision).length > 0 ? { decisions: { some: decision } } : {}),
    ...(typeof viewerSnoozed === "boolean" ? { snoozes: viewerSnoozed ? { some: snoozes } : { none: snoozes } } : {}),
    requestedAt: within(requested),
  };
}

/** The condition of the viewer's own snoozes whose time has not come. */
export function presentSnoozes({ actor, services }: Context): Prisma.ApprovalSnoozeWhereInput {
  return { actorId: actor.id, OR: [{ until: null }, { until: { gt: services.clock.now() } }] };
}

export async function snoozeApproval(context: Context, approvalId: string, until: Date | null): Promise<Payload> {
  return payloadOf(context, await snooze(context.services, context.actor, rowId("Approval", approvalId), until));
}

export async function wakeApproval(context: Context, approvalId: string): Promise<Payload> {
  return payloadOf(context, await wake(context.services, context.actor, rowId("Approval", approvalId)));
}
