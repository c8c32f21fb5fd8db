import { existsSync, statSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorCode } from "../../../../lib/error-code.ts";
import { indexNames } from "./index-names.ts";
import { plainContent } from "./plain-file.ts";

/** The largest index that is read, in bytes. */
const MOST_BYTES = 32 * 1024 * 1024;
/** The longest file that says where a repository lies, in bytes. */
const MOST_POINTER_BYTES = 8 * 1024;

/**
 * The files that a repository tracks, as paths from the folder in which its `.git` lies: the names of its index. Null if nobody
 * can say.
 */
export async function trackedNames(folder: string): Promise<readonly string[] | null> {
  const entry = join(folder, ".git");
  const found = await lstat(entry).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return namesIn(join(entry, "index"));
  if (!found.isFile()) return null;
  // A linked worktree, or a submodule.
  const pointer = await plainContent(entry, MOST_POINTER_BYTES).catch(() => null);
  const [, place] = /^gitdir: (.+?)\s*$/.exec(pointer?.toString("utf8") ?? "") ?? [];
  return place === undefined ? null : namesIn(join(resolve(folder, place), "index"));
}

async function namesIn(index: string): Promise<readonly string[] | null> {
  try {
    if (!(await lstat(index)).isFile()) return null;
    const content = await plainContent(index, MOST_BYTES);
    return content === null ? null : indexNames(content);
  } catch (error) {
    // A repository without an index tracks nothing yet.
    if (errorCode(error) === "ENOENT") return [];
    if (["ENOTDIR", "EACCES", "EPERM", "ENXIO"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

/** True if git takes a folder for a repository: whole, and of the server's own user. Elsewhere `git diff` compares any two files. */
export function isRepository(folder: string): boolean {
  const places = ["HEAD", "objects", "refs"].map((name) => join(folder, ".git", name));
  if (!places.every((place) => existsSync(place))) return false;
  const owners = [folder, join(folder, ".git")].map((place) => statSync(place, { throwIfNoEntry: false })?.uid);
  return owners.every((owner) => owner === process.getuid?.());
}

/** True if a folder that is no repository lies in one. */
export function liesInRepository(folder: string): boolean {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (existsSync(join(above, ".git"))) return true;
    if (above === dirname(above)) return false;
  }
}
