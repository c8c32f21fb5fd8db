/** Spreadsheets read a text that begins so as a formula, even behind spaces. The full-width forms are those of East Asian keyboards. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** A cell: a text of others, a value that no program reads as a formula, or none. */
export type CsvCell = { readonly text: string; readonly isNumber: boolean } | null;

/**
 * A line of CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe; numbers stay as they
 * are. No value is an empty cell, and an empty text is a pair of quotes.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

function cellOf(cell: CsvCell): string {
  if (cell === null) return "";
  if (cell.isNumber) return cell.text;
  const safe = FORMULA.test(cell.text) ? `'${cell.text}` : cell.text;
  return safe === "" || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
