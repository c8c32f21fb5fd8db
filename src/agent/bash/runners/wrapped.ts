import type { ShellWord } from "../command-line.ts";
import { READINGS } from "./runners.ts";

/** Something that a command runs besides itself: the words of a command, or a text that a shell reads. */
export type Wrapped =
  | { readonly kind: "words"; readonly words: readonly ShellWord[] }
  | { readonly kind: "line"; readonly text: string; readonly at: ShellWord }
  /** The words of a command by their looks: deny and ask rules speak of it, and what it leaves open hides nothing. */
  | { readonly kind: "likely"; readonly words: readonly ShellWord[] }
  /** The line does not say what is run. */
  | { readonly kind: "hidden"; readonly at: ShellWord; readonly reason: string }
  /** A variable may choose what is run. */
  | { readonly kind: "chosen"; readonly at: ShellWord; readonly reason: string };

/** The name of a command without its folders: `/bin/rm` is `rm`. */
export function commandName(word: ShellWord | undefined): string {
  return word === undefined ? "" : word.text.slice(word.text.lastIndexOf("/") + 1);
}

/** The command of a trap, an alias, or an alias of git's, which begins with `!`. */
export function quotedCommand(name: string, word: ShellWord): readonly Wrapped[] {
  if (name === "trap") return [lineOf(word)];
  const value = /^[^=]*=(.*)$/s.exec(word.text)?.[1] ?? word.text;
  if (name === "git") return /^\s*!/.test(value) ? [{ kind: "line", text: value.replace(/^\s*!/, ""), at: word }] : [];
  // More words may stand behind the alias.
  return word.text.includes("=") ? [{ kind: "line", text: `${value} $more`, at: word }] : [];
}

export function lineOf(word: ShellWord): Wrapped {
  return word.open === null
    ? { kind: "line", text: word.text, at: word }
    : { kind: "hidden", at: word, reason: "a shell reads what is not written out" };
}

/** A word that is a part of another, at its place. */
export function part({ start, end }: ShellWord, text: string): ShellWord {
  return { text, open: null, assigns: false, start, end };
}

/**
 * The commands behind options and so many operands. Whether an option takes the next word is not known: both readings
 * count.
 */
export function behindOptions(words: readonly ShellWord[], operands: number): readonly Wrapped[] {
  let index = 0;
  let mayBeValue = false;
  const found: Wrapped[] = [];
  for (let left = operands; index < words.length && found.length < READINGS; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    if (word.open === null && word.text === "--") mayBeValue = false;
    else if (word.open === null && word.text.startsWith("-")) mayBeValue = !word.text.includes("=");
    else if (word.assigns || (word.open === null && /^[A-Za-z_]\w*=/.test(word.text))) mayBeValue = false;
    else {
      const rest = words.slice(index);
      found.push(
        word.open === null
          ? { kind: "words", words: rest }
          : { kind: "hidden", at: word, reason: "the name of a command is not written out" },
      );
      if (mayBeValue) mayBeValue = false;
      else if (left > 0) left -= 1;
      else break;
    }
  }
  return found;
}

/** The value that a word gives an option; empty if the next word is it, null if the word is not the option. */
export function valueOf(text: string, option: string): string | null {
  if (option.startsWith("--")) {
    const [, name = "", value = ""] = /^(--[^=]+)=?(.*)$/s.exec(text) ?? [];
    return name !== "" && option.startsWith(name) ? value : null;
  }
  const letter = option.slice(1);
  const [before = ""] = /^-[a-zA-Z0-9]+/.exec(text) ?? [];
  const position = before.indexOf(letter, 1);
  return position < 0 ? null : text.slice(position + 1).replace(/^=/, "");
}
