import { LRUCache } from "lru-cache";

/** The most cached bytes of all contents together, and of one. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const CONTENT_BYTES = 256 * 1024;

/**
 * The contents of small files that this server's agents have read or written, by digest, to show later changes. Without
 * a cached content, changes are described by size and time.
 */
export class RecentContents {
  readonly #contents = new LRUCache<string, Buffer>({ maxSize: TOGETHER_BYTES, sizeCalculation: ({ length }) => length + 200 });

  remember(digest: string, content: Buffer): void {
    // A copy: a slice would retain a large buffer.
    if (content.length <= CONTENT_BYTES && !this.#contents.has(digest)) this.#contents.set(digest, Buffer.from(content));
  }

  find(digest: string): Buffer | null {
    return this.#contents.get(digest) ?? null;
  }
}
