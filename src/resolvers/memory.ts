import { readsTenant } from "../agent/actors/actor.ts";
import {
  deleteMemory as remove,
  eraseMemory as erase,
  writeMemory as write,
  type WriteMemory,
} from "../agent/commands/memory.ts";
import type { MemoryEntry, Prisma } from "../db/generated/client.ts";
import { rowId } from "../lib/global-id.ts";
import { actorIds } from "./actor.ts";
import { connection, type Connection, type Order, type PageArguments } from "./connection.ts";
import { clientError, payloadOf, type Context, type Payload } from "./context.ts";

type MemorySelection = Pick<Prisma.MemoryEntryFindUniqueArgs, "include" | "select">;

const BY_PATH: Order<MemoryEntry> = {
  name: "memory",
  columns: [
    { name: "requester", direction: "asc", holds: "text", nulls: "never" },
    { name: "path", direction: "asc", holds: "text", nulls: "never" },
  ],
};

type MemoryArguments = PageArguments & {
  readonly templateId: string;
  readonly requesterId?: string | null | undefined;
  readonly isDeleted?: boolean | null | undefined;
};

/** The entries of a template's memories that the actor may read, by requester and path. */
export async function memoryEntries(
  context: Context,
  { templateId, requesterId, isDeleted, ...page }: MemoryArguments,
  selection: MemorySelection,
): Promise<Connection<MemoryEntry>> {
  await context.snapshot();
  const { actor, prisma, tenant } = context;
  const own = actor.roles.includes("user") ? [actor.id] : [];
  const requesters = [
    ...(readsTenant(actor) ? [] : [{ requester: { in: own } }]),
    ...(requesterId == null ? [] : [{ requester: { in: actorIds([requesterId]) } }]),
  ];
  const name = templateId.includes("\0") ? "" : templateId;
  // The memory of a template that is configured no longer stays readable.
  const isKnown =
    context.services.templates.has(name) ||
    (await prisma.memoryEntry.findFirst({ select: { id: true }, where: { tenant, templateId: name, AND: requesters } })) !== null;
  if (!isKnown) throw clientError("NOT_FOUND", "there is no such template: `templates` lists them");
  return connection<MemoryEntry, Prisma.MemoryEntryWhereInput, Prisma.MemoryEntryOrderByWithRelationInput>(page, {
    order: BY_PATH,
    where: {
      tenant,
      templateId: name,
      deletedAt: isDeleted === true ? { not: null } : null,
      AND: requesters,
    },
    read: async (query) => prisma.memoryEntry.findMany({ ...selection, ...query }),
    count: async (query) => prisma.memoryEntry.count(query),
  });
}

export async function memoryEntryByRow(
  { prisma }: Context,
  id: string | null,
  selection: MemorySelection,
): Promise<MemoryEntry | null> {
  return id === null ? null : prisma.memoryEntry.findUnique({ ...selection, where: { id } });
}

/** The entry of an event. Readers of an agent's events may not all read the memory that its template's agents share. */
export async function changedEntry(
  { prisma }: Context,
  id: string | null,
  selection: MemorySelection,
): Promise<MemoryEntry | null> {
  return id === null ? null : prisma.memoryEntry.findUnique({ ...selection, where: { id, requester: { not: "" } } });
}

export async function writeMemory(context: Context, request: WriteMemory): Promise<Payload> {
  const [requesterId = null] = request.requesterId === null ? [] : actorIds([request.requesterId]);
  return payloadOf(context, await write(context.services, context.actor, { ...request, requesterId }));
}

export async function deleteMemory(context: Context, entryId: string, expectedVersion: number | null): Promise<Payload> {
  return payloadOf(context, await remove(context.services, context.actor, rowId("MemoryEntry", entryId), expectedVersion));
}

export async function eraseMemory(context: Context, entryId: string): Promise<Payload> {
  return payloadOf(context, await erase(context.services, context.actor, rowId("MemoryEntry", entryId)));
}
