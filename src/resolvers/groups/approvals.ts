import type { GraphQLResolveInfo } from "graphql";
import { readsTenant } from "../../agent/actors/actor.ts";
import type { ApprovalDimension } from "../../agent/approvals/groups/dimensions.ts";
import type { ApprovalFigures, ApprovalMeasure } from "../../agent/approvals/groups/figures.ts";
import { approvalGroups, type ApprovalGroup } from "../../agent/approvals/groups/groups.ts";
import type { GroupedApprovals } from "../../agent/approvals/groups/rows.ts";
import { rowId } from "../../lib/global-id.ts";
import { zoneInSql } from "../../lib/time.ts";
import { actorIds, namesIn } from "../actor.ts";
import { snapshotCursor } from "../agent.ts";
import { checkPage } from "../connection.ts";
import { clientError, type Context } from "../context.ts";
import type { ApprovalFilter } from "../inbox.ts";
import {
  bothRanges,
  bucketsOf,
  checkZoneOfDatabase,
  DEFAULT_GROUPS,
  MOST_GROUPS,
  readRange,
  type GroupRange,
  type TimeBucket,
} from "./buckets.ts";
import { selectedBelow } from "./selected.ts";

export type ApprovalGroupArguments = GroupRange & {
  readonly by: readonly ApprovalDimension[];
  readonly filter?: ApprovalFilter | null | undefined;
  readonly orderBy?: { readonly measure: ApprovalMeasure; readonly direction: "ASC" | "DESC" } | null | undefined;
  readonly first?: number | null | undefined;
  readonly quickMs?: number | null | undefined;
  readonly timeZone?: string | null | undefined;
};

export type ApprovalGroupsAnswer = {
  readonly groups: readonly ApprovalGroup[];
  readonly groupCount: number;
  readonly total: ApprovalFigures | null;
  readonly buckets: readonly TimeBucket[];
  readonly asOf: string;
};

export const QUICK_MS = 3_000;

/** The approvals that the actor may see, in groups. Only selected figures are computed. */
export async function groupsOfApprovals(
  context: Context,
  { by, filter, orderBy, first, quickMs, timeZone, ...range }: ApprovalGroupArguments,
  info: GraphQLResolveInfo,
): Promise<ApprovalGroupsAnswer> {
  checkPage({ first }, MOST_GROUPS);
  const quick = quickMs ?? QUICK_MS;
  if (!(quick >= 0)) throw clientError("BAD_USER_INPUT", `\`quickMs\` must not be negative, but is ${quick}`);
  const zone = timeZone ?? "UTC";
  await checkZoneOfDatabase(context.services.reads, "timeZone", zone);
  const most = first ?? DEFAULT_GROUPS;
  const asOf = await snapshotCursor(context);
  const now = new Date(Date.now() - context.services.clockSkew().ms);
  const read = readRange(range, most, now);
  const { measure, direction } = orderBy ?? { measure: "APPROVALS", direction: "DESC" };
  const selected = selectedBelow(info);
  const grouping = {
    by: [...new Set(by)],
    edges: selected.has("series") ? read.edges : null,
    order: { measure, direction: direction === "ASC" ? ("asc" as const) : ("desc" as const) },
    most,
    hasTotal: selected.has("total"),
    hasPercentiles:
      measure === "DECISION_P50" || measure === "DECISION_P95" || ["p50", "p90", "p95", "p99"].some((name) => selected.has(name)),
    quickMs: quick,
    timeZone: zoneInSql(zone),
    has: {
      hoursWaited: measure === "HOURS_WAITED" || selected.has("hoursWaited"),
      agentHours: selected.has("agentHours") || selected.has("perAgentHour"),
      reversals: selected.has("deniedThenAllowed") || selected.has("allowedThenDenied"),
    },
  };
  const conditions = conditionsOf(context, filter ?? {});
  const bounded = { ...conditions, ...bothRanges(conditions, read) };
  const { groups, groupCount, total } = await context.expensive.run(context.actor, () =>
    approvalGroups(context.services.reads, bounded, grouping),
  );
  return { groups, groupCount, total, buckets: bucketsOf(read, now), asOf };
}

function conditionsOf({ actor, tenant, services }: Context, filter: ApprovalFilter): GroupedApprovals {
  const { states, kinds, risks, agentIds, templateIds, tools, createdBy, requestedBy } = filter;
  const { requested, decided, decidedBy, viewerSnoozed } = filter;
  return {
    tenant,
    visible: readsTenant(actor) ? null : actor.roles.includes("user") ? [actor.id] : [],
    from: requested?.from ?? null,
    to: requested?.to ?? null,
    states: states ?? null,
    kinds: kinds ?? null,
    risks: risks ? namesIn(risks) : null,
    agentIds: agentIds?.map((id) => rowId("Agent", id)) ?? null,
    templateIds: templateIds ? namesIn(templateIds) : null,
    tools: tools ? namesIn(tools) : null,
    createdBy: createdBy ? actorIds(createdBy) : null,
    requestedBy: requestedBy ? actorIds(requestedBy) : null,
    decidedBy: decidedBy ? actorIds(decidedBy) : null,
    decidedFrom: decided?.from ?? null,
    decidedTo: decided?.to ?? null,
    snoozed: typeof viewerSnoozed === "boolean" ? { by: actor.id, is: viewerSnoozed, at: services.clock.now() } : null,
  };
}
