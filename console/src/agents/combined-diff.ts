/** A line of a version of the file. `ends` is true for a last line without a line break. */
type Line = { readonly text: string; readonly ends: boolean };

/** A part of the newest version: lines of the first version in their places there, or one line that is new since. */
type Part =
  { readonly kind: "kept"; readonly from: number; readonly count: number } | { readonly kind: "new"; readonly line: Line };

type Hunk = { readonly start: number; readonly lines: readonly { readonly sign: " " | "+" | "-"; readonly line: Line }[] };

/** Lines that the diffs have shown of the first version, by their numbers from 0. */
type Known = Map<number, Line>;

/** Unchanged lines around a change. */
const CONTEXT = 3;

export type Together =
  | { readonly kind: "diff"; readonly diff: string }
  /** An edit has no diff. */
  | { readonly kind: "missing" }
  /** The edits do not follow on each other. */
  | { readonly kind: "apart" };

/** The diffs of the edits of a file, the newest first, as one. */
export function togetherIn(diffs: readonly (string | null)[]): Together {
  const known = diffs.filter((diff) => diff !== null);
  if (known.length < diffs.length) return { kind: "missing" };
  const diff = combinedDiff(known.toReversed());
  return diff === null ? { kind: "apart" } : { kind: "diff", diff };
}

/**
 * The unified diffs of consecutive edits of a file, the oldest first, as one diff from the version before them to that after
 * them; empty if nothing differs. Null if they do not follow on each other: something else has changed the file between.
 */
export function combinedDiff(diffs: readonly string[]): string | null {
  const known: Known = new Map();
  let parts: readonly Part[] = [{ kind: "kept", from: 0, count: Infinity }];
  for (const diff of diffs) {
    const next = afterEdit(parts, hunksOf(diff), known);
    if (next === null) return null;
    parts = next;
  }
  return written(rowsOf(parts, known));
}

function hunksOf(diff: string): readonly Hunk[] {
  const hunks: { start: number; lines: { sign: " " | "+" | "-"; line: Line }[] }[] = [];
  for (const text of diff.replace(/\n$/, "").split("\n")) {
    const [, start, count] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(text) ?? [];
    // A place of no lines is after its number.
    if (start !== undefined) hunks.push({ start: Number(start) - (count === "0" ? 0 : 1), lines: [] });
    const lines = hunks.at(-1)?.lines;
    if (lines === undefined || start !== undefined) continue;
    const sign = text[0];
    const last = lines.at(-1);
    if (sign === "\\" && last !== undefined) lines[lines.length - 1] = { ...last, line: { ...last.line, ends: true } };
    else if (sign === " " || sign === "+" || sign === "-") lines.push({ sign, line: { text: text.slice(1), ends: false } });
  }
  return hunks;
}

/** The version after an edit. Null if the edit was of another version than that of `parts`. */
function afterEdit(parts: readonly Part[], hunks: readonly Hunk[], known: Known): readonly Part[] | null {
  const result: Part[] = [];
  const rest = parts.toReversed();
  let place = 0;
  for (const { start, lines } of hunks) {
    while (place < start) {
      const part = rest.pop();
      if (part === undefined) return null;
      const taken = part.kind === "new" ? 1 : Math.min(part.count, start - place);
      place += taken;
      if (part.kind === "new") result.push(part);
      else rest.push(...split(part, taken, result));
    }
    for (const { sign, line } of lines) {
      if (sign === "+") {
        result.push({ kind: "new", line });
        continue;
      }
      const part = rest.pop();
      if (part === undefined) return null;
      place += 1;
      const kept: Part[] = [];
      if (part.kind === "kept") rest.push(...split(part, 1, kept));
      else kept.push(part);
      if (!isLine(part, line, known)) return null;
      if (sign === " ") result.push(...kept);
    }
  }
  return [...result, ...rest.toReversed()];
}

/** Puts the first `count` lines of a part into `taken`, and returns the others. */
function split(part: Extract<Part, { kind: "kept" }>, count: number, taken: Part[]): readonly Part[] {
  taken.push({ ...part, count });
  return part.count > count ? [{ kind: "kept", from: part.from + count, count: part.count - count }] : [];
}

/** True if the first line of the part can be this one. A line of the first version is learned from its first diff. */
function isLine(part: Part, line: Line, known: Known): boolean {
  const present = part.kind === "new" ? part.line : known.get(part.from);
  if (part.kind === "kept" && present === undefined) known.set(part.from, line);
  return present === undefined || isSame(present, line);
}

function isSame(one: Line | undefined, other: Line | undefined): boolean {
  return one !== undefined && other !== undefined && one.text === other.text && one.ends === other.ends;
}

/** A row of the diff with its places in both versions, from 0. */
type Row = { readonly sign: " " | "+" | "-"; readonly line: Line; readonly before: number; readonly after: number };

/** The changes with the known lines around them. */
function rowsOf(parts: readonly Part[], known: Known): readonly Row[] {
  const rows: Row[] = [];
  const lines = [...known].toSorted(([one], [other]) => one - other);
  let next = 0;
  let before = 0;
  let after = 0;
  let added: Line[] = [];
  const put = (sign: Row["sign"], lines: readonly Line[]): void => {
    for (const line of lines) {
      rows.push({ sign, line, before, after });
      if (sign !== "+") before += 1;
      if (sign !== "-") after += 1;
    }
  };
  const linesUntil = (end: number): readonly (readonly [number, Line])[] => {
    const start = next;
    while ((lines[next]?.[0] ?? Infinity) < end) next += 1;
    return lines.slice(start, next);
  };
  for (const part of parts) {
    if (part.kind === "new") {
      added.push(part.line);
      continue;
    }
    const removed = linesUntil(part.from).map(([, line]) => line);
    const { head, tail } = sameEnds(removed, added);
    put(" ", removed.slice(0, head));
    put("-", removed.slice(head, removed.length - tail));
    put("+", added.slice(head, added.length - tail));
    put(" ", removed.slice(removed.length - tail));
    added = [];
    for (const [number, line] of linesUntil(part.from + part.count)) {
      after += number - before;
      before = number;
      put(" ", [line]);
    }
    after += part.from + part.count - before;
    before = part.from + part.count;
  }
  return rows;
}

/** The numbers of equal lines at both ends: a line that was changed and changed back is no change. */
function sameEnds(removed: readonly Line[], added: readonly Line[]): { readonly head: number; readonly tail: number } {
  const least = Math.min(removed.length, added.length);
  let head = 0;
  while (head < least && isSame(removed[head], added[head])) head += 1;
  let tail = 0;
  while (tail < least - head && isSame(removed.at(-1 - tail), added.at(-1 - tail))) tail += 1;
  return { head, tail };
}

function written(rows: readonly Row[]): string {
  const changes = rows.flatMap(({ sign }, index) => (sign === " " ? [] : [index]));
  const hunks: Row[][] = [];
  let end = -1;
  for (const index of changes) {
    let start = index;
    while (start - 1 > end && index - start < CONTEXT && isNext(rows[start - 1], rows[start])) start -= 1;
    const isApart = hunks.length === 0 || start > end + 1 || !isNext(rows[end], rows[start]);
    if (isApart) hunks.push([]);
    for (let each = Math.max(start, end + 1); each <= index; each += 1) hunks.at(-1)?.push(...rows.slice(each, each + 1));
    end = Math.max(end, index);
    while (end - index < CONTEXT && isNext(rows[end], rows[end + 1]) && rows[end + 1]?.sign === " ") {
      end += 1;
      hunks.at(-1)?.push(...rows.slice(end, end + 1));
    }
  }
  return hunks.map(hunkText).join("");
}

/** True if no unknown line is between two rows. */
function isNext(one: Row | undefined, other: Row | undefined): boolean {
  return one !== undefined && other !== undefined && other.before === one.before + (one.sign === "+" ? 0 : 1);
}

function hunkText(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) return "";
  const olds = rows.filter(({ sign }) => sign !== "+").length;
  const news = rows.filter(({ sign }) => sign !== "-").length;
  const place = (at: number, count: number): string => `${count === 0 ? at : at + 1},${count}`;
  const lines = rows.map(({ sign, line }) => `${sign}${line.text}\n${line.ends ? "\\ No newline at end of file\n" : ""}`);
  return `@@ -${place(first.before, olds)} +${place(first.after, news)} @@\n${lines.join("")}`;
}
