import {
  distribution,
  NO_TIMES,
  timesNames,
  timesSql,
  type Distribution,
  type TimesRow,
} from "../../../db/groups/distribution.ts";

const COUNTS = [
  "approvals",
  "pending",
  "decided",
  "allowed",
  "denied",
  "edited",
  "expired",
  "sealed",
  "quick",
  "denied_then_allowed",
  "allowed_then_denied",
] as const;

/** The figures of the approvals of a group. */
export type ApprovalFigures = {
  readonly approvals: number;
  readonly pending: number;
  readonly decided: number;
  readonly allowed: number;
  readonly denied: number;
  readonly edited: number;
  readonly expired: number;
  readonly sealed: number;
  readonly quick: number;
  readonly deniedThenAllowed: number;
  readonly allowedThenDenied: number;
  /** From request to decision. */
  readonly decision: Distribution;
  readonly hoursWaited: number;
  /** Null if the groups are not of agents. */
  readonly agentHours: number | null;
};

export const NO_APPROVALS: ApprovalFigures = {
  approvals: 0,
  pending: 0,
  decided: 0,
  allowed: 0,
  denied: 0,
  edited: 0,
  expired: 0,
  sealed: 0,
  quick: 0,
  deniedThenAllowed: 0,
  allowedThenDenied: 0,
  decision: NO_TIMES,
  hoursWaited: 0,
  agentHours: null,
};

/** The aggregates of the figures. Rows without an id are turns. */
export function figuresSql(quickMs: string, hasPercentiles: boolean): string {
  const counted = (name: string, condition: string): string => `(count(id) FILTER (WHERE ${condition}))::int AS ${name}`;
  return [
    "count(id)::int AS approvals",
    counted("pending", "state = 'PENDING'"),
    counted("decided", "is_decided"),
    counted("allowed", "is_decided AND decision = 'ALLOW'"),
    counted("denied", "is_decided AND decision = 'DENY'"),
    counted("edited", "is_decided AND is_edited"),
    counted("expired", "state = 'EXPIRED'"),
    counted("sealed", "state IN ('SEALED', 'STALE')"),
    counted("quick", `is_decided AND decision_ms < ${quickMs}`),
    counted("denied_then_allowed", "state = 'DENIED' AND is_reversed"),
    counted("allowed_then_denied", "state = 'ALLOWED' AND is_reversed"),
    timesSql("decision", "decision_ms", "is_decided", hasPercentiles),
    "coalesce(sum(waited_ms), 0) / 3600000 AS hours_waited",
    "sum(turn_ms) / 3600000 AS agent_hours",
  ].join(", ");
}

export const FIGURE_NAMES = [...COUNTS, ...timesNames("decision"), "hours_waited", "agent_hours"];

export type FiguresRow = { readonly [Column in (typeof COUNTS)[number]]: number } & TimesRow<"decision"> & {
    readonly hours_waited: number;
    readonly agent_hours: number | null;
  };

export function figuresOf(row: FiguresRow): ApprovalFigures {
  const { approvals, pending, decided, allowed, denied, edited, expired, sealed, quick } = row;
  return {
    approvals,
    pending,
    decided,
    allowed,
    denied,
    edited,
    expired,
    sealed,
    quick,
    deniedThenAllowed: row.denied_then_allowed,
    allowedThenDenied: row.allowed_then_denied,
    decision: distribution(row.decision_count, row.decision_mean, row.decision_most, row.decision_percentiles),
    hoursWaited: row.hours_waited,
    agentHours: row.agent_hours,
  };
}

/** The figures by which groups are sorted. Groups without one come last. */
export const APPROVAL_MEASURES = {
  APPROVALS: "approvals",
  DECIDED: "decided",
  DENIED: "denied",
  EXPIRED: "expired",
  QUICK: "quick",
  DENIED_SHARE: "denied::float8 / nullif(decided, 0)",
  EDITED_SHARE: "edited::float8 / nullif(decided, 0)",
  DECISION_MEAN: "decision_mean",
  DECISION_P50: "decision_percentiles[1]",
  DECISION_P95: "decision_percentiles[3]",
  HOURS_WAITED: "hours_waited",
} as const;

export type ApprovalMeasure = keyof typeof APPROVAL_MEASURES;
