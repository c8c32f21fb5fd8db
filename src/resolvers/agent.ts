import { archiveAgent as archive } from "../agent/commands/archive-agent.ts";
import { createAgent as create, type CreateAgent } from "../agent/commands/create-agent.ts";
import { forkAgent as fork } from "../agent/commands/fork-agent.ts";
import { interruptAgent as interrupt } from "../agent/commands/interrupt-agent.ts";
import { renameAgent as rename } from "../agent/commands/rename-agent.ts";
import { retryTurn as retry } from "../agent/commands/retry-turn.ts";
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

/** The columns and relations that Prisma must read for what was asked. */
export type AgentSelection = Pick<Prisma.AgentFindUniqueArgs, "include" | "select">;

/** The agent of a Relay id, if the actor may see it. */
export async function agent(context: Context, id: string, selection: AgentSelection): Promise<Agent | null> {
  return agentByRow(context, rowId("Agent", id), selection);
}

/** The agent of a row id, if there is one that the actor may see. */
export async function agentByRow(context: Context, id: string | null, selection: AgentSelection): Promise<Agent | null> {
  if (id === null) return null;
  await context.snapshot();
  const { actor, prisma } = context;
  return prisma.agent.findUnique({ ...selection, where: { id, AND: visibleAgents(actor) } });
}

/** The agent of an event that the actor may see; null for an event of the tenant. */
export async function agentOfEvent(context: Context, id: string | null, selection: AgentSelection): Promise<Agent | null> {
  if (id === null) return null;
  await context.snapshot();
  return context.prisma.agent.findUnique({ ...selection, where: { id } });
}

/** Which agents are asked for; all conditions that are present must hold. */
export type AgentFilter = {
  readonly states?: readonly AgentState[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
  readonly isArchived?: boolean | null | undefined;
  readonly idleSince?: Date | null | undefined;
  readonly title?: string | null | undefined;
};

/** An order of agents, as clients ask for it. */
export type AgentOrder = {
  readonly field: "CREATED_AT" | "LAST_ACTIVITY_AT";
  readonly direction: "ASC" | "DESC";
};

/** The agents that the actor may see, the newest first if no other order is asked for. */
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

/** The text as a pattern of LIKE that finds just that: Prisma hands on what it is given. */
function literally(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** The snapshot's cursor: query, then subscribe since it. */
export async function snapshotCursor({ snapshot }: Context): Promise<string> {
  const head = await snapshot();
  return formatCursor(head, head.position);
}

/** Makes an agent of a template. */
export async function createAgent(context: Context, request: CreateAgent): Promise<Payload> {
  return payloadOf(context, await create(context.services, context.actor, request));
}

/** The request of forkAgent, as clients send it. */
export type ForkRequest = { readonly agentId: string; readonly messageId: string | null; readonly idempotencyKey: string | null };

/** Makes an agent that goes on from a message of another one. */
export async function forkAgent(context: Context, request: ForkRequest): Promise<Payload> {
  const { agentId, messageId, idempotencyKey } = request;
  const result = await fork(context.services, context.actor, {
    agentId: rowId("Agent", agentId),
    messageId: messageId === null ? null : rowId("Message", messageId),
    idempotencyKey,
  });
  return payloadOf(context, result);
}

/** Ends the turn of an agent; the note is told to the model. An idle agent's background shells end alone. */
export async function interruptAgent(context: Context, agentId: string, note: string | null): Promise<Payload> {
  const result = await interrupt(context.services, context.actor, { agentId: rowId("Agent", agentId), note });
  if (result.ok) context.wake(result.value.id);
  return payloadOf(context, result);
}

/** Runs the last turn of an agent again, which failed or was interrupted. */
export async function retryTurn(context: Context, agentId: string, idempotencyKey: string | null): Promise<Payload> {
  const id = rowId("Agent", agentId);
  const result = await retry(context.services, context.actor, { agentId: id, idempotencyKey });
  if (result.ok) context.wake(id);
  return payloadOf(context, result);
}

/** Gives an agent a title, or takes it away with null. */
export async function renameAgent(context: Context, agentId: string, title: string | null): Promise<Payload> {
  return payloadOf(context, await rename(context.services, context.actor, { agentId: rowId("Agent", agentId), title }));
}

/** Puts an agent away, which ends its turn and its shells, or brings it back. */
export async function archiveAgent(context: Context, agentId: string, isArchived: boolean): Promise<Payload> {
  const request = { agentId: rowId("Agent", agentId), isArchived };
  return payloadOf(context, await archive(context.services, context.actor, request));
}
