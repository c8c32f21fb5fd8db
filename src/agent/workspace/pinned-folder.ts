import { constants, existsSync } from "node:fs";
import { mkdir, open, readlink, realpath, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../lib/text.ts";

export class FolderChanged extends Error {
  override readonly name = "FolderChanged";
}

/** This process's open files, by which names are looked up in a folder that is held open. */
const OPEN_FILES = "/proc/self/fd";
const CAN_PIN = existsSync(OPEN_FILES);
/** `O_PATH` of Linux: holds a folder open that may not be readable. */
const HOLD = 0o10000000;

/**
 * Works in the folder of this real path through a path that stays valid if the real one changes (openat(2), which Node
 * lacks). Throws FolderChanged if the real path leads elsewhere. Without /proc/self/fd the path is the real one, and
 * changes between the check and the use are missed.
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
 * True if an open file lies at this real path, by its descriptor. Without /proc/self/fd the path is checked again, and
 * changes between two checks are missed.
 */
export async function isAt(file: FileHandle, real: string): Promise<boolean> {
  if (CAN_PIN) return (await readlink(`${OPEN_FILES}/${file.fd}`)) === real;
  const [opened, present, now] = await Promise.all([file.stat(), stat(real).catch(() => null), realpath(real).catch(() => null)]);
  return now === real && present?.ino === opened.ino && present.dev === opened.dev;
}

/** Flags for opening: links are not followed, and a pipe without a writer does not block a thread for ever. */
export const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
