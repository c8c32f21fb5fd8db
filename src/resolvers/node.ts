import { maySee } from "../agent/actor.ts";
import type { Context } from "./context.ts";
import { ROW_ID, type NodeType } from "./global-id.ts";

/** Whether the actor may read this node. */
export async function mayReadNode({ prisma, actor }: Context, type: string, id: string): Promise<boolean> {
  if (!ROW_ID.test(id)) return false;
  const agent = await agentOf(prisma, type as NodeType, id);
  return agent !== null && agent !== undefined && maySee(actor, agent);
}

async function agentOf(
  prisma: Context["prisma"],
  type: NodeType,
  id: string,
): Promise<{ tenant: string; createdBy: string } | null | undefined> {
  const select = { tenant: true, createdBy: true } as const;
  switch (type) {
    case "Agent":
      return prisma.agent.findUnique({ where: { id }, select });
    case "Approval":
      return (await prisma.approval.findUnique({ where: { id }, select: { agent: { select } } }))?.agent;
    case "Message":
      return (await prisma.message.findUnique({ where: { id }, select: { agent: { select } } }))?.agent;
    case "ToolCall":
      return (await prisma.toolCall.findUnique({ where: { id }, select: { agent: { select } } }))?.agent;
  }
}
