import type { Json } from "./json.ts";

/**
 * Characters that a reader does not see as they are: controls and formats (bidirectional overrides and zero-width
 * characters among them), what may be ignored when text is shown, private use, unassigned, and all spaces but the plain one. Runs of plain spaces push what
 * follows out of sight.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{16fe4}\u{1d159}]| {4,}/gu;

/** Deeper lines are not indented further, so that nesting pushes nothing out of sight. */
const INDENTATION = 40;

/**
 * A value as JSON text in which nothing hides: characters that are not seen stand as JSON escapes, so that the text is
 * still JSON of the same value. `indent` lays it out on lines of its own.
 */
export function visibleJson(value: Json, indent: 0 | 2 = 2): string {
  return JSON.stringify(value, null, indent)
    .split("\n")
    .map((line) => {
      const start = line.length - line.trimStart().length;
      return line.slice(0, Math.min(start, INDENTATION)) + line.slice(start).replace(HIDDEN, escaped);
    })
    .join("\n");
}

function escaped(characters: string): string {
  let text = "";
  for (let index = 0; index < characters.length; index += 1)
    text += `\\u${characters.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return text;
}
