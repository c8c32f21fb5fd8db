import type { BigIntStats } from "node:fs";
import { lstat, type FileHandle } from "node:fs/promises";
import { errorCode } from "../../lib/error-code.ts";

/** The state of a file on the disk, to detect that it was touched. Times are in ns. */
export type FileState = { readonly inode: bigint; readonly bytes: bigint; readonly modified: bigint; readonly changed: bigint };

export async function stateOf(file: FileHandle): Promise<FileState> {
  return toState(await file.stat({ bigint: true }));
}

export async function stateAt(place: string): Promise<FileState | null> {
  return lstat(place, { bigint: true }).then(toState, (error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

export function isSameState(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return one === other;
  return one.bytes === other.bytes && stampOf(one) === stampOf(other);
}

export function stampOf({ inode, modified, changed }: FileState): string {
  return `${inode} ${modified} ${changed}`;
}

export function modifiedAt({ modified }: FileState): Date {
  return new Date(Number(modified / 1_000_000n));
}

export function toState({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return { inode: ino, bytes: size, modified: mtimeNs, changed: ctimeNs };
}
