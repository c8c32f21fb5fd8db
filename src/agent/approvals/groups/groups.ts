import {
  groupedSql,
  groupsOf,
  OF_ROWS,
  type Group,
  type GroupedRow,
  type GroupedSource,
  type Grouping,
  type Groups,
} from "../../../db/groups/grouped-rows.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { CREATOR_KIND, Parameters } from "../../calls/audit/rows.ts";
import { APPROVAL_DIMENSIONS, type ApprovalDimension } from "./dimensions.ts";
import {
  APPROVAL_MEASURES,
  FIGURE_NAMES,
  figuresOf,
  figuresSql,
  NO_APPROVALS,
  type ApprovalFigures,
  type ApprovalMeasure,
  type FiguresRow,
} from "./figures.ts";
import { DECISIONS, foundSql, msFrom, type FurtherReads, type GroupedApprovals } from "./rows.ts";

export type ApprovalGrouping = Grouping<ApprovalDimension, ApprovalMeasure> & {
  readonly hasPercentiles: boolean;
  /** Decisions within this time are quick, in ms. */
  readonly quickMs: number;
  /** Of the hours of the day. */
  readonly timeZone: string;
  readonly has: FurtherReads;
};
export type ApprovalGroup = Group<ApprovalDimension, ApprovalFigures>;
export type ApprovalGroups = Groups<ApprovalDimension, ApprovalFigures>;

/** The approvals of the conditions in groups, those of deleted agents among them, in one snapshot. */
export async function approvalGroups(reads: Sql, filter: GroupedApprovals, grouping: ApprovalGrouping): Promise<ApprovalGroups> {
  const parameters = new Parameters(filter.tenant);
  const isByDecider = grouping.by.includes("DECIDER");
  const own = ["id", "agent_id", "state", "is_reversed", "requested_at", "waited_ms", "turn_ms"].map((name) => `c.${name}`);
  const decision = ["is_decided", "decision", "is_edited"].map((name) => `${isByDecider ? "u" : "c"}.${name}`);
  const source: GroupedSource<ApprovalDimension, ApprovalMeasure> = {
    ...OF_ROWS,
    open: [],
    isKnown: "(SELECT) one",
    found: foundSql(filter, grouping, parameters),
    join: isByDecider ? `LEFT JOIN (${DECISIONS}) u ON u.approval_id = c.id AND u.is_deleted = c.is_deleted` : "",
    columns: [...own, ...decision, isByDecider ? `${msFrom("c.requested_at", "u.decided_at")} AS decision_ms` : "c.decision_ms"],
    time: "c.requested_at",
    dimensions: APPROVAL_DIMENSIONS,
    having: "count(id) > 0",
    figures: figuresSql(`${parameters.add(grouping.quickMs)}::float8`, grouping.hasPercentiles),
    names: FIGURE_NAMES,
    examples: "min(id) AS approval_id, min(agent_id) AS agent_id",
    actorKind,
    measures: APPROVAL_MEASURES,
  };
  const text = groupedSql(source, grouping, parameters);
  const rows = await reads.query<GroupedRow<FiguresRow>>(plannedForValues("approval_groups", text), parameters.values);
  const found = groupsOf(rows, source, grouping, { figuresOf, nothing: NO_APPROVALS });
  return found ?? { groups: [], groupCount: 0, total: null };
}

/** The kind of an actor, from one of the agents or approvals of the group `t`. */
function actorKind(dimension: ApprovalDimension, value: string): string {
  switch (dimension) {
    case "REQUESTER":
      return CREATOR_KIND;
    case "DECIDER":
      return `(SELECT d.actor_kind FROM (${DECISIONS}) d WHERE d.approval_id = t.approval_id AND d.actor_id = ${value} LIMIT 1)`;
    case "TOOL":
    case "HOST":
    case "KIND":
    case "STATE":
    case "RISK":
    case "TEMPLATE":
    case "AGENT":
    case "ROOT_AGENT":
    case "HOUR_OF_DAY":
      return "NULL";
  }
}
