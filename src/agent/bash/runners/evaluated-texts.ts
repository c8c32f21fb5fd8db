import { boundsProblem } from "../bounds.ts";
import type { ShellWord } from "../command-line.ts";
import { roughCommands } from "../rough-split.ts";
import { isHarmlessPrintf } from "../script-forms.ts";
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

/**
 * Variables that name a program, that say which one a name stands for, or by which one is told to run more: of git, the shell
 * and the loader, pagers and editors, interpreters and tools that build.
 */
const NAMES_PROGRAM = new RegExp(
  `^(?:${[
    "GIT_\\w+|SSH_ASKPASS|SUDO_\\w+|\\w*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS)|\\w+_(?:RSH|SSH|WRAPPER|COMMAND)|LESSOPEN|LESSCLOSE|LESSKEY\\w*|FCEDIT",
    "PATH|HOME|XDG_CONFIG_\\w+|SHELL|ENV|BASH_\\w+|BASHOPTS|SHELLOPTS|PS[0-4]|CDPATH|LD_\\w+|DYLD_\\w+|GCONV_PATH",
    "NODE_OPTIONS|(?:NPM|npm)_(?:CONFIG|config)_(?:script_shell|shell|git|node_options|\\w*config|prefix|viewer)|PERL\\w+|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONBREAKPOINT",
    "JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|RUSTC|RUSTDOC|CARGO_\\w*RUNNER|TAR_OPTIONS|RIPGREP_CONFIG_PATH|RSYNC_\\w+",
  ].join("|")})$`,
);
/** Variables of git that name no program, and no place where it finds more settings. */
const HARMLESS_OF_GIT =
  /^GIT_(?:AUTHOR_\w+|COMMITTER_\w+|TERMINAL_PROMPT|OPTIONAL_LOCKS|TRACE\w*|MERGE_VERBOSITY|REFLOG_ACTION|DEFAULT_HASH|LITERAL_PATHSPECS|ADVICE|CEILING_DIRECTORIES|CONFIG_NOSYSTEM|DISCOVERY_ACROSS_FILESYSTEM|FLUSH)$/;
/** Variables whose value is a command. */
const HOLDS_COMMAND = /(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|RSH|SSH|COMMAND|WRAPPER|DIFF|LESSOPEN|LESSCLOSE|FCEDIT|SHELL)$/;
/** Values of such variables that run nothing else. */
const HARMLESS_VALUES: readonly (readonly [variable: RegExp, value: RegExp])[] = [
  [/(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS)$/, /^(?:(?:\/usr)?\/bin\/)?(?:cat|true|false|echo|:|less(?: -[FRXS]+)?)?$/],
  [/^GIT_CONFIG_(?:GLOBAL|SYSTEM)$/, /^\/dev\/null$/],
  [
    /^NODE_OPTIONS$/,
    /^(?:\s*--(?:max-old-space-size=\d+|no-warnings|enable-source-maps|experimental-vm-modules|openssl-legacy-provider))*\s*$/,
  ],
  [/^MAKEFLAGS$/, /^-?j\d*$/],
];

/** A name, with an index if it has one, and the value that it is given. */
const ASSIGNED = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?(?:\+?=(.*))?$/s;
/** Commands of the shell that set the variables which they name. */
const SETTING: ReadonlySet<string> = new Set(
  "export declare typeset readonly local unset read readarray mapfile getopts".split(" "),
);
/** Commands that set variables for what they run. */
const PASSING: ReadonlySet<string> = new Set(["env", "sudo", "doas"]);
/** Options of `read` and the like that take the next word, which is no name. */
const READ_VALUES: ReadonlySet<string> = new Set(["-p", "-d", "-i", "-C"]);

/** The programs that a command may choose by variables: what the variables say as a text, and that more may be chosen by it. */
export function programsSetBy({ assignments, words }: Pick<SimpleCommand, "assignments" | "words">): readonly Wrapped[] {
  const [first, ...rest] = words;
  return [...assignments, ...(first === undefined ? [] : variablesOf(commandName(first), rest))].flatMap(programSetBy);
}

/** The program that an assignment, or a name that is set, may choose. */
export function programSetBy(word: ShellWord): readonly Wrapped[] {
  const [, name, value = null] = ASSIGNED.exec(word.text) ?? [];
  if (name === undefined)
    return word.open === null ? [] : [{ kind: "chosen", at: word, reason: "the name of a variable is not written out" }];
  if (!NAMES_PROGRAM.test(name) || HARMLESS_OF_GIT.test(name)) return [];
  const chosen = { kind: "chosen", at: word, reason: `${name} may choose what is run` } as const;
  if (value === null || word.open !== null) return [chosen];
  const isHarmless = HARMLESS_VALUES.some(([variable, harmless]) => variable.test(name) && harmless.test(value));
  return [
    ...(HOLDS_COMMAND.test(name) ? [{ kind: "line", text: value, at: word } as const] : []),
    ...(isHarmless ? [] : [chosen]),
  ];
}

/** The words by which a command sets variables. */
function variablesOf(name: string, words: readonly ShellWord[]): readonly ShellWord[] {
  if (PASSING.has(name)) return words.filter(({ text, open }) => open === null && /^[A-Za-z_]\w*=/.test(text));
  if (name === "printf") return words.filter((_, index) => words[index - 1]?.text === "-v");
  if (!SETTING.has(name)) return [];
  // The name of a reference is that of another variable.
  const reference = words.find(({ text, open }) => open === null && /^-[A-Za-z]*n/.test(text));
  if (reference !== undefined && /^(?:declare|typeset|local)$/.test(name))
    return [{ ...reference, text: "$name", open: "a variable or substitution" }];
  return words.filter(({ text }, index) => !text.startsWith("-") && !READ_VALUES.has(words[index - 1]?.text ?? ""));
}
