/** An analyst's statement is refused, or fails. The message names the remedy. */
export class StatementRefused extends Error {
  override readonly name = "StatementRefused";
}

/** A statement by the way in which it runs: rows through a cursor, a plan directly. */
export type ReadingStatement = { readonly kind: "rows" | "plan"; readonly text: string };

/** The words with which a statement may begin. The database decides the rest: a cursor takes queries only. */
const KINDS: ReadonlyMap<string, ReadingStatement["kind"]> = new Map([
  ["SELECT", "rows"],
  ["WITH", "rows"],
  ["VALUES", "rows"],
  ["TABLE", "rows"],
  ["EXPLAIN", "plan"],
]);

/** The kind of a statement by its first word. Throws StatementRefused for others. */
export function readingStatement(text: string): ReadingStatement {
  const begin = afterComments(text);
  if (begin === "") throw new StatementRefused('there is no statement: give one, as in `npm run sql -- "SELECT …"`, or on stdin');
  const word = /^\(*\s*(\w*)/.exec(begin)?.[1]?.toUpperCase() ?? "";
  const kind = KINDS.get(word);
  if (kind === undefined)
    throw new StatementRefused(
      `${word === "" ? "this" : word} cannot run here: one SELECT, WITH, VALUES, TABLE or EXPLAIN reads the views of bi (docs/bi.md)`,
    );
  return { kind, text };
}

/** The text without spaces and comments at its start. Comments of SQL may be nested. */
function afterComments(text: string): string {
  let rest = text.replace(/^\uFEFF/, "");
  for (;;) {
    rest = rest.trimStart();
    if (rest.startsWith("--")) rest = rest.includes("\n") ? rest.slice(rest.indexOf("\n") + 1) : "";
    else if (rest.startsWith("/*")) rest = rest.slice(endOfComment(rest));
    else return rest;
  }
}

function endOfComment(text: string): number {
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/\/\*|\*\//g)) {
    depth += mark === "/*" ? 1 : -1;
    if (depth === 0) return index + 2;
  }
  return text.length;
}
