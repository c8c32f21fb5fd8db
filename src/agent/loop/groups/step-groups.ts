import {
  distribution,
  NO_TIMES,
  timesNames,
  timesSql,
  type Distribution,
  type TimesRow,
} from "../../../db/groups/distribution.ts";
import {
  groupedSql,
  groupsOf,
  type Dimension,
  type Group,
  type GroupedRow,
  type GroupedSource,
  type Grouping,
  type Groups,
} from "../../../db/groups/grouped-rows.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";

/** The properties of steps by which groups are made, over a row `c`. */
export const STEP_DIMENSIONS = {
  MODEL: { sql: "c.model", isNullable: false },
  TEMPLATE: { sql: "c.template_id", isNullable: false },
  AGENT: { sql: "c.agent_id", isNullable: false },
  ROOT_AGENT: { sql: "c.root_id", isNullable: false },
  REQUESTER: { sql: "c.created_by", isNullable: false },
  STOP_REASON: { sql: "c.stop_reason", isNullable: true },
} as const satisfies Readonly<Record<string, Dimension>>;

export type StepDimension = keyof typeof STEP_DIMENSIONS;

/** The figures of the steps of a group. */
export type StepFigures = {
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Of the steps that have a cost. */
  readonly costUsd: number;
  /** Ended steps with tokens and without a cost. */
  readonly unpricedCalls: number;
  /** Times of the model calls that have ended. */
  readonly duration: Distribution;
};

export const NO_STEPS: StepFigures = {
  steps: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  unpricedCalls: 0,
  duration: NO_TIMES,
};

export const STEP_MEASURES = {
  STEPS: "steps",
  INPUT_TOKENS: "input_tokens + cache_read_tokens + cache_write_tokens",
  OUTPUT_TOKENS: "output_tokens",
  COST: "cost_usd",
  DURATION_MEAN: "duration_mean",
  DURATION_P50: "duration_percentiles[1]",
  DURATION_P95: "duration_percentiles[3]",
} as const;

export type StepMeasure = keyof typeof STEP_MEASURES;

/** Conditions of steps; null for none. */
export type GroupedSteps = {
  readonly tenant: string;
  /** The creators whose agents are visible. */
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly agentIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly models: readonly string[] | null;
  readonly createdBy: readonly string[] | null;
};

export type StepGrouping = Grouping<StepDimension, StepMeasure> & { readonly hasPercentiles: boolean };
export type StepGroup = Group<StepDimension, StepFigures>;

const SUMS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd"] as const;

type FiguresRow = { readonly [Column in (typeof SUMS)[number] | "steps" | "unpriced_calls"]: number } & TimesRow<"duration">;

/** The model calls of the conditions in groups, in one snapshot. Each counts once: copies that forks have are left out. */
export async function stepGroups(
  reads: Sql,
  filter: GroupedSteps,
  grouping: StepGrouping,
): Promise<Groups<StepDimension, StepFigures>> {
  const values: unknown[] = [filter.tenant];
  const add = (value: unknown): string => `$${values.push(value)}`;
  const sums = SUMS.map((name) => `coalesce(sum(${name}), 0)::float8 AS ${name}`);
  const source: GroupedSource<StepDimension, StepMeasure> = {
    open: [],
    isKnown: "(SELECT) one",
    found: `SELECT s.*, a.template_id, coalesce(a.root_id, a.id) AS root_id, a.created_by,
      extract(epoch FROM s.completed_at - s.started_at)::float8 * 1000 AS duration_ms
      FROM step s JOIN agent a ON a.id = s.agent_id WHERE ${conditions(filter, add).join(" AND ")}`,
    join: "",
    columns: ["agent_id", ...SUMS, "duration_ms"].map((name) => `c.${name}`),
    time: "c.started_at",
    dimensions: STEP_DIMENSIONS,
    having: "true",
    figures: [
      "count(*)::int AS steps",
      ...sums,
      "(count(*) FILTER (WHERE input_tokens IS NOT NULL AND cost_usd IS NULL))::int AS unpriced_calls",
      timesSql("duration", "duration_ms", "true", grouping.hasPercentiles),
    ].join(", "),
    names: ["steps", ...SUMS, "unpriced_calls", ...timesNames("duration")],
    examples: "min(agent_id) AS one_agent",
    actorKind: (dimension) =>
      dimension === "REQUESTER" ? "(SELECT a.created_by_kind::text FROM agent a WHERE a.id = t.one_agent)" : "NULL",
    measures: STEP_MEASURES,
  };
  const text = groupedSql(source, grouping, { values, add });
  const rows = await reads.query<GroupedRow<FiguresRow>>(plannedForValues("step_groups", text), values);
  const found = groupsOf(rows, source, grouping, { figuresOf, nothing: NO_STEPS });
  return found ?? { groups: [], groupCount: 0, total: null };
}

function figuresOf(row: FiguresRow): StepFigures {
  return {
    steps: row.steps,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    costUsd: row.cost_usd,
    unpricedCalls: row.unpriced_calls,
    duration: distribution(row.duration_count, row.duration_mean, row.duration_most, row.duration_percentiles),
  };
}

function conditions(filter: GroupedSteps, add: (value: unknown) => string): readonly string[] {
  const among = (column: string, values: readonly string[] | null): readonly string[] =>
    values === null ? [] : [`${column} = ANY (${add(values)}::text[])`];
  return [
    "s.tenant = $1",
    "a.tenant = $1",
    "s.copied_from IS NULL",
    ...(filter.from === null ? [] : [`s.started_at >= ${add(filter.from)}::timestamptz`]),
    ...(filter.to === null ? [] : [`s.started_at < ${add(filter.to)}::timestamptz`]),
    ...among("a.created_by", filter.visible),
    ...among("a.created_by", filter.createdBy),
    ...among("a.template_id", filter.templateIds),
    ...among("s.agent_id", filter.agentIds),
    ...among("s.model", filter.models),
  ];
}
