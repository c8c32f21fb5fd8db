/** The most characters of a part. */
const PART_CHARACTERS = 64 * 1024;
/** A part ends with a line, if one ends in its last characters. */
const LINE_CHARACTERS = 4 * 1024;

/** The begins of the parts of a text: the last is its length. A part splits no character, and no escape of JSON. */
export function partsOf(text: string): readonly number[] {
  const begins = [0];
  for (let begin = 0; text.length - begin > PART_CHARACTERS;) {
    const most = begin + PART_CHARACTERS;
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
