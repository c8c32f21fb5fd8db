import type { GroupedSource, Grouping } from "../../../../db/groups/grouped-rows.ts";
import { countersOf, QUARTERS, uncounted } from "../counts.ts";
import { conditions, CURRENT, type AuditFilter, type Parameters } from "../rows.ts";
import { CALL_DIMENSIONS, type CallDimension } from "./dimensions.ts";
import { CALL_MEASURES, ENDED, FIGURE_NAMES, type CallMeasure, type Percentiles } from "./figures.ts";

const COUNTED_DIMENSIONS = new Set<CallDimension>(["TOOL", "TEMPLATE", "STATE", "VERDICT"]);

/** The same for a call as for the calls of a counter. */
const OF_CALL = `name, template_id, state, verdict, created_at, 1 AS calls, has_run::int AS executed, (has_run AND duration_ms IS NOT NULL)::int AS timed,
  CASE WHEN has_run THEN coalesce(duration_ms, 0) ELSE 0 END AS sum_ms, CASE WHEN has_run THEN duration_ms END AS most_ms,
  (waited_ms IS NOT NULL)::int AS waited, coalesce(waited_ms, 0) AS waited_ms, waited_ms AS most_waited_ms, created_at AS last_at`;
const OF_COUNTER =
  "name, template_id, state, nullif(verdict, ''), quarter, calls, executed, timed, sum_ms, most_ms, waited, waited_ms, most_waited_ms, last_at";

const sum = (column: string, condition = "true"): string => `coalesce(sum(${column}) FILTER (WHERE ${condition}), 0)::int`;
const times = (name: string, count: string, all: string, most: string): string =>
  [
    `${sum(count)} AS ${name}_count`,
    `sum(${all}) / nullif(sum(${count}), 0) AS ${name}_mean`,
    `max(${most}) AS ${name}_most`,
    `NULL::float8[] AS ${name}_percentiles`,
  ].join(", ");

const FIGURES = [
  `${sum("calls")} AS calls`,
  `${sum("calls", ENDED)} AS ended`,
  `${sum("calls", "state = 'FAILED'")} AS failed`,
  `${sum("calls", "state = 'DENIED'")} AS denied`,
  `${sum("calls", "verdict = 'ask'")} AS asked`,
  `${sum("executed")} AS executed`,
  "max(last_at) AS last_at",
  times("duration", "timed", "sum_ms", "most_ms"),
  times("waited", "waited", "waited_ms", "most_waited_ms"),
].join(", ");

/**
 * The groups from counters of whole quarters of an hour. Open calls and the ends of the range come from rows. Null if counters do not distinguish the groups, or do not have the figures.
 */
export function fromCounters(
  open: readonly string[],
  filter: AuditFilter,
  { by, edges, percentiles }: Grouping<CallDimension, CallMeasure> & { readonly percentiles: Percentiles },
  parameters: Parameters,
): GroupedSource<CallDimension, CallMeasure> | null {
  const isOfQuarters = (edges ?? []).slice(1, -1).every((edge) => edge % QUARTERS.ms === 0);
  if (percentiles.duration || percentiles.waited || !isOfQuarters) return null;
  if (!by.every((dimension) => COUNTED_DIMENSIONS.has(dimension))) return null;
  const counters = countersOf(filter, parameters, QUARTERS);
  if (counters === null) return null;
  const where = conditions(filter, parameters);
  return {
    open,
    isKnown: "fold",
    found: `SELECT ${OF_CALL} FROM fresh WHERE ${where}
      UNION ALL SELECT ${OF_CALL} FROM audit_call WHERE ${where} AND ${CURRENT} AND (${uncounted(filter, parameters, QUARTERS)})
      UNION ALL SELECT ${OF_COUNTER} FROM ${QUARTERS.table} WHERE ${counters}`,
    join: "",
    columns: [
      "state",
      "verdict",
      "calls",
      "executed",
      "timed",
      "sum_ms",
      "most_ms",
      "waited",
      "waited_ms",
      "most_waited_ms",
      "last_at",
    ].map((name) => `c.${name}`),
    time: "c.created_at",
    dimensions: CALL_DIMENSIONS,
    having: "true",
    figures: FIGURES,
    names: FIGURE_NAMES,
    examples: "NULL::text AS call_id",
    actorKind: () => "NULL",
    measures: CALL_MEASURES,
  };
}
