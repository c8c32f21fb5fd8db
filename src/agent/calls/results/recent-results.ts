import { LRUCache } from "lru-cache";
import type { NotedFile } from "../../workspace/known-files.ts";

/** The most bytes that are kept of all results together, and of one. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const RESULT_BYTES = 256 * 1024;
/** The bytes that a result takes besides its answer. */
const ROW_BYTES = 500;

/** The result of a call, for calls of the same. */
export type KeptResult = {
  /** The call that ran. */
  readonly callId: string;
  /** The tool's answer as JSON text: nobody who is given it changes what others are given. */
  readonly answer: string;
  /** The files that the call noted as read. */
  readonly noted: readonly NotedFile[];
};

/**
 * The newest results of cacheable tools, of all agents of this server, in bounded memory. Each agent finds its own alone, by its
 * `ResultCache`.
 */
export class RecentResults {
  readonly #results = new LRUCache<string, KeptResult>({
    maxSize: TOGETHER_BYTES,
    maxEntrySize: RESULT_BYTES,
    sizeCalculation: ({ answer, noted }) => 2 * answer.length + (1 + noted.length) * ROW_BYTES,
  });
  #timesGiven = 0;

  /** The number of calls that were given an earlier result since the server began. */
  get timesGiven(): number {
    return this.#timesGiven;
  }

  /** The bytes that are kept, about. */
  get bytes(): number {
    return this.#results.calculatedSize;
  }

  /** Gives a result that is kept; null for none. */
  give(key: string): KeptResult | null {
    const result = this.#results.get(key);
    if (result === undefined) return null;
    this.#timesGiven += 1;
    return result;
  }

  /** Keeps a result, unless it is large. */
  keep(key: string, result: KeptResult): void {
    this.#results.set(key, result);
  }

  /** Forgets a result. */
  forget(key: string): void {
    this.#results.delete(key);
  }
}
