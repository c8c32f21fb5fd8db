import { maySee, readsTenant } from "../agent/actors/actor.ts";
import type { Context } from "./context.ts";
import { ROW_ID, type NodeType } from "../lib/global-id.ts";

/** True if the actor may read this node. */
export async function mayReadNode({ prisma, actor }: Context, type: string, id: string): Promise<boolean> {
  if (!ROW_ID.test(id)) return false;
  const mayRead = (agent: { tenant: string; createdBy: string } | null | undefined): boolean =>
    agent !== null && agent !== undefined && maySee(actor, agent);
  // With what a newer version may have written: what would not be read is no node.
  const select = { tenant: true, createdBy: true, state: true, breakpoint: true } as const;
  switch (type as NodeType) {
    case "Agent":
      return mayRead(await prisma.agent.findUnique({ where: { id }, select }));
    case "Approval":
      return mayRead(
        (await prisma.approval.findUnique({ where: { id }, select: { kind: true, state: true, agent: { select } } }))?.agent,
      );
    case "Message":
      return mayRead((await prisma.message.findUnique({ where: { id }, select: { kind: true, agent: { select } } }))?.agent);
    case "ToolCall":
      return mayRead((await prisma.toolCall.findUnique({ where: { id }, select: { state: true, agent: { select } } }))?.agent);
    case "AllowRule": {
      const rule = await prisma.allowRule.findUnique({ where: { id }, select: { tenant: true } });
      return rule?.tenant === actor.tenant && readsTenant(actor);
    }
    case "Delegation": {
      const found = await prisma.delegation.findUnique({ where: { id }, select: { tenant: true, fromId: true, toId: true } });
      const isTheirs = found?.fromId === actor.id || found?.toId === actor.id;
      return found?.tenant === actor.tenant && (readsTenant(actor) || isTheirs);
    }
  }
}
