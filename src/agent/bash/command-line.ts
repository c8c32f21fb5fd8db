import type { Word, WordPart } from "unbash";
import type { Access } from "../workspace/workspace.ts";

/** A part of a line: from a character to the one before `end`, in UTF-16 code units from 0. */
export type Span = { readonly start: number; readonly end: number };

/** Something that keeps a part of a line from being judged, in words. */
export type Trouble = Span & { readonly reason: string };

/** A word of a command, without its quotes. */
export type FoundWord = {
  /** The word as the shell reads it; as it is written if `isOpen`. */
  readonly text: string;
  /** True if only the shell knows what the word becomes: it has a substitution, a variable, a wildcard or a `~`. */
  readonly isOpen: boolean;
  /** Why `*` of an allow rule does not stand for the word; null if it does. */
  readonly mustBeNamed: string | null;
};

/** A file that a command names. */
export type FoundFile = Span & {
  readonly names: readonly string[];
  readonly access: Access;
  /** True if the shell opens the file, as in `> file`. */
  readonly isRedirect: boolean;
};

/** A file that a deny rule closes. */
export type ClosedFile = { readonly rule: string; readonly name: string };

/** The most files with secrets that are named of a folder. */
export const NAMED_SECRETS = 5;

/** What a search passes over: names that begin with a dot, node_modules where the repository ignores it, or folders of a name. */
export type PassedOver = "hidden" | "ignored" | ".git" | "node_modules";

/** A folder that a command reads, or changes, with all that lies in it. */
export type FoundSearch = Span & {
  readonly names: readonly string[];
  readonly access: Access;
  /** The command tells what is in the files of the folder, or their names only. */
  readonly tells: "contents" | "names";
  /** True if links to folders are entered. */
  readonly follows: boolean;
  readonly leavesOut: readonly PassedOver[];
  /**
   * The deny rules that close files which a repository tracks, each with the first such file, of a command that prints what the
   * repository has kept, also of files that no longer lie in the folder; null for other commands.
   */
  readonly history: readonly ClosedFile[] | null;
  /** The content of the folder; null if nobody has looked. */
  readonly content: FolderContent | null;
};

/**
 * Why not all of a folder was looked at: it has too many entries, a link in it leads out of the workspace, a folder in it has a name that
 * is no text, the repository begins outside of the workspace, or a repository has too many files or does not say which.
 */
export type Missed = "entries" | "link" | "name" | "outer repository" | "tracked files";

/**
 * The content of a folder that a command reads as a whole. Paths that a deny rule closes are told by the rule, so that the same permission says the same of a recorded call.
 */
export type FolderContent = {
  /** True if all entries were looked at. */
  readonly isWhole: boolean;
  /** Why not all were; absent if they were, and of calls that were recorded before. */
  readonly missed?: Missed;
  /** Files with secrets: the first of them. */
  readonly secrets: readonly string[];
  /** Deny rules that close something in the folder, each with the first such file. */
  readonly denied: readonly ClosedFile[];
  /** Deny rules that close nothing in it. */
  readonly clear: readonly string[];
};

/** The files that a command of git may keep in a repository as they lie in the folder. */
export type RecordedFiles = Span & {
  /** The folder in which the command works; null if only the shell knows which. */
  readonly folder: string | null;
  /** Why that is asked about in a box; null if it is not, or if nobody has looked. */
  readonly reason: string | null;
};

/** The repository in which a command of git works that the table takes for reading. */
export type UsedRepository = {
  /** The folder in which the command works; null if only the shell knows which. */
  readonly folder: string | null;
  /** True if git also looks into the repositories that this one records, and runs what they name. */
  readonly entersNested: boolean;
  /** True if the command tells what the repository's configuration says. */
  readonly tellsSettings: boolean;
  /** Why git may run a program; null if it runs none, or if nobody has looked. */
  readonly reason: string | null;
};

/** One simple command of a line, as rules see it. */
export type FoundCommand = Span & {
  readonly words: readonly FoundWord[];
  /**
   * True if the line runs exactly this. A command that was found inside of another (`sudo rm`, `sh -c "rm"`), or in a line
   * that cannot be read, is not: deny and ask rules speak of it, allow rules do not.
   */
  readonly isWhole: boolean;
  /** The entry of the table of commands for it. */
  readonly effect: "reads" | "writes" | "unknown";
  /** Why the table does not prove it; null if it does. */
  readonly trouble: Trouble | null;
  /** Why no allow rule can take it in; null if one can. */
  readonly barrier: Trouble | null;
  /** A path that leads out of the workspace, of which every template asks; null if there is none. */
  readonly outside: Trouble | null;
  /** All such paths, as they were written, and words that look like one. Absent if there are none, and in lines that were recorded before. */
  readonly outsidePaths?: readonly string[];
  readonly files: readonly FoundFile[];
  readonly searches: readonly FoundSearch[];
  /** Absent for all commands but those of git that record files. */
  readonly records?: RecordedFiles;
  /** Absent for all commands but those of git that only read. */
  readonly repository?: UsedRepository;
};

/** A command line, as rules see it. */
export type CommandLine = {
  /** The place of the line in the input: `command`, `commands[1]`, `steps[0].command`. Lines that were recorded before have none. */
  readonly at?: string;
  readonly text: string;
  /** Why the line is not a list of simple commands; null if it is. Such a line is asked about. */
  readonly trouble: Trouble | null;
  /** Why there may be commands in the line that nobody has found; null if there are none. */
  readonly hidden: Trouble | null;
  /** Why variables that the line sets may choose what is run; null if they do not. An allow rule names what sets them. */
  readonly chosen: Trouble | null;
  readonly commands: readonly FoundCommand[];
};

/** The files and folders that a line names. */
export function filesOf({ commands }: CommandLine): readonly FoundFile[] {
  return commands.flatMap(({ files }) => files);
}

/** A word of a simple command, without its quotes. */
export type ShellWord = Span & {
  /** The word as the shell reads it; as it is written if `open` is not null. */
  readonly text: string;
  /** The part that only the shell knows; null for a word that is what is written. */
  readonly open:
    | "a wildcard"
    | "a variable or substitution"
    | "a ~"
    | "a brace expansion"
    | "an unusual escape"
    | "an unusual redirection"
    | "an exit status"
    | null;
  /** True if the word stands without quotes before its first `=`, as that of an assignment does. */
  readonly assigns: boolean;
};

/** The word as the shell reads it. */
export function shellWord(word: Word): ShellWord {
  const open = openness(word);
  return {
    text: open === null ? word.value : word.text,
    open,
    assigns: /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/.test(word.text),
    start: word.pos,
    end: word.end,
  };
}

/** A word that is exactly this text, at the place of another. */
export function literalWord(text: string, { start, end }: Span): ShellWord {
  return { text, open: null, assigns: /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(text), start, end };
}

/** A word in which nothing is open but `$?`, which is a number. */
const WITH_STATUS = /^(?:[\w.,:=+/@%-]|\$(?:\?|\{\?\})|"(?:[^"\\`$]|\$(?:\?|\{\?\}))*")+$/;

function openness({ text, parts = [] }: Word): ShellWord["open"] {
  if (text.includes("$") && WITH_STATUS.test(text)) return "an exit status";
  const opened = parts.map(partOpenness).find((open) => open !== null);
  if (opened !== undefined) return opened;
  // The shell expands a tilde at the start, and in what looks like an assignment after = and :.
  if (text.startsWith("~") || /[=:]~/.test(text)) return "a ~";
  // Braces that the parser takes for text, such as those of `{},}`: bash expands them.
  const plain = parts.length === 0 ? text : parts.map((part) => (part.type === "Literal" ? part.text : "")).join("");
  if (/(?<!\\)\{[^]*(?:,|\.\.)[^]*\}/.test(plain)) return "a brace expansion";
  // A wildcard that the parser takes for text: the shell may read it otherwise.
  if (parts.length === 0 && /(?<!\\)[*?]/.test(text)) return "a wildcard";
  return null;
}

function partOpenness(part: WordPart): ShellWord["open"] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return null;
    case "AnsiCQuoted":
      return isPlainAnsi(part.text) ? null : "an unusual escape";
    case "DoubleQuoted":
      return part.parts.every(({ type }) => type === "Literal") ? null : "a variable or substitution";
    case "Glob":
    case "ExtendedGlob":
      return "a wildcard";
    case "BraceExpansion":
      return "a brace expansion";
    case "LocaleString":
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "ProcessSubstitution":
      return "a variable or substitution";
  }
}

/** An escape of `$'…'`: octal, hexadecimal, a character of Unicode, one of the letters for a character, or any other. */
const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([\\'"?abeEfnrtv])|[^])/g;

/** True if `$'…'` has only escapes that every shell reads alike: of ASCII, without NUL, which ends a word. */
function isPlainAnsi(text: string): boolean {
  return Array.from(text.matchAll(ESCAPE)).every(([, octal, hex, short, long, letter]) => {
    const hexadecimal = hex ?? short ?? long;
    const code = octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hexadecimal ?? "0", 16);
    return letter !== undefined || (code > 0 && code < 128);
  });
}

/** The options that the letters of a word with one dash stand for: `-la` for `-l` and `-a`. Another word stands for itself. */
export function optionsOf(text: string): readonly string[] {
  if (!/^-[^-]/.test(text)) return [text];
  return Array.from({ length: text.length - 1 }, (_, index) => `-${text[index + 1] ?? ""}`);
}
