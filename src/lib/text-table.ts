import { visibleLine } from "./escape-hidden.ts";

/** A column: its name, and whether its values are numbers, which stand at the right. */
export type TableColumn = { readonly name: string; readonly isNumber: boolean };

/** The most characters of a cell that are shown. */
const SHOWN = 200;

/** A table for a terminal, of lines. Characters that command a terminal, or are invisible, are shown as escapes. */
export function textTable(columns: readonly TableColumn[], rows: readonly (readonly (string | null)[])[]): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => (cell === null ? "" : shownCell(cell))));
  const heads = columns.map(({ name }) => shownCell(name));
  const widths = heads.map((head, at) => shown.reduce((most, row) => Math.max(most, widthOf(row[at] ?? "")), widthOf(head)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => padded(cell, widths[at] ?? 0, columns[at]?.isNumber === true))
      .join("  ")
      .trimEnd();
  return [line(heads), widths.map((width) => "-".repeat(width)).join("  "), ...shown.map(line)];
}

function shownCell(text: string): string {
  const start = Array.from(text.slice(0, SHOWN * 2))
    .slice(0, SHOWN)
    .join("");
  return visibleLine(start) + (start.length < text.length ? "…" : "");
}

function padded(text: string, width: number, isRight: boolean): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return isRight ? space + text : text + space;
}

/** The width in a terminal, nearly: a character beyond the Basic Multilingual Plane counts as one. */
function widthOf(text: string): number {
  return Array.from(text).length;
}
