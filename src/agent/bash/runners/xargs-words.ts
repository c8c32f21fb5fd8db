import type { ShellWord } from "../command-line.ts";
import { MORE } from "./runners.ts";
import { behindOptions, valueOf, type Wrapped } from "./wrapped.ts";

const FLAGS: ReadonlySet<string> = new Set(["0", "o", "p", "r", "t", "x"]);
const LONG_FLAGS: ReadonlySet<string> = new Set(["null", "no-run-if-empty", "interactive", "verbose", "exit", "open-tty"]);
/** Options whose value is joined to them, or the next word. */
const VALUED: ReadonlySet<string> = new Set(["a", "d", "E", "I", "J", "L", "n", "P", "R", "S", "s"]);
const LONG_VALUED: ReadonlySet<string> = new Set(["arg-file", "delimiter", "max-args", "max-procs", "max-chars"]);
/** Options whose value is joined to them, if they have one. */
const OPTIONAL: ReadonlySet<string> = new Set(["e", "i", "l"]);
const LONG_OPTIONAL: ReadonlySet<string> = new Set(["eof", "replace", "max-lines"]);
/** Options whose value stands for what is read. */
const REPLACING: ReadonlySet<string> = new Set(["I", "J", "i", "replace"]);
/** The text that stands for what is read, if an option gives none. */
const REPLACED = "{}";

/** The command behind the options of xargs, and the texts in it that stand for what is read. */
type Behind = { readonly words: readonly ShellWord[]; readonly replaced: readonly string[] };

/**
 * The command that xargs runs: the words behind its options, with more words behind them that stand nowhere in the line. A
 * word in which xargs puts what it reads is one that only the shell knows.
 */
export function runByXargs(words: readonly ShellWord[]): readonly Wrapped[] {
  const behind = behindXargs(words);
  if (behind === null) return anyReading(words);
  const isReplaced = ({ text }: ShellWord): boolean => behind.replaced.some((each) => text.includes(each));
  const run = behind.words.map((word) => (isReplaced(word) ? { ...word, open: MORE.open } : word));
  const [first] = run;
  if (first === undefined) return [];
  return [
    first.open === null
      ? { kind: "words", words: [...run, MORE] }
      : { kind: "hidden", at: first, reason: "the name of a command is not written out" },
    // What is put into a command may be an option by which it runs another one. What a text says beside it is found as it is written.
    ...(behind.words.some(isReplaced) ? [{ kind: "words", words: behind.words } as const, putsInto(first)] : []),
  ];
}

/** All readings of options that are not known. */
function anyReading(words: readonly ShellWord[]): readonly Wrapped[] {
  const [first] = words;
  const puts = words.some(({ text }) => ["-I", "-i", "-J", "--replace"].some((option) => valueOf(text, option) !== null));
  return [...behindOptions([...words, MORE], 0), ...(puts && first !== undefined ? [putsInto(first)] : [])];
}

function putsInto(at: ShellWord): Wrapped {
  return { kind: "hidden", at, reason: "xargs puts what it reads into the command" };
}

/** The words behind the options of xargs; null if not each of these is known and written out. */
function behindXargs(words: readonly ShellWord[]): Behind | null {
  const replaced: string[] = [];
  let index = 0;
  for (; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined || (word.open === null && !/^-./.test(word.text))) break;
    if (word.open !== null) return null;
    if (word.text === "--") {
      index += 1;
      break;
    }
    const option = optionOf(word.text);
    if (option === null) return null;
    const next = words[index + 1];
    if (option.takesNext && (next === undefined || next.open !== null)) return null;
    if (REPLACING.has(option.name)) {
      const text = option.takesNext ? next?.text : (option.value ?? REPLACED);
      if (text === undefined || text === "") return null;
      replaced.push(text);
    }
    if (option.takesNext) index += 1;
  }
  return { words: words.slice(index), replaced };
}

/** The last option of a word, its joined value, and if the next word is its value; null if the word has an option that is not known. */
type Option = { readonly name: string; readonly value: string | null; readonly takesNext: boolean };

function optionOf(text: string): Option | null {
  if (text.startsWith("--")) {
    const [, name = "", value = null] = /^--([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
    if (LONG_VALUED.has(name)) return { name, value, takesNext: value === null };
    const isKnown = LONG_OPTIONAL.has(name) || (LONG_FLAGS.has(name) && value === null);
    return isKnown ? { name, value, takesNext: false } : null;
  }
  for (let at = 1; at < text.length; at += 1) {
    const name = text[at] ?? "";
    const value = at + 1 < text.length ? text.slice(at + 1) : null;
    if (VALUED.has(name)) return { name, value, takesNext: value === null };
    if (OPTIONAL.has(name)) return { name, value, takesNext: false };
    if (!FLAGS.has(name)) return null;
    if (value === null) return { name, value, takesNext: false };
  }
  return null;
}
