import type { Word, WordPart } from "unbash";
import type { Span } from "./command-line.ts";

/** A word of a simple command, without its quotes. */
export type ShellWord = Span & {
  /** The word as the shell reads it; as it is written if `open` is not null. */
  readonly text: string;
  /** The part that only the shell knows; null for a word that is what is written. */
  readonly open:
    | "a wildcard"
    | "a variable or substitution"
    | "a ~"
    | "a brace expansion"
    | "an unusual escape"
    | "an unusual redirection"
    | "an exit status"
    | null;
  /** True if the word stands without quotes before its first `=`, as that of an assignment does. */
  readonly assigns: boolean;
};

/** The word as the shell reads it. */
export function shellWord(word: Word): ShellWord {
  const open = openness(word);
  return {
    text: open === null ? word.value : word.text,
    open,
    assigns: /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/.test(word.text),
    start: word.pos,
    end: word.end,
  };
}

/** A word that is exactly this text, at the place of another. */
export function literalWord(text: string, { start, end }: Span): ShellWord {
  return { text, open: null, assigns: /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(text), start, end };
}

/** A word in which nothing is open but `$?`, which is a number. */
const WITH_STATUS = /^(?:[\w.,:=+/@%-]|\$(?:\?|\{\?\})|"(?:[^"\\`$]|\$(?:\?|\{\?\}))*")+$/;

function openness({ text, parts = [] }: Word): ShellWord["open"] {
  if (text.includes("$") && WITH_STATUS.test(text)) return "an exit status";
  const opened = parts.map(partOpenness).find((open) => open !== null);
  if (opened !== undefined) return opened;
  // The shell expands a tilde at the start, and in what looks like an assignment after = and :.
  if (text.startsWith("~") || /[=:]~/.test(text)) return "a ~";
  // Braces that the parser takes for text, such as those of `{},}`: bash expands them.
  const plain = parts.length === 0 ? text : parts.map((part) => (part.type === "Literal" ? part.text : "")).join("");
  if (/(?<!\\)\{[^]*(?:,|\.\.)[^]*\}/.test(plain)) return "a brace expansion";
  // A wildcard that the parser takes for text: the shell may read it otherwise.
  if (parts.length === 0 && /(?<!\\)[*?]/.test(text)) return "a wildcard";
  return null;
}

function partOpenness(part: WordPart): ShellWord["open"] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return null;
    case "AnsiCQuoted":
      return isPlainAnsi(part.text) ? null : "an unusual escape";
    case "DoubleQuoted":
      return part.parts.every(({ type }) => type === "Literal") ? null : "a variable or substitution";
    case "Glob":
    case "ExtendedGlob":
      return "a wildcard";
    case "BraceExpansion":
      return "a brace expansion";
    case "LocaleString":
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return "a variable or substitution";
  }
}

/** An escape of `$'…'`: octal, hexadecimal, a character of Unicode, one of the letters for a character, or any other. */
const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([\\'"?abeEfnrtv])|[^])/g;

/** True if `$'…'` has only escapes that every shell reads alike: of ASCII, without NUL, which ends a word. */
function isPlainAnsi(text: string): boolean {
  return Array.from(text.matchAll(ESCAPE)).every(([, octal, hex, short, long, letter]) => {
    const hexadecimal = hex ?? short ?? long;
    const code = octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hexadecimal ?? "0", 16);
    return letter !== undefined || (code > 0 && code < 128);
  });
}

/** The options that the letters of a word with one dash stand for: `-la` for `-l` and `-a`. Another word stands for itself. */
export function optionsOf(text: string): readonly string[] {
  if (!/^-[^-]/.test(text)) return [text];
  return Array.from({ length: text.length - 1 }, (_, index) => `-${text[index + 1] ?? ""}`);
}
