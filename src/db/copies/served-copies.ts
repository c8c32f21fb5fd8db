import { join } from "node:path";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { tellAddress } from "../lock-file.ts";
import { CopyRefused } from "./folder-copy.ts";
import { KEPT_MS, newCopyFolder, removeCopy, removeOldCopies } from "./private-copies.ts";

/** The most copies in the data folder. Each may be as large as the database. */
const MOST_COPIES = 4;

export type CopyRefusal = { readonly kind: "NO_ROOM" | "TOO_MANY"; readonly message: string };

/** The copies that a running server makes of its embedded database, one after the other. It removes those that are left. */
export class ServedCopies {
  readonly #dataFolder: string;
  readonly #copyTo: (folder: string) => Promise<void>;
  readonly #timers = new Set<NodeJS.Timeout>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(dataFolder: string, copyTo: (folder: string) => Promise<void>) {
    this.#dataFolder = dataFolder;
    this.#copyTo = copyTo;
  }

  /** Removes the copies that earlier servers and commands have left behind. */
  static async open(dataFolder: string, copyTo: (folder: string) => Promise<void>): Promise<ServedCopies> {
    const copies = new ServedCopies(dataFolder, copyTo);
    if ((await removeOldCopies(dataFolder)) > 0) copies.#removeLater();
    return copies;
  }

  /** Tells commands where they ask for a copy. */
  tell(address: string): Promise<void> {
    return tellAddress(this.#dataFolder, address);
  }

  /** The folder of a new copy, which its reader removes. */
  make(): Promise<Result<string, CopyRefusal>> {
    const made = this.#last.then(() => this.#make());
    this.#last = made.catch(() => {});
    return made;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #make(): Promise<Result<string, CopyRefusal>> {
    if ((await removeOldCopies(this.#dataFolder)) >= MOST_COPIES)
      return refused({
        kind: "TOO_MANY",
        message: `${MOST_COPIES} copies of the database are in use: run the statement again when others have ended`,
      });
    const folder = await newCopyFolder(this.#dataFolder);
    this.#removeLater();
    try {
      await this.#copyTo(join(folder, "pglite"));
      return accepted(folder);
    } catch (error) {
      await removeCopy(folder);
      if (error instanceof CopyRefused) return refused({ kind: "NO_ROOM", message: error.message });
      throw error;
    }
  }

  #removeLater(): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // What cannot be removed now is tried again by the next copy, and by the next start.
      void removeOldCopies(this.#dataFolder).catch(() => {});
    }, KEPT_MS + 1_000).unref();
    this.#timers.add(timer);
  }
}
