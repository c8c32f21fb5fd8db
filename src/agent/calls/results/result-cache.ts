import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { NotedFile } from "../../workspace/known-files.ts";

export type FreshResult = { readonly key: string; readonly result: KeptResult; readonly since: number };

/**
 * The results of one agent's cacheable calls, under one lease. They are forgotten when a call that is not read-only starts, and
 * again when what it does has ended, even if that is after its call; between the two nothing is given or kept.
 *
 *     calls:   read   read   ├── write ──┤   read
 *     given:    –      yes        –            –
 *
 * A new owner begins with nothing.
 */
export class ResultCache {
  readonly #recent: RecentResults;
  readonly #owner = randomUUID();
  readonly #keys = new Set<string>();
  #changes = 0;
  #timesForgotten = 0;

  constructor(recent: RecentResults) {
    this.#recent = recent;
  }

  /** The moment, for `keep`, of the last change; null during a change. */
  get moment(): number | null {
    return this.#changes === 0 ? this.#timesForgotten : null;
  }

  give(key: string): KeptResult | null {
    return this.#changes === 0 ? this.#recent.give(this.#own(key)) : null;
  }

  /** Keeps a result, unless a change happened since its call began. */
  keep({ key, result, since }: FreshResult): void {
    if (this.moment !== since) return;
    this.#keys.add(key);
    this.#recent.keep(this.#own(key), result);
  }

  clear(): void {
    for (const key of this.#keys) this.#recent.delete(this.#own(key));
    this.#keys.clear();
    this.#timesForgotten += 1;
  }

  /** Runs a change, and discards all results before and after it. */
  async changing<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#changes += 1;
    this.clear();
    try {
      return await change();
    } finally {
      this.#changes -= 1;
      this.clear();
    }
  }

  #own(key: string): string {
    return `${this.#owner}:${key}`;
  }
}

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
