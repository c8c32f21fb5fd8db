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
  return (JSON.stringify(value, null, 2) ?? "").replace(/\\[\\n]/g, (pair) => (pair === "\\n" ? "\n" : pair));
}
