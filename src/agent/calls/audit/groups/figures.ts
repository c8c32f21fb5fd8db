/** Times in ms of the calls of a group that have one. All but `count` are null if there are none. */
export type Distribution = {
  readonly count: number;
  readonly mean: number | null;
  readonly most: number | null;
  /** p50, p90, p95 and p99; null also if they were not requested. */
  readonly percentiles: readonly number[] | null;
};

/** The figures of the calls of a group. */
export type CallFigures = {
  readonly calls: number;
  readonly ended: number;
  readonly failed: number;
  readonly denied: number;
  readonly asked: number;
  readonly executed: number;
  /** Run times of the calls that ran and have ended. */
  readonly duration: Distribution;
  /** Times of the calls that waited for people. */
  readonly waited: Distribution;
};

export const NO_TIMES: Distribution = { count: 0, mean: null, most: null, percentiles: null };
export const NO_CALLS: CallFigures = {
  calls: 0,
  ended: 0,
  failed: 0,
  denied: 0,
  asked: 0,
  executed: 0,
  duration: NO_TIMES,
  waited: NO_TIMES,
};

/** The percentiles that one answer needs: each sorts all of its times. */
export type Percentiles = { readonly duration: boolean; readonly waited: boolean };

export const PERCENTILES = [0.5, 0.9, 0.95, 0.99] as const;

const ENDED = "state IN ('COMPLETED', 'FAILED', 'DENIED', 'SEALED')";

function times(name: string, column: string, condition: string, hasPercentiles: boolean): string {
  const filter = `FILTER (WHERE ${condition})`;
  const percentiles = hasPercentiles
    ? `percentile_cont(ARRAY[${PERCENTILES.join(", ")}]::float8[]) WITHIN GROUP (ORDER BY ${column}) ${filter}`
    : "NULL::float8[]";
  return `(count(${column}) ${filter})::int AS ${name}_count, avg(${column}) ${filter} AS ${name}_mean, max(${column}) ${filter} AS ${name}_most, ${percentiles} AS ${name}_percentiles`;
}

/** The aggregates of the figures, over rows of `audit_call`. */
export function figuresSql(percentiles: Percentiles): string {
  return `count(*)::int AS calls, (count(*) FILTER (WHERE ${ENDED}))::int AS ended, (count(*) FILTER (WHERE state = 'FAILED'))::int AS failed,
      (count(*) FILTER (WHERE state = 'DENIED'))::int AS denied, (count(*) FILTER (WHERE verdict = 'ask'))::int AS asked, (count(*) FILTER (WHERE has_run))::int AS executed,
      ${times("duration", "duration_ms", "has_run", percentiles.duration)}, ${times("waited", "waited_ms", "true", percentiles.waited)}`;
}

type TimesRow<Name extends string> = {
  readonly [Column in `${Name}_count`]: number;
} & { readonly [Column in `${Name}_mean` | `${Name}_most`]: number | null } & {
  readonly [Column in `${Name}_percentiles`]: readonly (number | null)[] | null;
};
export type FiguresRow = {
  readonly [Column in "calls" | "ended" | "failed" | "denied" | "asked" | "executed"]: number;
} & TimesRow<"duration"> &
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
    duration: distribution(row.duration_count, row.duration_mean, row.duration_most, row.duration_percentiles),
    waited: distribution(row.waited_count, row.waited_mean, row.waited_most, row.waited_percentiles),
  };
}

function distribution(
  count: number,
  mean: number | null,
  most: number | null,
  percentiles: readonly (number | null)[] | null,
): Distribution {
  if (count === 0) return NO_TIMES;
  return { count, mean, most, percentiles: percentiles?.flatMap((value) => value ?? []) ?? null };
}

/** The figures by which groups are sorted, each with its SQL over the columns of `figuresSql`. Groups without one come last. */
export const CALL_MEASURES = {
  CALLS: { sql: "calls", needs: null },
  FAILED: { sql: "failed", needs: null },
  FAILURE_RATE: { sql: "failed::float8 / nullif(ended, 0)", needs: null },
  DENIED: { sql: "denied", needs: null },
  ASKED: { sql: "asked", needs: null },
  EXECUTED: { sql: "executed", needs: null },
  DURATION_MEAN: { sql: "duration_mean", needs: null },
  DURATION_P50: { sql: "duration_percentiles[1]", needs: "duration" },
  DURATION_P95: { sql: "duration_percentiles[3]", needs: "duration" },
  DURATION_P99: { sql: "duration_percentiles[4]", needs: "duration" },
  WAITED_MEAN: { sql: "waited_mean", needs: null },
  WAITED_P95: { sql: "waited_percentiles[3]", needs: "waited" },
} as const satisfies Readonly<Record<string, { readonly sql: string; readonly needs: keyof Percentiles | null }>>;

export type CallMeasure = keyof typeof CALL_MEASURES;
