import type { ExportState } from "../../db/commit/export-rows.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import type { JsonObject } from "../../lib/json.ts";
import { KEPT_DAYS, readFilter, type Export, type Place } from "./export.ts";
import type { Part } from "./part.ts";

type Row = Omit<Export, "filter" | "createdBy" | "place"> & {
  readonly filter: JsonObject;
  readonly place: StoredPlace | null;
  readonly createdById: string;
  readonly createdByKind: ActorRef["kind"];
  readonly state: ExportState;
};

/** A short form, whose text is compared. */
type StoredPlace = readonly ["KEY", string, string] | readonly ["POSITION", number, after?: string];

const FIND: Statement<Row, [id: string]> = {
  name: "find_export",
  text: `SELECT id, tenant, what, format, has_texts AS "hasTexts", filter, since::float8 AS since, as_of::float8 AS "asOf", state, place, parts, rows, created_by AS "createdById", created_by_kind AS "createdByKind"
    FROM export WHERE id = $1 AND (ended_at IS NULL OR ended_at > policy_time() - interval '${KEPT_DAYS} days')`,
};

export type StoredExport = Export & { readonly state: ExportState };

/** Null once its time is over, also if no sweep has removed it yet. */
export async function findExport(sql: Sql, id: string): Promise<StoredExport | null> {
  const [row] = await sql.query(FIND, [id]);
  if (row === undefined) return null;
  const { filter, place, createdById, createdByKind, ...rest } = row;
  return {
    ...rest,
    filter: readFilter(filter),
    place: place === null ? null : readPlace(place),
    createdBy: { id: createdById, kind: createdByKind },
  };
}

const KEEP: Statement<
  { due: string },
  [
    id: string,
    parts: number,
    placeBefore: string | null,
    placeAfter: string,
    rows: number,
    bytes: number,
    data: Uint8Array | null,
    leaseMs: number,
  ]
> = {
  name: "keep_export_part",
  text: `WITH moved AS (
      UPDATE export SET place = $4::json, rows = rows + $5::int, bytes = bytes + $6::bigint,
        parts = parts + ($7::bytea IS NOT NULL)::int, kept_bytes = kept_bytes + coalesce(octet_length($7::bytea), 0)
      WHERE id = $1 AND state = 'RUNNING' AND parts = $2 AND place::text IS NOT DISTINCT FROM $3::text RETURNING id, tenant
    ), kept AS (
      INSERT INTO export_part (tenant, export_id, part, bytes, data) SELECT tenant, id, $2::int, $6::int, $7::bytea FROM moved WHERE $7::bytea IS NOT NULL
    ) UPDATE wait w SET due = policy_time() + make_interval(secs => $8::float8 / 1000) FROM moved m
    WHERE w.ref = m.id AND w.kind = 'EXPORT' AND w.settled_at IS NULL RETURNING w.due::text AS due`,
};

/**
 * Keeps the next part, and holds the export's wait for its maker. Null if another server was first, or if the export has
 * ended: then it changes no row, and no row of the file comes twice.
 */
export async function keepPart(sql: Sql, of: Export, part: Part, leaseMs: number): Promise<{ readonly due: string } | null> {
  const before = of.place === null ? null : placeText(of.place);
  const values = [of.id, of.parts, before, placeText(part.end), part.rows, part.bytes, part.data, leaseMs] as const;
  const [kept] = await sql.query(KEEP, [...values]);
  return kept ?? null;
}

function placeText(place: Place): string {
  return JSON.stringify(storedPlace(place));
}

function storedPlace(place: Place): StoredPlace {
  if (place.kind === "KEY") return ["KEY", place.at, place.id];
  return place.after === null ? ["POSITION", place.position] : ["POSITION", place.position, place.after];
}

function readPlace(stored: StoredPlace): Place {
  if (stored[0] === "KEY") return { kind: "KEY", at: stored[1], id: stored[2] };
  return { kind: "POSITION", position: stored[1], after: stored[2] ?? null };
}

const REMOVE: Statement<object, [id: string]> = {
  name: "remove_export",
  text: `WITH parts AS (DELETE FROM export_part WHERE export_id = $1), gone AS (DELETE FROM export WHERE id = $1)
    DELETE FROM wait WHERE ref = $1 AND kind = 'EXPORT'`,
};

/** Removes an export with its file and its wait. */
export async function removeExport(sql: Sql, id: string): Promise<void> {
  await sql.query(REMOVE, [id]);
}

const KEPT: Statement<{ bytes: number }, [tenant: string]> = {
  name: "kept_export_bytes",
  text: "SELECT coalesce(sum(kept_bytes), 0)::float8 AS bytes FROM export WHERE tenant = $1",
};

/** The bytes that the files of a tenant's exports take, as they are kept. */
export async function keptBytes(sql: Sql, tenant: string): Promise<number> {
  const [row] = await sql.query(KEPT, [tenant]);
  return row?.bytes ?? 0;
}

const SIZES: Statement<{ bytes: number }, [id: string]> = {
  name: "read_export_sizes",
  text: "SELECT bytes FROM export_part WHERE export_id = $1 ORDER BY part",
};

/** The bytes of the text of each part. */
export async function partSizes(reads: Sql, id: string): Promise<readonly number[]> {
  return (await reads.query(SIZES, [id])).map(({ bytes }) => bytes);
}

const PART: Statement<{ data: Uint8Array }, [id: string, part: number]> = {
  name: "read_export_part",
  text: "SELECT data FROM export_part WHERE export_id = $1 AND part = $2",
};

/** A part as it is kept (gzip); null if it has gone. */
export async function readPart(reads: Sql, id: string, part: number): Promise<Uint8Array | null> {
  const [row] = await reads.query(PART, [id, part]);
  return row?.data ?? null;
}
