import { createAgent as create, type CreateAgent } from "../agent/commands/create-agent.ts";
import { forkAgent as fork } from "../agent/commands/fork-agent.ts";
import { archiveAgent as archive, renameAgent as rename } from "../agent/commands/rename-agent.ts";
import { interruptAgent as interrupt, retryTurn as retry } from "../agent/commands/turn.ts";
import type { Agent, Prisma } from "../db/generated/client.ts";
import type { AgentState } from "../db/generated/enums.ts";
import { formatCursor } from "../events/cursor.ts";
import { rowId } from "../lib/global-id.ts";
import { storable } from "../lib/text.ts";
import { actorIds, type ActorNameOrId } from "./actor.ts";
import { connection, type Connection, type PageArguments } from "./connection.ts";
import type { Context } from "./context.ts";
import type { Order } from "./keyset.ts";
import { namesIn } from "./names.ts";
import { payloadOf, type Payload } from "./payload.ts";
import { visibleAgents } from "./visibility.ts";

export type AgentSelection = Pick<Prisma.AgentFindUniqueArgs, "include" | "select">;

export async function agent(context: Context, id: string, selection: AgentSelection): Promise<Agent | null> {
  return agentByRow(context, rowId("Agent", id), selection);
}

export async function agentByRow(context: Context, id: string | null, selection: AgentSelection): Promise<Agent | null> {
  if (id === null) return null;
  await context.snapshot();
  const { actor, prisma } = context;
  return prisma.agent.findUnique({ ...selection, where: { id, AND: visibleAgents(actor) } });
}

/** Null for an event of the tenant, or an invisible agent. */
export async function agentOfEvent(context: Context, id: string | null, selection: AgentSelection): Promise<Agent | null> {
  if (id === null) return null;
  await context.snapshot();
  return context.prisma.agent.findUnique({ ...selection, where: { id } });
}

export type AgentFilter = {
  readonly states?: readonly AgentState[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
  readonly isArchived?: boolean | null | undefined;
  readonly idleSince?: Date | null | undefined;
  readonly title?: string | null | undefined;
};

export type AgentOrder = {
  readonly field: "CREATED_AT" | "LAST_ACTIVITY_AT";
  readonly direction: "ASC" | "DESC";
};

/** The visible agents, by default newest first. */
export async function agents(
  context: Context,
  args: PageArguments & { readonly filter?: AgentFilter | null | undefined; readonly orderBy?: AgentOrder | null | undefined },
  selection: AgentSelection,
): Promise<Connection<Agent>> {
  await context.snapshot();
  const { prisma } = context;
  return connection<Agent, Prisma.AgentWhereInput, Prisma.AgentOrderByWithRelationInput>(args, {
    order: orderOf(args.orderBy ?? { field: "CREATED_AT", direction: "DESC" }),
    where: { AND: [visibleAgents(context.actor), filtered(args.filter ?? {})] },
    read: async (query) => prisma.agent.findMany({ ...selection, ...query }),
    count: async (query) => prisma.agent.count(query),
  });
}

function orderOf({ field, direction }: AgentOrder): Order<Agent> {
  const common = { direction: direction === "ASC" ? "asc" : "desc", nulls: "never" } as const;
  const name = field === "CREATED_AT" ? "createdAt" : "lastActivityAt";
  return {
    name: `agents ${field} ${direction}`,
    columns: [
      { ...common, name, holds: "time" },
      { ...common, name: "id", holds: "text" },
    ],
  };
}

function filtered({ states, templateIds, createdBy, isArchived, idleSince, title }: AgentFilter): Prisma.AgentWhereInput {
  return {
    ...(states ? { state: { in: [...states] } } : {}),
    ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
    ...(createdBy ? { createdBy: { in: actorIds(createdBy) } } : {}),
    ...(isArchived === true ? { archivedAt: { not: null } } : isArchived === null ? {} : { archivedAt: null }),
    ...(idleSince ? { lastActivityAt: { lte: idleSince } } : {}),
    ...(typeof title === "string" ? { title: { contains: literally(storable(title)), mode: "insensitive" } } : {}),
  };
}

function literally(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

export async function snapshotCursor({ snapshot }: Context): Promise<string> {
  const head = await snapshot();
  return formatCursor(head, head.position);
}

export async function createAgent(context: Context, request: CreateAgent): Promise<Payload> {
  return payloadOf(context, await create(context.services, context.actor, request));
}

export type ForkRequest = { readonly agentId: string; readonly messageId: string | null; readonly idempotencyKey: string | null };

export async function forkAgent(context: Context, request: ForkRequest): Promise<Payload> {
  const { agentId, messageId, idempotencyKey } = request;
  const result = await fork(context.services, context.actor, {
    agentId: rowId("Agent", agentId),
    messageId: messageId === null ? null : rowId("Message", messageId),
    idempotencyKey,
  });
  return payloadOf(context, result);
}

/** Ends an agent's turn, and tells the model the note. Of an idle agent only the background shells end. */
export async function interruptAgent(context: Context, agentId: string, note: string | null): Promise<Payload> {
  const result = await interrupt(context.services, context.actor, { agentId: rowId("Agent", agentId), note });
  if (result.ok) context.wake(result.value.id);
  return payloadOf(context, result);
}

export async function retryTurn(context: Context, agentId: string, idempotencyKey: string | null): Promise<Payload> {
  const id = rowId("Agent", agentId);
  const result = await retry(context.services, context.actor, { agentId: id, idempotencyKey });
  if (result.ok) context.wake(id);
  return payloadOf(context, result);
}

export async function renameAgent(context: Context, agentId: string, title: string | null): Promise<Payload> {
  return payloadOf(context, await rename(context.services, context.actor, { agentId: rowId("Agent", agentId), title }));
}

/** Archives an agent, which ends its background shells, or unarchives it. */
export async function archiveAgent(context: Context, agentId: string, isArchived: boolean): Promise<Payload> {
  const request = { agentId: rowId("Agent", agentId), isArchived };
  return payloadOf(context, await archive(context.services, context.actor, request));
}
