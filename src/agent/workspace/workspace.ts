import { randomUUID } from "node:crypto";
import { constants, lstatSync, realpathSync, renameSync, type Stats } from "node:fs";
import { open, type FileHandle, lstat, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isInside } from "../../lib/path-inside.ts";
import { errorCode, messageOf } from "../../lib/text.ts";
import { isSameState, stateAt, stateOf, toState, type FileState } from "./known-files.ts";
import { FolderChanged, inFolder, isAt, makeFolders, SAFELY } from "./pinned-folder.ts";

/** A path that a tool may not use. The message is for the model: the fact, which people read too, and the advice. */
export class PathRefused extends Error {
  override readonly name = "PathRefused";
  readonly fact: string;

  constructor(fact: string, advice: string | null = null) {
    super(advice === null ? fact : `${fact}: ${advice}`);
    this.fact = fact;
  }
}

export class PathClosed extends PathRefused {}

const IN_WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  ENOTDIR: "is no folder, or lies in something that is none",
  EACCES: "may not be opened by the server",
  EPERM: "may not be changed by the server",
  EEXIST: "is there already",
  ENOTEMPTY: "is a folder that is not empty",
  ENOSPC: "could not be written: the disk is full",
  ENAMETOOLONG: "has a name that is too long for the system",
  ELOOP: "has a link in its path that leads back to itself",
};

export function systemWords(error: unknown): string | null {
  return IN_WORDS[errorCode(error) ?? ""] ?? null;
}

/** Write access includes creating, replacing and removing. */
export type Access = "read" | "write";

/** Why a file may not be used; null if it may. `names` are its names, relative to the workspace. */
export type PathGuard = (names: readonly string[], access: Access) => string | null;

/**
 * The folder in which an agent works. Paths are resolved against it. Parent segments, absolute paths and links that
 * lead out of it are refused, and so are the guard's closed paths.
 */
export class Workspace {
  readonly root: string;
  readonly #guard: PathGuard;
  readonly #closed: readonly string[];
  readonly #judged: ReadonlyMap<string, string>;

  /**
   * `closed`: real paths of the server's own folders, wherever they are. `judged`: the resolved names of the judged
   * files, by their written names, which lead nowhere else (invariant 14).
   */
  constructor(
    root: string,
    guard: PathGuard = () => null,
    closed: readonly string[] = [],
    judged: ReadonlyMap<string, string> = new Map(),
  ) {
    this.root = root;
    this.#guard = guard;
    this.#closed = closed;
    this.#judged = judged;
  }

  /** The real path of `path`, which need not exist. */
  resolve(path: string, access: Access = "read"): string {
    const { wanted, real } = this.#locate(path);
    const names = this.#names(wanted, real);
    const reason = this.#guard(names, access);
    if (reason !== null) throw new PathRefused(`${path} is not permitted: ${reason}`);
    const judged = this.#judged.get(names[0]);
    if (judged !== undefined && judged !== this.show(real))
      throw new PathRefused(`${path} leads elsewhere than when the call was judged: call again, and it is judged again`);
    return real;
  }

  /** The names of a path in the workspace: as written, and with links resolved if that differs. */
  namesOf(path: string): readonly [string, ...string[]] {
    const { wanted, real } = this.#locate(path);
    return this.#names(wanted, real);
  }

  isClosed(real: string): boolean {
    return this.#closed.some((folder) => isInside(folder, real)) || this.#guard([this.show(real)], "read") !== null;
  }

  #locate(path: string): { wanted: string; real: string } {
    if (path.includes("\0")) throw new PathRefused("a path must not contain NUL");
    const wanted = resolve(this.root, path);
    this.#requireInside(wanted, path);
    if (relative(this.root, wanted).split(sep).length > SEGMENTS) throw new PathRefused(`a path has at most ${SEGMENTS} folders`);
    const real = realpathOf(wanted, path);
    this.#requireInside(real, path);
    if (this.#closed.some((folder) => isInside(folder, real)))
      throw new PathClosed(`${path} is the server's own`, "leave it alone");
    return { wanted, real };
  }

  #names(wanted: string, real: string): readonly [string, ...string[]] {
    const written = this.show(wanted);
    return wanted === real ? [written] : [written, this.show(real)];
  }

  /** The path as tools show it: relative to the workspace, with forward slashes. */
  show(real: string): string {
    return relative(this.root, real).split(sep).join("/") || ".";
  }

  /** Opens the file for reading. Refused if `isWanted` rejects its names as it is opened. */
  async openForReading(path: string, isWanted: (names: readonly string[]) => boolean = () => true): Promise<FileHandle> {
    const real = this.resolve(path);
    if (!isWanted(this.#names(resolve(this.root, path), real))) throw new PathRefused(`${path} leads elsewhere by now`);
    return this.#verified(await open(real, constants.O_RDONLY | SAFELY), real, path);
  }

  async openForWriting(path: string): Promise<FileHandle> {
    const real = this.resolve(path, "write");
    const opened = await this.#create(real).catch((error: unknown) => {
      throw error instanceof FolderChanged ? new PathRefused(`${path} changed while it was opened`) : error;
    });
    const file = await this.#verified(opened, real, path);
    await file.truncate(0);
    return file;
  }

  /**
   * Replaces or creates a file, and makes its folders. It keeps the earlier permissions; a read-only file is not
   * replaced. Other hard links keep the earlier content. Agents that know the file are told of the change when they use
   * it again with the built-in tools.
   */
  async replaceFile(path: string, content: string | Uint8Array): Promise<void> {
    await (await this.stageFile(path, content)).replace();
  }

  async stageFile(path: string, content: string | Uint8Array): Promise<StagedFile> {
    return StagedFile.beside(path, this.resolve(path, "write"), content);
  }

  async #create(real: string): Promise<FileHandle> {
    await makeFolders(dirname(real));
    const flags = constants.O_WRONLY | constants.O_CREAT | SAFELY;
    return inFolder(dirname(real), (folder) => open(join(folder, basename(real)), flags, 0o644));
  }

  /** Refuses other things than files, and a file that is not at the resolved path: a folder of it became a link meanwhile. */
  async #verified(file: FileHandle, real: string, path: string): Promise<FileHandle> {
    const isFile = (await file.stat()).isFile();
    if (isFile && (await isAt(file, real))) return file;
    await file.close();
    throw new PathRefused(isFile ? `${path} changed while it was opened` : `${path} is not a file: list folders with fs_glob`);
  }

  #requireInside(real: string, path: string): void {
    if (!isInside(this.root, real))
      throw new PathRefused(`${path} lies outside of the workspace`, "use a path inside of it, relative to its root");
  }
}

/** The most folders of a path: each is matched against every rule. */
const SEGMENTS = 100;

/**
 * The real path. Synchronous: a call of the file system's cache takes microseconds, a thread switch a multiple of it
 * (docs/adr/0008).
 */
function realpathOf(wanted: string, path: string): string {
  try {
    return realpathOfNearest(wanted);
  } catch (error) {
    throw error instanceof PathRefused ? error : new PathRefused(`${path} ${unresolved(error)}`);
  }
}

function unresolved(error: unknown): string {
  if (errorCode(error) === "ENOTDIR") return "has something in its path that is no folder";
  return systemWords(error) ?? `cannot be resolved (${errorCode(error) ?? messageOf(error)})`;
}

function realpathOfNearest(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    const parent = dirname(path);
    if (parent === path) throw error;
    const real = join(realpathOfNearest(parent), basename(path));
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new PathRefused(`${basename(path)} is a link that leads nowhere`);
    return real;
  }
}

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
