import { createAgent as create, type CreateAgent } from "../agent/commands/create-agent.ts";
import { forkAgent as fork } from "../agent/commands/fork-agent.ts";
import { interruptAgent as interrupt } from "../agent/commands/interrupt-agent.ts";
import { totalTokens, type TokenUsage } from "../agent/models/model.ts";
import { readSnapshots, type AgentSnapshot } from "../agent/commands/safe-points.ts";
import type { Template } from "../agent/loop/template.ts";
import { readStandstill, waitingFor } from "../agent/loop/waiting-for.ts";
import type { Agent, Prisma } from "../db/generated/client.ts";
import { formatCursor } from "../events/cursor.ts";
import { accepted } from "../lib/result.ts";
import type { Context } from "./context.ts";
import { rowId } from "../lib/global-id.ts";
import { checkPage } from "./page.ts";
import { payloadOf, type Payload } from "./payload.ts";
import { visibleAgents } from "./visibility.ts";

/** Snapshots of one answer if it is not said how many. */
const SNAPSHOTS = 20;

/** The columns and relations that Prisma must read for what was asked. */
export type AgentSelection = Pick<Prisma.AgentFindUniqueArgs, "include" | "select">;

/** The agent of a Relay id, if the actor may see it. */
export async function agent(context: Context, id: string, selection: AgentSelection): Promise<Agent | null> {
  return agentByRow(context, rowId("Agent", id), selection);
}

/** The agent of a row id, if there is one that the actor may see. */
export async function agentByRow(context: Context, id: string | null, selection: AgentSelection): Promise<Agent | null> {
  if (id === null) return null;
  await context.snapshot();
  const { actor, prisma } = context;
  return prisma.agent.findUnique({ ...selection, where: { id, AND: visibleAgents(actor) } });
}

/** The agent of an event that the actor may see. */
export async function agentOfEvent(context: Context, id: string, selection: AgentSelection): Promise<Agent> {
  await context.snapshot();
  return context.prisma.agent.findUniqueOrThrow({ ...selection, where: { id } });
}

/** The agents that the actor may see, newest first. */
export async function agents(
  context: Context,
  args: { first?: number | null | undefined; last?: number | null | undefined },
  selection: Prisma.AgentFindManyArgs,
): Promise<Agent[]> {
  checkPage(args);
  await context.snapshot();
  return context.prisma.agent.findMany({
    ...selection,
    where: visibleAgents(context.actor),
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

/** The snapshot's cursor: query, then subscribe since it. */
export async function snapshotCursor({ snapshot }: Context): Promise<string> {
  const head = await snapshot();
  return formatCursor(head, head.position);
}

/** The template of the agent, if it is configured. */
export function templateOf(
  { services }: Context,
  { templateId }: Pick<Agent, "templateId">,
): { templateId: string; configured: Template | undefined } {
  return { templateId, configured: services.templates.get(templateId) };
}

/** The thing that the agent waits for, in words; null if that is only a message. */
export async function waitingForOf({ services }: Context, agentId: string): Promise<string | null> {
  const standstill = await readStandstill(services.reads, agentId);
  return standstill === null ? null : waitingFor(standstill);
}

/** The points at which the agent can be forked, newest first. */
export async function snapshotsOf(
  { services }: Context,
  agentId: string,
  args: { first?: number | null | undefined; before?: number | null | undefined },
): Promise<AgentSnapshot[]> {
  checkPage({ first: args.first });
  return readSnapshots(services.reads, agentId, args.before ?? null, args.first ?? SNAPSHOTS);
}

/** The tokens and the cost of an agent's complete model calls. */
export type AgentUsage = TokenUsage & { readonly totalTokens: number; readonly costUsd: number | null };

export async function usageOf({ prisma }: Context, agentId: string): Promise<AgentUsage> {
  const { _sum: sum, _count: count } = await prisma.step.aggregate({
    where: { agentId, state: "COMPLETED" },
    _sum: { inputTokens: true, outputTokens: true, cacheReadTokens: true, cacheWriteTokens: true, costUsd: true },
    _count: { _all: true, costUsd: true },
  });
  const usage = {
    inputTokens: sum.inputTokens ?? 0,
    outputTokens: sum.outputTokens ?? 0,
    cacheReadTokens: sum.cacheReadTokens ?? 0,
    cacheWriteTokens: sum.cacheWriteTokens ?? 0,
  };
  return {
    ...usage,
    totalTokens: totalTokens(usage),
    costUsd: count.costUsd === count._all ? (sum.costUsd ?? 0) : null,
  };
}

export async function createAgent(context: Context, request: CreateAgent): Promise<Payload> {
  return payloadOf(context, await create(context.services, context.actor, request));
}

/** The request of forkAgent, as clients send it. */
export type ForkRequest = { readonly agentId: string; readonly messageId: string | null; readonly idempotencyKey: string | null };

export async function forkAgent(context: Context, request: ForkRequest): Promise<Payload> {
  const { agentId, messageId, idempotencyKey } = request;
  const result = await fork(context.services, context.actor, {
    agentId: rowId("Agent", agentId) ?? "",
    messageId: messageId === null ? null : (rowId("Message", messageId) ?? ""),
    idempotencyKey,
  });
  return payloadOf(context, result);
}

export async function interruptAgent(context: Context, agentId: string, note: string | null): Promise<Payload> {
  const result = await interrupt(context.services, context.actor, { agentId: rowId("Agent", agentId) ?? "", note });
  if (result.ok) context.wake(result.value.id);
  return payloadOf(context, result.ok ? accepted({ ...result.value, position: null }) : result);
}
