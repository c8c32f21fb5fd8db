import { compactAgent as compact, type CompactAgent } from "../agent/commands/compact-agent.ts";
import { createAgent as create, type CreateAgent } from "../agent/commands/create-agent.ts";
import { forkAgent as fork, countForkPoints, readForkPoints, type ForkPoint } from "../agent/commands/fork-agent.ts";
import { deleteAgent as remove } from "../agent/commands/delete-agent.ts";
import { archiveAgent as archive, renameAgent as rename } from "../agent/commands/rename-agent.ts";
import { interruptAgent as interrupt, retryTurn as retry } from "../agent/commands/turn.ts";
import { TREE } from "../agent/calls/children.ts";
import type { Agent, Prisma, KnownFile, Notice } from "../db/generated/client.ts";
import type { AgentState } from "../db/generated/enums.ts";
import { formatCursor } from "../events/cursor.ts";
import { rowId } from "../lib/global-id.ts";
import { storable } from "../lib/text.ts";
import { actorIds, type ActorNameOrId, namesIn } from "./actor.ts";
import {
  connection,
  type Connection,
  type PageArguments,
  type Order,
  checkPage,
  DEFAULT_PAGE,
  MOST_COUNTED,
  pageOfRows,
  readPlace,
} from "./connection.ts";
import { type Context, payloadOf, type Payload, visibleAgents } from "./context.ts";

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
  readonly parentIds?: readonly string[] | null | undefined;
  readonly rootsOnly?: boolean | null | undefined;
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

function filtered(filter: AgentFilter): Prisma.AgentWhereInput {
  const { states, templateIds, createdBy, isArchived, idleSince, title, parentIds } = filter;
  const rootsOnly = filter.rootsOnly ?? !parentIds;
  return {
    ...(rootsOnly ? { parentId: null } : {}),
    ...(parentIds ? { AND: { parentId: { in: parentIds.map((id) => rowId("Agent", id)) } } } : {}),
    ...(states ? { state: { in: [...states] } } : {}),
    ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
    ...(createdBy ? { createdBy: { in: actorIds(createdBy) } } : {}),
    ...(isArchived === true ? { archivedAt: { not: null } } : isArchived === null ? {} : { archivedAt: null }),
    ...(idleSince ? { lastActivityAt: { lte: idleSince } } : {}),
    ...(typeof title === "string" ? { title: { contains: literally(storable(title)), mode: "insensitive" } } : {}),
  };
}

/** The agent that a call started; null for none. The caller has checked the call's visibility. */
export async function childOfCall({ prisma }: Context, callId: string, selection: AgentSelection): Promise<Agent | null> {
  const wait = await prisma.wait.findFirst({
    where: { callId, kind: { in: ["CHILD", "BACKGROUND_CHILD"] } },
    select: { ref: true },
  });
  return wait === null ? null : prisma.agent.findUnique({ ...selection, where: { id: wait.ref } });
}

/** Agents by their row ids, in the order of these. The caller has checked their visibility. */
export async function agentsInOrder({ prisma }: Context, ids: readonly string[], selection: AgentSelection): Promise<Agent[]> {
  const found = await prisma.agent.findMany({ ...selection, where: { id: { in: [...ids] } } });
  return ids.flatMap((id) => found.find((row) => row.id === id) ?? []);
}

/** The most children of an agent that are listed with it. */
export const MOST_CHILDREN = TREE.agents;

/** The agents that an agent started, oldest first. The caller has checked its visibility. */
export async function childrenOf({ prisma }: Context, parentId: string, selection: AgentSelection): Promise<Agent[]> {
  const orderBy = [{ createdAt: "asc" }, { id: "asc" }] as Prisma.AgentOrderByWithRelationInput[];
  return prisma.agent.findMany({ ...selection, where: { parentId }, orderBy, take: MOST_CHILDREN });
}

/** The pattern of LIKE for exactly this text. */
export function literally(text: string): string {
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
export async function interruptAgent(context: Context, agentId: string, note: string | null, tree: boolean): Promise<Payload> {
  const result = await interrupt(context.services, context.actor, { agentId: rowId("Agent", agentId), note, tree });
  if (result.ok) result.value.interrupted.forEach((id) => context.wake(id));
  return payloadOf(context, result);
}

export async function retryTurn(context: Context, agentId: string, idempotencyKey: string | null): Promise<Payload> {
  const id = rowId("Agent", agentId);
  const result = await retry(context.services, context.actor, { agentId: id, idempotencyKey });
  if (result.ok) context.wake(id);
  return payloadOf(context, result);
}

/** Asks for a compaction of an agent's context. */
export async function compactAgent(context: Context, request: CompactAgent): Promise<Payload> {
  const id = rowId("Agent", request.agentId);
  const result = await compact(context.services, context.actor, { ...request, agentId: id });
  if (result.ok) context.wake(id);
  return payloadOf(context, result);
}

export async function renameAgent(context: Context, agentId: string, title: string | null): Promise<Payload> {
  return payloadOf(context, await rename(context.services, context.actor, { agentId: rowId("Agent", agentId), title }));
}

/** Archives an agent, which ends its background shells, or unarchives it. */
export async function archiveAgent(context: Context, agentId: string, isArchived: boolean, tree: boolean): Promise<Payload> {
  const request = { agentId: rowId("Agent", agentId), isArchived, tree };
  return payloadOf(context, await archive(context.services, context.actor, request));
}

/** Deletes an archived agent, with its tree. */
export async function deleteAgent(context: Context, agentId: string): Promise<Payload> {
  return payloadOf(context, await remove(context.services, context.actor, rowId("Agent", agentId)));
}

const NEWEST_FIRST: Order<ForkPoint> = {
  name: "forkPoints",
  columns: [{ name: "index", direction: "desc", holds: "integer", nulls: "never" }],
};

/** The fork points of an agent, newest first. The caller has checked its visibility. */
export async function forkPointsOf({ services }: Context, agentId: string, args: PageArguments): Promise<Connection<ForkPoint>> {
  checkPage(args);
  const isBackwards = typeof args.last === "number";
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  const found = await readForkPoints(services.reads, agentId, {
    before: indexIn(args.after, "after"),
    after: indexIn(args.before, "before"),
    take: size + 1,
    from: isBackwards ? "oldest" : "newest",
  });
  return {
    ...pageOfRows(args, NEWEST_FIRST, found, size),
    count: () => countForkPoints(services.reads, agentId, MOST_COUNTED),
  };
}

function indexIn(place: string | null | undefined, argument: string): number | null {
  return typeof place === "string" ? Number(readPlace(NEWEST_FIRST, place, argument)[0]) : null;
}

type KnownFileSelection = Pick<Prisma.KnownFileFindManyArgs, "include" | "select">;

const BY_PATH: Order<KnownFile> = {
  name: "knownFiles",
  columns: [{ name: "path", direction: "asc", holds: "text", nulls: "never" }],
};

/** A page of an agent's known files. The caller has checked its visibility. */
export async function knownFilesOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  selection: KnownFileSelection,
): Promise<Connection<KnownFile>> {
  return connection<KnownFile, Prisma.KnownFileWhereInput, Prisma.KnownFileOrderByWithRelationInput>(args, {
    order: BY_PATH,
    where: { agentId },
    read: async (query) => prisma.knownFile.findMany({ ...selection, ...query }),
    count: async (query) => prisma.knownFile.count(query),
  });
}

type NoticeSelection = Pick<Prisma.NoticeFindManyArgs, "include" | "select">;

const NEWEST_NOTICE_FIRST: Order<Notice> = {
  name: "notices",
  columns: [{ name: "id", direction: "desc", holds: "text", nulls: "never" }],
};

/** A page of an agent's notices. The caller has checked its visibility. */
export async function noticesOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  selection: NoticeSelection,
): Promise<Connection<Notice>> {
  return connection<Notice, Prisma.NoticeWhereInput, Prisma.NoticeOrderByWithRelationInput>(args, {
    order: NEWEST_NOTICE_FIRST,
    where: { agentId },
    read: async (query) => prisma.notice.findMany({ ...selection, ...query }),
    count: async (query) => prisma.notice.count(query),
  });
}
