import {
  distribution,
  NO_TIMES,
  timesNames,
  timesSql,
  type Distribution,
  type TimesRow,
} from "../../../../db/groups/distribution.ts";

/** The figures of the calls of a group. */
export type CallFigures = {
  readonly calls: number;
  readonly ended: number;
  readonly failed: number;
  readonly denied: number;
  readonly asked: number;
  readonly executed: number;
  /** The time of the newest call. */
  readonly lastAt: Date | null;
  /** Run times of the calls that ran and have ended. */
  readonly duration: Distribution;
  /** Times of the calls that waited for people. */
  readonly waited: Distribution;
};

export const NO_CALLS: CallFigures = {
  calls: 0,
  ended: 0,
  failed: 0,
  denied: 0,
  asked: 0,
  executed: 0,
  lastAt: null,
  duration: NO_TIMES,
  waited: NO_TIMES,
};

/** The times that one answer needs. Percentiles of rows sort all times; sums of counters take half of a query. */
export type CallTimes = { readonly [Of in "duration" | "waited"]: "NONE" | "MEAN" | "PERCENTILES" };

/** The figures that are neither the number of calls nor times. */
export const CALL_COUNTS = ["ended", "failed", "denied", "asked", "executed", "lastAt"] as const;
export type CallCount = (typeof CALL_COUNTS)[number];

/** The figures that one answer needs: of counters each takes its share of the time. */
export type CallNeeds = { readonly counts: ReadonlySet<CallCount>; readonly times: CallTimes };

export const ENDED = "state IN ('COMPLETED', 'FAILED', 'DENIED', 'SEALED')";

/** The aggregates of the figures, over rows of `audit_call`. */
export function figuresSql({ duration, waited }: CallTimes): string {
  return `count(*)::int AS calls, (count(*) FILTER (WHERE ${ENDED}))::int AS ended, (count(*) FILTER (WHERE state = 'FAILED'))::int AS failed,
      (count(*) FILTER (WHERE state = 'DENIED'))::int AS denied, (count(*) FILTER (WHERE verdict = 'ask'))::int AS asked, (count(*) FILTER (WHERE has_run))::int AS executed,
      max(created_at) AS last_at, ${timesSql("duration", "duration_ms", "has_run", duration === "PERCENTILES")}, ${timesSql("waited", "waited_ms", "true", waited === "PERCENTILES")}`;
}

export const FIGURE_NAMES = [
  "calls",
  "ended",
  "failed",
  "denied",
  "asked",
  "executed",
  "last_at",
  ...timesNames("duration"),
  ...timesNames("waited"),
];

export type FiguresRow = {
  readonly [Column in "calls" | "ended" | "failed" | "denied" | "asked" | "executed"]: number;
} & { readonly last_at: Date | null } & TimesRow<"duration"> &
  TimesRow<"waited">;

export function figuresOf(row: FiguresRow): CallFigures {
  const { calls, ended, failed, denied, asked, executed } = row;
  return {
    calls,
    ended,
    failed,
    denied,
    asked,
    executed,
    lastAt: row.last_at,
    duration: distribution(row.duration_count, row.duration_mean, row.duration_most, row.duration_percentiles),
    waited: distribution(row.waited_count, row.waited_mean, row.waited_most, row.waited_percentiles),
  };
}

/** The figures by which groups are sorted, over the columns of `figuresSql`. Groups without one come last. */
export const CALL_MEASURES = {
  CALLS: "calls",
  FAILED: "failed",
  FAILURE_RATE: "failed::float8 / nullif(ended, 0)",
  DENIED: "denied",
  ASKED: "asked",
  EXECUTED: "executed",
  LAST_AT: "last_at",
  DURATION_MEAN: "duration_mean",
  DURATION_P50: "duration_percentiles[1]",
  DURATION_P95: "duration_percentiles[3]",
  DURATION_P99: "duration_percentiles[4]",
  WAITED_MEAN: "waited_mean",
  WAITED_P95: "waited_percentiles[3]",
} as const;

export type CallMeasure = keyof typeof CALL_MEASURES;
