import {
  createSchedule as create,
  deleteSchedule as remove,
  pauseSchedule as pause,
  resumeSchedule as resume,
  type CreateSchedule,
} from "../agent/commands/schedules.ts";
import { specOf, storedTrigger, type Trigger } from "../agent/calls/schedules/trigger.ts";
import type { Prisma, Schedule } from "../db/generated/client.ts";
import { rowId } from "../lib/global-id.ts";
import { connection, type Connection, type Order, type PageArguments } from "./connection.ts";
import { type Context, payloadOf, type Payload, visibleAgents } from "./context.ts";

type ScheduleSelection = Pick<Prisma.ScheduleFindUniqueArgs, "include" | "select">;

/** Makes a schedule of an agent. An owner that is at work counts its steps. */
export async function createSchedule(context: Context, request: CreateSchedule): Promise<Payload> {
  const agentId = rowId("Agent", request.agentId);
  const result = await create(context.services, context.actor, { ...request, agentId });
  if (result.ok) context.wake(agentId);
  return payloadOf(context, result);
}

const CHANGES = { pause, resume, remove };

export async function changeSchedule(context: Context, change: keyof typeof CHANGES, scheduleId: string): Promise<Payload> {
  const id = rowId("Schedule", scheduleId);
  return payloadOf(context, await CHANGES[change](context.services, context.actor, id));
}

export async function scheduleByRow(
  { prisma }: Context,
  id: string | null,
  selection: ScheduleSelection,
): Promise<Schedule | null> {
  return id === null ? null : prisma.schedule.findUnique({ ...selection, where: { id } });
}

/** The schedules of an agent, which was read before, by who may see it. Their number is bounded. */
export async function schedulesOf({ prisma }: Context, agentId: string, selection: ScheduleSelection): Promise<Schedule[]> {
  return prisma.schedule.findMany({ ...selection, where: { agentId }, orderBy: { id: "asc" } });
}

const OLDEST_FIRST: Order<Schedule> = {
  name: "schedules",
  columns: [{ name: "id", direction: "asc", holds: "text", nulls: "never" }],
};

export type ScheduleFilter = { readonly isPaused?: boolean | null | undefined };

/** The schedules of the agents that the actor may see, oldest first. */
export async function schedules(
  context: Context,
  args: PageArguments & { readonly filter?: ScheduleFilter | null | undefined },
  selection: ScheduleSelection,
): Promise<Connection<Schedule>> {
  await context.snapshot();
  const { actor, prisma, tenant } = context;
  const isPaused = args.filter?.isPaused ?? null;
  return connection<Schedule, Prisma.ScheduleWhereInput, Prisma.ScheduleOrderByWithRelationInput>(args, {
    order: OLDEST_FIRST,
    where: {
      tenant,
      agent: visibleAgents(actor),
      ...(isPaused === null ? {} : { pausedAt: isPaused ? { not: null } : null }),
    },
    read: async (query) => prisma.schedule.findMany({ ...selection, ...query }),
    count: async (query) => prisma.schedule.count(query),
  });
}

/** The trigger of a row and its words. A newer server may have made it: its words are empty then. */
export function triggerOf(stored: unknown): { readonly kind: Trigger["kind"] | null; readonly spec: string } {
  const trigger = storedTrigger(stored);
  return trigger === null ? { kind: null, spec: "" } : { kind: trigger.kind, spec: specOf(trigger) };
}
