import { counted, headBytes } from "../../../lib/text.ts";
import { lineCount } from "./text-content.ts";

/** The bounds of the search for similar text: wanted lines, and places of each. */
const WANTED_LINES = 200;
const PLACES = 500;

/**
 * The characters that all searches of one call may scan and compare, since they block other work. A line costs `line`
 * in addition to its characters.
 */
const LOOKED_THROUGH = { characters: 10_000_000, line: 20 };
const COMPARED = { characters: 2_000_000, line: 50 };

const COMPARED_START = 400;

export type NearestRoom = { lookedThrough: number; compared: number };

export function nearestRoom(): NearestRoom {
  return { lookedThrough: LOOKED_THROUGH.characters, compared: COMPARED.characters };
}

const SHOWN_LINES = 12;
const SHOWN_BYTES = 200;

/**
 * Describes, for the model, the most similar text to one that is missing, with line numbers. The search uses up `room`.
 * A text that is too large for the room is not searched, and the answer says so.
 */
export function nearestText(text: string, wanted: string, room: NearestRoom): string {
  const count = lineCount(text);
  const cost = text.length + count * LOOKED_THROUGH.line;
  if (cost > room.lookedThrough)
    return `The nearest text was not looked for, since the call's edits have too much text to be looked through. The file has ${counted(count, "line")}: read the part that is meant again.`;
  room.lookedThrough -= cost;
  const lines = text.split("\n");
  const wantedLines = wanted.split("\n");
  const found =
    byFoldedText(lines, wantedLines) ??
    spanFrom(
      byEqualLines(lines, wantedLines) ?? bySimilarLine(lines, wantedLines, room) ?? byFewChanges(lines, wanted),
      wantedLines,
    );
  if (found === null) return `Nothing in the file is like it. The file has ${counted(count, "line")}: read the file again.`;
  const { start, end } = found;
  const nearest = lines.slice(start, end);
  const shown = nearest.slice(0, SHOWN_LINES).map((line, index) => `${start + index + 1}: ${headBytes(line, SHOWN_BYTES)}`);
  const place = nearest.length === 1 ? `in line ${start + 1}` : `in lines ${start + 1} to ${start + nearest.length}`;
  return [
    `The nearest text stands ${place}${difference(nearest.join("\n"), wanted)}:`,
    ...shown,
    ...(nearest.length > SHOWN_LINES ? [`… ${counted(nearest.length - SHOWN_LINES, "more line")}`] : []),
  ].join("\n");
}

type Span = { readonly start: number; readonly end: number };

function spanFrom(start: number | null, wanted: readonly string[]): Span | null {
  return start === null ? null : { start, end: start + wanted.length };
}

const FEWEST_CHARACTERS = 4;

/** The lines with the wanted text, ignoring case, or otherwise all white space; null unless there is exactly one place. */
function byFoldedText(lines: readonly string[], wanted: readonly string[]): Span | null {
  const byCase = placesOf(lines.map(lowered), wanted.map(lowered).join("\n"), "\n");
  if (byCase.length > 0) return only(byCase);
  const spacelessWanted = lowered(spaceless(wanted.join("")));
  if (spacelessWanted.length < FEWEST_CHARACTERS) return null;
  return only(
    placesOf(
      lines.map((line) => lowered(spaceless(line))),
      spacelessWanted,
      "",
    ),
  );
}

function placesOf(lines: readonly string[], wanted: string, joint: string): readonly Span[] {
  const text = lines.join(joint);
  const first = text.indexOf(wanted);
  if (first < 0) return [];
  const second = text.indexOf(wanted, first + 1);
  const spanAt = (offset: number): Span => ({
    start: lineAt(lines, joint, offset),
    end: lineAt(lines, joint, offset + wanted.length - 1) + 1,
  });
  return [first, ...(second < 0 ? [] : [second])].map(spanAt);
}

function lineAt(lines: readonly string[], joint: string, offset: number): number {
  let end = 0;
  return lines.findIndex((line) => (end += line.length + joint.length) > offset);
}

function only(spans: readonly Span[]): Span | null {
  return spans.length === 1 ? (spans[0] ?? null) : null;
}

/** The only kind of difference between two texts; empty if they differ in more. */
function difference(text: string, wanted: string): string {
  const has = (fold: (text: string) => string): boolean => fold(text).includes(fold(wanted));
  if (has(spaceless)) return ", and differs in white space only";
  if (has(lowered)) return ", and differs in upper and lower case only";
  return has((each) => lowered(spaceless(each))) ? ", and differs in white space and in upper and lower case only" : "";
}

function lowered(text: string): string {
  return text.toLowerCase();
}

/** The line at which most lines of the wanted text would match, ignoring white space; null for none. */
function byEqualLines(lines: readonly string[], wanted: readonly string[]): number | null {
  const places = new Map<string, number[]>();
  lines.forEach((line, index) => {
    const key = line.trim();
    const known = places.get(key);
    if (known === undefined) places.set(key, [index]);
    else if (known.length < PLACES) known.push(index);
  });
  const votes = new Map<number, number>();
  wanted.slice(0, WANTED_LINES).forEach((line, index) => {
    const key = line.trim();
    if (key === "") return;
    const found = places.get(key) ?? [];
    // A line with few places is better evidence.
    for (const place of found) votes.set(place - index, (votes.get(place - index) ?? 0) + 1 / found.length);
  });
  let best: number | null = null;
  for (const [start, count] of votes) if (best === null || count > (votes.get(best) ?? 0)) best = start;
  return best === null ? null : Math.max(0, best);
}

/** The line at which the wanted text would begin if its longest line matched the most similar one; null for none. */
function bySimilarLine(lines: readonly string[], wanted: readonly string[], room: NearestRoom): number | null {
  const considered = wanted.slice(0, WANTED_LINES);
  const longest = considered.reduce((best, line, index) => (line.length > (considered[best]?.length ?? 0) ? index : best), 0);
  const target = pairsOf(considered[longest] ?? "");
  if (target.size === 0) return null;
  let [best, most]: [number | null, number] = [null, 0.4];
  for (const [index, line] of lines.entries()) {
    room.compared -= Math.min(line.length, COMPARED_START) + COMPARED.line;
    if (room.compared < 0) break;
    const likeness = likenessOf(target, pairsOf(line));
    if (likeness > most) [best, most] = [index - longest, likeness];
  }
  return best === null ? null : Math.max(0, best);
}

const SHORT = { wanted: 32, file: 50_000 };

/** The only line with the smallest edit distance, at most a quarter of a short one-line text; null for none. */
function byFewChanges(lines: readonly string[], wanted: string): number | null {
  if (wanted.length > SHORT.wanted || wanted.includes("\n")) return null;
  let [nearest, fewest, isOnly]: [number | null, number, boolean] = [null, Math.floor(wanted.length / 4), true];
  let room = SHORT.file;
  for (const [index, line] of lines.entries()) {
    room -= line.length;
    if (room < 0) break;
    const changes = changesFrom(line, wanted);
    if (changes < fewest || (changes === fewest && nearest === null)) [nearest, fewest, isOnly] = [index, changes, true];
    else if (changes === fewest) isOnly = false;
  }
  return isOnly ? nearest : null;
}

/**
 * The edit distance between a wanted text and the nearest part of a line (Sellers, The theory and computation of
 * evolutionary distances, 1980).
 */
function changesFrom(line: string, wanted: string): number {
  let column = Array.from({ length: wanted.length + 1 }, (_, index) => index);
  let fewest = wanted.length;
  for (const character of line.split("")) {
    const next = [0];
    for (let index = 1; index <= wanted.length; index += 1) {
      const replaced = (column[index - 1] ?? 0) + (wanted[index - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (column[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    column = next;
    fewest = Math.min(fewest, column[wanted.length] ?? fewest);
  }
  return fewest;
}

function pairsOf(line: string): ReadonlySet<string> {
  const text = spaceless(line.slice(0, COMPARED_START));
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)));
}

/** The similarity of two sets of pairs, from 0 to 1 (Dice's coefficient). */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (other.size === 0) return 0;
  let common = 0;
  for (const pair of other) if (one.has(pair)) common += 1;
  return (2 * common) / (one.size + other.size);
}

function spaceless(text: string): string {
  return text.replace(/\s+/g, "");
}
