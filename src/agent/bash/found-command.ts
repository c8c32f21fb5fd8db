import type { FoundCommand, FoundWord, Trouble } from "./command-line.ts";
import { knownWords } from "./known-words.ts";
import { Gathered, type Place } from "./operand-files.ts";
import { gitCommand, recordedBy } from "./git/git-command.ts";
import { namedWords } from "./runners/named-words.ts";
import type { SimpleCommand } from "./simple-commands.ts";
import { knownCommand, type Known } from "./table.ts";
import { unknownWords } from "./unknown-words.ts";
import { gatherSensitive } from "./why-named.ts";
import { unwrapped } from "./wrappers.ts";

/** A simple command as rules see it, in a place. */
export function foundCommand(command: SimpleCommand, isWhole: boolean, place: Place): FoundCommand {
  const words = isWhole ? unwrapped(command.words) : command.words;
  const known = knownCommand(words);
  const gathered = new Gathered(place);
  const redirected = redirections(command, gathered);
  const said = known === null ? unknownWords(words, place) : knownWords(known, gathered);
  if (known === null || said.trouble !== null) gatherSensitive(words.slice(1), gathered);
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
  if (prints && (known === null || said.trouble !== null) && gathered.searches.length === 0)
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
