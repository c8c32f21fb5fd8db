import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Sql } from "../../db/sql.ts";
import { byteLength } from "../../lib/text.ts";
import { PART_BYTES, type Export, type Place } from "./export.ts";
import { fileText } from "./file-text.ts";
import { readRows } from "./rows.ts";
import { columnsOf } from "./subjects.ts";

/** The time after which a part ends with the rows that it has, in ms: few of many rows may match a filter. */
const PART_MS = 5_000;

const compress = promisify(gzip);

/** The next part of a file: empty (`data` is null) if no further row was found. It continues after `end`. */
export type Part = {
  readonly data: Uint8Array | null;
  readonly bytes: number;
  readonly rows: number;
  readonly end: Place;
  readonly isLast: boolean;
};

/** Makes the part of the file after `place`, at most PART_BYTES of text in memory. */
export async function makePart(reads: Sql, of: Export, place: Place, signal: AbortSignal): Promise<Part> {
  const text = fileText(
    of.format,
    columnsOf(of).map(([name]) => name),
  );
  const began = performance.now();
  const lines: string[] = of.parts === 0 && text.head !== "" ? [text.head] : [];
  let bytes = byteLength(lines.join(""));
  let rows = 0;
  const made = async (end: Place, isLast: boolean): Promise<Part> => ({
    data: lines.length === 0 ? null : await compress(lines.join("")),
    bytes,
    rows,
    end,
    isLast,
  });
  for (let end = place; ;) {
    const read = await readRows(reads, of, end, signal);
    for (const row of read.rows) {
      const line = text.row(row.values);
      const size = byteLength(line);
      if (rows > 0 && bytes + size > PART_BYTES) return made(end, false);
      lines.push(line);
      bytes += size;
      rows += 1;
      end = row.place;
    }
    end = read.end;
    if (read.isLast || bytes >= PART_BYTES || performance.now() - began > PART_MS) return made(end, read.isLast);
  }
}
