import { Parameters } from "../../agent/calls/audit/rows.ts";
import { withReader } from "../../db/connections/reader-limits.ts";
import { plannedForValues, type Sql } from "../../db/sql.ts";
import type { Column } from "../../db/bi/view.ts";
import type { Export, Place } from "./export.ts";
import type { CellValue } from "./file-text.ts";
import type { KeyPlace, Subject } from "./subject.ts";
import { columnsOf, subjectOf } from "./subjects.ts";

/** The positions of the log that one statement reads. */
const POSITIONS = 5_000;
/** About the most bytes of texts that one statement returns. */
const TEXT_BYTES = 4_000_000;

export type ExportRow = { readonly place: Place; readonly values: readonly CellValue[] };

/** The next rows of an export. `end`: the place after all of them, and after rows that it does not have. */
export type RowsRead = { readonly rows: readonly ExportRow[]; readonly end: Place; readonly isLast: boolean };

type Found = { readonly [Column in `c${number}`]: CellValue } & {
  readonly at: Date | number;
  readonly place: string;
  readonly isRow: boolean | null;
  readonly isCut: boolean;
};

/** The place at which an export begins. */
export function firstPlace({ what, since }: Pick<Export, "what" | "since">, floor: number): Place {
  if (since !== null || subjectOf({ what }).byTime === null) return { kind: "POSITION", position: since ?? floor, after: null };
  return { kind: "KEY", at: "0001-01-01T00:00:00.000Z", id: "" };
}

/** The oldest position after which the rest of an export needs all events. */
export function neededPosition({ asOf }: Pick<Export, "asOf">, place: Place): number {
  return place.kind === "KEY" ? asOf : place.after === null ? place.position : place.position - 1;
}

/**
 * Reads the next rows of an export after a place, by keys, in one short statement. No snapshot stays open, and
 * a row keeps its place however often it is read.
 */
export async function readRows(reads: Sql, of: Export, place: Place, signal: AbortSignal): Promise<RowsRead> {
  const subject = subjectOf(of);
  const parameters = new Parameters(of.tenant);
  const columns = columnsOf(of);
  const end = place.kind === "KEY" ? null : Math.min(neededPosition(of, place) + POSITIONS, of.asOf);
  const keys =
    place.kind === "KEY"
      ? keysByTime(subject, of, place, parameters)
      : keysByPosition(subject, of, place, end ?? of.asOf, parameters);
  const known = of.hasTexts ? "k.size" : "0";
  const size = sizeSql(subject, of.hasTexts, columns);
  const values = columns.map(([, sql], index) => `(${sql}) AS c${index}`).join(", ");
  const { view, matches, mostRows, order } = subject;
  const groupBy = view.groupBy === undefined ? "" : ` GROUP BY ${view.groupBy}`;
  // A statement without large texts reads none that it does not return.
  const text = `WITH ${keys}, sized AS MATERIALIZED (
      SELECT k.*, (row_number() OVER w)::int AS nth, (count(*) OVER ())::int AS total, (sum(${known}) OVER w) - ${known} AS before FROM keys k WINDOW w AS (ORDER BY ${order})
    ), found AS (
      SELECT k.at, k.place, k.nth, k.total, r.*, ${size} AS size, sum(${size}) OVER (ORDER BY k.nth) AS running
      FROM sized k LEFT JOIN LATERAL (SELECT true AS "isRow", ${values} FROM ${view.tables} WHERE ${matches} AND ${view.of}.tenant = $1${groupBy} OFFSET 0) r
        ON k.unit NOT IN (SELECT l.unit FROM late l) WHERE k.before <= ${TEXT_BYTES}
    ), most AS (SELECT * FROM found WHERE nth <= ${mostRows} AND running - size <= ${TEXT_BYTES})
    SELECT m.*, m.total >= ${mostRows} OR m.total > (SELECT count(*) FROM most) AS "isCut" FROM most m ORDER BY m.nth`;
  const found = await withReader({ tenant: of.tenant, signal }, () =>
    reads.query<Found>(plannedForValues("read_export", text), parameters.values),
  );
  const places = found.map((row): Place => {
    if (row.at instanceof Date) return { kind: "KEY", at: row.at.toISOString(), id: row.place };
    return { kind: "POSITION", position: row.at, after: subject.afterAtPosition === null ? null : row.place };
  });
  const rows = found.flatMap((row, index): readonly ExportRow[] => {
    const own = places[index];
    return row.isRow !== true || own === undefined
      ? []
      : [{ place: own, values: columns.map((_column, c) => row[`c${c}`] ?? null) }];
  });
  const last = places.at(-1) ?? place;
  if (end === null) return { rows, end: last, isLast: found.length === 0 };
  const isCut = found[0]?.isCut === true;
  return { rows, end: isCut ? last : { kind: "POSITION", position: end, after: null }, isLast: !isCut && end === of.asOf };
}

/** The bytes of the texts of a row `r`. */
function sizeSql({ texts }: Subject, hasTexts: boolean, columns: readonly Column[]): string {
  const names = new Set(hasTexts ? texts?.columns.map(([name]) => name) : []);
  const bytes = columns.flatMap(([name], index) =>
    names.has(name) && index > 0 ? [`coalesce(octet_length(r.c${index}::text), 0)`] : [],
  );
  return bytes.length > 0 ? bytes.join(" + ") : "0";
}

/** Rows whose last event comes after `asOf` were not final then: the next export has them. */
function keysByTime(subject: Subject, { filter, asOf }: Export, place: KeyPlace, parameters: Parameters): string {
  if (subject.byTime === null) throw new Error("these rows have no order of time");
  const keys = subject.byTime({ filter, parameters }, place);
  return `keys AS MATERIALIZED (${keys} LIMIT ${subject.mostRows}), late AS MATERIALIZED (
      SELECT e.unit FROM (SELECT DISTINCT agent_id FROM keys) k CROSS JOIN LATERAL (
        SELECT ${subject.unitOfEvent} AS unit FROM event e WHERE e.agent_id = k.agent_id AND e.position > ${parameters.add(asOf)}::bigint${ofKinds(subject)} OFFSET 0) e
      WHERE e.unit IS NOT NULL)`;
}

function keysByPosition(
  subject: Subject,
  { filter }: Export,
  { position, after }: Place & { readonly kind: "POSITION" },
  end: number,
  parameters: Parameters,
): string {
  const first = `${parameters.add(position)}::bigint`;
  const isMore = after !== null && subject.afterAtPosition !== null;
  const seen = `SELECT ${subject.unitOfEvent} AS unit, e.agent_id, e.position::float8 AS at, e.at AS time${subject.factsOfEvent} FROM event e
        WHERE e.tenant = $1 AND e.position ${isMore ? ">=" : ">"} ${first} AND e.position <= ${parameters.add(end)}::bigint${ofKinds(subject)}`;
  const left = isMore ? ` WHERE k.at > ${first} OR ${subject.afterAtPosition?.(after, parameters)}` : "";
  const keys = `SELECT k.* FROM (${subject.bySeen({ filter, parameters })}) k${left} ORDER BY ${subject.order} LIMIT ${subject.mostRows}`;
  return `seen AS MATERIALIZED (${seen}), keys AS MATERIALIZED (${keys}), late AS (SELECT k.unit FROM keys k WHERE false)`;
}

function ofKinds({ kinds }: Subject): string {
  return kinds === null ? "" : ` AND e.kind IN (${kinds.map((kind) => `'${kind}'`).join(", ")})`;
}
