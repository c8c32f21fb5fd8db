import {
  distribution,
  NO_TIMES,
  timesNames,
  timesSql,
  type Distribution,
  type TimesRow,
} from "../../../../db/groups/distribution.ts";

/** Tokens and cost of the steps of a group. */
export type Spent = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Of the steps that have a price; `unpricedSteps` counts those that have none. */
  readonly costUsd: number;
  readonly unpricedSteps: number;
};

export type StepFigures = Spent & {
  readonly steps: number;
  readonly completed: number;
  readonly aborted: number;
  readonly lastAt: Date | null;
  /** Of completed steps. */
  readonly duration: Distribution;
  readonly firstToken: Distribution;
};

export type TurnFigures = Spent & {
  readonly turns: number;
  readonly ended: number;
  readonly failed: number;
  readonly interrupted: number;
  readonly steps: number;
  readonly calls: number;
  readonly lastAt: Date | null;
  /** Of ended turns. */
  readonly duration: Distribution;
  /** Of the turns that waited for people. */
  readonly waited: Distribution;
  readonly firstToken: Distribution;
};

const NOTHING_SPENT: Spent = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  unpricedSteps: 0,
};

export const NO_STEPS: StepFigures = {
  ...NOTHING_SPENT,
  steps: 0,
  completed: 0,
  aborted: 0,
  lastAt: null,
  duration: NO_TIMES,
  firstToken: NO_TIMES,
};

export const NO_TURNS: TurnFigures = {
  ...NOTHING_SPENT,
  turns: 0,
  ended: 0,
  failed: 0,
  interrupted: 0,
  steps: 0,
  calls: 0,
  lastAt: null,
  duration: NO_TIMES,
  waited: NO_TIMES,
  firstToken: NO_TIMES,
};

/** The percentiles that one answer needs: each sorts all of its times. */
export type TurnPercentiles = { readonly duration: boolean; readonly waited: boolean; readonly firstToken: boolean };

const SPENT = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd"] as const;
/** Other names than those of the columns: both are in one query. */
const SPENT_NAMES = [
  "sum_input_tokens",
  "sum_output_tokens",
  "sum_cache_read_tokens",
  "sum_cache_write_tokens",
  "sum_cost_usd",
  "unpriced_steps",
] as const;
const SPENT_SQL = SPENT.map((name) => `coalesce(sum(${name}), 0)::float8 AS sum_${name}`).join(", ");
const UNPRICED = "(count(*) FILTER (WHERE input_tokens IS NOT NULL AND cost_usd IS NULL))::int AS unpriced_steps";

type SpentRow = { readonly [Column in (typeof SPENT_NAMES)[number]]: number };

export function stepFiguresSql({ duration, firstToken }: TurnPercentiles): string {
  return `count(*)::int AS steps, (count(*) FILTER (WHERE state = 'COMPLETED'))::int AS completed, (count(*) FILTER (WHERE state = 'ABORTED'))::int AS aborted,
      max(started_at) AS last_at, ${SPENT_SQL}, ${UNPRICED}, ${timesSql("duration", "duration_ms", "state = 'COMPLETED'", duration)}, ${timesSql("first_token", "first_token_ms", "true", firstToken)}`;
}

export function turnFiguresSql({ duration, waited, firstToken }: TurnPercentiles): string {
  return `count(*)::int AS turns, count(ended_at)::int AS ended, (count(*) FILTER (WHERE reason = 'ERROR'))::int AS failed, (count(*) FILTER (WHERE reason = 'INTERRUPTED'))::int AS interrupted,
      coalesce(sum(steps), 0)::int AS sum_steps, coalesce(sum(calls), 0)::int AS sum_calls, max(started_at) AS last_at, ${SPENT_SQL}, coalesce(sum(unpriced), 0)::int AS unpriced_steps,
      ${timesSql("duration", "duration_ms", "true", duration)}, ${timesSql("waited", "waiting_ms", "waiting_ms > 0", waited)}, ${timesSql("first_token", "first_token_ms", "true", firstToken)}`;
}

export const STEP_FIGURE_NAMES = [
  "steps",
  "completed",
  "aborted",
  "last_at",
  ...SPENT_NAMES,
  ...timesNames("duration"),
  ...timesNames("first_token"),
];

export const TURN_FIGURE_NAMES = [
  "turns",
  "ended",
  "failed",
  "interrupted",
  "sum_steps",
  "sum_calls",
  "last_at",
  ...SPENT_NAMES,
  ...timesNames("duration"),
  ...timesNames("waited"),
  ...timesNames("first_token"),
];

export type StepFiguresRow = SpentRow & { readonly [Column in "steps" | "completed" | "aborted"]: number } & {
  readonly last_at: Date | null;
} & TimesRow<"duration"> &
  TimesRow<"first_token">;

export type TurnFiguresRow = SpentRow & {
  readonly [Column in "turns" | "ended" | "failed" | "interrupted" | "sum_steps" | "sum_calls"]: number;
} & { readonly last_at: Date | null } & TimesRow<"duration"> &
  TimesRow<"waited"> &
  TimesRow<"first_token">;

function spentOf(row: SpentRow): Spent {
  return {
    inputTokens: row.sum_input_tokens,
    outputTokens: row.sum_output_tokens,
    cacheReadTokens: row.sum_cache_read_tokens,
    cacheWriteTokens: row.sum_cache_write_tokens,
    costUsd: row.sum_cost_usd,
    unpricedSteps: row.unpriced_steps,
  };
}

export function stepFiguresOf(row: StepFiguresRow): StepFigures {
  const { steps, completed, aborted } = row;
  return {
    ...spentOf(row),
    steps,
    completed,
    aborted,
    lastAt: row.last_at,
    duration: distribution(row.duration_count, row.duration_mean, row.duration_most, row.duration_percentiles),
    firstToken: distribution(row.first_token_count, row.first_token_mean, row.first_token_most, row.first_token_percentiles),
  };
}

export function turnFiguresOf(row: TurnFiguresRow): TurnFigures {
  const { turns, ended, failed, interrupted, sum_steps: steps, sum_calls: calls } = row;
  return {
    ...spentOf(row),
    turns,
    ended,
    failed,
    interrupted,
    steps,
    calls,
    lastAt: row.last_at,
    duration: distribution(row.duration_count, row.duration_mean, row.duration_most, row.duration_percentiles),
    waited: distribution(row.waited_count, row.waited_mean, row.waited_most, row.waited_percentiles),
    firstToken: distribution(row.first_token_count, row.first_token_mean, row.first_token_most, row.first_token_percentiles),
  };
}
