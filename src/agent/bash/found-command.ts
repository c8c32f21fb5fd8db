import type { FoundCommand, FoundWord, Trouble, ShellWord } from "./command-line.ts";
import { gitCommand, recordedBy } from "./git/git-command.ts";
import { knownWords, type JudgedWords } from "./known-words.ts";
import { Gathered, type Place } from "./operand-files.ts";
import { namedWords } from "./runners/named-words.ts";
import { runsOthers } from "./runners/runners.ts";
import { commandName } from "./runners/wrapped.ts";
import { showPaths } from "./shown-paths.ts";
import type { SimpleCommand } from "./simple-commands.ts";
import { knownCommand, type Known } from "./table.ts";
import { gatherSensitive, whyNamed } from "./why-named.ts";
import { unwrapped } from "./wrappers.ts";

/** A simple command as rules see it, in a place. */
export function foundCommand(command: SimpleCommand, isWhole: boolean, place: Place): FoundCommand {
  const words = isWhole ? unwrapped(command.words) : command.words;
  const known = knownCommand(words);
  const gathered = new Gathered(place);
  const redirected = redirections(command, gathered);
  const said = known === null ? unknownWords(words, place) : knownWords(known, gathered);
  const isUnknown = known === null || said.trouble !== null;
  if (isUnknown) gatherSensitive(words.slice(1), gathered);
  showPaths(command, isUnknown ? words.slice(1) : [], gathered);
  const assigned = command.assignments[0];
  const assignment: Trouble | null =
    assigned === undefined
      ? null
      : { start: assigned.start, end: assigned.end, reason: `${assigned.text.split("=")[0]} is set for it` };
  const { start, end } = command;
  const run = isWhole ? namedWords(words) : NONE;
  const git = gitCommand(words, place);
  const records = git === null ? null : recordedBy(git, { start, end });
  const prints = git !== null && records === null && PRINTS_COMMITS.has(git.name.text);
  if (prints && isUnknown && gathered.searches.length === 0)
    gathered.addRoot({ start, end }, { tells: "contents", follows: false, leavesOut: [".git", "node_modules"], history: [] });
  const assignments = command.assignments.map(({ text }) => ({ text, isOpen: false, mustBeNamed: "an assignment" }));
  return {
    start,
    end,
    isWhole,
    words: [
      ...assignments,
      ...(run.size === 0 ? said.words : said.words.map((word, index) => (run.has(index) ? named(word) : word))),
    ],
    effect: known === null || known.form.effect === "runs" ? "unknown" : known.form.effect,
    trouble: assignment ?? said.trouble ?? redirected,
    barrier: redirected ?? readsText(command, known),
    outside: gathered.outside,
    ...(gathered.outsidePaths.size === 0 ? {} : { outsidePaths: [...gathered.outsidePaths] }),
    files: gathered.files,
    searches: gathered.searches,
    ...(records === null ? {} : { records }),
    ...(isWhole && known !== null ? usedRepository(known, gathered.place) : {}),
  };
}

/** Commands of git that print what commits and the index have of files, with options that their rows do not have. */
const PRINTS_COMMITS: ReadonlySet<string> = new Set(
  "show log diff grep stash reflog status blame annotate cat-file whatchanged diff-tree diff-index diff-files format-patch archive".split(
    " ",
  ),
);

/** Commands of git that compare the files of the workspace, and look into the repositories that lie among them. */
const COMPARES_FILES: ReadonlySet<string> = new Set(["git status", "git diff"]);

/** Formats by which git runs the program that checks signatures. */
const CHECKS_SIGNATURES = /%[-+ ]?G|%\([^)]*signature/i;

function usedRepository({ form, name, named: [first], words }: Known, { folder }: Place): Pick<FoundCommand, "repository"> {
  if (first?.text !== "git" || name === "git" || form.effect !== "reads") return {};
  const end = words.findIndex(({ text }) => text === "--" || text === "--end-of-options");
  // What stands behind is a path, whatever it looks like.
  const options = (end === -1 ? words : words.slice(0, end)).map(({ text }) => text);
  const ignored = options.findLast((text) => text.startsWith("--ignore-submodules"));
  const isIgnored = ignored === "--ignore-submodules" || ignored === "--ignore-submodules=all";
  const isOfIndex = options.some((text) => text === "--cached" || text === "--staged");
  const entersNested = COMPARES_FILES.has(name) && !isOfIndex && !isIgnored;
  const tellsSettings = name === "git remote";
  const checksSignatures = options.some((text) => CHECKS_SIGNATURES.test(text));
  return {
    repository: {
      folder,
      entersNested,
      tellsSettings,
      reason: checksSignatures ? "it checks signatures, for which git runs a program" : null,
    },
  };
}

const NONE: ReadonlySet<number> = new Set();

function named(word: FoundWord): FoundWord {
  return { ...word, mustBeNamed: word.mustBeNamed ?? "it says what is run" };
}

/** The redirections of a command: the first that leads to no file of the workspace. */
function redirections({ redirects }: SimpleCommand, gathered: Gathered): Trouble | null {
  let first: Trouble | null = null;
  for (const redirect of redirects) {
    if (redirect.kind === "text" && redirect.text === null)
      first ??= { start: redirect.start, end: redirect.end, reason: "only the shell knows what it reads" };
    if (redirect.kind !== "file") continue;
    const { start, end, target, writes } = redirect;
    const reason =
      target.open === null
        ? gathered.add(target.text, writes ? "write" : "read", target, { isRedirect: true, search: null })
        : `only the shell knows what ${target.text} is: it has ${target.open}`;
    if (reason !== null) first ??= { start, end, reason };
  }
  return first;
}

/** Text that a command reads which the table does not know may be a program, and so may a pipe if the command names no file. */
function readsText({ redirects, words, pipedFrom, start, end }: SimpleCommand, known: Known | null): Trouble | null {
  if (known === null && pipedFrom !== null && words.slice(1).every(({ text }) => text.startsWith("-")))
    return { start, end, reason: "what it reads may be a program" };
  const text = redirects.find((redirect) => redirect.kind === "text" || (redirect.kind === "file" && !redirect.writes));
  return text === undefined || known !== null
    ? null
    : { start: text.start, end: text.end, reason: "what it reads may be a program" };
}

/**
 * Judges the words of a command that the table does not know. Its options may do anything, and so may what it hands to
 * another program: an allow rule must name them.
 */
function unknownWords(words: readonly ShellWord[], place: Place): JudgedWords {
  const [first, ...rest] = words;
  if (first === undefined) return { words: [], trouble: null };
  const name = commandName(first);
  const isWrapper = first.open === null && runsOthers(name);
  const reason =
    first.open !== null
      ? `only the shell knows what is run: ${first.text} has ${first.open}`
      : isWrapper
        ? `${name} runs another command`
        : `${name}${subcommand(rest)} is not known to only read`;
  const found = (word: ShellWord, mustBeNamed: string | null): FoundWord => ({
    text: word.text,
    isOpen: word.open !== null,
    mustBeNamed,
  });
  return {
    words: [
      found(first, first.open !== null ? reason : first.text.includes("/") ? "a program that is named by its folder" : null),
      ...rest.map((word, index) =>
        found(word, isWrapper ? `${name} runs it` : (whyOption(name, word.text, index) ?? whyNamed(word, place))),
      ),
    ],
    trouble: { start: first.start, end: words.at(-1)?.end ?? first.end, reason },
  };
}

/** Commands whose options may stand without a dash: before all else, or anywhere. */
const DASHLESS: Readonly<Record<string, "first" | "anywhere">> = { tar: "first", bsdtar: "first", ar: "first", ps: "anywhere" };

/** Commands of which an operand is a program. */
const SCRIPTED: ReadonlySet<string> = new Set([
  "awk",
  "gawk",
  "mawk",
  "nawk",
  "jq",
  "yq",
  "perl",
  "ruby",
  "ed",
  "ex",
  "bc",
  "dc",
]);

/** Why a word without a dash must be named all the same, since the command takes it for an option or a program; null if it does not. */
function whyOption(name: string, text: string, index: number): string | null {
  if (SCRIPTED.has(name) && !/^(?!.*env)[\w./+-]+$/i.test(text)) return "it may be a program";
  if (name === "dd") return text.includes("=") ? "an option without a dash" : null;
  const place = Object.hasOwn(DASHLESS, name) ? DASHLESS[name] : undefined;
  const mayBeOption = place === "anywhere" || (place === "first" && index === 0);
  return mayBeOption && /^[A-Za-z]+$/.test(text) ? "an option without a dash" : null;
}

/** The command of a program such as npm, or the option that stands before it, for people. */
function subcommand([first]: readonly ShellWord[]): string {
  if (first === undefined || first.open !== null) return "";
  const [word] = /^(?:[a-z][a-z-]*$|--[a-z][a-z-]*(?==|$))/.exec(first.text) ?? [];
  return word === undefined ? "" : ` ${word}`;
}
