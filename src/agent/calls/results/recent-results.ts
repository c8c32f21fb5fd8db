import { LRUCache } from "lru-cache";
import type { NotedFile } from "../../workspace/known-files.ts";

/** The most bytes that are kept of all results together, and of one. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const RESULT_BYTES = 256 * 1024;
const ROW_BYTES = 500;

export type KeptResult = {
  readonly callId: string;
  /** The answer as JSON text, so that its receivers cannot change each other's. */
  readonly answer: string;
  readonly noted: readonly NotedFile[];
};

/**
 * The newest results of cacheable tools, of all agents of this server, in bounded memory. An agent finds only its own
 * results, through its `ResultCache`.
 */
export class RecentResults {
  readonly #results = new LRUCache<string, KeptResult>({
    maxSize: TOGETHER_BYTES,
    maxEntrySize: RESULT_BYTES,
    sizeCalculation: ({ answer, noted }) => 2 * answer.length + (1 + noted.length) * ROW_BYTES,
  });
  #timesGiven = 0;

  get timesGiven(): number {
    return this.#timesGiven;
  }

  get bytes(): number {
    return this.#results.calculatedSize;
  }

  give(key: string): KeptResult | null {
    const result = this.#results.get(key);
    if (result === undefined) return null;
    this.#timesGiven += 1;
    return result;
  }

  keep(key: string, result: KeptResult): void {
    this.#results.set(key, result);
  }

  delete(key: string): void {
    this.#results.delete(key);
  }
}
