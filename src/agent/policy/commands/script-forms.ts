/**
 * Scripts of sed that print lines by their numbers or patterns, or replace texts in what is printed. A pattern with a bracket
 * is none of them: a slash in it does not end the pattern.
 */
const SED_PRINT = /^(\d+|\$|\/(?:[^/\\\n[]|\\[^[\n])*\/)?(,(\d+|\$|\+\d+|\/(?:[^/\\\n[]|\\[^[\n])*\/))?[pdq=]$/;
/** The command `s`. A bracket of its pattern has neither a semicolon nor what may end the pattern or the bracket: sed reads it in one way only. */
const SED_REPLACE =
  /^(\d+(,(\d+|\$))?)?s([/|#,])(?:(?!\4)[^\\\n[]|\\.|\[\^?(?:(?!\4)[^\\\n[\]^;])+\])*\4(?:(?!\4)[^\\\n]|\\.)*\4[gpiI0-9]*$/;

/**
 * True if a script of sed only prints: its commands `w`, `r` and `e`, and these flags of `s`, write files, read them and
 * run commands.
 */
export function isHarmlessSed(script: string): boolean {
  const commands = script.split(";").map((command) => command.trim());
  const isEach = commands.every((command) => SED_PRINT.test(command) || SED_REPLACE.test(command));
  // A pattern may have a semicolon in it: then the script is one command.
  return isEach || SED_REPLACE.test(script.trim());
}

/**
 * True if a program of awk cannot run, write or include anything: it has no `system`, `getline` or `@`, and no pipe and
 * redirection, which stand in braces only.
 */
export function isHarmlessAwk(program: string): boolean {
  if (program.includes("{") && /[|>]/.test(program)) return false;
  return !/@|system|getline|\bclose\b|\bextension\b|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO|ENVIRON/.test(program);
}

/** True if a filter of jq includes no modules. */
export function isHarmlessJq(filter: string): boolean {
  return !/\b(import|include|input_filename|modulemeta|env)\b|\$ENV/.test(filter);
}

/** True if a format of printf sets no variable, as the shell's `%n` does. */
export function isHarmlessPrintf(format: string): boolean {
  return !/%[^A-Za-z]*[hjlLtzq]*n/.test(format.replaceAll("%%", ""));
}

/** True if an operand of date is a format: what is none sets the clock. */
export function isDateFormat(text: string): boolean {
  return text.startsWith("+");
}
