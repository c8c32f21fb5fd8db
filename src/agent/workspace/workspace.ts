import { constants, lstatSync, realpathSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isInside } from "../../lib/path-inside.ts";
import { messageOf } from "../../lib/text.ts";
import { FolderChanged, inFolder, isAt, makeFolders } from "./pinned-folder.ts";
import { errorCode } from "../../lib/error-code.ts";
import { PathClosed, PathRefused } from "./path-refused.ts";
import { SAFELY } from "./safely.ts";
import { StagedFile } from "./staged-file.ts";
import { systemWords } from "./system-words.ts";

/** The access to a file: a file that may be written is also made, replaced and removed. */
export type Access = "read" | "write";

/** Says why a file may not be used, or null if it may. `names` are the ways that lead to it, relative to the workspace. */
export type PathGuard = (names: readonly string[], access: Access) => string | null;

/**
 * The folder in which an agent works. Paths are resolved against it; parent segments, absolute paths and links that
 * lead out of it are refused, and so is what the guard closes.
 */
export class Workspace {
  /** The folder's real path. */
  readonly root: string;
  readonly #guard: PathGuard;
  readonly #closed: readonly string[];
  readonly #judged: ReadonlyMap<string, string>;

  /**
   * `closed` are real paths of folders that are the server's own, wherever they lie. `judged` are the names, with all links
   * resolved, of the files for which a call was judged, by the names as they were written: they lead nowhere else (invariant 14).
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

  /** The real path of what `path` names, whether it exists or not. */
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

  /** The names of a path inside of the workspace: as it is written, and with all links resolved if that differs. */
  namesOf(path: string): readonly [string, ...string[]] {
    const { wanted, real } = this.#locate(path);
    return this.#names(wanted, real);
  }

  /** True if a real path inside of the workspace is closed for reading. */
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

  /** Opens the file for reading. One whose names, as the file is opened, `isWanted` does not take is refused. */
  async openForReading(path: string, isWanted: (names: readonly string[]) => boolean = () => true): Promise<FileHandle> {
    const real = this.resolve(path);
    if (!isWanted(this.#names(resolve(this.root, path), real))) throw new PathRefused(`${path} leads elsewhere by now`);
    return this.#verified(await open(real, constants.O_RDONLY | SAFELY), real, path);
  }

  /** Opens the file for writing, empty, with the folders it lies in. */
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
   * Puts a file of this content in the place of the one that is there, if one is, with the folders it lies in. It keeps the
   * permissions of the file before, and one that may not be written stays. Other names of the same file (hard links) keep
   * what was in it. An agent that reads or writes the file later with the built-in tools is told that it has changed.
   */
  async replaceFile(path: string, content: string | Uint8Array): Promise<void> {
    await (await this.stageFile(path, content)).replace();
  }

  /** Writes a new content of a file beside it: the caller puts it in the file's place, or discards it. */
  async stageFile(path: string, content: string | Uint8Array): Promise<StagedFile> {
    return StagedFile.beside(path, this.resolve(path, "write"), content);
  }

  /** Opens the file, made if it is not there, in the folder that was resolved and in no other. */
  async #create(real: string): Promise<FileHandle> {
    await makeFolders(dirname(real));
    const flags = constants.O_WRONLY | constants.O_CREAT | SAFELY;
    return inFolder(dirname(real), (folder) => open(join(folder, basename(real)), flags, 0o644));
  }

  /** Refuses what is no file, and a file that is not the one at the resolved path: a folder of it became a link meanwhile. */
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

/** The most folders of a path: each is asked about at every rule. */
const SEGMENTS = 100;

/**
 * The real path. Synchronous: asking the file system's cache takes microseconds, handing the question to another thread
 * a multiple of it (docs/adr/0008).
 */
function realpathOf(wanted: string, path: string): string {
  try {
    return realpathOfNearest(wanted);
  } catch (error) {
    throw error instanceof PathRefused ? error : new PathRefused(`${path} ${unresolved(error)}`);
  }
}

/** The reason for which the system does not resolve a path, in words that follow the path. */
function unresolved(error: unknown): string {
  if (errorCode(error) === "ENOTDIR") return "has something in its path that is no folder";
  return systemWords(error) ?? `cannot be resolved (${errorCode(error) ?? messageOf(error)})`;
}

/** The real path of the nearest folder that exists, with what is missing behind it. */
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
