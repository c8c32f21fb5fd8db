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
