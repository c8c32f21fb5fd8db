import { counted } from "../../../lib/counted.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { lineOf } from "./lines.ts";
import { nearestRoom, nearestText } from "./nearest-text.ts";

/** The replacement of a text by another one in a file: where it stands once, or everywhere. */
export type TextEdit = { readonly oldString: string; readonly newString: string; readonly replaceAll: boolean };

/** A text after an edit, with the number of places that were replaced, and the lines in which the first of them began. */
export type EditedText = { readonly text: string; readonly replacements: number; readonly lines: readonly number[] };

/** The most lines that are named. */
const NAMED_LINES = 10;

/**
 * The text after the replacement. All of `oldString` and `newString` is text: nothing in them is a pattern. A line feed of
 * `oldString` also stands for a line end of two characters, unless `oldString` has a carriage return itself; the line feeds of
 * `newString` become the line ends of the file then. Refuses with a reason for the model, which says what is there instead, as far as `room` lets
 * it look: that of a call with one edit if it is left out.
 */
export function editText(
  text: string,
  { oldString, newString, replaceAll }: TextEdit,
  room = nearestRoom(),
): Result<EditedText, string> {
  if (oldString === "") return refused("old_string is empty: give the text to replace, or write the whole file with fs_write");
  if (oldString === newString) return refused("old_string and new_string are the same: nothing would change");
  const seen = seenBy(text, oldString);
  const starts = startsOf(seen.text, seen.wanted, replaceAll);
  const [first] = starts;
  if (first === undefined) {
    const lines = oldString.includes("\r") ? text : text.replaceAll("\r\n", "\n");
    return refused(`old_string does not occur. ${nearestText(lines, oldString, room)}`);
  }
  if (!replaceAll && starts.length > 1) return refused(notUnique(seen.text, starts));
  const inserted = seen.lineEnd === "\r\n" && !newString.includes("\r") ? newString.replaceAll("\n", "\r\n") : newString;
  const length = text.length + starts.length * (inserted.length - seen.wanted.length);
  if (length > EDITED_FILE_BYTES)
    return refused(`the file would have ${length} characters: at most ${EDITED_FILE_BYTES} are edited`);
  const pieces: string[] = [];
  let end = 0;
  for (const start of starts) {
    pieces.push(text.slice(end, seen.offset(start)), inserted);
    end = seen.offset(start + seen.wanted.length);
  }
  const edited = [...pieces, text.slice(end)].join("");
  if (edited === text) return refused("nothing would change: the file has new_string there already");
  return accepted({ text: edited, replacements: starts.length, lines: firstLines(seen.text, starts) });
}

/** Says how many places were replaced, and in which lines the first of them stood. */
export function placesIn({ replacements, lines }: EditedText): string {
  return `${counted(replacements, "occurrence")} replaced, ${inLines(lines, replacements)}`;
}

/** A text as an edit sees it, and what the edit looks for in it: its line end, and the offset in the text itself of an offset in what is seen. */
type SeenText = {
  readonly text: string;
  readonly wanted: string;
  readonly lineEnd: "\n" | "\r\n";
  offset(seen: number): number;
};

/**
 * A text as an edit sees it that looks for `wanted`. Its line end is the one that most lines have. Only a text whose lines end in
 * both ways is copied, to find several lines in it.
 */
function seenBy(text: string, wanted: string): SeenText {
  const returns = wanted.includes("\r") ? 0 : countOf(text, "\r\n");
  if (returns === 0) return asWritten(text, wanted, "\n");
  const lineFeeds = countOf(text, "\n");
  const lineEnd = returns * 2 >= lineFeeds ? "\r\n" : "\n";
  if (returns === lineFeeds || !wanted.includes("\n")) return asWritten(text, wanted.replaceAll("\n", "\r\n"), lineEnd);
  return withLineFeeds(text, wanted, lineEnd);
}

function asWritten(text: string, wanted: string, lineEnd: SeenText["lineEnd"]): SeenText {
  return { text, wanted, lineEnd, offset: (seen) => seen };
}

/** The text with one character a line end. */
function withLineFeeds(text: string, wanted: string, lineEnd: SeenText["lineEnd"]): SeenText {
  const returns: number[] = [];
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) returns.push(at - returns.length);
  return { text: text.replaceAll("\r\n", "\n"), wanted, lineEnd, offset: (seen) => seen + countBelow(returns, seen) };
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

/** The number of values below a bound, in a list that rises. */
function countBelow(values: readonly number[], bound: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The places at which a text begins. To replace all, those that do not overlap; to find out if it is the only one, all. */
function startsOf(text: string, wanted: string, replaceAll: boolean): readonly number[] {
  const starts: number[] = [];
  const step = replaceAll ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) starts.push(at);
  return starts;
}

/** The lines in which the first of these offsets lie, each once. */
function firstLines(text: string, starts: readonly number[]): readonly number[] {
  return [...new Set(starts.slice(0, NAMED_LINES).map((start) => lineOf(text, start)))];
}

/** Names the lines in which the first of so many places stand. */
function inLines(lines: readonly number[], places: number): string {
  return `in ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${places > NAMED_LINES ? " …" : ""}`;
}

function notUnique(text: string, starts: readonly number[]): string {
  return `old_string occurs ${starts.length} times, ${inLines(firstLines(text, starts), starts.length)}: give more of the text around the one that is meant, or replace_all: true`;
}
