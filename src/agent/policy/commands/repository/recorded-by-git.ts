import type { RecordedFiles, Span } from "../command-line.ts";
import { Gathered, located, type Place } from "../operand-files.ts";
import type { ShellWord } from "../shell-word.ts";
import { commandName } from "../settings/wrapped.ts";

/** Options of a command that take the next word, those with a letter of which the rest is the value, and those that take every file. */
type Options = { readonly valued: ReadonlySet<string>; readonly letters: string; readonly takesAll: RegExp };

/** Options of git itself that take the next word. */
const GIT_VALUES: ReadonlySet<string> = new Set(["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"]);
/** Options with which it is not known where the repository, or its folder, lies. */
const ELSEWHERE = /^--(?:git-dir|work-tree)(?:=|$)/;

const ADD: Options = {
  valued: new Set(),
  letters: "",
  takesAll: /^--(?:pathspec-f|p|i|e)/,
};
const COMMIT: Options = {
  valued: new Set(
    "--message --file --author --date --template --cleanup --fixup --squash --trailer --reuse-message --reedit-message".split(
      " ",
    ),
  ),
  letters: "mFCctuS",
  takesAll: /^(?:-[ap]|--al|--pat[ch]*$|--pathspec-f|--int)/,
};
const UPDATE: Options = { valued: new Set(), letters: "", takesAll: /^--(?:stdin|index-i|ag)|^-g/ };
const STASH: Options = { valued: new Set(["--message"]), letters: "m", takesAll: /^(?:-p|--pat)/ };

/** Letters of which the value, if there is one, is never the next word. */
const JOINED = "uS";
/** Operands that stand for more than the file of their name. */
const PATTERN = /[*?[\\]|\{\}|^:/;

/**
 * The files that a command keeps in a repository as they lie in the folder: of `git add`, of a commit of what was not added
 * before, of a stash, of `git update-index`, and those that `git rm` records as removed. Null for other commands.
 */
export function recordedByGit(words: readonly ShellWord[], span: Span, place: Place): RecordedFiles | null {
  const [first, ...rest] = words;
  if (first === undefined || first.open !== null || commandName(first) !== "git") return null;
  const at = new Gathered(place);
  let isElsewhere = false;
  let index = 0;
  for (let word = rest[index]; word?.text.startsWith("-") === true; word = rest[index]) {
    const next = rest[index + 1];
    if (word.text === "-C" && next !== undefined)
      at.place = next.open === null && at.enter(next.text, next) === null ? at.place : { ...at.place, folder: null };
    isElsewhere ||= ELSEWHERE.test(word.text);
    index += GIT_VALUES.has(word.text) ? 2 : 1;
  }
  const [command, ...given] = rest.slice(index);
  if (command === undefined) return null;
  const folder = isElsewhere ? null : at.place.folder;
  const stashes = rest.slice(0, index).some(({ text }) => /^(?:rebase|merge)\.autostash(?:=|$)/i.test(text));
  const operands = stashes ? "all" : operandsOf(command, given);
  if (operands === "none") return null;
  const { start, end } = span;
  const names = operands === "all" ? null : namesOf(operands, { ...at.place, folder });
  return { start, end, folder, names, reason: null };
}

/** The operands that say what is recorded. */
type Operands = readonly ShellWord[] | "all" | "none";

function operandsOf(command: ShellWord, given: readonly ShellWord[]): Operands {
  if (command.open !== null || given.some(({ text }) => text.startsWith("--autostash"))) return "all";
  switch (command.text) {
    case "add":
    case "stage": {
      const named = recordedOf(given, ADD);
      const isWhole = given.some(({ text }) => /^(?:-[A-Za-z]*[Auepi]|--al|--no-i|--u)/.test(text));
      return named === "none" && isWhole ? "all" : named;
    }
    case "commit":
      return recordedOf(given, COMMIT);
    case "stash":
      return stashed(given);
    case "update-index":
      return recordedOf(given, UPDATE);
    // What looks removed in a box is taken for removed.
    case "rm":
      return recordedOf(given, ADD);
    default:
      return "none";
  }
}

function stashed(given: readonly ShellWord[]): Operands {
  const [first, ...rest] = given;
  if (first === undefined || first.open !== null) return "all";
  if (first.text !== "push" && !first.text.startsWith("-"))
    return first.text === "save" || first.text === "create" ? "all" : "none";
  const named = recordedOf(first.text === "push" ? rest : given, STASH);
  return named === "none" ? "all" : named;
}

function recordedOf(given: readonly ShellWord[], { valued, letters, takesAll }: Options): Operands {
  const operands: ShellWord[] = [];
  let areOptionsOver = false;
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index];
    if (word === undefined) break;
    if (word.open !== null && !word.text.startsWith("-")) {
      operands.push(word);
      continue;
    }
    if (areOptionsOver || !word.text.startsWith("-") || word.text === "-") operands.push(word);
    else if (word.text === "--") areOptionsOver = true;
    else if (word.text.startsWith("--")) {
      if (takesAll.test(word.text)) return "all";
      if (valued.has(word.text)) index += 1;
    } else
      for (let letter = 1; letter < word.text.length; letter += 1) {
        const option = word.text[letter] ?? "";
        if (takesAll.test(`-${option}`)) return "all";
        if (!letters.includes(option)) continue;
        if (letter === word.text.length - 1 && !JOINED.includes(option)) index += 1;
        break;
      }
  }
  return operands.length === 0 ? "none" : operands;
}

/** The names of the files and folders; null if one of them is not written out. */
function namesOf(operands: readonly ShellWord[], place: Place): readonly string[] | null {
  const names: string[] = [];
  for (const { text, open } of operands) {
    const found = open === null && !PATTERN.test(text) ? located(place, text) : null;
    if (found?.kind !== "file") return null;
    names.push(...found.names);
  }
  return names;
}
