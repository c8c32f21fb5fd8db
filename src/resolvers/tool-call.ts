import type { OutputPiece } from "../agent/calls/outputs.ts";
import { cancelToolCall as cancel } from "../agent/commands/cancel-tool-call.ts";
import type { Prisma, ToolCall } from "../db/generated/client.ts";
import type { ToolCallState } from "../db/generated/enums.ts";
import type { ToolCallErrorType } from "../events/snapshots.ts";
import { ROW_ID, rowId } from "../lib/global-id.ts";
import { actorIds, type ActorNameOrId } from "./actor.ts";
import { checkPage, connection, type Connection, type PageArguments } from "./connection.ts";
import type { Context } from "./context.ts";
import { clientError } from "./errors.ts";
import type { Order } from "./keyset.ts";
import type { CallOfBlock } from "./message.ts";
import { namesIn } from "./names.ts";
import { payloadOf, type Payload } from "./payload.ts";
import { within, type TimeRange } from "./time-range.ts";
import { visibleAgents } from "./visibility.ts";

type ToolCallSelection = Pick<Prisma.ToolCallFindUniqueArgs, "include" | "select">;

/** Which tool calls are asked for; all conditions that are present must hold. */
export type ToolCallFilter = {
  readonly created?: TimeRange | null | undefined;
  readonly agentIds?: readonly string[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly states?: readonly ToolCallState[] | null | undefined;
  readonly errorTypes?: readonly ToolCallErrorType[] | null | undefined;
  readonly verdicts?: readonly ("allow" | "ask" | "deny")[] | null | undefined;
  readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
  readonly decidedBy?: readonly ActorNameOrId[] | null | undefined;
  readonly minDurationMs?: number | null | undefined;
};

/** An order of tool calls, as clients ask for it. */
export type ToolCallOrder = {
  readonly field: "CREATED_AT" | "DURATION";
  readonly direction: "ASC" | "DESC";
};

/** The tool audit: every call that the actor may see, whatever became of it, newest first if no other order is asked for. */
export async function toolCalls(
  context: Context,
  args: PageArguments & {
    readonly filter?: ToolCallFilter | null | undefined;
    readonly orderBy?: ToolCallOrder | null | undefined;
  },
  selection: ToolCallSelection,
): Promise<Connection<ToolCall>> {
  await context.snapshot();
  const { field, direction } = args.orderBy ?? { field: "CREATED_AT", direction: "DESC" };
  return listed(
    context,
    args,
    selection,
    orderOf(field, direction === "ASC" ? "asc" : "desc"),
    visibleCalls(context, args.filter ?? {}),
  );
}

export async function cancelToolCall(context: Context, callId: string, note: string | null): Promise<Payload> {
  const result = await cancel(context.services, context.actor, { callId: ROW_ID.test(callId) ? callId : "", note });
  if (result.ok) context.wake(result.value.agentId);
  return payloadOf(context, result);
}

/** The call that a block of a message names, if its row is there. */
export async function toolCallOfBlock(
  context: Context,
  { agentId, step, providerId }: CallOfBlock,
  selection: ToolCallSelection,
): Promise<ToolCall | null> {
  if (step === null) return null;
  const id = (await context.loaders.callsOfSteps.load({ agentId, step })).get(providerId);
  return id === undefined ? null : toolCallByRow(context, id, selection);
}

function orderOf(field: ToolCallOrder["field"], direction: "asc" | "desc"): Order<ToolCall> {
  return {
    name: `toolCalls ${field} ${direction}`,
    columns: [
      field === "CREATED_AT"
        ? { name: "createdAt", direction, holds: "time", nulls: "never" }
        : { name: "durationMs", direction, holds: "number", nulls: "last" },
      { name: "id", direction, holds: "text", nulls: "never" },
    ],
  };
}

/** In the order in which an agent's calls were made. */
const IN_ORDER: Order<ToolCall> = {
  name: "toolCallsOfAgent",
  columns: [
    { name: "step", direction: "asc", holds: "number", nulls: "never" },
    { name: "ordinal", direction: "asc", holds: "number", nulls: "never" },
  ],
};

/** A page of an agent's calls. The agent was read before, by who may see it. */
export async function toolCallsOf(
  context: Context,
  agentId: string,
  args: PageArguments,
  selection: ToolCallSelection,
): Promise<Connection<ToolCall>> {
  return listed(context, args, selection, IN_ORDER, { agentId });
}

async function listed(
  { prisma }: Context,
  args: PageArguments,
  selection: ToolCallSelection,
  order: Order<ToolCall>,
  where: Prisma.ToolCallWhereInput,
): Promise<Connection<ToolCall>> {
  return connection<ToolCall, Prisma.ToolCallWhereInput, Prisma.ToolCallOrderByWithRelationInput>(args, {
    order,
    where,
    read: async (query) => prisma.toolCall.findMany({ ...selection, ...query }),
    count: async (query) => prisma.toolCall.count(query),
  });
}

/** The call of a row id, if there is one that the actor may see. */
export async function toolCall(context: Context, callId: string, selection: ToolCallSelection): Promise<ToolCall | null> {
  await context.snapshot();
  const { prisma, actor, tenant } = context;
  return ROW_ID.test(callId)
    ? prisma.toolCall.findUnique({ ...selection, where: { id: callId, AND: { tenant, agent: visibleAgents(actor) } } })
    : null;
}

/** The number of calls of a tool in each state, and the time that those took that ran. */
export type ToolStats = {
  readonly tool: string;
  readonly calls: number;
  readonly states: readonly { readonly state: ToolCallState; readonly calls: number }[];
  /** Calls that began to execute. */
  readonly executed: number;
  /** Of the calls that executed and have ended, in ms; null if there are none. */
  readonly meanMs: number | null;
  readonly slowestMs: number | null;
};

/** The statistics of the tool audit, the most used tool first. */
export async function toolStats(context: Context, filter: ToolCallFilter): Promise<readonly ToolStats[]> {
  const { prisma, expensive, actor } = context;
  const where = visibleCalls(context, filter);
  const [states, durations] = await Promise.all([
    expensive.run(actor.tenant, async () =>
      prisma.toolCall.groupBy({ by: ["name", "state"], where, _count: { _all: true, startedAt: true } }),
    ),
    expensive.run(actor.tenant, async () =>
      prisma.toolCall.groupBy({
        by: ["name"],
        where: { AND: [where, { startedAt: { not: null }, durationMs: { not: null } }] },
        _avg: { durationMs: true },
        _max: { durationMs: true },
      }),
    ),
  ]);
  const names = [...new Set(states.map(({ name }) => name))];
  const stats = names.map((name): ToolStats => {
    const rows = states.filter((row) => row.name === name);
    const own = rows.map(({ state, _count }) => ({ state, calls: _count._all }));
    const ran = durations.find((row) => row.name === name);
    return {
      tool: name,
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
      states: own,
      executed: rows.reduce((sum, { _count }) => sum + _count.startedAt, 0),
      meanMs: ran?._avg.durationMs ?? null,
      slowestMs: ran?._max.durationMs ?? null,
    };
  });
  return stats.sort((one, other) => other.calls - one.calls || (one.tool < other.tool ? -1 : 1));
}

/** The calls that took longest, the slowest first. */
export async function slowestCalls(
  context: Context,
  filter: ToolCallFilter,
  first: number,
  selection: ToolCallSelection,
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

/**
 * The calls of the filter that the actor may see. A fork's copies are left out: what they did was done once, and stands
 * here as the other's.
 */
function visibleCalls({ actor, tenant }: Context, filter: ToolCallFilter): Prisma.ToolCallWhereInput {
  const { created, agentIds, templateIds, tools, states, errorTypes, verdicts, createdBy, decidedBy, minDurationMs } = filter;
  return {
    tenant,
    copiedFrom: null,
    agent: {
      ...visibleAgents(actor),
      ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
      ...(createdBy ? { AND: { createdBy: { in: actorIds(createdBy) } } } : {}),
    },
    ...(agentIds ? { agentId: { in: agentIds.map((id) => rowId("Agent", id) ?? "") } } : {}),
    ...(tools ? { name: { in: namesIn(tools) } } : {}),
    ...(states ? { state: { in: [...states] } } : {}),
    ...(errorTypes ? { OR: errorTypes.map((type) => ({ error: { path: ["type"], equals: type } })) } : {}),
    ...(verdicts ? { verdict: { in: [...verdicts] } } : {}),
    ...(decidedBy ? { approvals: { some: { decisions: { some: { actorId: { in: actorIds(decidedBy) } } } } } } : {}),
    ...(typeof minDurationMs === "number" ? { durationMs: { gte: minDurationMs } } : {}),
    createdAt: within(created),
  };
}

/** The call as it stands now, beside an event's snapshot of it. */
export async function toolCallByRow({ prisma }: Context, id: string, selection: ToolCallSelection): Promise<ToolCall | null> {
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
