import { existsSync, lstatSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isSecretPath } from "../workspace/secret-files.ts";
import type { ShellWord } from "./command-line.ts";
import { expandedWords } from "./expanded-words.ts";
import { located, locatedOrClosed, type Gathered, type Located, type Place } from "./operand-files.ts";

/** The longest name of a file, and the longest path that is opened, in bytes. */
const NAME_BYTES = 255;
const PATH_BYTES = 4_096;

/** Why `*` does not stand for a word that the table does not know; null if it does. */
export function whyNamed(word: ShellWord, place: Place): string | null {
  const { text, open, assigns } = word;
  // A wildcard behind plain letters becomes names, and never an option: each is judged.
  if (open === "a wildcard" && /^[A-Za-z0-9_]/.test(text))
    return remembered(place, text, () => {
      const words = expandedWords(word, place);
      if (words === null) return `it has ${open}`;
      return words.reduce<string | null>((reason, each) => reason ?? whyElsewhere(each, place), null);
    });
  if (open !== null) return `it has ${open}`;
  if (text === "--") return null;
  // Editors and pagers run what stands behind a plus.
  if (/^(?:-.|\+)/.test(text)) return "an option that is not known to be harmless";
  if (assigns) return "an assignment";
  if (isSecretPath(text)) return "it mostly holds secrets";
  if (/file:/i.test(text)) return "the URL of a file, which may lie anywhere";
  // Compilers take options from the file behind an @.
  if (text.startsWith("@") && mayBeFile(text.slice(1), place)) return "a file that may hold options";
  return whyElsewhere(text, place);
}

/** Why what a word leads to must be named, if it is a path. A word that cannot be one leads to nothing. */
function whyElsewhere(text: string, place: Place): string | null {
  return remembered(place, `=${text}`, () => {
    const looksOutside = text.startsWith("/") || text.split("/").includes("..");
    if (looksOutside) return reasonOf(located(place, text));
    return isThere(text, place) ? reasonOf(locatedOrClosed(text, place)) : null;
  });
}

/** The reason, found once for a word in a folder. */
function remembered(place: Place, text: string, find: () => string | null): string | null {
  const key = `${place.folder ?? ""}\n${text}`;
  const known = place.named.get(key);
  if (known !== undefined) return known;
  const reason = find();
  place.named.set(key, reason);
  return reason;
}

function reasonOf(found: Located): string | null {
  if (found.kind === "trouble") return found.reason;
  return found.kind === "file" && found.names.some(isSecretPath) ? "it mostly holds secrets" : null;
}

/**
 * Takes the words of a command that is not proved as what it reads, if they name files with secrets, or what lies out of the
 * workspace: of those, every mode asks.
 */
export function gatherSensitive(words: readonly ShellWord[], gathered: Gathered): void {
  const { place } = gathered;
  const literal = words.flatMap((word): readonly { readonly text: string; readonly at: ShellWord }[] => {
    if (word.open === null) return [{ text: word.text, at: word }];
    const isExpanded = word.open === "a wildcard" || word.open === "a brace expansion";
    return isExpanded ? (expandedWords(word, place) ?? []).map((text) => ({ text, at: word })) : [];
  });
  for (const {
    text,
    at: { start, end },
  } of literal) {
    if (/^-./.test(text) || text === "" || Buffer.byteLength(text) > PATH_BYTES) continue;
    const looksOutside = text.startsWith("/") || text.split("/").includes("..");
    if (!looksOutside && !isSecretPath(text) && !isThere(text, place)) continue;
    const found = locatedOrClosed(text, place);
    if (found.kind === "file" && found.names.some(isSecretPath))
      gathered.files.push({ start, end, names: found.names, access: "read", isRedirect: false });
    if (found.kind === "trouble" && found.isOutside && existsSync(resolve(place.workspace.root, place.folder ?? ".", text)))
      gathered.leadsOut(text, { start, end, reason: found.reason });
  }
}

/** True if the first name of a path is there: one that is not leads nowhere else. */
function isThere(path: string, { workspace, folder }: Place): boolean {
  const [first = ""] = path.split("/");
  if (folder === null || first === "" || first.includes("\0") || Buffer.byteLength(first) > NAME_BYTES) return false;
  return lstatSync(join(workspace.root, folder, first), { throwIfNoEntry: false }) !== undefined;
}

function mayBeFile(text: string, place: Place): boolean {
  const found = locatedOrClosed(text, place);
  if (found.kind !== "file") return text !== "" && found.kind === "trouble";
  return statSync(join(place.workspace.root, found.names.at(-1) ?? "."), { throwIfNoEntry: false })?.isFile() === true;
}
