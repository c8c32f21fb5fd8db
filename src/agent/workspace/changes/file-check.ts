import { createHash } from "node:crypto";
import { constants, lstatSync, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { basename, dirname, join } from "node:path";
import type { FileChangeKind } from "../../../events/snapshots.ts";
import { errorCode } from "../../../lib/text.ts";
import { stampOf, toState, type FileState, type RememberedFile } from "../known-files.ts";
import { FolderChanged, inFolder, SAFELY } from "../pinned-folder.ts";

/** The files that are checked before other work runs. */
const TURN_FILES = 100;
const OPENED = 16;
/** The most bytes that are read of one file, and of all files of one check, to compare contents. */
const CONTENT_BYTES = 5 * 1024 * 1024;
const LOOK_BYTES = 32 * 1024 * 1024;

export type FoundChange<File extends RememberedFile = RememberedFile> = {
  readonly file: File;
  readonly change: FileChangeKind;
  readonly state: FileState | null;
};

/** The result of a check: changed files, and files that were touched without a change of content. */
export type CheckedFiles<File extends RememberedFile> = {
  readonly changes: readonly FoundChange<File>[];
  readonly untouched: readonly { readonly file: File; readonly stamp: string }[];
};

type Found =
  | { readonly kind: "same"; readonly state: FileState }
  | { readonly kind: "changed"; readonly state: FileState }
  | { readonly kind: "removed" };

/**
 * Checks files that an agent knows, below the real path `root`. A file is read only if it was touched, and only within
 * `LOOK_BYTES`: beyond them, touched files count as changed. Inaccessible files count as unchanged.
 */
export async function checkFiles<File extends RememberedFile>(root: string, files: readonly File[]): Promise<CheckedFiles<File>> {
  const folder = statsAt(root);
  // A server without the workspace reports no changes.
  if (folder === null || folder === "unknown" || !folder.isDirectory()) return { changes: [], untouched: [] };
  const touched = await touchedFiles(root, files);
  const removed = touched.flatMap(({ file, isThere }): FoundChange<File>[] => {
    const change = isThere ? null : changeAfter(file.change, "removed");
    return change === null ? [] : [{ file, change, state: null }];
  });
  // Further changes of a file that is reported already are not news.
  const asked = touched.filter(({ file, isThere }) => isThere && (file.change === null || file.change === "REMOVED"));
  const room = { bytes: LOOK_BYTES };
  const changes: FoundChange<File>[] = [...removed];
  const untouched: { file: File; stamp: string }[] = [];
  for (let first = 0; first < asked.length; first += OPENED) {
    const some = asked.slice(first, first + OPENED);
    const found = await Promise.all(some.map(({ file }) => examined(join(root, file.path), file, room)));
    for (const [index, each] of found.entries()) {
      const file = some[index]?.file;
      if (file === undefined || each === null) continue;
      const change = changeAfter(file.change, each.kind);
      if (change !== null) changes.push({ file, change, state: each.kind === "removed" ? null : each.state });
      else if (each.kind === "same") untouched.push({ file, stamp: stampOf(each.state) });
    }
  }
  return { changes, untouched };
}

function changeAfter(before: FileChangeKind | null, found: Found["kind"]): FileChangeKind | null {
  if (found === "removed") return before === "REMOVED" ? null : "REMOVED";
  if (before === "REMOVED") return "MADE_AGAIN";
  return before === null && found === "changed" ? "CHANGED" : null;
}

/**
 * The files that were touched or removed. Synchronous: a call of the file system's cache takes microseconds, a thread
 * switch a multiple of it (docs/adr/0008).
 */
async function touchedFiles<File extends RememberedFile>(
  root: string,
  files: readonly File[],
): Promise<readonly { readonly file: File; readonly isThere: boolean }[]> {
  const touched: { file: File; isThere: boolean }[] = [];
  for (const [index, file] of files.entries()) {
    if (index % TURN_FILES === TURN_FILES - 1) await setImmediate();
    const stats = statsAt(join(root, file.path));
    if (stats === "unknown") continue;
    const isSame = stats !== null && Number(stats.size) === file.bytes && stampOf(toState(stats)) === file.stamp;
    if (!isSame) touched.push({ file, isThere: stats !== null });
  }
  return touched;
}

function statsAt(place: string): BigIntStats | null | "unknown" {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return "unknown";
  }
}

/** Compares a file's content with the known one, only in the folder of its real path; null if it is inaccessible. */
async function examined(
  real: string,
  { digest, bytes }: Pick<RememberedFile, "digest" | "bytes">,
  room: { bytes: number },
): Promise<Found | null> {
  try {
    return await inFolder(dirname(real), async (folder): Promise<Found> => {
      const place = join(folder, basename(real));
      const file = await open(place, constants.O_RDONLY | SAFELY).catch((error: unknown) => {
        if (errorCode(error) === "ELOOP") return null;
        throw error;
      });
      // A link counts as a different content, whatever its target.
      if (file === null) return { kind: "changed", state: toState(lstatSync(place, { bigint: true })) };
      try {
        const stats = await file.stat({ bigint: true });
        const state = toState(stats);
        const isRead = stats.isFile() && Number(stats.size) === bytes && bytes <= Math.min(CONTENT_BYTES, room.bytes);
        if (!isRead) return { kind: "changed", state };
        room.bytes -= bytes;
        return { kind: (await digestOf(file)) === digest ? "same" : "changed", state };
      } finally {
        await file.close();
      }
    });
  } catch (error) {
    if (error instanceof FolderChanged || ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return { kind: "removed" };
    return null;
  }
}

async function digestOf(file: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of file.createReadStream({ autoClose: false, start: 0, end: CONTENT_BYTES }) as AsyncIterable<Buffer>)
    hash.update(piece);
  return hash.digest("hex");
}
