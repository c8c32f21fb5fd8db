import type { GraphQLResolveInfo } from "graphql";
import type { CallDimension } from "../../agent/calls/audit/groups/dimensions.ts";
import type { CallFigures, CallMeasure } from "../../agent/calls/audit/groups/figures.ts";
import { callGroups, type CallGroup, type CallGrouping } from "../../agent/calls/audit/groups/groups.ts";
import { snapshotCursor } from "../agent.ts";
import { checkPage } from "../connection.ts";
import type { Context } from "../context.ts";
import { auditFilter, type ToolCallFilter } from "../tool-audit.ts";
import { bothRanges, bucketsOf, DEFAULT_GROUPS, MOST_GROUPS, readRange, type GroupRange, type TimeBucket } from "./buckets.ts";
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

const DURATION_PERCENTILES = new Set<CallMeasure>(["DURATION_P50", "DURATION_P95", "DURATION_P99"]);

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
  const grouping: CallGrouping = {
    by: [...new Set(by)],
    edges: selected.has("series") ? read.edges : null,
    order: { measure, direction: direction === "ASC" ? "asc" : "desc" },
    most,
    percentiles: {
      duration: DURATION_PERCENTILES.has(measure) || (hasPercentiles && selected.has("durationMs")),
      waited: measure === "WAITED_P95" || (hasPercentiles && selected.has("waitedMs")),
    },
    hasTotal: selected.has("total"),
  };
  const within = auditFilter(context, filter ?? {});
  const bounded = { ...within, ...bothRanges(within, read) };
  const { groups, groupCount, total } = await context.expensive.run(context.actor, () =>
    callGroups(context.services.reads, bounded, grouping),
  );
  return { groups, groupCount, total, buckets: bucketsOf(read, now), asOf };
}
