import { Worker } from "node:worker_threads";

/** One place where a line matches; line and column from 1. */
export type LineMatch = { readonly line: number; readonly column: number; readonly preview: string };

/** Finds lines in texts, one text at a time. */
export type LineSearch = {
  search(text: string, most: number): Promise<readonly LineMatch[]>;
  close(): Promise<void>;
};

/** The longest preview of a line, in characters. */
const PREVIEW = 200;

/** A search for a fixed text. */
export function literalSearch(pattern: string, isCaseSensitive: boolean): LineSearch {
  const wanted = isCaseSensitive ? pattern : pattern.toLowerCase();
  return {
    async search(text, most) {
      return matchLines(text, most, (line) => (isCaseSensitive ? line : line.toLowerCase()).indexOf(wanted));
    },
    close: async () => {},
  };
}

/**
 * A search by a regular expression that somebody else wrote: in a thread of its own, since some expressions run for
 * ever and can only be stopped together with their thread, when `signal` aborts.
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

/** The lines of `text` for which `columnOf` answers a column, at most `most` of them. */
export function matchLines(text: string, most: number, columnOf: (line: string) => number): LineMatch[] {
  const matches: LineMatch[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const column = columnOf(line);
    if (column < 0) continue;
    matches.push({ line: index + 1, column: column + 1, preview: line.trim().slice(0, PREVIEW) });
    if (matches.length === most) break;
  }
  return matches;
}
