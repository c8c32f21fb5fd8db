import { readsTenant, type Actor } from "../agent/actors/actor.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { Context } from "./context.ts";

/** The condition for agents that the actor may see. Every read of rows has it (invariant 12). */
export function visibleAgents(actor: Actor): Prisma.AgentWhereInput {
  if (readsTenant(actor)) return { tenant: actor.tenant };
  return { tenant: actor.tenant, createdBy: actor.roles.includes("user") ? actor.id : { in: [] } };
}

/** The creator whose agents' events the actor may see: null for all of the tenant. */
export function visibleCreator(actor: Actor): string | null {
  return readsTenant(actor) ? null : actor.id;
}

/** The number of these agents that the actor may see, so that hidden and missing ones are alike. */
export async function countVisible({ prisma, actor }: Context, agentIds: readonly string[]): Promise<number> {
  return prisma.agent.count({ where: { AND: [visibleAgents(actor), { id: { in: [...agentIds] } }] } });
}
