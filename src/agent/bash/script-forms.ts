/** True if a script of sed prints lines by their numbers and does nothing else: `10,20p`, `5p;$p`. */
export function isLineNumbers(script: string): boolean {
  return /^(?:\d+|\$)(?:,(?:\d+|\$))?p(?:;\s*(?:\d+|\$)(?:,(?:\d+|\$))?p)*;?$/.test(script);
}

/** True if a value is a number, with a sign and a unit at most. */
export function isCount(text: string): boolean {
  return /^[-+]?\d+(?:b|[kKMGT]i?B?)?$/.test(text);
}

/** True if a format of printf sets no variable, as the shell's `%n` does, and writes no more blanks than a page has. */
export function isHarmlessPrintf(format: string): boolean {
  return !/%[^A-Za-z]*[hjlLtzq]*n|%[^A-Za-z]*(?:\d{5}|\*)/.test(format.replaceAll("%%", ""));
}

/** True if an operand of date is a format: what is none sets the clock. */
export function isDateFormat(text: string): boolean {
  return text.startsWith("+") && !isLongFormat(text);
}

/** True if a text may be a format that writes far more than it says: a width of five digits or more. */
export function isLongFormat(text: string): boolean {
  return /%[^A-Za-z]*\d{5}/.test(text);
}
