import type { GraphQLResolveInfo } from "graphql";
import type { CallDimension } from "../../agent/calls/audit/groups/dimensions.ts";
import {
  CALL_COUNTS,
  type CallCount,
  type CallFigures,
  type CallMeasure,
  type CallTimes,
} from "../../agent/calls/audit/groups/figures.ts";
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

const MEASURE_OF: Readonly<Record<CallCount, CallMeasure | null>> = {
  ended: null,
  failed: "FAILED",
  denied: "DENIED",
  asked: "ASKED",
  executed: "EXECUTED",
  lastAt: "LAST_AT",
};
const PERCENTILES = ["P50", "P90", "P95", "P99"];
const OF_PERCENTILES = ["p50", "p90", "p95", "p99", "relativeError"];

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
  const hasPercentiles = OF_PERCENTILES.some((name) => selected.has(name));
  const needed = (field: string, measures: string): CallTimes["duration"] => {
    const [isSelected, isMeasured] = [selected.has(field), measure.startsWith(measures)];
    if ((isSelected && hasPercentiles) || (isMeasured && PERCENTILES.some((name) => measure.endsWith(name))))
      return "PERCENTILES";
    return isSelected || isMeasured ? "MEAN" : "NONE";
  };
  const grouping: CallGrouping = {
    by: [...new Set(by)],
    edges: selected.has("series") ? read.edges : null,
    order: { measure, direction: direction === "ASC" ? "asc" : "desc" },
    most,
    counts: new Set(CALL_COUNTS.filter((count) => needsCount(count, selected, measure))),
    times: { duration: needed("durationMs", "DURATION_"), waited: needed("waitedMs", "WAITED_") },
    hasTotal: selected.has("total"),
  };
  const within = auditFilter(context, filter ?? {});
  const bounded = { ...within, ...bothRanges(within, read) };
  const { groups, groupCount, total } = await context.expensive.run(context.actor, () =>
    callGroups(context.services.reads, bounded, grouping),
  );
  return { groups, groupCount, total, buckets: bucketsOf(read, now), asOf };
}

function needsCount(count: CallCount, selected: ReadonlySet<string>, measure: CallMeasure): boolean {
  const ofRate = count === "ended" || count === "failed";
  return (
    selected.has(count) ||
    measure === MEASURE_OF[count] ||
    (ofRate && (selected.has("failureRate") || measure === "FAILURE_RATE"))
  );
}
