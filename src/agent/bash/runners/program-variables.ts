import type { ShellWord } from "../shell-word.ts";
import type { SimpleCommand } from "../simple-commands.ts";
import { commandName, type Wrapped } from "./wrapped.ts";

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
