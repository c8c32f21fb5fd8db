import type { BigIntStats } from "node:fs";
import { lstat, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../lib/error-code.ts";

/** The state of a file on the disk by which a later look tells that nothing has touched the file. Times are in ns. */
export type FileState = { readonly inode: bigint; readonly bytes: bigint; readonly modified: bigint; readonly changed: bigint };

/** The state of an open file. */
export async function stateOf(file: FileHandle): Promise<FileState> {
  return toState(await file.stat({ bigint: true }));
}

/** The state of what is at a place, and not of what a link there leads to; null if nothing is. */
export async function stateAt(place: string): Promise<FileState | null> {
  return lstat(place, { bigint: true }).then(toState, (error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

/** True if nothing has touched the file between two looks. */
export function isSameState(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return one === other;
  return one.bytes === other.bytes && stampOf(one) === stampOf(other);
}

/** The state in one text, without the size. */
export function stampOf({ inode, modified, changed }: FileState): string {
  return `${inode} ${modified} ${changed}`;
}

/** The time at which the content was last changed. */
export function modifiedAt({ modified }: FileState): Date {
  return new Date(Number(modified / 1_000_000n));
}

/** The state that the system says of a file. */
export function toState({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return { inode: ino, bytes: size, modified: mtimeNs, changed: ctimeNs };
}
