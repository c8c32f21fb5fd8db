import { opendirSync, type Dir } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../lib/text.ts";
import type { ShellWord } from "./command-line.ts";
import { located, type Place } from "./operand-files.ts";

/** The most words that one stands for. */
const WORDS = 500;
/** The most wildcards of one name: a name is compared by steps back. */
const WILDCARDS = 4;
/** Words that have no quotes, and nothing that is special but braces and wildcards. */
const PLAIN = /^[\w./,{}*?[\]+:@-]+$/;
const WILDCARD = /[*?[]/;

/**
 * The words that bash makes of an operand with braces or wildcards, by what lies in the workspace, and some more: what a `?` or
 * brackets match depends on the locale. Null if one of them may be an option, or if nobody can say.
 */
export function expandedWords(word: ShellWord, place: Place): readonly string[] | null {
  if (!PLAIN.test(word.text)) return null;
  const alternatives = bracesOf(word.text);
  if (alternatives === null) return null;
  const { left } = place;
  const words: string[] = [];
  for (const text of alternatives) {
    const names = WILDCARD.test(text) ? namesOf(text, place, left) : [text];
    if (names === null) return null;
    words.push(...names);
    if (words.length > WORDS) return null;
  }
  return words.some((text) => /^[-+!(),]/.test(text)) ? null : words;
}

/** The alternatives of a text with braces, each as often as bash writes it; null for what is no list of them and no numbers. */
function bracesOf(text: string): readonly string[] | null {
  let open = [text];
  while (open.some((each) => /[{}]/.test(each))) {
    const next: string[] = [];
    for (const each of open) {
      if (!/[{}]/.test(each)) next.push(each);
      else {
        const [whole, inside] = /\{([^{}]*)\}/.exec(each) ?? [];
        const items = inside === undefined ? null : itemsOf(inside);
        if (whole === undefined || items === null) return null;
        for (const item of items) next.push(each.replace(whole, () => item));
      }
      if (next.length > WORDS) return null;
    }
    open = next;
  }
  return open;
}

function itemsOf(inside: string): readonly string[] | null {
  if (inside.includes(",")) return inside.split(",");
  const [, first, last] = /^(0|[1-9]\d{0,3})\.\.(0|[1-9]\d{0,3})$/.exec(inside) ?? [];
  if (first === undefined || last === undefined) return null;
  const [from, to] = [Number(first), Number(last)];
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.min(Math.abs(to - from) + 1, WORDS + 1) }, (_, index) => String(from + index * step));
}

/** The names that a pattern may match, and the pattern, as which the shell leaves a word that matches none; null if nobody can say. */
function namesOf(pattern: string, place: Place, left: { entries: number }): readonly string[] | null {
  const segments = pattern.split("/");
  if (pattern.startsWith("/") || segments.includes("..") || place.folder === null) return null;
  let found = [""];
  for (const segment of segments) {
    const next: string[] = [];
    const isMatch = WILDCARD.test(segment) ? matcherOf(segment) : null;
    if (isMatch === "uncertain") return null;
    for (const before of found) {
      if (isMatch === null) next.push(`${before}${segment}/`);
      else {
        const entries = entriesOf(before === "" ? "." : before, place, left);
        if (entries === null) return null;
        for (const entry of entries) if (isMatch(entry)) next.push(`${before}${entry}/`);
      }
      if (next.length > WORDS) return null;
    }
    found = next;
  }
  return [...found.map((name) => name.slice(0, -1)), pattern];
}

/** Brackets with letters and digits. Classes, signs and what only begins as brackets are read in several ways. */
const BRACKETS = /\[[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?\]/g;

/** What says of a name that the shell may find it by a pattern. Bytes may count as characters there. */
function matcherOf(segment: string): ((name: string) => boolean) | "uncertain" {
  if (/[[\]]/.test(segment.replaceAll(BRACKETS, ""))) return "uncertain";
  const parts = segment.split(/(\*|\?|\[[^\]]+\])/);
  const pattern = parts.map((part) =>
    part === "*" ? ".*" : part === "?" || /^\[.+\]$/.test(part) ? ".?" : part.replace(/[[\]{}.+]/g, "\\$&"),
  );
  const expression = new RegExp(`^${pattern.join("")}$`, "su");
  // Some shells find `.` and `..` by it.
  const isUncertain = (parts.length - 1) / 2 > WILDCARDS || (segment.startsWith(".") && expression.test(".."));
  return isUncertain ? "uncertain" : (name) => (segment.startsWith(".") || !name.startsWith(".")) && expression.test(name);
}

/** The names in a folder of the workspace; null if it lies elsewhere, has too many, or has one that is no text. */
function entriesOf(folder: string, place: Place, left: { entries: number }): readonly string[] | null {
  const at = located(place, folder);
  if (at.kind !== "file") return null;
  let opened: Dir;
  try {
    opened = opendirSync(join(place.workspace.root, at.names.at(-1) ?? "."));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    if (["EACCES", "EPERM", "ELOOP"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
  try {
    const names: string[] = [];
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      left.entries -= 1;
      if (left.entries < 0 || entry.name.includes("\uFFFD")) return null;
      names.push(entry.name);
    }
    return names;
  } finally {
    opened.closeSync();
  }
}
