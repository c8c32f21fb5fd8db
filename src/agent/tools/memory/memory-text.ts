import { accepted, refused, type Result } from "../../../lib/result.ts";

/**
 * Controls but tab and line feed, marks that reorder text, and invisible characters: tags (from U+E0000), zero-width
 * spaces, word joiners and byte-order marks.
 */
const STRIPPED = /(?![\t\n])\p{Cc}|[\u061c\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** The text as memory keeps it: line feeds as line ends, and no control or invisible characters. */
export function memoryText(given: string): string {
  return given.toWellFormed().replaceAll("\r\n", "\n").replaceAll(STRIPPED, "");
}

export type Edited = { readonly text: string; /** The changed lines, from 0. */ readonly first: number; readonly last: number };

/** The most lines that a refusal names. */
const NAMED = 20;

/** The text in which the only occurrence of a text is replaced. All are literal. Refused in the words that models know. */
export function replacedOnce(path: string, text: string, oldText: string, newText: string): Result<Edited, string> {
  if (oldText === "") return refused("No replacement was performed, old_str is empty. Give the text to replace");
  const starts: number[] = [];
  for (let at = text.indexOf(oldText); at >= 0; at = text.indexOf(oldText, at + 1)) starts.push(at);
  const [start] = starts;
  if (start === undefined)
    return refused(`No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${path}.`);
  if (starts.length > 1) {
    const lines = [...new Set(starts.map((at) => lineOf(text, at) + 1))];
    const more = lines.length > NAMED ? `, and ${lines.length - NAMED} more` : "";
    return refused(
      `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines: ${lines.slice(0, NAMED).join(", ")}${more}. Please ensure it is unique`,
    );
  }
  const edited = text.slice(0, start) + newText + text.slice(start + oldText.length);
  return accepted({ text: edited, first: lineOf(edited, start), last: lineOf(edited, start + newText.length) });
}

/** The text with lines behind its line `line`; 0 is before the first. */
export function insertedAt(text: string, line: number, inserted: string): Result<Edited, string> {
  const lines = text.split("\n");
  if (line < 0 || line > lines.length)
    return refused(
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  const added = inserted.replace(/\n$/, "").split("\n");
  return accepted({ text: lines.toSpliced(line, 0, ...added).join("\n"), first: line, last: line + added.length - 1 });
}

function lineOf(text: string, offset: number): number {
  let line = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
