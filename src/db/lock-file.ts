import { access, constants, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode, messageOf } from "../lib/text.ts";

/** Another process uses the data folder, which belongs to one server: embedded database, outputs, HOMEs and boxes. */
export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
  constructor(folder: string, owner: string) {
    super(
      `the data folder ${folder} is in use by ${owner}: stop it, or give each server a TRIPLANE_DATA_DIR of its own (several servers share a PostgreSQL by DATABASE_URL)`,
    );
  }
}

type FolderVariable = "TRIPLANE_DATA_DIR" | "TRIPLANE_PROGRAMS_DIR";

/** The data folder cannot be created or written. */
export class DataFolderUnusable extends Error {
  override readonly name = "DataFolderUnusable";
  constructor(folder: string, problem: string, variable: FolderVariable = "TRIPLANE_DATA_DIR") {
    const advice = /full|ENOSPC|EDQUOT|quota/i.test(problem)
      ? `make room on its disk, or set ${variable} to a folder on another one`
      : `set ${variable} to a folder that can be written`;
    super(`the data folder ${folder} cannot be used (${problem}): ${advice}`);
  }
}

const SQLITE_BUSY = 5;

const OWNER = "triplane.owner";

/** Rejects with DataFolderUnusable if the folder could be neither created nor written. Creates nothing. */
export async function checkFolder(folder: string, variable: FolderVariable): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      if (!(await stat(path)).isDirectory()) throw new DataFolderUnusable(folder, `${path} is a file`, variable);
      return await access(path, constants.W_OK | constants.X_OK);
    } catch (error) {
      if (error instanceof DataFolderUnusable) throw error;
      if (errorCode(error) !== "ENOENT" || path === dirname(path))
        throw new DataFolderUnusable(folder, messageOf(error), variable);
    }
  }
}

/**
 * Locks the folder for this process. It is a lock of the system on an unwritten SQLite file. It ends with its process
 * in every case, so that none is ever stale. A file next to it names the holder, with its process id. Returns the release.
 */
export async function lockFolder(folder: string, holder = "process"): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new DataFolderUnusable(folder, messageOf(error));
  });
  const owner = join(folder, OWNER);
  const lock = openLock(folder);
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    await writeFile(owner, `${holder} ${process.pid} (since ${new Date().toISOString()})`);
  } catch (error) {
    lock.close();
    if (!(error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY))
      throw new DataFolderUnusable(folder, messageOf(error));
    throw new DataFolderInUse(folder, await readFile(owner, "utf8").catch(() => "another process"));
  }
  return async () => {
    await writeFile(owner, "another process");
    lock.close();
  };
}

/** Adds the address of the server that holds the folder to the file that names the holder. */
export async function tellAddress(folder: string, address: string): Promise<void> {
  const owner = join(folder, OWNER);
  await writeFile(owner, `${await readFile(owner, "utf8")}, at ${address}`);
}

/** The address of the server that holds the folder; null if the holder has told none. */
export async function toldAddress(folder: string): Promise<string | null> {
  const said = await readFile(join(folder, OWNER), "utf8").catch(() => "");
  return /, at (http:\/\/\S+)$/.exec(said)?.[1] ?? null;
}

function openLock(folder: string): DatabaseSync {
  try {
    return new DatabaseSync(join(folder, "triplane.lock"));
  } catch (error) {
    throw new DataFolderUnusable(folder, messageOf(error));
  }
}
