import type { ShellWord } from "./command-line.ts";
import { locatedOrClosed, type Gathered, type Place } from "./operand-files.ts";
import type { SimpleCommand } from "./simple-commands.ts";

/** A path in the home folder: only the shell knows which that is. */
const AT_HOME = /^["']?(?:~|\$HOME\b|\$\{HOME\b)/;
/** The start of a part that only the shell knows. */
const OPEN = /[$`*?[{~\\"']/;
/** An address: its path is none of this machine. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Adds the paths of a command that people are shown as outside of the workspace. No rule judges them: they may be texts that
 * look like paths. The operands are words with an unknown use.
 */
export function showPaths({ assignments, redirects }: SimpleCommand, operands: readonly ShellWord[], gathered: Gathered): void {
  const targets = redirects.flatMap((redirect) =>
    redirect.kind === "file" && redirect.target.open !== null ? [redirect.target] : [],
  );
  for (const word of [...assignments, ...operands, ...targets]) {
    const outside = pathsIn(word.text).find((text) => leadsOut(text, word.open !== null, gathered.place));
    if (outside !== undefined) gathered.outsidePaths.add(outside);
  }
}

/** The texts of a word that may be paths: the word, what stands behind its first `=`, and behind an option of one letter. */
function pathsIn(text: string): readonly string[] {
  const equals = text.indexOf("=");
  const [, joined] = /^-[A-Za-z]([^]+)$/.exec(text) ?? [];
  return [text, ...(equals === -1 ? [] : [text.slice(equals + 1)]), ...(joined === undefined ? [] : [joined])];
}

function leadsOut(text: string, isOpen: boolean, place: Place): boolean {
  if (isOpen && AT_HOME.test(text)) return true;
  const path = isOpen ? beforeOpen(text) : text;
  const looksOutside = path.startsWith("/") || (path.split("/").includes("..") && !ADDRESS.test(path));
  if (!looksOutside) return false;
  const found = locatedOrClosed(path, place);
  return found.kind === "trouble" && found.isOutside;
}

/** The folders of an open path before the first part that only the shell knows. */
function beforeOpen(text: string): string {
  const plain = text.replace(/^["']/, "");
  const open = plain.search(OPEN);
  return open === -1 ? plain : plain.slice(0, plain.lastIndexOf("/", open) + 1);
}
