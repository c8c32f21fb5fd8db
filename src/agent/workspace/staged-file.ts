import { randomUUID } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { lstat, open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";
import { FolderChanged, inFolder, makeFolders } from "./pinned-folder.ts";
import { PathRefused } from "./path-refused.ts";
import { SAFELY } from "./safely.ts";

/** The state of a file on the disk by which a later look tells that nothing has touched the file: null if there is none. */
export type FileState = { readonly inode: bigint; readonly bytes: bigint; readonly modified: bigint; readonly changed: bigint };

/** The state of an open file. */
export async function stateOf(file: FileHandle): Promise<FileState> {
  return toState(await file.stat({ bigint: true }));
}

/** A file is no longer what it was when it was read. Nothing was written; the message is for the model. */
export class FileChangedMeanwhile extends Error {
  override readonly name = "FileChangedMeanwhile";
}

/**
 * A new content of a file: written beside it, on the disk, and not yet in its place. `replace` puts it there by one rename, so
 * that nobody ever finds a half of it; `discard` removes it. Each is in the folder that was resolved and in no other.
 */
export class StagedFile {
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly #folder: string;
  readonly #name: string;
  readonly #beside: string;

  private constructor(path: string, real: string) {
    this.path = path;
    this.#folder = dirname(real);
    this.#name = basename(real);
    this.#beside = `.${randomUUID()}`;
  }

  /**
   * Stages a content for the file of this real path, with the folders that the file lies in. It gets the permissions of the
   * file that is there. A file that may not be written is refused by the system, and what is no file by PathRefused.
   */
  static async beside(path: string, real: string, content: string | Uint8Array): Promise<StagedFile> {
    const staged = new StagedFile(path, real);
    await makeFolders(dirname(real)).catch(told(path, real));
    await staged.#in(async (folder) => {
      const before = await lstat(join(folder, staged.#name)).catch(() => null);
      if (before?.isFile() === false) throw new PathRefused(`${path} is not a file: list folders with fs_glob`);
      if (before !== null) await (await open(join(folder, staged.#name), constants.O_WRONLY | SAFELY)).close();
      try {
        await writeWhole(join(folder, staged.#beside), content, before === null ? 0o644 : before.mode & 0o777);
      } catch (error) {
        await rm(join(folder, staged.#beside), { force: true });
        throw error;
      }
    });
    return staged;
  }

  /**
   * Puts the content in the file's place. `before` is the state of the file that the content was made for, null if there
   * was none; if the file is another by now, FileChangedMeanwhile is thrown, and the content is discarded. Undefined takes
   * the place of whatever is there.
   */
  async replace(before?: FileState | null): Promise<void> {
    await this.#in(async (folder) => {
      try {
        if (before !== undefined) await this.#requireState(join(folder, this.#name), before);
        await rename(join(folder, this.#beside), join(folder, this.#name));
      } catch (error) {
        await rm(join(folder, this.#beside), { force: true });
        throw error;
      }
    });
  }

  /** Removes the content, if it is still beside the file. */
  async discard(): Promise<void> {
    await this.#in((folder) => rm(join(folder, this.#beside), { force: true }));
  }

  async #requireState(place: string, before: FileState | null): Promise<void> {
    const now = await lstat(place, { bigint: true }).then(toState, (error: unknown) => {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    });
    if (isSame(before, now)) return;
    const became =
      now === null ? "was removed" : before === null ? "was made by something else" : "was changed by something else";
    throw new FileChangedMeanwhile(`${this.path} ${became} while this call ran, and is left as it is: read it again`);
  }

  #in<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
    return inFolder(this.#folder, use).catch(told(this.path, join(this.#folder, this.#name)));
  }
}

/** Throws an error as the model is told of it: the system names a file by the folder that was pinned. */
function told(path: string, real: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof FolderChanged) throw new PathRefused(`${path} changed while it was opened`);
    throw error instanceof Error && "path" in error ? Object.assign(error, { path: real }) : error;
  };
}

function toState({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return { inode: ino, bytes: size, modified: mtimeNs, changed: ctimeNs };
}

function isSame(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.inode === other.inode && one.bytes === other.bytes && one.modified === other.modified && one.changed === other.changed
  );
}

/** Writes a new file, and waits until the disk has it. */
async function writeWhole(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFELY, mode);
  try {
    await file.chmod(mode);
    await file.writeFile(content, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}
