/** The most characters of a part. */
const PART_CHARACTERS = 64 * 1024;
/** A part ends with a line, if one ends in its last characters. */
const LINE_CHARACTERS = 4 * 1024;

/**
 * The begins of the parts of a text: the last is its length. A part has at most `mostCharacters`, and splits no character, and no
 * escape of JSON.
 */
export function partsOf(text: string, mostCharacters = PART_CHARACTERS): readonly number[] {
  const begins = [0];
  for (let begin = 0; text.length - begin > mostCharacters;) {
    const most = begin + mostCharacters;
    const line = text.lastIndexOf("\n", most - 1) + 1;
    begin = line > most - LINE_CHARACTERS ? line : wholeEnd(text, most);
    begins.push(begin);
  }
  return [...begins, text.length];
}

function wholeEnd(text: string, most: number): number {
  let end = (text.codePointAt(most - 1) ?? 0) > 0xffff ? most - 1 : most;
  while (text[end - 1] === "\\" && most - end < LINE_CHARACTERS) end -= 1;
  return end;
}

/** A piece of a text, by its first character and the one after its last. */
export type Part = { readonly begin: number; readonly end: number };

/** The most characters of a part in a field: the browser lays out all of a field. */
const FIELD_CHARACTERS = 16 * 1024;

/** The part of a field that begins at a place. */
export function partAt(text: string, begin: number): Part {
  return { begin, end: begin + (partsOf(text.slice(begin, begin + 2 * FIELD_CHARACTERS), FIELD_CHARACTERS)[1] ?? 0) };
}

/** The part of a field that ends at a place; at the end of the text its last one. */
export function partBefore(text: string, end: number): Part {
  return { begin: partsOf(text.slice(0, end), FIELD_CHARACTERS).at(-2) ?? 0, end };
}

/** A text that was written in a field, with the line ends of the text that the field was given: a field makes all of them line feeds. */
export function withLineEndsOf(given: string, written: string): string {
  const isWindows = given.includes("\r\n") && !/(?<!\r)\n/.test(given);
  return isWindows ? written.replaceAll(/\r?\n/g, "\r\n") : written;
}
