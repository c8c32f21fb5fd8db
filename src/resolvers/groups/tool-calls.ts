import type { GraphQLResolveInfo } from "graphql";
import type { CallDimension } from "../../agent/calls/audit/groups/dimensions.ts";
import { CALL_MEASURES, type CallFigures, type CallMeasure } from "../../agent/calls/audit/groups/figures.ts";
import { callGroups, type CallGroup, type CallGrouping } from "../../agent/calls/audit/groups/groups.ts";
import type { Agent, Prisma } from "../../db/generated/client.ts";
import { snapshotCursor } from "../agent.ts";
import { checkPage } from "../connection.ts";
import { type Context, visibleAgents } from "../context.ts";
import { auditFilter, type ToolCallFilter } from "../tool-audit.ts";
import { bucketsOf, DEFAULT_GROUPS, MOST_GROUPS, readRange, type GroupRange, type TimeBucket } from "./buckets.ts";
import { selectedBelow } from "./selected.ts";

export type CallGroupOrder = { readonly measure: CallMeasure; readonly direction: "ASC" | "DESC" };

export type CallGroupArguments = GroupRange & {
  readonly by: readonly CallDimension[];
  readonly filter?: ToolCallFilter | null | undefined;
  readonly orderBy?: CallGroupOrder | null | undefined;
  readonly first?: number | null | undefined;
};

export type CallGroupsAnswer = {
  readonly groups: readonly CallGroup[];
  readonly groupCount: number;
  readonly total: CallFigures | null;
  readonly buckets: readonly TimeBucket[];
  readonly asOf: string;
};

/** The calls that the actor may see, in groups. Only selected figures are computed. */
export async function toolCallGroups(
  context: Context,
  { by, filter, orderBy, first, ...range }: CallGroupArguments,
  info: GraphQLResolveInfo,
): Promise<CallGroupsAnswer> {
  checkPage({ first }, MOST_GROUPS);
  const most = first ?? DEFAULT_GROUPS;
  const asOf = await snapshotCursor(context);
  const now = new Date(Date.now() - context.services.clockSkew().ms);
  const read = readRange(range, most, now);
  const { measure, direction } = orderBy ?? { measure: "CALLS", direction: "DESC" };
  const selected = selectedBelow(info);
  const hasPercentiles = ["p50", "p90", "p95", "p99"].some((name) => selected.has(name));
  const { needs } = CALL_MEASURES[measure];
  const grouping: CallGrouping = {
    by: [...new Set(by)],
    edges: selected.has("series") ? read.edges : null,
    order: { measure, direction: direction === "ASC" ? "asc" : "desc" },
    most,
    percentiles: {
      duration: needs === "duration" || (hasPercentiles && selected.has("durationMs")),
      waited: needs === "waited" || (hasPercentiles && selected.has("waitedMs")),
    },
    hasTotal: selected.has("total"),
  };
  const within = auditFilter(context, filter ?? {});
  const bounded = { ...within, from: later(within.from, read.from), to: earlier(within.to, read.to) };
  const { groups, groupCount, total } = await context.expensive.run(context.tenant, () =>
    callGroups(context.services.reads, bounded, grouping),
  );
  return { groups, groupCount, total, buckets: bucketsOf(read, now), asOf };
}

function later(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other > one) ? other : one;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other < one) ? other : one;
}

type AgentSelection = Pick<Prisma.AgentFindUniqueArgs, "include" | "select">;

/** An agent that groups have in common; null if the actor may not see it. */
export async function groupAgent(
  { prisma, actor }: Context,
  { key }: CallGroup,
  dimension: "AGENT" | "ROOT_AGENT",
  selection: AgentSelection,
): Promise<Agent | null> {
  const id = key.get(dimension)?.value ?? null;
  return id === null ? null : prisma.agent.findUnique({ ...selection, where: { id, AND: visibleAgents(actor) } });
}
