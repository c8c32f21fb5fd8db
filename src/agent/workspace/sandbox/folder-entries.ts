import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { errorCode } from "../../../lib/error-code.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

/** The character that stands for bytes which are no text. */
const REPLACEMENT = "\uFFFD";
const NONE: ReadonlySet<string> = new Set();

/**
 * The entries of a folder in which a box looks for what it covers or protects. None if there is no such folder, or if
 * another user closes the folder to the server's user, as whom programs run, too. Throws SandboxRefused, with the folder's
 * name, for any other folder that cannot be read: the owner of a folder may open what lies there by name, and change the
 * folder's mode.
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
 * The names of a folder's entries, as they are read, that stand for bytes which are no text (UTF-8). No such entry is found by
 * its name, and a name of text, with U+FFFD in it, may look the same.
 */
export function namesWithoutText(real: string, entries: readonly Dirent[]): ReadonlySet<string> {
  if (!entries.some(({ name }) => name.includes(REPLACEMENT))) return NONE;
  return new Set(readdirSync(real, "buffer").flatMap((bytes) => (isUtf8(bytes) ? [] : [bytes.toString()])));
}

/** The refusal of an entry whose name is no text. */
export function withoutText(name: string): SandboxRefused {
  return new SandboxRefused(
    `the name ${name} is not UTF-8, and no box can cover or protect what it stands for: a person must give it another name`,
  );
}

/** The refusal of a folder that cannot be read. */
export function unreadable(name: string): SandboxRefused {
  return new SandboxRefused(
    `the folder ${name} cannot be read, and what lies in it may have to be covered or protected: a person must make it readable`,
  );
}

/** True if the system says that the server's user may not do what was tried. */
export function isForbidden(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes(errorCode(error) ?? "");
}

function isAbsent(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
}

/** Throws the system's error if a folder cannot be entered. */
function requireEntry(real: string): void {
  lstatSync(`${real}/.`);
}

/** True if a folder that could not be read is another user's, and cannot be entered. */
function isClosedByAnother(real: string): boolean {
  try {
    if (lstatSync(real).uid === process.geteuid?.()) return false;
  } catch (error) {
    // The folder in which it lies cannot be entered.
    return isAbsent(error);
  }
  try {
    requireEntry(real);
    return false;
  } catch {
    return true;
  }
}
