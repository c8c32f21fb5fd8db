import { accepted, refused, type Result } from "../../../lib/result.ts";
import { counted } from "../../../lib/text.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { nearestRoom, nearestText } from "./nearest-text.ts";
import { lineOf } from "./text-content.ts";

export type TextEdit = { readonly oldString: string; readonly newString: string; readonly replaceAll: boolean };

export type EditedText = { readonly text: string; readonly replacements: number; readonly lines: readonly number[] };

const NAMED_LINES = 10;

/**
 * The text after the replacement. `oldString` and `newString` are literal. A line feed in `oldString` also matches a
 * line end of two characters, unless `oldString` has a carriage return itself. The line feeds of `newString` then
 * become the file's line ends. Refused with a reason for the model, including similar text as far as `room` allows (by
 * default that of a call with one edit).
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

export function placesIn({ replacements, lines }: EditedText): string {
  return `${counted(replacements, "occurrence")} replaced, ${inLines(lines, replacements)}`;
}

/** A text as an edit searches it: its line end, and a function from its offsets to those of the original. */
type SeenText = {
  readonly text: string;
  readonly wanted: string;
  readonly lineEnd: "\n" | "\r\n";
  offset(seen: number): number;
};

/**
 * A text as an edit searches it for `wanted`. Its line end is the most frequent one. Only a text with mixed line ends
 * is copied, for multi-line searches.
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

function countBelow(values: readonly number[], bound: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The starts of a text: without overlaps to replace all, otherwise with them. */
function startsOf(text: string, wanted: string, replaceAll: boolean): readonly number[] {
  const starts: number[] = [];
  const step = replaceAll ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) starts.push(at);
  return starts;
}

function firstLines(text: string, starts: readonly number[]): readonly number[] {
  return [...new Set(starts.slice(0, NAMED_LINES).map((start) => lineOf(text, start)))];
}

function inLines(lines: readonly number[], places: number): string {
  return `in ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${places > NAMED_LINES ? " …" : ""}`;
}

function notUnique(text: string, starts: readonly number[]): string {
  return `old_string occurs ${starts.length} times, ${inLines(firstLines(text, starts), starts.length)}: give more of the text around the one that is meant, or replace_all: true`;
}
