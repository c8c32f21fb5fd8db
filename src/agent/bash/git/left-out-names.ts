import { existsSync, constants } from "node:fs";
import { stat, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../../lib/text.ts";
import type { PassedOver } from "../command-line.ts";
import { liesInRepository } from "./answer-of-git.ts";

/** The files in which rg finds what it passes over, and what it does not pass over after all. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];
/** The longest such file that is read, in bytes. */
const MOST_BYTES = 64 * 1024;
/** A pattern that stands for one name only. */
const PLAIN = /^[\w.@+/ -]+$/;

/** The names that lines with `!` take out of what is passed over; null for every name. */
export type TakenIn = ReadonlySet<string> | null;

/** The names that a search passes over. */
export type LeftOut = {
  /** True if names that begin with a dot are. */
  readonly areHidden: boolean;
  /** Names of folders that are passed over wherever they lie. */
  readonly folders: ReadonlySet<string>;
  /** True if files in the workspace say more about what is passed over. */
  readonly heedsFiles: boolean;
};

const NOTHING: LeftOut = { areHidden: false, folders: new Set(), heedsFiles: false };

/** The names that a search in a folder of the workspace passes over, but for those that were taken in. */
export async function leftOutOf(leavesOut: readonly PassedOver[], root: string, takenIn: TakenIn): Promise<LeftOut> {
  const [areHidden, heedsIgnored] = [leavesOut.includes("hidden"), leavesOut.includes("ignored")];
  const names = new Set(leavesOut.filter((each) => each === ".git" || each === "node_modules"));
  const heedsFiles = areHidden || heedsIgnored;
  if (heedsFiles && takenIn === null) return NOTHING;
  // Only the plainest line of a .gitignore counts, and none without a repository.
  if (heedsIgnored && takenIn?.has("node_modules") !== true && (existsSync(join(root, ".git")) || liesInRepository(root)))
    if (/^node_modules\/?$/m.test((await textOf(join(root, ".gitignore"))) ?? "")) names.add("node_modules");
  return { areHidden, folders: names, heedsFiles };
}

/** True if a search passes over an entry of a folder. Names of folders say nothing of files. */
export function isLeftOut(
  { areHidden, folders }: LeftOut,
  { name, isFolder }: { readonly name: string; readonly isFolder: boolean },
  takenIn: TakenIn,
): boolean {
  if (takenIn === null) return isFolder && folders.has(name);
  if (isFolder && folders.has(name)) return true;
  return areHidden && name.startsWith(".") && !takenIn.has(name);
}

/** The names that the files of the folders above a folder take in. */
export async function takenInAbove(root: string, folder: string): Promise<TakenIn> {
  let takenIn = await takenInBy(join(root, ".git", "info"), ["exclude"], new Set());
  let above = join(root, folder);
  // What another repository says of its files, nobody looks at.
  for (let each = above; each !== root && each !== dirname(each); each = dirname(each))
    if (existsSync(join(each, ".git"))) return null;
  do {
    above = dirname(above);
    takenIn = await takenInBy(above, IGNORE_FILES, takenIn);
  } while (above !== dirname(above));
  return takenIn;
}

/** The names that files of a folder take in, with those of before. */
export async function takenInBy(folder: string, files: readonly string[], before: TakenIn): Promise<TakenIn> {
  if (before === null) return null;
  const names = new Set(before);
  for (const file of files) {
    const text = await textOf(join(folder, file));
    if (text === null) return null;
    for (const [, pattern = ""] of text.matchAll(/^!(.*)$/gm)) {
      const plain = pattern.trim().replace(/\/$/, "");
      if (!PLAIN.test(plain)) return null;
      names.add(plain.slice(plain.lastIndexOf("/") + 1));
    }
  }
  return names;
}

/** True if a file says what is passed over. */
export function isIgnoreFile(name: string): boolean {
  return IGNORE_FILES.includes(name);
}

/** The text of a file, empty if there is none; null if nobody can say. */
async function textOf(file: string): Promise<string | null> {
  try {
    if (!(await stat(file)).isFile()) return null;
    return (await plainContent(file, MOST_BYTES))?.toString("utf8") ?? null;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return "";
    if (["EACCES", "EPERM", "ELOOP"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

/**
 * The content of a file of at most so many bytes; null if it is no file, or has more. Never waits: a pipe that a program puts in
 * the place of a file, after somebody has looked at it, would hold a thread of the server for ever.
 */
async function plainContent(path: string, mostBytes: number): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= mostBytes ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}
