import type { RecordedFiles, Span, ShellWord } from "../command-line.ts";
import { Gathered, type Place } from "../operand-files.ts";
import { commandName } from "../runners/wrapped.ts";

/** Options of git itself that take the next word. */
const GIT_VALUES: ReadonlySet<string> = new Set(["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"]);
/** Commands of git that keep files in the repository as they lie in the folder. */
const RECORDING: ReadonlySet<string> = new Set(["add", "stage", "commit", "stash", "update-index", "rm"]);
/** Those of `git stash` that keep none. */
const KEEPS_NONE: ReadonlySet<string> = new Set(["list", "show", "drop", "pop", "apply", "branch", "clear"]);

/** A command of git: the folder in which it works, null if only the shell knows which, its own name, and the words around that. */
export type GitCommand = {
  readonly folder: string | null;
  readonly name: ShellWord;
  readonly before: readonly ShellWord[];
  readonly given: readonly ShellWord[];
};

/** Reads the words of a command of git; null for another program, and for git without a command. */
export function gitCommand(words: readonly ShellWord[], place: Place): GitCommand | null {
  const [first, ...rest] = words;
  if (first === undefined || first.open !== null || commandName(first) !== "git") return null;
  const at = new Gathered(place);
  let index = 0;
  for (let word = rest[index]; word?.text.startsWith("-") === true; word = rest[index]) {
    const next = rest[index + 1];
    if (word.text === "-C" && next !== undefined && (next.open !== null || at.enter(next.text, next) !== null))
      at.place = { ...at.place, folder: null };
    index += GIT_VALUES.has(word.text) ? 2 : 1;
  }
  const [name, ...given] = rest.slice(index);
  return name === undefined ? null : { folder: at.place.folder, name, before: rest.slice(0, index), given };
}

/** The files that a command of git may record as they lie in its folder; null if it records none. */
export function recordedBy({ folder, name, before, given }: GitCommand, { start, end }: Span): RecordedFiles | null {
  const isNamed = name.open !== null || RECORDING.has(name.text);
  const keepsNone = name.text === "stash" && given[0] !== undefined && KEEPS_NONE.has(given[0].text);
  const stashesItself = [...before, ...given].some(({ text }) => /autostash/i.test(text));
  return (isNamed && !keepsNone) || stashesItself ? { start, end, folder, reason: null } : null;
}
