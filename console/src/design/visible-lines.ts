import { visible } from "@triplane/client/command-lines";

/** Deeper lines are not indented further, so that nothing is pushed out of sight. */
const INDENTATION = 40;

/** A text of many lines in which nothing hides: their tabs and spaces at the begin stay, all else as in `visible`. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const start = /^[ \t]*/.exec(line)?.[0].slice(0, INDENTATION) ?? "";
      return start + visible(line.slice(start.length));
    })
    .join("\n");
}

/** A value as JSON for people: line feeds of its texts stand as such. */
export function readableJson(value: unknown): string {
  return unfolded(JSON.stringify(value, null, 2) ?? "");
}

/** A piece of JSON in which line feeds of its texts stand as such. */
export function unfolded(json: string): string {
  return json.replace(/\\[\\n]/g, (pair) => (pair === "\\n" ? "\n" : pair));
}

/** The least characters of a block. */
const BLOCK_CHARACTERS = 4 * 1024;

/** A text in blocks of whole lines: the browser lays out those in view alone. */
export function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  let begin = 0;
  while (text.length - begin > BLOCK_CHARACTERS) {
    const end = text.indexOf("\n", begin + BLOCK_CHARACTERS);
    if (end < 0) break;
    blocks.push(text.slice(begin, end));
    begin = end + 1;
  }
  return [...blocks, text.slice(begin)];
}
