import { maySee, readsTenant } from "../agent/actors/actor.ts";
import { mayReadMemory } from "../agent/commands/memory.ts";
import { maySeeExport } from "../deliveries/exports/commands.ts";
import { actorOfGlobalId, ROW_ID, type NodeId, type NodeType } from "../lib/global-id.ts";
import { type Context, clientError } from "./context.ts";
import { mayReadSignIn } from "./sign-in.ts";

/** The most ids in one `nodes`. */
export const MOST_NODES = 100;

/**
 * The object of an id, if the actor may read it. Its rows are read after the snapshot, so that a subscription from it
 * misses nothing.
 */
export async function readNode(context: Context, id: NodeId, resolve: () => unknown): Promise<unknown> {
  await context.snapshot();
  return (await mayReadNode(context, id)) ? resolve() : null;
}

/** The objects of the ids, in order; null for missing and invisible ones. `resolve` gets the others. */
export async function readNodes(
  context: Context,
  ids: readonly NodeId[],
  resolve: (readable: readonly NodeId[]) => Promise<readonly unknown[]>,
): Promise<unknown[]> {
  if (ids.length > MOST_NODES)
    throw clientError("BAD_USER_INPUT", `at most ${MOST_NODES} \`ids\` are allowed in one request, not ${ids.length}`);
  await context.snapshot();
  const mayRead = await Promise.all(ids.map(async (id) => mayReadNode(context, id)));
  const readable = ids.filter((_id, index) => mayRead[index]);
  const found = new Map((await resolve(readable)).map((node, index) => [readable[index], node]));
  return ids.map((id) => found.get(id) ?? null);
}

async function mayReadNode(context: Context, { typename, id }: NodeId): Promise<boolean> {
  if (typename === "ActorRef") return mayReadActor(context, id);
  if (typename === "Budget") return readsTenant(context.actor) && ROW_ID.test(id);
  if (typename === "Template") return context.services.templates.has(id);
  return ROW_ID.test(id) && mayReadRow(context, typename as NodeType, id);
}

/** Readers of the tenant may read all its actors' names; others only their own. */
function mayReadActor({ actor }: Context, id: string): boolean {
  const named = actorOfGlobalId(Buffer.from(`ActorRef:${id}`).toString("base64"));
  return named !== null && (readsTenant(actor) || (named.id === actor.id && named.kind === actor.kind));
}

async function mayReadRow({ prisma, actor }: Context, type: NodeType, id: string): Promise<boolean> {
  const mayRead = (agent: { tenant: string; createdBy: string } | null | undefined): boolean =>
    agent !== null && agent !== undefined && maySee(actor, agent);
  // Includes the condition on newer versions' values: an unreadable row is no node.
  const select = { tenant: true, createdBy: true, state: true, breakpoint: true } as const;
  switch (type) {
    case "Agent":
      return mayRead(await prisma.agent.findUnique({ where: { id }, select }));
    case "Approval":
      return mayRead(
        (await prisma.approval.findUnique({ where: { id }, select: { kind: true, state: true, agent: { select } } }))?.agent,
      );
    case "Message":
      return mayRead((await prisma.message.findUnique({ where: { id }, select: { kind: true, agent: { select } } }))?.agent);
    case "Schedule":
      return mayRead((await prisma.schedule.findUnique({ where: { id }, select: { agent: { select } } }))?.agent);
    case "ToolCall":
      return mayRead((await prisma.toolCall.findUnique({ where: { id }, select: { state: true, agent: { select } } }))?.agent);
    case "AllowRule": {
      const rule = await prisma.allowRule.findUnique({ where: { id }, select: { tenant: true } });
      return rule?.tenant === actor.tenant && readsTenant(actor);
    }
    case "MemoryEntry": {
      const entry = await prisma.memoryEntry.findUnique({ where: { id }, select: { tenant: true, requester: true } });
      return entry?.tenant === actor.tenant && mayReadMemory(actor, entry.requester);
    }
    case "Delegation": {
      const found = await prisma.delegation.findUnique({ where: { id }, select: { tenant: true, fromId: true, toId: true } });
      const isTheirs = found?.fromId === actor.id || found?.toId === actor.id;
      return found?.tenant === actor.tenant && (readsTenant(actor) || isTheirs);
    }
    case "Export": {
      const found = await prisma.export.findUnique({
        where: { id },
        select: { tenant: true, createdBy: true, createdByKind: true },
      });
      return found !== null && maySeeExport(actor, found);
    }
    case "AccessToken":
      return mayReadSignIn(
        actor,
        await prisma.accessToken.findUnique({ where: { id }, select: { tenant: true, actorId: true } }),
      );
    case "Session":
      return mayReadSignIn(actor, await prisma.session.findUnique({ where: { id }, select: { tenant: true, actorId: true } }));
    default:
      return false;
  }
}
