import type { ExportFormat } from "../../db/commit/export-rows.ts";

export type CellValue = string | number | boolean | bigint | Date | null;

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
      return { head: BYTE_ORDER_MARK + csvLine(columns), row: csvLine };
    case "NDJSON":
      return { head: "", row: (values) => jsonLine(columns, values) };
  }
}

/** A line of RFC 4180. */
function csvLine(values: readonly CellValue[]): string {
  return `${values.map(csvCell).join(",")}\r\n`;
}

/**
 * The beginning of a formula, for Excel, LibreOffice, or Google Sheets: the full-width forms are those of East Asian
 * keyboards. A line break before it is ignored by some.
 */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** The apostrophe makes a spreadsheet show the text as it is. */
function csvCell(value: CellValue): string {
  if (value === null) return "";
  if (typeof value !== "string") return plain(value).toString();
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonLine(columns: readonly string[], values: readonly CellValue[]): string {
  return `${JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, plain(values[index] ?? null)])))}\n`;
}

function plain<Value extends CellValue>(value: Value): Exclude<Value, Date | bigint> | string | number {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return Number(value);
  return value as Exclude<Value, Date | bigint>;
}
