import { LRUCache } from "lru-cache";
import type { RememberedFile } from "../known-files.ts";

/** The room for the files that the owners of a server remember, of all its agents; and what a file takes, by and large. */
const TOGETHER_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 500;

/** The files that one agent knows, by their paths. */
export type FilesByPath = Map<string, RememberedFile>;

/** The files that the owners of this server remember of their agents: those used last, within one room. What is forgotten is read again. */
export class RememberedFiles {
  /** The cache counts the size of a value when it is another value than before. */
  readonly #files = new LRUCache<object, { readonly files: FilesByPath }>({
    maxSize: TOGETHER_BYTES,
    sizeCalculation: ({ files }) => (files.size + 1) * FILE_BYTES,
  });

  /** The bytes that are remembered now. */
  get bytes(): number {
    return this.#files.calculatedSize;
  }

  /** The files that an owner remembers; null for none. */
  of(owner: object): FilesByPath | null {
    return this.#files.get(owner)?.files ?? null;
  }

  /** Remembers the files of an owner, in the place of those before. */
  keep(owner: object, files: FilesByPath): void {
    this.#files.set(owner, { files });
  }

  /** Forgets the files of an owner. */
  forget(owner: object): void {
    this.#files.delete(owner);
  }
}
