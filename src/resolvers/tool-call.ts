import type { OutputPiece } from "../agent/calls/outputs.ts";
import type { Prisma, ToolCall } from "../db/generated/client.ts";
import type { ToolCallState } from "../db/generated/enums.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage, type PageArguments } from "./page.ts";
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
  return context.prisma.toolCall.findMany({
    ...selection,
    where: visibleCalls(context, args.filter ?? {}),
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

/** A page of an agent's calls, in the order in which they were made. */
export async function toolCallsOf(
  { prisma }: Context,
  agentId: string,
  args: PageArguments,
  selection: Prisma.ToolCallFindManyArgs,
): Promise<ToolCall[]> {
  checkPage(args);
  // By the id at last: where Prisma does not see that rows have one order, it reads all of them and looks for the page there.
  return prisma.toolCall.findMany({
    ...selection,
    where: { agentId },
    orderBy: [{ step: "asc" }, { ordinal: "asc" }, { id: "asc" }],
  });
}

/** The number of calls of a tool in each state, and the time that those took that ran. */
export type ToolStats = {
  readonly name: string;
  readonly calls: number;
  readonly states: readonly { readonly state: ToolCallState; readonly calls: number }[];
  /** Calls that began to execute; means and maxima are theirs, in ms, null if there are none. */
  readonly executed: number;
  readonly meanMs: number | null;
  readonly slowestMs: number | null;
};

/** The statistics of the tool audit, the most used tool first. */
export async function toolStats(context: Context, filter: ToolCallFilter): Promise<readonly ToolStats[]> {
  const { prisma, expensive, actor } = context;
  const where = visibleCalls(context, filter);
  const [states, durations] = await Promise.all([
    expensive.run(actor.tenant, async () => prisma.toolCall.groupBy({ by: ["name", "state"], where, _count: { _all: true } })),
    expensive.run(actor.tenant, async () =>
      prisma.toolCall.groupBy({
        by: ["name"],
        where: { AND: [where, { startedAt: { not: null }, durationMs: { not: null } }] },
        _count: { _all: true },
        _avg: { durationMs: true },
        _max: { durationMs: true },
      }),
    ),
  ]);
  const names = [...new Set(states.map(({ name }) => name))];
  const stats = names.map((name): ToolStats => {
    const own = states.filter((row) => row.name === name).map(({ state, _count }) => ({ state, calls: _count._all }));
    const ran = durations.find((row) => row.name === name);
    return {
      name,
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
      states: own,
      executed: ran?._count._all ?? 0,
      meanMs: ran?._avg.durationMs ?? null,
      slowestMs: ran?._max.durationMs ?? null,
    };
  });
  return stats.sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1));
}

/** The calls that took longest, the slowest first. */
export async function slowestCalls(
  context: Context,
  filter: ToolCallFilter,
  first: number,
  selection: Prisma.ToolCallFindManyArgs,
): Promise<ToolCall[]> {
  checkPage({ first });
  return context.expensive.run(context.actor.tenant, async () =>
    context.prisma.toolCall.findMany({
      ...selection,
      where: { AND: [visibleCalls(context, filter), { startedAt: { not: null }, durationMs: { not: null } }] },
      orderBy: [{ durationMs: "desc" }, { id: "asc" }],
      take: first,
    }),
  );
}

/** The calls of the filter that the actor may see. */
function visibleCalls({ actor }: Context, filter: ToolCallFilter): Prisma.ToolCallWhereInput {
  const { agentId, names, states, createdAfter, createdBefore } = filter;
  return {
    tenant: actor.tenant,
    agent: visibleAgents(actor),
    ...(typeof agentId === "string" ? { agentId: rowId("Agent", agentId) ?? "" } : {}),
    ...(names ? { name: { in: namesIn(names) ?? [] } } : {}),
    ...(states ? { state: { in: [...states] } } : {}),
    createdAt: { ...(createdAfter ? { gt: createdAfter } : {}), ...(createdBefore ? { lt: createdBefore } : {}) },
  };
}

/** Names that can be stored at all: the database refuses to look for others. */
export function namesIn(names: readonly string[] | null | undefined): string[] | null {
  return names?.filter((name) => !name.includes("\0")) ?? null;
}

/** The call as it stands now, beside an event's snapshot of it. */
export async function toolCallByRow(
  { prisma }: Context,
  id: string,
  selection: Pick<Prisma.ToolCallFindUniqueArgs, "include" | "select">,
): Promise<ToolCall | null> {
  return prisma.toolCall.findUnique({ ...selection, where: { id } });
}

/** The most of a kept output that one answer holds, in bytes. */
const MOST_PIECE = 256 * 1024;

/** A piece of a kept output. The call was read before, by who may see it. */
export async function outputPiece(
  { services }: Context,
  callId: string,
  offset: number,
  bytes: number,
): Promise<OutputPiece | null> {
  if (offset < 0) throw clientError("BAD_USER_INPUT", `\`offset\` must not be negative, but is ${offset}`);
  if (bytes < 4 || bytes > MOST_PIECE)
    throw clientError("BAD_USER_INPUT", `\`bytes\` must be between 4 and ${MOST_PIECE}, not ${bytes}`);
  return services.outputs.read(callId, offset, bytes);
}
