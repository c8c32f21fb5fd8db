import {
  groupedSql,
  groupsOf,
  OF_ROWS,
  type Dimension,
  type Group,
  type GroupedRow,
  type GroupedSource,
  type Grouping,
  type Groups,
} from "../../../../db/groups/grouped-rows.ts";
import { plannedForValues, type Sql } from "../../../../db/sql.ts";
import { Parameters } from "../rows.ts";
import type { StepAuditFilter, TurnAuditFilter } from "../turn-page.ts";
import {
  NO_STEPS,
  NO_TURNS,
  STEP_FIGURE_NAMES,
  stepFiguresOf,
  stepFiguresSql,
  TURN_FIGURE_NAMES,
  turnFiguresOf,
  turnFiguresSql,
  type StepFigures,
  type StepFiguresRow,
  type TurnFigures,
  type TurnFiguresRow,
  type TurnPercentiles,
} from "./turn-figures.ts";
import { TURN_SOURCES } from "./turn-source.ts";

const SHARED = {
  TEMPLATE: { sql: "c.template_id", isNullable: false },
  AGENT: { sql: "c.agent_id", isNullable: false },
  ROOT_AGENT: { sql: "c.root_id", isNullable: false },
  REQUESTER: { sql: "c.requested_by", isNullable: false },
  ERROR_TYPE: { sql: "c.error_type", isNullable: true },
} as const satisfies Readonly<Record<string, Dimension>>;

/** The properties of steps by which groups are made, over a row `c` of `audit_step`. */
const STEP_DIMENSIONS = {
  ...SHARED,
  MODEL: { sql: "c.model", isNullable: false },
  STATE: { sql: "c.state::text", isNullable: false },
  STOP_REASON: { sql: "c.stop_reason", isNullable: true },
} as const satisfies Readonly<Record<string, Dimension>>;

/** The same of turns, over a row `c` of `audit_turn`. */
const TURN_DIMENSIONS = {
  ...SHARED,
  MODEL: { sql: "c.model", isNullable: true },
  REASON: { sql: "c.reason", isNullable: true },
} as const satisfies Readonly<Record<string, Dimension>>;

export type StepDimension = keyof typeof STEP_DIMENSIONS;
export type TurnDimension = keyof typeof TURN_DIMENSIONS;

const SPENT_MEASURES = {
  COST: "sum_cost_usd",
  UNPRICED_STEPS: "unpriced_steps",
  INPUT_TOKENS: "sum_input_tokens + sum_cache_read_tokens + sum_cache_write_tokens",
  OUTPUT_TOKENS: "sum_output_tokens",
  LAST_AT: "last_at",
  DURATION_MEAN: "duration_mean",
  DURATION_P50: "duration_percentiles[1]",
  DURATION_P95: "duration_percentiles[3]",
} as const;

/** The figures by which groups are sorted. Groups without one come last. */
const STEP_MEASURES = { STEPS: "steps", ABORTED: "aborted", ...SPENT_MEASURES } as const;
const TURN_MEASURES = {
  TURNS: "turns",
  FAILED: "failed",
  STEPS: "sum_steps",
  CALLS: "sum_calls",
  WAITED_MEAN: "waited_mean",
  ...SPENT_MEASURES,
} as const;

export type StepMeasure = keyof typeof STEP_MEASURES;
export type TurnMeasure = keyof typeof TURN_MEASURES;

export type StepGroup = Group<StepDimension, StepFigures>;
export type TurnGroup = Group<TurnDimension, TurnFigures>;

type OfSteps = Grouping<StepDimension, StepMeasure> & { readonly percentiles: TurnPercentiles };
type OfTurns = Grouping<TurnDimension, TurnMeasure> & { readonly percentiles: TurnPercentiles };

/** The kind of the requester that a group `t` has in common. */
const KIND = { columns: ["requested_by_kind"], examples: "min(requested_by_kind::text) AS requester_kind" };

function actorKind(dimension: StepDimension | TurnDimension): string {
  return dimension === "REQUESTER" ? "t.requester_kind" : "NULL";
}

const STEP_COLUMNS = [
  "agent_id",
  "state",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost_usd",
  "started_at",
  "duration_ms",
  "first_token_ms",
  ...KIND.columns,
];
const TURN_COLUMNS = [
  "agent_id",
  "reason",
  "steps",
  "calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost_usd",
  "unpriced",
  "started_at",
  "ended_at",
  "duration_ms",
  "waiting_ms",
  "first_token_ms",
  ...KIND.columns,
];
const KEYS = ["model", "template_id", "root_id", "requested_by", "error_type"];

/** The steps of the filter in groups, exact and in one snapshot. */
export async function stepGroups(
  reads: Sql,
  filter: StepAuditFilter,
  grouping: OfSteps,
): Promise<Groups<StepDimension, StepFigures>> {
  for (const rowsOf of TURN_SOURCES) {
    const parameters = new Parameters(filter.tenant);
    const source: GroupedSource<StepDimension, StepMeasure> = {
      ...rowsOf({ what: "step", filter }, [...STEP_COLUMNS, ...KEYS, "stop_reason"], parameters),
      ...OF_ROWS,
      join: "",
      columns: STEP_COLUMNS.map((name) => `c.${name}`),
      time: "c.started_at",
      dimensions: STEP_DIMENSIONS,
      having: "true",
      figures: stepFiguresSql(grouping.percentiles),
      names: STEP_FIGURE_NAMES,
      examples: KIND.examples,
      actorKind,
      measures: STEP_MEASURES,
    };
    const text = groupedSql(source, grouping, parameters);
    const rows = await reads.query<GroupedRow<StepFiguresRow>>(plannedForValues("step_groups", text), parameters.values);
    const found = groupsOf(rows, source, grouping, { figuresOf: stepFiguresOf, nothing: NO_STEPS });
    if (found !== null) return found;
  }
  return { groups: [], groupCount: 0, total: null };
}

/** The same of turns. */
export async function turnGroups(
  reads: Sql,
  filter: TurnAuditFilter,
  grouping: OfTurns,
): Promise<Groups<TurnDimension, TurnFigures>> {
  for (const rowsOf of TURN_SOURCES) {
    const parameters = new Parameters(filter.tenant);
    const source: GroupedSource<TurnDimension, TurnMeasure> = {
      ...rowsOf({ what: "turn", filter }, [...TURN_COLUMNS, ...KEYS], parameters),
      ...OF_ROWS,
      join: "",
      columns: TURN_COLUMNS.map((name) => `c.${name}`),
      time: "c.started_at",
      dimensions: TURN_DIMENSIONS,
      having: "true",
      figures: turnFiguresSql(grouping.percentiles),
      names: TURN_FIGURE_NAMES,
      examples: KIND.examples,
      actorKind,
      measures: TURN_MEASURES,
    };
    const text = groupedSql(source, grouping, parameters);
    const rows = await reads.query<GroupedRow<TurnFiguresRow>>(plannedForValues("turn_groups", text), parameters.values);
    const found = groupsOf(rows, source, grouping, { figuresOf: turnFiguresOf, nothing: NO_TURNS });
    if (found !== null) return found;
  }
  return { groups: [], groupCount: 0, total: null };
}
