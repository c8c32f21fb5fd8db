export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** A final line feed ends the last line. */
export function lineCount(text: string): number {
  return text === "" ? 0 : lineOf(text, text.length) - (text.endsWith("\n") ? 1 : 0);
}
