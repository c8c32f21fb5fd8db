import { constants } from "node:fs";
import { copyFile, mkdir, readdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";

/** The largest folder that a running server copies, in bytes: its commits wait meanwhile. */
export const COPIED_BYTES = 1024 ** 3;

/** The embedded database cannot be copied, or its copy cannot be read. The message names the remedy. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

/** A process may have no more than 1,024 files open on some systems. */
const OPEN_FILES = 32;

/** The part of the log that a copy needs. In one process no checkpointer removes the rest before the next CHECKPOINT. */
const NEEDED_LOG = `SELECT pg_walfile_name(redo_lsn) AS first, pg_walfile_name(pg_current_wal_insert_lsn()) AS last
  FROM pg_control_checkpoint()`;

/**
 * Copies the folder of an open database into one that does not exist yet. All statements wait until it is done, so
 * that the copy is of one moment. Rejects with CopyRefused above `bytes`.
 */
export async function copyOpenFolder(client: PGlite, from: string, to: string, bytes = COPIED_BYTES): Promise<void> {
  await client.transaction(async (transaction) => {
    await transaction.exec("CHECKPOINT");
    const { rows } = await transaction.query<{ first: string; last: string }>(NEEDED_LOG);
    const [log] = rows;
    const isNeeded = (path: string): boolean => {
      const segment = /^pg_wal[\\/]([0-9A-F]{24})$/.exec(path)?.[1];
      return segment === undefined || log === undefined || (segment >= log.first && segment <= log.last);
    };
    await copyFolder(from, to, { isNeeded, bytes });
  });
}

type Choice = {
  readonly isNeeded?: (path: string) => boolean;
  readonly bytes?: number;
  /** The free room of the disk in bytes, if it is not asked for. */
  readonly room?: number;
};

/** The room in bytes that a copy leaves to others on the disk, the database itself among them. */
const LEFT_BYTES = 64 * 1024 ** 2;

/** Copies a folder without writers. Where the file system can, both share their blocks until one changes. */
export async function copyFolder(
  from: string,
  to: string,
  { isNeeded = () => true, bytes = Infinity, room }: Choice = {},
): Promise<void> {
  const paths = await pathsIn(from, "");
  const files = paths.filter(({ path, isFolder }) => !isFolder && isNeeded(path)).map(({ path }) => path);
  const sizes = await inGroups(files, OPEN_FILES, async (path) => (await stat(join(from, path))).size);
  const size = sizes.reduce((sum, each) => sum + each, 0);
  if (size > bytes)
    throw new CopyRefused(
      `the embedded database has ${megabytes(size)} MB, and at most ${megabytes(bytes)} are copied while a server runs: stop the server for the statement, or move to a PostgreSQL (DATABASE_URL), where \`npm run bi\` grants logins`,
    );
  const free = room ?? (await freeRoom(dirname(to)));
  if (size + LEFT_BYTES > free)
    throw new CopyRefused(
      `a copy of the embedded database needs ${megabytes(size + LEFT_BYTES)} MB, and the disk of ${dirname(to)} has ${megabytes(free)}: make room`,
    );
  await mkdir(to, { mode: 0o700 });
  for (const { path, isFolder } of paths) if (isFolder) await mkdir(join(to, path), { recursive: true });
  await inGroups(files, OPEN_FILES, (path) => copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE));
}

/** The files and folders below a folder, each folder before those in it. A linked one, such as `pg_wal` on another disk, is as one in its place. */
async function pathsIn(root: string, below: string): Promise<readonly { readonly path: string; readonly isFolder: boolean }[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = join(below, entry.name);
    const isFolder = entry.isSymbolicLink() ? (await stat(join(root, path))).isDirectory() : entry.isDirectory();
    const inside = isFolder ? await pathsIn(root, path) : [];
    return [{ path, isFolder }].concat(inside);
  });
  return (await Promise.all(found)).flat();
}

async function freeRoom(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}

async function inGroups<Item, Answer>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let done = 0; done < items.length; done += size)
    answers.push(...(await Promise.all(items.slice(done, done + size).map(work))));
  return answers;
}
