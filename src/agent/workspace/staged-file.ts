import { randomUUID } from "node:crypto";
import { constants, lstatSync, renameSync, type Stats } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isSameState, stateAt, stateOf, toState, type FileState } from "./file-state.ts";
import { FolderChanged, inFolder, makeFolders } from "./pinned-folder.ts";
import { PathRefused } from "./path-refused.ts";
import { SAFELY } from "./safely.ts";

/** A file is no longer what it was when it was read. Nothing was written; the message is for the model. */
export class FileChangedMeanwhile extends Error {
  override readonly name = "FileChangedMeanwhile";
}

/** The place of a file, and the name under which its new content stands beside it. */
type Place = { readonly path: string; readonly folder: string; readonly name: string; readonly beside: string };

/**
 * A new content of a file: written beside it, on the disk, and not yet in its place. `replace` puts it there by one rename, so
 * that nobody ever finds a half of it; `discard` removes it. Each is in the folder that was resolved and in no other.
 */
export class StagedFile {
  readonly #place: Place;
  readonly #written: FileState;

  private constructor(place: Place, written: FileState) {
    this.#place = place;
    this.#written = written;
  }

  /**
   * Stages a content for the file of this real path, with the folders that the file lies in. The content gets the permissions
   * of the file that is there, and its owner, if the server may give files away (root). A new file gets the permissions that
   * the server's umask leaves. A file that may not be written is refused by the system, and what is no file by PathRefused.
   */
  static async beside(path: string, real: string, content: string | Uint8Array): Promise<StagedFile> {
    const place = { path, folder: dirname(real), name: basename(real), beside: `.triplane-${randomUUID()}` };
    await makeFolders(place.folder).catch(told(path, real));
    const written = await inPlace(place, async (folder) => {
      const before = await lstat(join(folder, place.name)).catch(() => null);
      if (before?.isFile() === false) throw new PathRefused(`${path} is not a file: list folders with fs_glob`);
      if (before !== null) await (await open(join(folder, place.name), constants.O_WRONLY | SAFELY)).close();
      try {
        return await writeWhole(join(folder, place.beside), content, before);
      } catch (error) {
        await rm(join(folder, place.beside), { force: true });
        throw error;
      }
    });
    return new StagedFile(place, written);
  }

  /**
   * Puts the content in the file's place. `before` is the state of the file that the content was made for, null if there
   * was none; if the file is another by now, FileChangedMeanwhile is thrown, and the content is discarded. Undefined takes
   * the place of whatever is there. Answers the state of the file with its new content.
   */
  async replace(before?: FileState | null): Promise<FileState> {
    const { path, name, beside } = this.#place;
    return inPlace(this.#place, async (folder) => {
      try {
        // Both are synchronous, so that no other agent of this server comes between the look and the rename.
        if (before !== undefined) requireState(path, join(folder, name), before);
        renameSync(join(folder, beside), join(folder, name));
      } catch (error) {
        await rm(join(folder, beside), { force: true });
        throw error;
      }
      return this.#stateAfter(join(folder, name));
    });
  }

  /** Removes the content, if it is still beside the file. */
  async discard(): Promise<void> {
    await inPlace(this.#place, (folder) => rm(join(folder, this.#place.beside), { force: true }));
  }

  /** The rename itself may count as a change of the file. If something else has changed the file since, its state is not ours. */
  async #stateAfter(file: string): Promise<FileState> {
    const now = await stateAt(file).catch(() => null);
    const isOurs = now !== null && isSameState({ ...now, changed: this.#written.changed }, this.#written);
    return isOurs ? now : this.#written;
  }
}

function requireState(path: string, file: string, before: FileState | null): void {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  const now = stats === undefined ? null : toState(stats);
  if (isSameState(before, now)) return;
  const became = now === null ? "was removed" : before === null ? "was made by something else" : "was changed by something else";
  throw new FileChangedMeanwhile(`${path} ${became} while this call ran, and is left as it is: read it again`);
}

function inPlace<Result>({ path, folder, name }: Place, use: (folder: string) => Promise<Result>): Promise<Result> {
  return inFolder(folder, use).catch(told(path, join(folder, name)));
}

/** Throws an error as the model is told of it: the system names a file by the folder that was pinned. */
function told(path: string, real: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof FolderChanged) throw new PathRefused(`${path} changed while it was opened`);
    throw error instanceof Error && "path" in error ? Object.assign(error, { path: real }) : error;
  };
}

/** Writes a new file with the permissions of the one before, or with what the umask leaves, and waits until the disk has it. Answers its state. */
async function writeWhole(path: string, content: string | Uint8Array, before: Stats | null): Promise<FileState> {
  const mode = before === null ? 0o666 : before.mode & 0o777;
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFELY, mode);
  try {
    // A disk of another machine may keep that from root: the file is the server's then.
    if (before !== null && process.getuid?.() === 0) await file.chown(before.uid, before.gid).catch(() => {});
    if (before !== null) await file.chmod(mode);
    await file.writeFile(content, "utf8");
    await file.sync();
    return await stateOf(file);
  } finally {
    await file.close();
  }
}
