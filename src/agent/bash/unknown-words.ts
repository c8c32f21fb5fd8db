import type { FoundWord } from "./command-line.ts";
import type { JudgedWords } from "./known-words.ts";
import type { Place } from "./operand-files.ts";
import type { ShellWord } from "./shell-word.ts";
import { whyNamed } from "./why-named.ts";
import { commandName } from "./runners/wrapped.ts";
import { runsOthers } from "./runners/runners.ts";

/**
 * Judges the words of a command that the table does not know. Its options may do anything, and so may what it hands to
 * another program: an allow rule must name them.
 */
export function unknownWords(words: readonly ShellWord[], place: Place): JudgedWords {
  const [first, ...rest] = words;
  if (first === undefined) return { words: [], trouble: null };
  const name = commandName(first);
  const isWrapper = first.open === null && runsOthers(name);
  const reason =
    first.open !== null
      ? `only the shell knows what is run: ${first.text} has ${first.open}`
      : isWrapper
        ? `${name} runs another command`
        : `${name}${subcommand(rest)} is not known to only read`;
  const found = (word: ShellWord, mustBeNamed: string | null): FoundWord => ({
    text: word.text,
    isOpen: word.open !== null,
    mustBeNamed,
  });
  return {
    words: [
      found(first, first.open !== null ? reason : first.text.includes("/") ? "a program that is named by its folder" : null),
      ...rest.map((word, index) =>
        found(word, isWrapper ? `${name} runs it` : (whyOption(name, word.text, index) ?? whyNamed(word, place))),
      ),
    ],
    trouble: { start: first.start, end: words.at(-1)?.end ?? first.end, reason },
  };
}

/** Commands whose options may stand without a dash: before all else, or anywhere. */
const DASHLESS: Readonly<Record<string, "first" | "anywhere">> = { tar: "first", bsdtar: "first", ar: "first", ps: "anywhere" };

/** Commands of which an operand is a program. */
const SCRIPTED: ReadonlySet<string> = new Set([
  "awk",
  "gawk",
  "mawk",
  "nawk",
  "jq",
  "yq",
  "perl",
  "ruby",
  "ed",
  "ex",
  "bc",
  "dc",
]);

/** Why a word without a dash must be named all the same, since the command takes it for an option or a program; null if it does not. */
function whyOption(name: string, text: string, index: number): string | null {
  if (SCRIPTED.has(name) && !/^(?!.*env)[\w./+-]+$/i.test(text)) return "it may be a program";
  if (name === "dd") return text.includes("=") ? "an option without a dash" : null;
  const place = Object.hasOwn(DASHLESS, name) ? DASHLESS[name] : undefined;
  const mayBeOption = place === "anywhere" || (place === "first" && index === 0);
  return mayBeOption && /^[A-Za-z]+$/.test(text) ? "an option without a dash" : null;
}

/** The command of a program such as npm, or the option that stands before it, for people. */
function subcommand([first]: readonly ShellWord[]): string {
  if (first === undefined || first.open !== null) return "";
  const [word] = /^(?:[a-z][a-z-]*$|--[a-z][a-z-]*(?==|$))/.exec(first.text) ?? [];
  return word === undefined ? "" : ` ${word}`;
}
