import { accepted, refused, type Result } from "../../../lib/result.ts";
import { isBelow } from "./memory-path.ts";

/** The width of line numbers, and the lines around an edit that are shown. */
const NUMBER = 6;
const AROUND = 2;

/** The lines of a text with their numbers. `range` is a first and a last line from 1; -1 is the end. */
export function numberedLines(text: string, range: readonly number[] | null = null): Result<string, string> {
  const lines = text.split("\n");
  const [from = 1, to = -1] = range ?? [];
  const last = to === -1 ? lines.length : Math.min(to, lines.length);
  if (range !== null && (range.length !== 2 || from > lines.length || (to !== -1 && to < from)))
    return refused(
      `Invalid \`view_range\` parameter: [${range.join(", ")}]. It should be two line numbers, the first within [1, ${lines.length}], the second not before it, or -1 for the end`,
    );
  return accepted(numbered(lines, Math.max(1, from) - 1, last));
}

/** An edit with the lines around it. */
export function editedLines(text: string, first: number, last: number): string {
  const lines = text.split("\n");
  return numbered(lines, Math.max(0, first - AROUND), Math.min(lines.length, last + AROUND + 1));
}

function numbered(lines: readonly string[], from: number, to: number): string {
  return lines
    .slice(from, to)
    .map((line, index) => `${String(from + index + 1).padStart(NUMBER)}\t${line}`)
    .join("\n");
}

export type SizedEntry = { readonly path: string; readonly bytes: number };

const LEVELS = 2;

/** The entries below a folder, up to two levels deep, each with its size. A folder has the size of all its entries. */
export function folderLines(folder: string, entries: readonly SizedEntry[]): string {
  const sizes = new Map<string, number>([[folder, 0]]);
  const within = entries.filter(({ path }) => isBelow(folder, path)).toSorted((one, other) => (one.path < other.path ? -1 : 1));
  for (const { path, bytes } of within) {
    sizes.set(folder, (sizes.get(folder) ?? 0) + bytes);
    const names = path.slice(folder.length + 1).split("/");
    for (let level = 1; level <= Math.min(LEVELS, names.length); level += 1) {
      const above = `${folder}/${names.slice(0, level).join("/")}${level < names.length ? "/" : ""}`;
      sizes.set(above, (sizes.get(above) ?? 0) + bytes);
    }
  }
  return [...sizes].map(([path, bytes]) => `${sizeText(bytes)}\t${path}`).join("\n");
}

const UNITS = ["B", "K", "M"] as const;

/** A size as people read it: `512B`, `1.5K`. */
export function sizeText(bytes: number): string {
  const unit = bytes < 1024 ? 0 : bytes < 1024 * 1024 ? 1 : 2;
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${UNITS[unit]}`;
}
