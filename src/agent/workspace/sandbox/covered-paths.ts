import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { errorCode } from "../../../lib/text.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

const REPLACEMENT = "\uFFFD";
const NONE: ReadonlySet<string> = new Set();

/**
 * The entries of a folder that a box searches for files to cover or protect. None if the folder is missing, or if
 * another user closes it to the server's user, as whom programs run too. Throws SandboxRefused, with the folder's name,
 * for any other unreadable folder: its owner may open files by name, and change its mode.
 */
export function folderEntries(real: string, name: string): readonly Dirent[] {
  try {
    requireEntry(real);
    return readdirSync(real, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error) || (isForbidden(error) && isClosedByAnother(real))) return [];
    throw isForbidden(error) ? unreadable(name) : error;
  }
}

/**
 * The entry names that stand for invalid UTF-8. Such an entry is not found by its name, and a valid name with U+FFFD
 * may look the same.
 */
export function namesWithoutText(real: string, entries: readonly Dirent[]): ReadonlySet<string> {
  if (!entries.some(({ name }) => name.includes(REPLACEMENT))) return NONE;
  return new Set(readdirSync(real, "buffer").flatMap((bytes) => (isUtf8(bytes) ? [] : [bytes.toString()])));
}

export function withoutText(name: string): SandboxRefused {
  return new SandboxRefused(
    `the name ${name} is not UTF-8, and no box can cover or protect what it stands for: a person must give it another name`,
  );
}

export function unreadable(name: string): SandboxRefused {
  return new SandboxRefused(
    `the folder ${name} cannot be read, and what lies in it may have to be covered or protected: a person must make it readable`,
  );
}

export function isForbidden(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(errorCode(error) ?? "");
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
}

function requireEntry(real: string): void {
  lstatSync(`${real}/.`);
}

function isClosedByAnother(real: string): boolean {
  try {
    if (lstatSync(real).uid === process.geteuid?.()) return false;
  } catch (error) {
    // Its parent folder cannot be entered.
    return isAbsent(error);
  }
  try {
    requireEntry(real);
    return false;
  } catch {
    return true;
  }
}

export type CoverVerdict = "covered" | "open" | "looked into";

/** Decides about a path relative to the workspace. Files are never "looked into". */
export type CoverRule = {
  readonly key: string;
  readonly verdict: (path: string, isFolder: boolean) => CoverVerdict;
};

/** The most folders that are searched in a workspace, and that are cached for all workspaces together. */
const MOST_FOLDERS = 50_000;
const REMEMBERED_FOLDERS = 200_000;
/** The longest path that a system opens, in bytes (`PATH_MAX`, with the zero behind it). */
const MOST_PATH_BYTES = 4_096;
const TURN_FOLDERS = 50;
/** A folder with a change this shortly before its read may change again within the same tick of the file system's clock; ms. */
const TICK_MS = 1_000;

type KnownFolder = {
  readonly inode: bigint;
  readonly changedAt: bigint;
  /** False if the folder may change after its read without a later time of change. */
  readonly isSettled: boolean;
  readonly covered: readonly string[];
  readonly isRepository: boolean;
  readonly folders: ReadonlyMap<string, KnownFolder | null>;
};

export type FoundInWorkspace = {
  readonly covered: readonly string[];
  readonly repositories: readonly string[];
};

type Search = {
  readonly rule: CoverRule;
  readonly covered: string[];
  readonly repositories: string[];
  folders: number;
  readonly signal: AbortSignal;
};

/**
 * Finds the covered files and the repositories in workspaces. Results are cached by folder: with the same inode and
 * time of change (ctime, which programs cannot set back) its entries are the same. So a second search takes one call a
 * folder. Links are not followed: their targets are found at their own places.
 */
export class CoveredPaths {
  readonly #known = new LRUCache<string, { readonly root: KnownFolder; readonly folders: number }>({
    maxSize: REMEMBERED_FOLDERS,
    sizeCalculation: ({ folders }) => Math.max(1, folders),
  });

  /**
   * Throws SandboxRefused if the workspace has too many folders or an unreadable one. Also for a name that is not UTF-8
   * where a file may have to be covered.
   */
  async find(workspace: string, rule: CoverRule, signal: AbortSignal): Promise<FoundInWorkspace> {
    const key = `${workspace}\0${rule.key}`;
    const search: Search = { rule, covered: [], repositories: [], folders: 0, signal };
    const root = await lookInto(workspace, "", this.#known.get(key)?.root ?? null, search);
    if (root !== null) this.#known.set(key, { root, folders: search.folders });
    return { covered: search.covered.map((path) => join(workspace, path)), repositories: search.repositories };
  }
}

async function lookInto(real: string, path: string, before: KnownFolder | null, search: Search): Promise<KnownFolder | null> {
  search.folders += 1;
  if (search.folders > MOST_FOLDERS)
    throw new SandboxRefused(
      `the workspace has more than ${MOST_FOLDERS} folders, in which files that must be covered are looked for: let the agent work in a part of it`,
    );
  if (Buffer.byteLength(real) >= MOST_PATH_BYTES)
    throw new SandboxRefused(
      `the folders in ${path.split("/")[0]} lie deeper than a path can be long, and files that must be covered are looked for in them: a person must remove them`,
    );
  if (search.folders % TURN_FOLDERS === 0) {
    await setImmediate();
    search.signal.throwIfAborted();
  }
  const now = before !== null && isUnchanged(real, before) ? before : read(real, path, before, search.rule);
  if (now === null) return null;
  for (const name of now.covered) search.covered.push(within(path, name));
  if (now.isRepository) search.repositories.push(path);
  if (now.folders.size === 0) return now;
  const folders = new Map<string, KnownFolder | null>();
  for (const [name, known] of now.folders) folders.set(name, await lookInto(join(real, name), within(path, name), known, search));
  return { ...now, folders };
}

function isUnchanged(real: string, { inode, changedAt, isSettled }: KnownFolder): boolean {
  const found = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  return isSettled && found !== undefined && found.ino === inode && found.ctimeNs === changedAt;
}

function read(real: string, path: string, before: KnownFolder | null, { verdict }: CoverRule): KnownFolder | null {
  const found = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return null;
  const covered: string[] = [];
  const folders = new Map<string, KnownFolder | null>();
  let isRepository = false;
  const entries = folderEntries(real, path === "" ? real : path);
  const unnamed = namesWithoutText(real, entries);
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    if (entry.name === ".git" && path !== "") isRepository = true;
    const said = verdict(within(path, entry.name), entry.isDirectory());
    if (said !== "open" && unnamed.has(entry.name)) throw withoutText(within(path, entry.name));
    if (said === "covered") covered.push(entry.name);
    else if (said === "looked into") folders.set(entry.name, before?.folders.get(entry.name) ?? null);
  }
  const isSettled = Date.now() - Number(found.ctimeMs) > TICK_MS;
  return { inode: found.ino, changedAt: found.ctimeNs, isSettled, covered, isRepository, folders };
}

function within(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
