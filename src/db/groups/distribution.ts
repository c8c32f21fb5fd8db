/** Times in ms. All but `count` are null if there are none. */
export type Distribution = {
  readonly count: number;
  readonly mean: number | null;
  readonly most: number | null;
  /** p50, p90, p95 and p99; null also if they were not requested. */
  readonly percentiles: readonly number[] | null;
  /** Of the percentiles; 0 if they are exact. */
  readonly relativeError: number;
};

export const NO_TIMES: Distribution = { count: 0, mean: null, most: null, percentiles: null, relativeError: 0 };

export const PERCENTILES = [0.5, 0.9, 0.95, 0.99] as const;

/** The aggregates of the times in `column` of the rows of the condition. Percentiles sort all times. */
export function timesSql(name: string, column: string, condition: string, hasPercentiles: boolean): string {
  const filter = `FILTER (WHERE ${condition})`;
  const percentiles = hasPercentiles
    ? `percentile_cont(ARRAY[${PERCENTILES.join(", ")}]::float8[]) WITHIN GROUP (ORDER BY ${column}) ${filter}`
    : "NULL::float8[]";
  return `(count(${column}) ${filter})::int AS ${name}_count, avg(${column}) ${filter} AS ${name}_mean, max(${column}) ${filter} AS ${name}_most, ${percentiles} AS ${name}_percentiles`;
}

export function timesNames(name: string): readonly string[] {
  return ["count", "mean", "most", "percentiles"].map((part) => `${name}_${part}`);
}

/** The columns of `timesSql`. */
export type TimesRow<Name extends string> = { readonly [Column in `${Name}_count`]: number } & {
  readonly [Column in `${Name}_mean` | `${Name}_most`]: number | null;
} & { readonly [Column in `${Name}_percentiles`]: readonly (number | null)[] | null };

export function distribution(
  count: number,
  mean: number | null,
  most: number | null,
  percentiles: readonly (number | null)[] | null,
): Distribution {
  if (count === 0) return NO_TIMES;
  return { count, mean, most, percentiles: percentiles?.flatMap((value) => value ?? []) ?? null, relativeError: 0 };
}
