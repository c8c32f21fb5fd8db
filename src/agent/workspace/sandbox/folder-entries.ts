import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { errorCode } from "../../../lib/error-code.ts";
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
