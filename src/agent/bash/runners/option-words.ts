import type { ShellWord } from "../shell-word.ts";
import { READINGS } from "./runners.ts";
import type { Wrapped } from "./wrapped.ts";

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
