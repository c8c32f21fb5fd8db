/** A word of a command's pattern. `text` is the word itself if it has no wildcards; null if it is a pattern. */
export type WrittenWord = { readonly pattern: string; readonly text: string | null };

/**
 * The words of a pattern, separated by spaces. A word with spaces stands in quotes, in which nothing is a wildcard; `[*]`
 * outside of quotes is the character.
 */
export function wordsOfPattern(pattern: string): readonly WrittenWord[] {
  const words: WrittenWord[] = [];
  let word: { pattern: string; text: string; isPlain: boolean } | null = null;
  let quote: string | null = null;
  for (let index = 0; index <= pattern.length; index += 1) {
    const character = pattern[index];
    if (character === undefined || (quote === null && /\s/.test(character))) {
      if (word !== null) words.push({ pattern: word.pattern, text: word.isPlain ? word.text : null });
      word = null;
      continue;
    }
    word ??= { pattern: "", text: "", isPlain: true };
    if (quote === null && (character === "'" || character === '"') && pattern.includes(character, index + 1)) quote = character;
    else if (character === quote) quote = null;
    else if (quote !== null) {
      word.pattern += /[*?[]/.test(character) ? `[${character}]` : character;
      word.text += character;
    } else {
      const literal = /^\[([*?[])\]/.exec(pattern.slice(index, index + 3))?.[1];
      word.pattern += literal === undefined ? character : `[${literal}]`;
      word.text += literal ?? character;
      if (literal !== undefined) index += 2;
      else if (/[*?[]/.test(character)) word.isPlain = false;
    }
  }
  return words;
}

/** Characters that say something of a whole pattern, and, in the same order, those that stand for them where they stand in quotes. */
const HELD = "{},[]";
const HOLDING = "\uE000\uE001\uE002\uE003\uE004";

/** The pattern, in whose quotes no brace, comma or bracket says anything of the whole. */
export function withHeldQuotes(pattern: string): string {
  return pattern.replace(/'[^']*'|"[^"]*"/g, (quoted) => translated(quoted, HELD, HOLDING));
}

/** The pattern as it was before its quotes were held. */
export function withReleasedQuotes(pattern: string): string {
  return translated(pattern, HOLDING, HELD);
}

function translated(text: string, from: string, to: string): string {
  return Array.from(text, (character) => {
    const at = from.indexOf(character);
    return at < 0 ? character : (to[at] ?? character);
  }).join("");
}

/** A part of a pattern outside of quotes that is one word, or part of one: a set of characters, a substitution without spaces. */
const IN_A_WORD = /\[[^\]\s]+\]|[$<>@?*+!]\((?:[^\s()]|\((?:[^\s()]|\([^\s()]*\))*\))*\)|`[^\s`]*`/y;
const SUBSTITUTION = /[$<>]\(|`/y;
const REDIRECTION = /&>>?|<<<?|>>|>\||[<>]&|<>|[<>]/y;
const BETWEEN_COMMANDS = /&&|\|\||\|&|;;|[;&|]|[\r\n]+|(?<![^\s])\(/y;

/** Why a pattern is more than the words of one simple command, as a line is read by the shell; null if it is not. */
export function operatorProblem(pattern: string): string | null {
  const text = pattern.trim();
  let quote: string | null = null;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote !== null) {
      if (character === quote) quote = null;
      continue;
    }
    if (/['"]/.test(character) && text.includes(character, index + 1)) {
      quote = character;
      continue;
    }
    const inWord = foundAt(IN_A_WORD, text, index);
    if (inWord !== null) {
      index += inWord.length - 1;
      continue;
    }
    if (foundAt(SUBSTITUTION, text, index) !== null)
      return "a pattern has the words of one command, and a substitution is one of them: put it in quotes as a whole";
    const redirection = foundAt(REDIRECTION, text, index);
    if (redirection !== null)
      return `a pattern has the words of one command, and ${redirection} outside of quotes is a redirection: leave it out, and write a rule on the path of the file instead, or put ${redirection} in quotes if it is part of a word`;
    const operator = foundAt(BETWEEN_COMMANDS, text, index);
    if (operator !== null) {
      const said = /\s/.test(operator) ? "a line break" : operator;
      return `a pattern has the words of one command, and ${said} outside of quotes is more: write one rule for each command, or put ${said} in quotes if it is part of a word`;
    }
  }
  return null;
}

function foundAt(expression: RegExp, text: string, index: number): string | null {
  expression.lastIndex = index;
  return expression.exec(text)?.[0] ?? null;
}

/** A word as a pattern that is the word alone; null if none can say it. */
export function patternOfWord(text: string): string | null {
  if (text === "" || /[\n\uE000-\uE004]/.test(text)) return text === "" ? "''" : null;
  if (!/[\s'";&|<>()`{},]/.test(text)) return text.replace(/[*?[]/g, (character) => `[${character}]`);
  if (!text.includes("'")) return `'${text}'`;
  return text.includes('"') ? null : `"${text}"`;
}
