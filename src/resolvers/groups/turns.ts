import type { GraphQLResolveInfo } from "graphql";
import type { StepFigures, TurnFigures, TurnPercentiles } from "../../agent/calls/audit/groups/turn-figures.ts";
import {
  stepGroups,
  turnGroups,
  type StepDimension,
  type StepMeasure,
  type TurnDimension,
  type TurnMeasure,
} from "../../agent/calls/audit/groups/turn-groups.ts";
import type { Groups } from "../../db/groups/grouped-rows.ts";
import { snapshotCursor } from "../agent.ts";
import { checkPage } from "../connection.ts";
import type { Context } from "../context.ts";
import { stepAuditFilter, turnAuditFilter, type StepFilter, type TurnFilter } from "../turns/turn-audit.ts";
import { bothRanges, bucketsOf, DEFAULT_GROUPS, MOST_GROUPS, readRange, type GroupRange, type TimeBucket } from "./buckets.ts";
import { selectedBelow } from "./selected.ts";

type GroupArguments<Dimension, Measure, Filter> = GroupRange & {
  readonly by: readonly Dimension[];
  readonly filter?: Filter | null | undefined;
  readonly orderBy?: { readonly measure: Measure; readonly direction: "ASC" | "DESC" } | null | undefined;
  readonly first?: number | null | undefined;
};

type Answer<Dimension extends string, Figures> = Groups<Dimension, Figures> & {
  readonly buckets: readonly TimeBucket[];
  readonly asOf: string;
};
export type StepGroupsAnswer = Answer<StepDimension, StepFigures>;
export type TurnGroupsAnswer = Answer<TurnDimension, TurnFigures>;

/** The steps that the actor may see, in groups. Only selected figures are computed. */
export async function groupsOfSteps(
  context: Context,
  args: GroupArguments<StepDimension, StepMeasure, StepFilter>,
  info: GraphQLResolveInfo,
): Promise<StepGroupsAnswer> {
  const within = stepAuditFilter(context, args.filter ?? {});
  return answered(context, args, info, "STEPS", within, (filter, grouping) =>
    stepGroups(context.services.reads, filter, grouping),
  );
}

/** The same of turns. */
export async function groupsOfTurns(
  context: Context,
  args: GroupArguments<TurnDimension, TurnMeasure, TurnFilter>,
  info: GraphQLResolveInfo,
): Promise<TurnGroupsAnswer> {
  const within = turnAuditFilter(context, args.filter ?? {});
  return answered(context, args, info, "TURNS", within, (filter, grouping) =>
    turnGroups(context.services.reads, filter, grouping),
  );
}

type Asked<Dimension, Measure> = {
  readonly by: readonly Dimension[];
  readonly edges: readonly number[] | null;
  readonly order: { readonly measure: Measure; readonly direction: "asc" | "desc" };
  readonly most: number;
  readonly hasTotal: boolean;
  readonly percentiles: TurnPercentiles;
};

async function answered<
  Dimension extends string,
  Measure extends string,
  Within extends { readonly from: Date | null; readonly to: Date | null },
  Figures,
>(
  context: Context,
  { by, orderBy, first, from, to, bucket }: GroupArguments<Dimension, Measure, unknown>,
  info: GraphQLResolveInfo,
  usual: Measure,
  within: Within,
  read: (filter: Within, grouping: Asked<Dimension, Measure>) => Promise<Groups<Dimension, Figures>>,
): Promise<Answer<Dimension, Figures>> {
  checkPage({ first }, MOST_GROUPS);
  const most = first ?? DEFAULT_GROUPS;
  const asOf = await snapshotCursor(context);
  const now = new Date(Date.now() - context.services.clockSkew().ms);
  const range = readRange({ from, to, bucket }, most, now);
  const { measure, direction } = orderBy ?? { measure: usual, direction: "DESC" };
  const selected = selectedBelow(info);
  const hasPercentiles = ["p50", "p90", "p95", "p99"].some((name) => selected.has(name));
  const grouping: Asked<Dimension, Measure> = {
    by: [...new Set(by)],
    edges: selected.has("series") ? range.edges : null,
    order: { measure, direction: direction === "ASC" ? "asc" : "desc" },
    most,
    hasTotal: selected.has("total"),
    percentiles: {
      duration: measure.startsWith("DURATION_P") || (hasPercentiles && selected.has("durationMs")),
      waited: hasPercentiles && selected.has("waitingMs"),
      firstToken: hasPercentiles && selected.has("firstTokenMs"),
    },
  };
  const filter = { ...within, ...bothRanges(within, range) };
  const found = await context.expensive.run(context.actor, () => read(filter, grouping));
  return { ...found, buckets: bucketsOf(range, now), asOf };
}
