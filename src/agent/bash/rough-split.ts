import { type Span, literalWord, type ShellWord } from "./command-line.ts";

/** The longest text that is looked through. */
const CHARACTERS = 64 * 1024;
/** The most commands that are looked for. */
const COMMANDS = 1_000;
/** Words before a command that are none. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "if then else elif fi for while until do done case esac in select function time coproc ! { }".split(" "),
);

/**
 * The commands that may stand in a text that no parser reads, cut at everything that can stand before a command, and without
 * quotes: for deny rules, which rather find too much.
 */
export function roughCommands(text: string, place: Span): readonly (readonly ShellWord[])[] {
  const found: (readonly ShellWord[])[] = [];
  for (const piece of text.slice(0, CHARACTERS).split(/[;&|\n\r(){}`<>]|\$\(/)) {
    const words = piece
      .replace(/\\\n/g, "")
      .split(/\s+/)
      .map((word) => word.replace(/["'\\]/g, "").replace(/^\$(?=\w)/, ""))
      .filter((word) => word !== "");
    const start = words.findIndex((word) => !KEYWORDS.has(word) && !/^[A-Za-z_]\w*\+?=/.test(word));
    if (start >= 0) found.push(words.slice(start).map((word) => literalWord(word, place)));
    if (found.length >= COMMANDS) break;
  }
  return found;
}
