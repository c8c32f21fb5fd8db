import { Parameters } from "../../agent/calls/audit/rows.ts";
import { withReader } from "../../db/connections/reader-limits.ts";
import { plannedForValues, type Sql } from "../../db/sql.ts";
import type { Export, Place } from "./export.ts";
import type { CellValue } from "./file-text.ts";
import { columnsOf, subjectOf, type Subject } from "./subjects.ts";

/** The positions of the log that one statement reads. */
const POSITIONS = 5_000;
/** About the most bytes of texts that one statement returns. */
const TEXT_BYTES = 4_000_000;

export type ExportRow = { readonly place: Place; readonly values: readonly CellValue[] };

/** The next rows of an export. `end`: the place after all of them, and after rows that it does not have. */
export type RowsRead = { readonly rows: readonly ExportRow[]; readonly end: Place; readonly isLast: boolean };

type Found = { readonly [Column in `c${number}`]: CellValue } & {
  readonly at: Date | number;
  readonly id: string;
  readonly isRow: boolean | null;
  readonly total: number;
};

/** The place at which an export begins. */
export function firstPlace({ what, since }: Pick<Export, "what" | "since">, floor: number): Place {
  if (since !== null || subjectOf({ what }).byTime === null) return { kind: "POSITION", position: since ?? floor };
  return { kind: "KEY", at: "0001-01-01T00:00:00.000Z", id: "" };
}

/** The oldest position whose events the rest of an export needs. */
export function neededPosition({ asOf }: Pick<Export, "asOf">, place: Place): number {
  return place.kind === "KEY" ? asOf : place.position;
}

/**
 * Reads the next rows of an export after a place, by keys, in one short statement. No snapshot stays open, and
 * a row keeps its place however often it is read.
 */
export async function readRows(reads: Sql, of: Export, place: Place, signal: AbortSignal): Promise<RowsRead> {
  const subject = subjectOf(of);
  const parameters = new Parameters(of.tenant);
  const columns = columnsOf(of);
  const texts = new Set(subject.texts.columns.map(([name]) => name));
  const bytes = columns.flatMap(([name], index) =>
    texts.has(name) && index > 0 ? [`coalesce(octet_length(r.c${index}::text), 0)`] : [],
  );
  const size = of.hasTexts && bytes.length > 0 ? bytes.join(" + ") : "0";
  const end = place.kind === "KEY" ? null : Math.min(place.position + POSITIONS, of.asOf);
  const keys = end === null ? keysByTime(subject, of, place, parameters) : keysByPosition(subject, of, place, end, parameters);
  const values = columns.map(([, sql], index) => `(${sql}) AS c${index}`).join(", ");
  const text = `WITH ${keys}, found AS (
      SELECT k.at, k.id::text AS id, r.*, (row_number() OVER w)::int AS nth, (count(*) OVER ())::int AS total, ${size} AS size, sum(${size}) OVER w AS running
      FROM keys k LEFT JOIN LATERAL (SELECT true AS "isRow", ${values} FROM ${subject.view.tables} WHERE ${subject.id} = k.id AND ${subject.view.of}.tenant = $1 OFFSET 0) r
        ON k.id NOT IN (SELECT l.id FROM late l) WINDOW w AS (ORDER BY k.at, k.id)
    ) SELECT * FROM found WHERE nth <= ${subject.mostRows} AND running - size <= ${TEXT_BYTES} ORDER BY nth`;
  const found = await withReader({ tenant: of.tenant, signal }, () =>
    reads.query<Found>(plannedForValues("read_export", text), parameters.values),
  );
  const places = found.map(({ at, id }): Place =>
    at instanceof Date ? { kind: "KEY", at: at.toISOString(), id } : { kind: "POSITION", position: at },
  );
  const rows = found.flatMap((row, index): readonly ExportRow[] => {
    const own = places[index];
    return row.isRow !== true || own === undefined
      ? []
      : [{ place: own, values: columns.map((_column, c) => row[`c${c}`] ?? null) }];
  });
  const isCut = found.length < (found[0]?.total ?? 0);
  const last = places.at(-1) ?? place;
  if (end === null) return { rows, end: last, isLast: !isCut && found.length < subject.mostRows };
  return { rows, end: isCut ? last : { kind: "POSITION", position: end }, isLast: !isCut && end === of.asOf };
}

/** Rows whose last event comes after `asOf` were not final then: the next export has them. */
function keysByTime(subject: Subject, { filter, asOf }: Export, place: Place, parameters: Parameters): string {
  if (place.kind !== "KEY" || subject.byTime === null) throw new Error("these rows have no order of time");
  const keys = subject.byTime({ filter, parameters }, parameters.add(place.at), parameters.add(place.id));
  return `keys AS MATERIALIZED (${keys} LIMIT ${subject.mostRows}), late AS MATERIALIZED (
      SELECT e.id FROM (SELECT DISTINCT agent_id FROM keys) k CROSS JOIN LATERAL (
        SELECT ${subject.idOfEvent} AS id FROM event e WHERE e.agent_id = k.agent_id AND e.position > ${parameters.add(asOf)}::bigint${ofKinds(subject)} OFFSET 0) e
      WHERE e.id IS NOT NULL)`;
}

function keysByPosition(subject: Subject, { filter }: Export, place: Place, end: number, parameters: Parameters): string {
  if (place.kind !== "POSITION") throw new Error("a place of time in an export by positions");
  const seen = `SELECT ${subject.idOfEvent} AS id, e.agent_id, e.position AS at, e.at AS time FROM event e
        WHERE e.tenant = $1 AND e.position > ${parameters.add(place.position)}::bigint AND e.position <= ${parameters.add(end)}::bigint${ofKinds(subject)}`;
  const found = `seen AS MATERIALIZED (${seen})`;
  const keys = `keys AS MATERIALIZED (SELECT k.id, k.at::float8 AS at FROM (${subject.bySeen({ filter, parameters })}) k)`;
  return `${found}, ${keys}, late AS (SELECT k.id FROM keys k WHERE false)`;
}

function ofKinds({ kinds }: Subject): string {
  return kinds === null ? "" : ` AND e.kind IN (${kinds.map((kind) => `'${kind}'`).join(", ")})`;
}
