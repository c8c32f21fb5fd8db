import type { GraphQLResolveInfo } from "graphql";
import { readsTenant } from "../../agent/actors/actor.ts";
import {
  stepGroups,
  type StepDimension,
  type StepFigures,
  type StepGroup,
  type StepMeasure,
} from "../../agent/loop/groups/step-groups.ts";
import { rowId } from "../../lib/global-id.ts";
import { actorIds, type ActorNameOrId, namesIn } from "../actor.ts";
import { snapshotCursor } from "../agent.ts";
import { checkPage } from "../connection.ts";
import type { Context } from "../context.ts";
import { bucketsOf, DEFAULT_GROUPS, MOST_GROUPS, readRange, type GroupRange, type TimeBucket } from "./buckets.ts";
import { selectedBelow } from "./selected.ts";

export type StepGroupArguments = GroupRange & {
  readonly by: readonly StepDimension[];
  readonly filter?:
    | {
        readonly agentIds?: readonly string[] | null | undefined;
        readonly templateIds?: readonly string[] | null | undefined;
        readonly models?: readonly string[] | null | undefined;
        readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
      }
    | null
    | undefined;
  readonly orderBy?: { readonly measure: StepMeasure; readonly direction: "ASC" | "DESC" } | null | undefined;
  readonly first?: number | null | undefined;
};

export type StepGroupsAnswer = {
  readonly groups: readonly StepGroup[];
  readonly groupCount: number;
  readonly total: StepFigures | null;
  readonly buckets: readonly TimeBucket[];
  readonly asOf: string;
};

/** The model calls of the agents that the actor may see, in groups. Only selected figures are computed. */
export async function groupsOfSteps(
  context: Context,
  { by, filter, orderBy, first, ...range }: StepGroupArguments,
  info: GraphQLResolveInfo,
): Promise<StepGroupsAnswer> {
  checkPage({ first }, MOST_GROUPS);
  const most = first ?? DEFAULT_GROUPS;
  const asOf = await snapshotCursor(context);
  const now = new Date(Date.now() - context.services.clockSkew().ms);
  const read = readRange(range, most, now);
  const { measure, direction } = orderBy ?? { measure: "COST", direction: "DESC" };
  const selected = selectedBelow(info);
  const { actor, tenant, services } = context;
  const { agentIds, templateIds, models, createdBy } = filter ?? {};
  const conditions = {
    tenant,
    visible: readsTenant(actor) ? null : actor.roles.includes("user") ? [actor.id] : [],
    from: read.from,
    to: read.to,
    agentIds: agentIds?.map((id) => rowId("Agent", id)) ?? null,
    templateIds: templateIds ? namesIn(templateIds) : null,
    models: models ? namesIn(models) : null,
    createdBy: createdBy ? actorIds(createdBy) : null,
  };
  const found = await context.expensive.run(tenant, () =>
    stepGroups(services.reads, conditions, {
      by: [...new Set(by)],
      edges: selected.has("series") ? read.edges : null,
      order: { measure, direction: direction === "ASC" ? "asc" : "desc" },
      most,
      hasTotal: selected.has("total"),
      hasPercentiles:
        measure === "DURATION_P50" ||
        measure === "DURATION_P95" ||
        ["p50", "p90", "p95", "p99"].some((name) => selected.has(name)),
    }),
  );
  return { ...found, buckets: bucketsOf(read, now), asOf };
}
