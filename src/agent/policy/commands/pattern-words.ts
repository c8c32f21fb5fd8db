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

/** A word as a pattern that is the word alone; null if none can say it. */
export function patternOfWord(text: string): string | null {
  if (text === "" || /[{},\n]/.test(text)) return text === "" ? "''" : null;
  if (!/[\s'"]/.test(text)) return text.replace(/[*?[]/g, (character) => `[${character}]`);
  if (!text.includes("'")) return `'${text}'`;
  return text.includes('"') ? null : `"${text}"`;
}
