import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isInside } from "../../lib/inside.ts";

/** A path that a tool may not use; the message is for the model. */
export class PathRefused extends Error {
  override readonly name = "PathRefused";
}

/**
 * The folder in which an agent works. Paths are resolved against it; parent segments, absolute paths and links that
 * lead out of it are refused.
 */
export class Workspace {
  /** The folder's real path. */
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The real path of what `path` names, whether it exists or not. */
  async resolve(path: string): Promise<string> {
    if (path.includes("\0")) throw new PathRefused("a path must not contain NUL");
    const wanted = resolve(this.root, path);
    this.#requireInside(wanted, path);
    const real = await realpathOfNearest(wanted);
    this.#requireInside(real, path);
    return real;
  }

  /** The path as tools show it: relative to the workspace, with forward slashes. */
  show(real: string): string {
    return relative(this.root, real).split(sep).join("/") || ".";
  }

  /** Opens the file for reading. */
  async openForReading(path: string): Promise<FileHandle> {
    const real = await this.resolve(path);
    return this.#verified(await open(real, constants.O_RDONLY | SAFELY), real, path);
  }

  /** Opens the file for writing, empty, with the folders it lies in. */
  async openForWriting(path: string): Promise<FileHandle> {
    const real = await this.resolve(path);
    await mkdir(dirname(real), { recursive: true });
    if ((await this.resolve(path)) !== real) throw new PathRefused(`${path} changed while it was opened`);
    const file = await this.#verified(await open(real, constants.O_WRONLY | constants.O_CREAT | SAFELY, 0o644), real, path);
    await file.truncate(0);
    return file;
  }

  /** Refuses what is no file, and a file that is not the one at the resolved path: a folder of it became a link meanwhile. */
  async #verified(file: FileHandle, real: string, path: string): Promise<FileHandle> {
    const [opened, present, now] = await Promise.all([
      file.stat(),
      stat(real).catch(() => null),
      realpath(real).catch(() => null),
    ]);
    if (opened.isFile() && now === real && present?.ino === opened.ino && present.dev === opened.dev) return file;
    await file.close();
    throw new PathRefused(
      opened.isFile() ? `${path} changed while it was opened` : `${path} is not a file: list folders with fs_glob`,
    );
  }

  #requireInside(real: string, path: string): void {
    if (!isInside(this.root, real))
      throw new PathRefused(`${path} lies outside of the workspace: use a path inside of it, relative to its root`);
  }
}

/** Never through a link, and never waiting: a pipe without a writer would hold a thread of the server for ever. */
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The real path of the nearest folder that exists, with what is missing behind it. */
async function realpathOfNearest(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    const parent = dirname(path);
    if (parent === path) throw error;
    const real = join(await realpathOfNearest(parent), basename(path));
    if (await isLink(path)) throw new PathRefused(`${basename(path)} is a link that leads nowhere`);
    return real;
  }
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
}
