import { createHash } from "node:crypto";
import { constants, lstatSync, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { basename, dirname, join } from "node:path";
import type { FileChangeKind } from "../../../events/snapshots.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { stampOf, toState, type FileState } from "../file-state.ts";
import type { RememberedFile } from "../known-files.ts";
import { FolderChanged, inFolder } from "../pinned-folder.ts";
import { SAFELY } from "../safely.ts";

/** After so many files of a look others have their turn. */
const TURN_FILES = 100;
/** The number of files that are opened at once. */
const OPENED = 16;
/** The most bytes that are read of one file, and of all files of one look, to tell that a content is the same. */
const CONTENT_BYTES = 5 * 1024 * 1024;
const LOOK_BYTES = 32 * 1024 * 1024;

/** A change of a file that an agent knows, as a look found it. */
export type FoundChange<File extends RememberedFile = RememberedFile> = {
  readonly file: File;
  readonly change: FileChangeKind;
  /** The file as it is now; null if it was removed. */
  readonly state: FileState | null;
};

/** The result of a look: what has changed, and the files that something has touched without changing their content. */
export type Look<File extends RememberedFile> = {
  readonly changes: readonly FoundChange<File>[];
  readonly untouched: readonly { readonly file: File; readonly stamp: string }[];
};

/** A file as it was found: its content is the known one, or another, or the file is gone. */
type Found =
  | { readonly kind: "same"; readonly state: FileState }
  | { readonly kind: "changed"; readonly state: FileState }
  | { readonly kind: "removed" };

/**
 * Looks at files that an agent knows, below the real path `root`. A file is read only if something has touched it, and only as far
 * as `LOOK_BYTES` go: beyond them, what was touched counts as changed. What cannot be looked at counts as it was.
 */
export async function lookAt<File extends RememberedFile>(root: string, files: readonly File[]): Promise<Look<File>> {
  const folder = statsAt(root);
  // On a server without the workspace there is nothing to say.
  if (folder === null || folder === "unknown" || !folder.isDirectory()) return { changes: [], untouched: [] };
  const touched = await touchedFiles(root, files);
  const removed = touched.flatMap(({ file, isThere }): FoundChange<File>[] => {
    const change = isThere ? null : changeAfter(file.change, "removed");
    return change === null ? [] : [{ file, change, state: null }];
  });
  // Of a file that has changed already, the next content is nothing new.
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

/** The change of a file that is found so, after the one that was found before; null if there is nothing new. */
function changeAfter(before: FileChangeKind | null, found: Found["kind"]): FileChangeKind | null {
  if (found === "removed") return before === "REMOVED" ? null : "REMOVED";
  if (before === "REMOVED") return "MADE_AGAIN";
  return before === null && found === "changed" ? "CHANGED" : null;
}

/**
 * The files that something has touched or removed. Synchronous: asking the file system's cache takes microseconds, handing the
 * question to another thread a multiple of it (docs/adr/0008).
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

/** Compares the content of a file with the one that is known, in the folder of its real path and in no other; null if nobody can. */
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
      // A link is another content, whatever it leads to.
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
