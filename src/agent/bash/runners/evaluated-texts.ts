import { boundsProblem } from "../bounds.ts";
import { roughCommands } from "../rough-split.ts";
import { isHarmlessPrintf } from "../script-forms.ts";
import type { ShellWord } from "../shell-word.ts";
import { simpleCommands, type SimpleCommand } from "../simple-commands.ts";
import { commandName, type Wrapped } from "./wrapped.ts";

/** Commands of the shell that may evaluate what a word has in quotes. */
const EVALUATING: ReadonlySet<string> = new Set(
  "test [ printf read let declare typeset local export readonly set unset wait mapfile readarray getopts".split(" "),
);
/**
 * Expansions by which the shell evaluates what a variable, an argument or a quoted text says: arithmetic, an index, a
 * reference, a slice, a prompt, and tests of numbers or of variables.
 */
const EVALUATES =
  /\(\(|\$\[|\$\{!|@P\}|\$\{\w+(?:\[[^\]]*\])?:[^-=?+}]|\w\[\$?\w+\]|\[\[.*\s-(?:v|R|eq|ne|lt|le|gt|ge)\s|\[\s.*\s-[vR]\s|\btest\s+-[vR]\s/s;

/** The commands in quoted words of a command that evaluates them, and in its assignments, which may be evaluated later. */
export function evaluatedBy({ assignments, words }: SimpleCommand): readonly Wrapped[] {
  const [first, ...rest] = words;
  const name = commandName(first);
  const isEvaluated = EVALUATING.has(name) && (name !== "printf" || setsByPrintf(rest));
  return [...assignments, ...(isEvaluated ? rest.filter(({ open }) => open === null) : [])].flatMap((word) =>
    substitutedIn(word.text, word),
  );
}

/** The commands that stand anywhere in a line, quoted or not, if the line evaluates texts. */
export function evaluatedIn(line: string, commands: readonly SimpleCommand[], at: ShellWord): readonly Wrapped[] {
  return EVALUATES.test(line) || commands.some(evaluatesUnknown) ? substitutedIn(line, at) : [];
}

/** True if a command evaluates words that only the shell knows. Tests do it by options, which the line shows. */
function evaluatesUnknown({ words: [first, ...rest] }: SimpleCommand): boolean {
  const name = commandName(first);
  if (!EVALUATING.has(name) || name === "test" || name === "[" || name === "set") return false;
  return rest.some(({ open, assigns }) => open !== null && !assigns) && (name !== "printf" || setsByPrintf(rest));
}

function setsByPrintf(words: readonly ShellWord[]): boolean {
  return words.some(({ text }) => text.startsWith("-v") || !isHarmlessPrintf(text));
}

/** The substitutions in a text, as lines; those that no parser reads, or that may be arithmetic, are commands by their looks. */
function substitutedIn(text: string, at: ShellWord): readonly Wrapped[] {
  return insides(text).flatMap((inside): readonly Wrapped[] =>
    !inside.startsWith("(") && boundsProblem(inside) === null && simpleCommands(inside).error === null
      ? [{ kind: "line", text: inside, at }]
      : roughCommands(inside, at).map((words) => ({ kind: "likely", words })),
  );
}

/** The texts in `$(…)`, backticks and `${ …; }`, to the end where one is not closed. */
function insides(text: string): readonly string[] {
  const found: string[] = [];
  const openings = /\$\(|`|\$\{[\s|]/g;
  for (let opening = openings.exec(text); opening !== null; opening = openings.exec(text)) {
    const start = openings.lastIndex;
    const end = opening[0] === "`" ? text.indexOf("`", start) : closing(text, start, opening[0] === "$(" ? "()" : "{}");
    // Arithmetic may have more in it.
    openings.lastIndex = text[start] === "(" ? start : end < 0 ? text.length : end + 1;
    found.push(text.slice(start, end < 0 ? text.length : end));
  }
  return found;
}

/** The position of the bracket that closes the one before a position; -1 if none does. */
function closing(text: string, start: number, [open, close]: string): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    else if (text[at] === close) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
