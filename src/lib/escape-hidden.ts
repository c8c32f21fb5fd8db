import type { Json } from "./json.ts";

/**
 * Characters that are invisible or misleading: controls and formats, such as bidirectional overrides and zero-width
 * characters, and ignorable ones. Also private use, unassigned, and all spaces but the plain one. Runs of plain spaces
 * push text out of sight.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{16fe4}\u{1d159}]| {4,}/gu;

/** Deeper lines are not indented further, so that nesting pushes nothing out of sight. */
const INDENTATION = 40;

/** A value as formatted JSON without invisible characters: they are JSON escapes, so that the text is JSON of the same value. */
export function visibleJson(value: Json): string {
  return JSON.stringify(value, null, 2)
    .split("\n")
    .map((line) => {
      const start = line.length - line.trimStart().length;
      return line.slice(0, Math.min(start, INDENTATION)) + visibleLine(line.slice(start));
    })
    .join("\n");
}

/** A text without invisible characters, line by line; a diff's sign and leading tabs and spaces stay. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const start = /^[-+]?[ \t]*/.exec(line)?.[0].slice(0, INDENTATION) ?? "";
      return start + visibleLine(line.slice(start.length));
    })
    .join("\n");
}

export function visibleLine(json: string): string {
  return json.replace(HIDDEN, escaped);
}

function escaped(characters: string): string {
  let text = "";
  for (let index = 0; index < characters.length; index += 1)
    text += `\\u${characters.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return text;
}
