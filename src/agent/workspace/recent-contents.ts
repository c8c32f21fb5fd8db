import { LRUCache } from "lru-cache";

/** The most bytes that are remembered of all contents together, and of one. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const CONTENT_BYTES = 256 * 1024;

/**
 * The contents of small files that agents of this server have read or written, by their digests: so that it can be said what
 * has changed in a file since. They are a help only: what is remembered on no server is told by its size and time.
 */
export class RecentContents {
  readonly #contents = new LRUCache<string, Buffer>({ maxSize: TOGETHER_BYTES, sizeCalculation: ({ length }) => length + 200 });

  /** Remembers a content, unless it is large. */
  remember(digest: string, content: Buffer): void {
    // A copy: a small piece of a large buffer would keep all of it.
    if (content.length <= CONTENT_BYTES && !this.#contents.has(digest)) this.#contents.set(digest, Buffer.from(content));
  }

  /** The content of this digest; null if it is not remembered. */
  find(digest: string): Buffer | null {
    return this.#contents.get(digest) ?? null;
  }
}
