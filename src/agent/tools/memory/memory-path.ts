import { accepted, refused, type Result } from "../../../lib/result.ts";

/** The folder of all entries. It is no entry itself. */
export const ROOT = "/memories";

/** The longest path, in UTF-16 code units. */
const PATH_CHARACTERS = 255;

/** Controls, format characters, surrogates, private characters and line separators: readers would not see them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

/** The same path in the form of a key: NFC, and without one slash at its end. */
export function normalPath(given: string): string {
  const path = given.normalize("NFC");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The key of an entry or folder; refused with advice. A path is a key: it is not resolved, and case counts. */
export function readMemoryPath(given: string): Result<string, string> {
  const path = normalPath(given);
  if (path === ROOT) return accepted(path);
  const shown = JSON.stringify(given.slice(0, PATH_CHARACTERS));
  if (!path.startsWith(`${ROOT}/`)) return refused(`the path must begin with ${ROOT}/, as in ${ROOT}/notes.md; it is ${shown}`);
  if (path.length > PATH_CHARACTERS) return refused(`the path must have at most ${PATH_CHARACTERS} characters`);
  if (UNSEEN.test(path)) return refused(`the path must have no control or invisible characters; it is ${shown}`);
  if (path.includes("\\")) return refused(`the path must have no backslash; it is ${shown}`);
  const names = path.slice(ROOT.length + 1).split("/");
  if (names.some((name) => name.trim() === "")) return refused(`the path must have no empty names; it is ${shown}`);
  if (names.some((name) => name.startsWith(".")))
    return refused(`a name in the path must not begin with a dot, as . and .. do; the path is ${shown}`);
  return accepted(path);
}

/** True if a path lies in a folder. */
export function isBelow(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`);
}
