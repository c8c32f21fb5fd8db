import { LRUCache } from "lru-cache";
import type { RememberedFile } from "../known-files.ts";

const TOGETHER_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 500;

export type FilesByPath = Map<string, RememberedFile>;

/** The known files of agents, for this server's owners, in a cache of bounded size. Dropped ones are read again. */
export class RememberedFiles {
  readonly #files = new LRUCache<object, { readonly files: FilesByPath }>({
    maxSize: TOGETHER_BYTES,
    sizeCalculation: ({ files }) => (files.size + 1) * FILE_BYTES,
  });

  get bytes(): number {
    return this.#files.calculatedSize;
  }

  of(owner: object): FilesByPath | null {
    return this.#files.get(owner)?.files ?? null;
  }

  keep(owner: object, files: FilesByPath): void {
    this.#files.set(owner, { files });
  }

  forget(owner: object): void {
    this.#files.delete(owner);
  }
}
