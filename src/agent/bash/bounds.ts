/** The longest command line that is parsed, in bytes. */
const LINE_BYTES = 8 * 1024;
/** The deepest nesting of brackets and compound commands. */
const NESTING = 50;

/** Words that open what another word closes, or that take a command after them. */
const OPENING_WORDS = /(?:^|[\s;&|(){}!`])(?:if|while|until|for|case|select|time|coproc|function|!)(?=\s)/g;
/** Operators that begin a text of their own. */
const HERE_DOCUMENTS = /<</g;

/**
 * Says why a line is not parsed: it is longer, or nested more deeply, than a line that a person reads, or it ends in a
 * backslash, which bash sometimes takes away. Null if it is parsed.
 */
export function boundsProblem(line: string): string | null {
  if (Buffer.byteLength(line) > LINE_BYTES) return `the line is longer than ${LINE_BYTES} bytes`;
  if (trailingBackslashes(line) % 2 === 1) return "the line ends in a backslash";
  const depth = bracketDepth(line) + occurrences(line, OPENING_WORDS) + occurrences(line, HERE_DOCUMENTS);
  return depth > NESTING ? `the line is nested more than ${NESTING} deep` : null;
}

function trailingBackslashes(line: string): number {
  let count = 0;
  while (line.at(-1 - count) === "\\") count += 1;
  return count;
}

/** The deepest nesting of brackets, whether they are quoted or not. A backtick counts as one that stays open. */
function bracketDepth(line: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of line) {
    if (character === "(" || character === "{" || character === "[" || character === "`") depth += 1;
    else if ((character === ")" || character === "}" || character === "]") && depth > 0) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function occurrences(line: string, pattern: RegExp): number {
  return line.match(pattern)?.length ?? 0;
}
