import { constants, existsSync } from "node:fs";
import { mkdir, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";

/** The folder is not the one that was resolved: something on its path became a link, or was moved. */
export class FolderChanged extends Error {
  override readonly name = "FolderChanged";
}

/** The files that this process has open, as the system shows them: by them a name is looked up in a folder that is held open. */
const OPEN_FILES = "/proc/self/fd";
const CAN_PIN = existsSync(OPEN_FILES);
/** `O_PATH` of Linux: a folder is held open that may not be read. */
const HOLD = 0o10000000;

/**
 * Does something in the folder of this real path, given by a path that leads there whatever becomes of the real one
 * meanwhile (what openat(2) is for, which Node does not have). Throws FolderChanged if the real path now leads
 * elsewhere. On a system without /proc/self/fd the path is the real one, and what changes between the look and the deed is not
 * seen.
 */
export async function inFolder<Result>(real: string, use: (folder: string) => Promise<Result>): Promise<Result> {
  if (!CAN_PIN) return use(real);
  const folder = await open(real, HOLD | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw ["ELOOP", "ENOTDIR"].includes(errorCode(error) ?? "")
      ? new FolderChanged(`${real} is not the folder that it was`)
      : error;
  });
  try {
    const pinned = `${OPEN_FILES}/${folder.fd}`;
    if ((await readlink(pinned)) !== real) throw new FolderChanged(`${real} is not the folder that it was`);
    return await use(pinned);
  } finally {
    await folder.close();
  }
}

/** Makes the folder of this real path, and those it lies in, each in the one before. */
export async function makeFolders(real: string): Promise<void> {
  const missing: string[] = [];
  let present = real;
  for (; !existsSync(present); present = dirname(present)) missing.unshift(basename(present));
  for (const name of missing) {
    await inFolder(present, (folder) => mkdir(join(folder, name))).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw error;
    });
    present = join(present, name);
  }
}

/**
 * True if an open file lies at this real path. The descriptor says where the file lies, whatever its path leads to meanwhile.
 * On a system without /proc/self/fd the path is looked at again, and what changes between two looks is not seen.
 */
export async function isAt(file: FileHandle, real: string): Promise<boolean> {
  if (CAN_PIN) return (await readlink(`${OPEN_FILES}/${file.fd}`)) === real;
  const [opened, present, now] = await Promise.all([file.stat(), stat(real).catch(() => null), realpath(real).catch(() => null)]);
  return now === real && present?.ino === opened.ino && present.dev === opened.dev;
}
