import { distribution, PERCENTILES, type Distribution } from "../../../../db/groups/distribution.ts";
import { classSql, percentilesOf, percentileSql, RELATIVE_ERROR, sentSql } from "../../../../db/groups/duration-classes.ts";
import type { GroupedSource, Grouping } from "../../../../db/groups/grouped-rows.ts";
import { countersOf, QUARTERS, uncounted } from "../counts.ts";
import { BEHIND, conditions, CURRENT, type AuditFilter, type Parameters } from "../rows.ts";
import { CALL_DIMENSIONS, type CallDimension } from "./dimensions.ts";
import {
  CALL_MEASURES,
  ENDED,
  type CallCount,
  type CallFigures,
  type CallMeasure,
  type CallNeeds,
  type CallTimes,
} from "./figures.ts";

const COUNTED_DIMENSIONS = new Set<CallDimension>(["TOOL", "TEMPLATE", "STATE", "VERDICT"]);

const KEYS = "name, template_id, state, verdict, created_at";
const KEYS_OF_COUNTER = `name, template_id, state, nullif(verdict, '') AS verdict, ${QUARTERS.column} AS created_at`;

/** A column of a call and of a counter, and the aggregate that adds both up under the same name. */
type Added = { readonly name: string; readonly ofCall: string; readonly ofCounter: string; readonly total: string };

const whole = (name: string, ofCall: string, ofCounter: string): Added => {
  return { name, ofCall: `(${ofCall})::int`, ofCounter, total: `coalesce(sum(${name}), 0)::int` };
};
const sum = (name: string, ofCall: string, ofCounter: string): Added => ({ name, ofCall, ofCounter, total: `sum(${name})` });
const most = (name: string, ofCall: string, ofCounter: string): Added => ({ name, ofCall, ofCounter, total: `max(${name})` });
const unread = (name: string, value = "NULL::numeric"): Added => ({ name, ofCall: value, ofCounter: value, total: value });

/** Counted calls have ended. All but their number is read only if the answer needs it. */
function added({ counts, times: { duration, waited } }: CallNeeds): readonly Added[] {
  const needed = (count: CallCount, read: Added): Added => (counts.has(count) ? read : unread(read.name, "0"));
  const ran = "CASE WHEN has_run THEN duration_ms END";
  return [
    whole("calls", "true", "calls"),
    needed("ended", whole("ended", ENDED, "calls")),
    needed("failed", whole("failed", "state = 'FAILED'", "CASE WHEN state = 'FAILED' THEN calls ELSE 0 END")),
    needed("denied", whole("denied", "state = 'DENIED'", "CASE WHEN state = 'DENIED' THEN calls ELSE 0 END")),
    needed("asked", whole("asked", "verdict IS NOT DISTINCT FROM 'ask'", "CASE WHEN verdict = 'ask' THEN calls ELSE 0 END")),
    needed("executed", whole("executed", "has_run", "executed")),
    counts.has("lastAt") ? most("last_at", "created_at", "last_at") : unread("last_at", "NULL::timestamptz"),
    ...times("duration", duration, ran, { count: "timed", sum: "sum_ms", most: "most_ms", classes: "durations" }),
    ...times("waited", waited, "waited_ms", { count: "waited", sum: "waited_ms", most: "most_waited_ms", classes: "waits" }),
  ];
}

function times(
  name: "duration" | "waited",
  needed: CallTimes["duration"],
  ofCall: string,
  ofCounter: { readonly [Part in "count" | "sum" | "most" | "classes"]: string },
): readonly Added[] {
  const classes = `${name}_classes`;
  if (needed === "NONE") return [unread(`${name}_count`, "0"), unread(`${name}_sum`), unread(`${name}_most`), unread(classes)];
  return [
    whole(`${name}_count`, `${ofCall} IS NOT NULL`, ofCounter.count),
    sum(`${name}_sum`, ofCall, ofCounter.sum),
    most(`${name}_most`, ofCall, ofCounter.most),
    needed === "PERCENTILES" ? sum(classes, classSql(ofCall), ofCounter.classes) : unread(classes),
  ];
}

export type CountedRow = {
  readonly [Column in "calls" | "ended" | "failed" | "denied" | "asked" | "executed"]: number;
} & { readonly last_at: Date | null } & TimesRow<"duration"> &
  TimesRow<"waited">;
type TimesRow<Name extends string> = { readonly [Column in `${Name}_count`]: number } & {
  readonly [Column in `${Name}_sum` | `${Name}_most`]: number | null;
} & { readonly [Column in `${Name}_classes`]: Uint8Array | null };

export function countedFiguresOf(row: CountedRow): CallFigures {
  const { calls, ended, failed, denied, asked, executed } = row;
  return {
    calls,
    ended,
    failed,
    denied,
    asked,
    executed,
    lastAt: row.last_at,
    duration: timesOf(row.duration_count, row.duration_sum, row.duration_most, row.duration_classes),
    waited: timesOf(row.waited_count, row.waited_sum, row.waited_most, row.waited_classes),
  };
}

function timesOf(count: number, sum: number | null, most: number | null, classes: Uint8Array | null): Distribution {
  const percentiles = classes === null || most === null ? null : percentilesOf(classes, count, most, PERCENTILES);
  const found = distribution(count, (sum ?? 0) / count, most, percentiles);
  return found.percentiles === null ? found : { ...found, relativeError: RELATIVE_ERROR };
}

const MEASURES: Readonly<Record<CallMeasure, string>> = {
  ...CALL_MEASURES,
  DURATION_MEAN: "duration_sum / nullif(duration_count, 0)",
  DURATION_P50: percentileSql("duration_classes", "duration_count", 0.5),
  DURATION_P95: percentileSql("duration_classes", "duration_count", 0.95),
  DURATION_P99: percentileSql("duration_classes", "duration_count", 0.99),
  WAITED_MEAN: "waited_sum / nullif(waited_count, 0)",
  WAITED_P95: percentileSql("waited_classes", "waited_count", 0.95),
};

/**
 * The groups from counters of whole quarters of an hour. Open calls and the ends of the range come from rows. Null if
 * counters do not distinguish the groups.
 */
export function fromCounters(
  filter: AuditFilter,
  { by, edges, counts, times: needed }: Grouping<CallDimension, CallMeasure> & CallNeeds,
  parameters: Parameters,
): GroupedSource<CallDimension, CallMeasure> | null {
  const isOfQuarters = (edges ?? []).slice(1, -1).every((edge) => edge % QUARTERS.ms === 0);
  if (!isOfQuarters || !by.every((dimension) => COUNTED_DIMENSIONS.has(dimension))) return null;
  const counters = countersOf(filter, parameters, QUARTERS);
  if (counters === null) return null;
  const where = conditions(filter, parameters);
  const columns = added({ counts, times: needed });
  const ofCall = `${KEYS}, ${columns.map(({ name, ofCall: sql }) => `${sql} AS ${name}`).join(", ")}`;
  const ofCounter = `${KEYS_OF_COUNTER}, ${columns.map(({ name, ofCounter: sql }) => `${sql} AS ${name}`).join(", ")}`;
  const names = columns.map(({ name }) => name);
  return {
    open: BEHIND,
    isKnown: "fold",
    found: [
      `SELECT ${ofCall} FROM fresh WHERE ${where}`,
      ...uncounted(filter, parameters, QUARTERS).map(
        (part) => `SELECT ${ofCall} FROM audit_call WHERE ${where} AND ${CURRENT} AND ${part}`,
      ),
      `SELECT ${ofCounter} FROM ${QUARTERS.table} WHERE ${counters}`,
    ],
    join: "",
    columns: names.map((name) => `c.${name}`),
    time: "c.created_at",
    dimensions: CALL_DIMENSIONS,
    having: "true",
    figures: columns.map(({ name, total }) => `${total} AS ${name}`).join(", "),
    areAdditive: true,
    names,
    sent: (name) => (name.endsWith("_classes") ? sentSql(name) : name),
    examples: "NULL::text AS call_id",
    actorKind: () => "NULL",
    measures: MEASURES,
  };
}
