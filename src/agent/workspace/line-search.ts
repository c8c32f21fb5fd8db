import { setImmediate as macrotask } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** One place where a line matches; line and column from 1. */
export type LineMatch = { readonly line: number; readonly column: number; readonly preview: string };

export type LineSearch = {
  search(text: string, most: number): Promise<readonly LineMatch[]>;
  close(): Promise<void>;
};

const PREVIEW = 200;

/** The characters that are searched before other work runs. */
const TURN_CHARACTERS = 256 * 1024;

/** A search for a fixed text. It ends when `signal` aborts. */
export function literalSearch(pattern: string, isCaseSensitive: boolean, signal: AbortSignal): LineSearch {
  const wanted = isCaseSensitive ? pattern : pattern.toLowerCase();
  const columnOf = inLine(pattern, (line) => (isCaseSensitive ? line : line.toLowerCase()).indexOf(wanted));
  return {
    async search(text, most) {
      const matches: LineMatch[] = [];
      let lines = 0;
      for (const piece of wholeLines(text)) {
        const found = matchLines(piece.text, most - matches.length, columnOf);
        for (const { line, column, preview } of found) matches.push({ line: line + lines, column, preview });
        if (matches.length === most || piece.isLast) break;
        lines += piece.lines;
        await macrotask();
        signal.throwIfAborted();
      }
      return matches;
    },
    close: async () => {},
  };
}

function* wholeLines(text: string): Generator<{ readonly text: string; readonly lines: number; readonly isLast: boolean }> {
  for (let start = 0; ;) {
    const newline = text.indexOf("\n", start + TURN_CHARACTERS);
    if (newline < 0) {
      yield { text: text.slice(start), lines: 0, isLast: true };
      return;
    }
    const piece = text.slice(start, newline);
    yield { text: piece, lines: piece.split("\n").length, isLast: false };
    start = newline + 1;
  }
}

/**
 * A search by a regular expression from a model, in a separate thread. Some expressions run for ever, and end only with
 * their thread, when `signal` aborts.
 */
export function regexSearch(pattern: string, isCaseSensitive: boolean, signal: AbortSignal): LineSearch {
  const worker = new Worker(new URL("./line-search-worker.ts", import.meta.url), {
    workerData: { pattern, flags: isCaseSensitive ? "u" : "iu" },
    env: {},
  });
  const failed = new Promise<never>((_, reject) => {
    worker.on("error", reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  failed.catch(() => void worker.terminate());
  return {
    search: (text, most) =>
      Promise.race([
        failed,
        new Promise<readonly LineMatch[]>((resolve) => {
          worker.once("message", resolve);
          worker.postMessage({ text, most });
        }),
      ]),
    close: async () => void (await worker.terminate()),
  };
}

export function inLine(pattern: string, columnOf: (line: string) => number): (line: string) => number {
  if (/\r|\\r/.test(pattern)) return columnOf;
  return (line) => columnOf(line.endsWith("\r") ? line.slice(0, -1) : line);
}

function previewOf(line: string, column: number): string {
  const trimmed = line.trim();
  if (trimmed.length <= PREVIEW) return trimmed;
  const at = column - (line.length - line.trimStart().length);
  const start = Math.max(0, Math.min(at - PREVIEW / 4, trimmed.length - PREVIEW));
  const end = start + PREVIEW;
  const from = isHalf(trimmed, start) ? start + 1 : start;
  const to = isHalf(trimmed, end) ? end - 1 : end;
  return `${from > 0 ? "…" : ""}${trimmed.slice(from, to)}${to < trimmed.length ? "…" : ""}`;
}

function isHalf(text: string, at: number): boolean {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
}

export function matchLines(text: string, most: number, columnOf: (line: string) => number): LineMatch[] {
  const matches: LineMatch[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const column = columnOf(line);
    if (column < 0) continue;
    matches.push({ line: index + 1, column: column + 1, preview: previewOf(line, column) });
    if (matches.length === most) break;
  }
  return matches;
}
