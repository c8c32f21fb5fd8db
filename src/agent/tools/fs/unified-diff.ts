import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";
import { byteLength } from "../../../lib/text.ts";

/** `diff` is null if it is too large. */
export type FileDiff = { readonly path: string; readonly diff: string | null };

/** The largest diff that is shown, in bytes, and the most lines that are added or removed in it. */
const DIFF_BYTES = 48 * 1024;
const DIFF_LINES = 2_000;

const DIFF_MS = 200;

const CONTEXT = 3;

/** The unified diff of a file's text, with its path as both names. Null stands for a missing file. */
export function fileDiff(path: string, before: string | null, after: string): FileDiff {
  const { skipped, from, to } = changedPart(before ?? "", after);
  const patch = structuredPatch(before === null ? "/dev/null" : `a/${path}`, `b/${path}`, from, to, undefined, undefined, {
    context: CONTEXT,
    maxEditLength: DIFF_LINES,
    timeout: DIFF_MS,
  });
  if (patch === undefined) return { path, diff: null };
  const hunks = patch.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
  const diff = formatPatch({ ...patch, hunks }, FILE_HEADERS_ONLY);
  return { path, diff: byteLength(diff) > DIFF_BYTES ? null : diff };
}

/**
 * The differing part of two texts with the diff's context, and the number of lines before it. The rest of a large file
 * need not be compared.
 */
function changedPart(before: string, after: string): { skipped: number; from: string; to: string } {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail))
    tail += 1;
  const start = linesBack(before, head);
  const end = linesOn(before, before.length - tail);
  const rest = before.length - end;
  return {
    skipped: before.slice(0, start).split("\n").length - 1,
    from: before.slice(start, end),
    to: after.slice(start, after.length - rest),
  };
}

function linesBack(text: string, offset: number): number {
  let start = offset;
  for (let lines = 0; lines <= CONTEXT && start > 0; lines += 1) start = text.lastIndexOf("\n", start - 1);
  return start <= 0 ? Math.max(0, start) : start + 1;
}

function linesOn(text: string, offset: number): number {
  let end = Math.max(0, offset - 1);
  for (let lines = 0; lines <= CONTEXT; lines += 1) {
    const newline = text.indexOf("\n", end);
    if (newline < 0) return text.length;
    end = newline + 1;
  }
  return end;
}
