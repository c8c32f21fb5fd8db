import { visibleLine } from "./escape-hidden.ts";

/** A column: its name, and whether its values are numbers, which stand at the right. */
export type TableColumn = { readonly name: string; readonly isNumber: boolean };

/** The most characters of a cell that are shown. */
const SHOWN = 200;
/** The lines of a plan are indented. */
const INDENTATION = /^ {0,40}/;

/** A table for a terminal, of lines. A null is shown as NULL. Characters that command a terminal, or are invisible, are shown as escapes. */
export function textTable(columns: readonly TableColumn[], rows: readonly (readonly (string | null)[])[]): readonly string[] {
  const shown = rows.map((row) => row.map((cell) => (cell === null ? "NULL" : shownCell(cell))));
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
  const indentation = INDENTATION.exec(start)?.[0] ?? "";
  return indentation + visibleLine(start.slice(indentation.length)) + (start.length < text.length ? "…" : "");
}

function padded(text: string, width: number, isRight: boolean): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return isRight ? space + text : text + space;
}

/** Characters that take two cells of a terminal (Unicode, UAX #11), without the half-width forms U+FF61 to U+FFDC. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const HALF = /^[\uff61-\uffdc]/;

const LETTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The cells of a terminal that a text takes. A letter with its marks takes those of the letter. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of LETTERS.segment(text)) width += WIDE.test(segment) && !HALF.test(segment) ? 2 : 1;
  return width;
}
