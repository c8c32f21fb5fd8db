import type { Prisma, ToolCall } from "../db/generated/client.ts";
import type { ToolCallState } from "../db/generated/enums.ts";
import type { Context } from "./context.ts";
import { rowId } from "./global-id.ts";
import { checkPage } from "./page.ts";
import { visibleAgents } from "./visibility.ts";

/** Which tool calls are asked for; all conditions that are present must hold. */
export type ToolCallFilter = {
  readonly agentId?: string | null | undefined;
  readonly names?: readonly string[] | null | undefined;
  readonly states?: readonly ToolCallState[] | null | undefined;
  readonly createdAfter?: Date | null | undefined;
  readonly createdBefore?: Date | null | undefined;
};

type Arguments = {
  filter?: ToolCallFilter | null | undefined;
  first?: number | null | undefined;
  last?: number | null | undefined;
};

/** The tool audit: every call that the actor may see, whatever became of it, newest first. */
export async function toolCalls(context: Context, args: Arguments, selection: Prisma.ToolCallFindManyArgs): Promise<ToolCall[]> {
  checkPage(args);
  await context.snapshot();
  const { agentId, names, states, createdAfter, createdBefore } = args.filter ?? {};
  return context.prisma.toolCall.findMany({
    ...selection,
    where: {
      tenant: context.actor.tenant,
      agent: visibleAgents(context.actor),
      ...(typeof agentId === "string" ? { agentId: rowId("Agent", agentId) ?? "" } : {}),
      ...(names ? { name: { in: names.filter((name) => !name.includes("\0")) } } : {}),
      ...(states ? { state: { in: [...states] } } : {}),
      createdAt: { ...(createdAfter ? { gt: createdAfter } : {}), ...(createdBefore ? { lt: createdBefore } : {}) },
    },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

/** The call as it stands now, beside an event's snapshot of it. */
export async function toolCallByRow(
  { prisma }: Context,
  id: string,
  selection: Pick<Prisma.ToolCallFindUniqueArgs, "include" | "select">,
): Promise<ToolCall | null> {
  return prisma.toolCall.findUnique({ ...selection, where: { id } });
}
