import type { ShellWord } from "../shell-word.ts";

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
