import { randomUUID } from "node:crypto";
import { constants, lstatSync, renameSync, type Stats } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isSameState, stateAt, stateOf, toState, type FileState } from "./file-state.ts";
import { FolderChanged, inFolder, makeFolders } from "./pinned-folder.ts";
import { PathRefused } from "./path-refused.ts";
import { SAFELY } from "./safely.ts";

/** A file has changed since it was read. Nothing was written; the message is for the model. */
export class FileChangedMeanwhile extends Error {
  override readonly name = "FileChangedMeanwhile";
}

type Place = { readonly path: string; readonly folder: string; readonly name: string; readonly beside: string };

/**
 * A new content of a file, on disk under a temporary name. `replace` renames it to the file, so that readers never see
 * a part; `discard` removes it. Both act only in the resolved folder.
 */
export class StagedFile {
  readonly #place: Place;
  readonly #written: FileState;

  private constructor(place: Place, written: FileState) {
    this.#place = place;
    this.#written = written;
  }

  /**
   * Stages a content for the file of this real path, and makes its folders. It gets the permissions of the existing
   * file, and its owner if the server is root; a new file gets those of the umask. The system rejects a read-only file;
   * PathRefused rejects other things than files.
   */
  static async beside(path: string, real: string, content: string | Uint8Array): Promise<StagedFile> {
    const place = { path, folder: dirname(real), name: basename(real), beside: `.triplane-${randomUUID()}` };
    await makeFolders(place.folder).catch(rethrow(path, real));
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
   * Replaces the file. `before` is the state that the content was made for, null for a missing file. If the file has
   * changed, the content is discarded and FileChangedMeanwhile is thrown. Undefined replaces any file. Returns the new
   * state.
   */
  async replace(before?: FileState | null): Promise<FileState> {
    const { path, name, beside } = this.#place;
    return inPlace(this.#place, async (folder) => {
      try {
        // Both are synchronous, so that no other agent of this server acts between the check and the rename.
        if (before !== undefined) requireState(path, join(folder, name), before);
        renameSync(join(folder, beside), join(folder, name));
      } catch (error) {
        await rm(join(folder, beside), { force: true });
        throw error;
      }
      return this.#stateAfter(join(folder, name));
    });
  }

  async discard(): Promise<void> {
    await inPlace(this.#place, (folder) => rm(join(folder, this.#place.beside), { force: true }));
  }

  /** The rename itself may count as a change. If others have changed the file since, its state is not ours. */
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
  return inFolder(folder, use).catch(rethrow(path, join(folder, name)));
}

function rethrow(path: string, real: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof FolderChanged) throw new PathRefused(`${path} changed while it was opened`);
    throw error instanceof Error && "path" in error ? Object.assign(error, { path: real }) : error;
  };
}

/** Writes and syncs a new file with the permissions of the earlier one, or of the umask. Returns its state. */
async function writeWhole(path: string, content: string | Uint8Array, before: Stats | null): Promise<FileState> {
  const mode = before === null ? 0o666 : before.mode & 0o777;
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFELY, mode);
  try {
    // A network disk may deny this to root: the file then belongs to the server.
    if (before !== null && process.getuid?.() === 0) await file.chown(before.uid, before.gid).catch(() => {});
    if (before !== null) await file.chmod(mode);
    await file.writeFile(content, "utf8");
    await file.sync();
    return await stateOf(file);
  } finally {
    await file.close();
  }
}
