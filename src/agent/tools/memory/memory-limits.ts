import { MEMORY } from "../../../db/commit/memory-change.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength, counted } from "../../../lib/text.ts";
import type { ListedEntry } from "./agent-memory.ts";
import { isBelow, ROOT } from "./memory-path.ts";

type Sized = Pick<ListedEntry, "path" | "bytes">;

/** The bytes of a text that becomes the entry at a path; refused with advice if it does not fit. */
export function sizeOf(entries: readonly Sized[], path: string, text: string): Result<number, string> {
  const bytes = byteLength(text);
  if (bytes > MEMORY.entryBytes)
    return refused(
      `the entry would have ${bytes} bytes, and ${MEMORY.entryBytes / 1024} KB is the most: shorten it, or split it into several`,
    );
  const others = entries.reduce((sum, entry) => sum + (entry.path === path ? 0 : entry.bytes), 0);
  if (others + bytes > MEMORY.bytes)
    return refused(
      `the memory would have ${others + bytes} bytes, and ${MEMORY.bytes / 1024 / 1024} MB is the most: shorten or delete entries${largest(entries)}`,
    );
  return accepted(bytes);
}

/** The reason why no new entry can have a path, with advice; null if one can. */
export function pathProblem(entries: readonly Sized[], path: string): string | null {
  if (path === ROOT || entries.some((entry) => isBelow(path, entry.path))) return `The path ${path} is a directory`;
  if (entries.some((entry) => entry.path === path))
    return `File ${path} already exists. Change it with str_replace or insert, or delete it first`;
  if (entries.length >= MEMORY.entries)
    return `the memory has ${MEMORY.entries} entries, which is the most: delete one, or add to one that is there${largest(entries)}`;
  return aboveProblem(entries, path);
}

/** The reason why a path lies below an entry; null if it does not. */
export function aboveProblem(entries: readonly Sized[], path: string): string | null {
  const above = entries.find((entry) => isBelow(entry.path, path));
  return above === undefined ? null : `The path ${above.path} is a file, and not a directory: choose another path`;
}

/** The entries that are worth deleting first, in words. */
function largest(entries: readonly Sized[]): string {
  const first = entries.toSorted((one, other) => other.bytes - one.bytes).slice(0, 3);
  return first.length === 0
    ? ""
    : `. The largest: ${first.map(({ path, bytes }) => `${path} (${counted(bytes, "byte")})`).join(", ")}`;
}
