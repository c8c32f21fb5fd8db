import type { ExportFormat } from "../../db/commit/export-rows.ts";
import { csvLine, type CsvCell } from "../../lib/csv.ts";

/** The value of a cell: a list holds names without commas. */
export type CellValue = string | number | boolean | bigint | Date | readonly string[] | null;

/** The columns of a file, in order, and the text of its beginning and of a row. */
export type FileText = {
  readonly head: string;
  readonly row: (values: readonly CellValue[]) => string;
};

/** Tells spreadsheets that the text is UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";

export function fileText(format: ExportFormat, columns: readonly string[]): FileText {
  switch (format) {
    case "CSV":
      return {
        head: BYTE_ORDER_MARK + csvLine(columns.map(csvCell)),
        row: (values) => csvLine(values.map(csvCell)),
      };
    case "NDJSON":
      return { head: "", row: (values) => jsonLine(columns, values) };
  }
}

function csvCell(value: CellValue): CsvCell {
  if (value === null) return null;
  if (isList(value)) return { text: value.join(", "), isNumber: false };
  return { text: String(plain(value)), isNumber: typeof value !== "string" };
}

function jsonLine(columns: readonly string[], values: readonly CellValue[]): string {
  return `${JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, plain(values[index] ?? null)])))}\n`;
}

function isList(value: CellValue): value is readonly string[] {
  return Array.isArray(value);
}

function plain<Value extends CellValue>(value: Value): Exclude<Value, Date | bigint> | string | number {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return Number(value);
  return value as Exclude<Value, Date | bigint>;
}
