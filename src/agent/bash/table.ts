import { form, type CommandForm } from "./command-form.ts";
import type { ShellWord } from "./command-line.ts";
import { WRITING, WRITING_OF_GIT, WRITING_OF_NPM } from "./writing-table.ts";

const files = (flags: string, text = ""): CommandForm => form({ flags, text, operands: ["read"], takesNumber: true });
const texts = (flags = "", text = ""): CommandForm => form({ flags, text, operands: ["text"] });
const GREP = form({
  flags: "-i -v -c -l -L -n -h -H -o -q -s -w -x -E -F -P -I -r -R --color",
  text: "-e -m -A -B -C --include --exclude --exclude-dir --color",
  optional: "--color",
  instead: "-e",
  operands: ["text", "read"],
  enters: "-r -R",
  follows: "-R",
  takesNumber: true,
});

/** All that runs unasked outside of a box: commands that only print what their words name, each with its options by name. */
export const READERS: Readonly<Record<string, CommandForm>> = {
  cat: files("-n -b -A -E -T -s -v -e -t"),
  head: form({ flags: "-q -v", counts: "-n -c --lines --bytes", operands: ["read"], takesNumber: true }),
  tail: form({ flags: "-q -v", counts: "-n -c --lines --bytes", operands: ["read"], takesNumber: true }),
  wc: files("-l -w -c -m -L"),
  nl: files("", "-b"),
  sort: files("-n -r -u -f -b -h -V -c -s", "-k -t"),
  uniq: form({ flags: "-c -d -u -i", operands: ["read"], most: 1 }),
  cut: files("-s", "-d -f -c"),
  tr: texts("-d -s -c"),
  sed: form({ flags: "-n -E", lines: "-e", needs: "-n", instead: "-e", operands: ["line numbers", "read"] }),
  sha256sum: files(""),
  md5sum: files(""),
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: form({
    flags:
      "-i -s -S -n -N -l -c -v -w -x -F -o -q -H -I -U -P -u -uu -uuu --json --files --stats --heading --no-heading --hidden",
    text: "-e -t --type -T -g --glob --iglob -A -B -C -m -M -d --max-depth -r --sort --color",
    instead: "-e --files",
    operands: ["text", "read"],
    enters: "always",
    leavesOut: ["hidden", "ignored"],
    showsAll: "-t --type -T -g --glob --iglob -u -uu -uuu --hidden",
    tellsNames: "--files",
  }),
  find: form({
    flags: "-print -print0 -o -or -a -and -not ! ( ) -empty -prune",
    text: "-name -iname -path -ipath -type -size -mtime -mmin -maxdepth -mindepth",
    read: "-newer",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
    hasLongWords: true,
  }),
  ls: form({
    flags: "-a -A -l -h -r -R -t -S -1 -d -F -p -i -s -G --color",
    text: "--color",
    optional: "--color",
    operands: ["read"],
    enters: "-R",
    tellsNames: "always",
  }),
  tree: form({
    flags: "-a -d -f -i -s -h -D -F -r -t --dirsfirst --noreport",
    text: "-L -I -P",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
    hasLongWords: true,
  }),
  du: form({
    flags: "-h -s -a -c -k -m -b",
    text: "-d --max-depth",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
  }),
  stat: files("", "-c"),
  file: files("-b -i"),
  readlink: files("-f -e"),
  realpath: files("-e"),
  cmp: files("-s -l"),
  // Without -r, too, it prints the files of the folders that it is given.
  diff: form({
    flags: "-u -q -s -y -i -w -b -B -r -N",
    text: "-U",
    operands: ["read"],
    enters: "always",
    follows: "always",
    takesNumber: true,
  }),
  basename: texts("-a", "-s"),
  dirname: texts(),
  echo: form({ operands: ["text"], hasOptions: false, status: "texts" }),
  // Without -v, which evaluates the name of a variable.
  printf: form({ operands: ["printf format", "text"], status: "texts" }),
  test: form({
    flags: "-e -f -d -r -w -x -s -L -h -n -z -a -o -eq -ne -lt -le -gt -ge -nt -ot -ef ! ( )",
    operands: ["revision"],
    hasLongWords: true,
    status: "compared",
  }),
  true: texts(),
  false: texts(),
  ":": texts(),
  pwd: form({ flags: "-L -P" }),
  cd: form({ operands: ["read"], most: 1 }),
  which: texts("-a"),
  type: texts("-a -t -p"),
  whoami: form({}),
  id: form({ flags: "-u -g -G -n" }),
  uname: form({ flags: "-a -s -n -r -m" }),
  // Any other operand, and -s, sets the clock.
  date: form({ flags: "-u -R -I", text: "-d", operands: ["date format"], most: 1 }),
};

const SUMMARIES = "--stat --numstat --shortstat --name-only --name-status";
const CHANGES = `-p -u --patch -s --no-patch -w -b --word-diff --color --no-color ${SUMMARIES}`;
const CHANGE_VALUES = "-U --unified --stat --word-diff --color --diff-filter --ignore-submodules";
const CHANGE_OPTIONAL = "-U --unified --stat --word-diff --color --ignore-submodules";
const COMMITS =
  "--oneline --graph --decorate --all --merges --no-merges --first-parent --reverse --follow --abbrev-commit -i --format --pretty --date";
const COMMIT_VALUES = "-n --max-count --skip --since --until --after --before --author --grep --format --pretty --date -L -S -G";
const REFERENCES = "--contains --merged --no-merged --sort --format --points-at";
/** What a search of a repository passes over, since it is mostly not in it. */
const leavesOut = [".git", "node_modules"] as const;
const changes = { flags: CHANGES, text: CHANGE_VALUES, optional: CHANGE_OPTIONAL, operands: ["revision"], leavesOut } as const;
const commits = {
  flags: `${CHANGES} ${COMMITS}`,
  text: `${CHANGE_VALUES} ${COMMIT_VALUES}`,
  optional: `${CHANGE_OPTIONAL} --format --pretty --date`,
  operands: ["revision"],
  leavesOut,
  takesNumber: true,
} as const;

/** What runs another command, but for this: it says where that lies. */
const READERS_OF_COMMAND: Readonly<Record<string, CommandForm>> = { "-v": texts() };

/** Options of git itself before its command. */
const GIT = form({ flags: "--no-pager -P --no-optional-locks --version", folder: "-C" });

/** The commands of git that run unasked outside of a box, in repositories by which git runs nothing. */
export const READERS_OF_GIT: Readonly<Record<string, CommandForm>> = {
  status: form({
    flags: "-s --short -b --branch --porcelain -u -uno -uall -unormal --ignored -z",
    text: "--porcelain --untracked-files --ignored --ignore-submodules",
    optional: "--porcelain --untracked-files --ignored --ignore-submodules",
    operands: ["revision"],
  }),
  log: form({ ...commits, enters: "-p -u --patch -U --unified -L -S -G --word-diff" }),
  show: form({ ...commits, enters: "always" }),
  diff: form({ ...changes, flags: `${CHANGES} --cached --staged --merge-base`, enters: "always", outlines: SUMMARIES }),
  blame: form({ flags: "-l -t -s -e -w -M -C", text: "-L --since --date", operands: ["revision"] }),
  grep: form({
    flags: "-i -v -w -n -l -L -c -h -H -E -F -P -o -q --cached",
    text: "-e -A -B -C",
    instead: "-e",
    operands: ["text", "revision"],
    enters: "always",
    leavesOut,
    takesNumber: true,
  }),
  // With operands, or -d, -m and -D: changed.
  branch: form({
    flags: "-a --all -r --remotes -v -vv --list --show-current",
    text: REFERENCES,
    takesNames: true,
    lists: "--list",
  }),
  tag: form({ flags: "-l --list", text: `${REFERENCES} -n`, optional: "-n", takesNames: true, lists: "-l --list" }),
  remote: form({ flags: "-v --verbose", takesNames: true }),
  "stash list": form({ flags: "--oneline", text: "--format", optional: "--format", takesNumber: true }),
  "rev-parse": form({
    flags: "--verify -q --short --abbrev-ref --show-toplevel --show-prefix --git-dir --is-inside-work-tree --symbolic-full-name",
    text: "--short --abbrev-ref",
    optional: "--short --abbrev-ref",
    operands: ["revision"],
  }),
  "rev-list": form({
    flags: `--count ${COMMITS}`,
    text: COMMIT_VALUES,
    optional: "--format --pretty --date",
    operands: ["revision"],
    takesNumber: true,
  }),
  "ls-files": form({
    flags: "-c -d -m -o -s -u -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch",
    operands: ["revision"],
  }),
  "ls-tree": form({ flags: "-r -d -t -l -z --long --name-only --full-name", operands: ["revision"] }),
  "merge-base": form({ flags: "-a --all --is-ancestor", operands: ["revision"] }),
};

/** A command that a table knows: its form, the words before those that the form reads, and what git works by before its own command. */
export type Known = {
  readonly form: CommandForm;
  /** The name with its commands: `git stash list`. */
  readonly name: string;
  readonly named: readonly ShellWord[];
  readonly before: { readonly form: CommandForm; readonly words: readonly ShellWord[] } | null;
  readonly words: readonly ShellWord[];
};

/** The row for the words of a command; null if there is none. */
export function knownCommand(words: readonly ShellWord[]): Known | null {
  const [first, ...rest] = words;
  if (first === undefined || first.open !== null) return null;
  if (first.text === "git") return knownOfGit(first, rest);
  if (first.text === "command") return knownInside([READERS_OF_COMMAND], first, rest, null);
  if (first.text === "npm") return knownInside([WRITING_OF_NPM], first, rest, null);
  if (first.text === "[" && rest.at(-1)?.text !== "]") return null;
  const [name, operands] = first.text === "[" ? ["test", rest.slice(0, -1)] : [first.text, rest];
  const found = own(READERS, name) ?? own(WRITING, name);
  return found === null ? null : { form: found, name, named: [first], before: null, words: operands };
}

/** True if a command has a row among those that only print. */
export function isReader(words: readonly ShellWord[]): boolean {
  return knownCommand(words)?.form.effect === "reads";
}

function knownOfGit(first: ShellWord, rest: readonly ShellWord[]): Known | null {
  let index = 0;
  for (; rest[index]?.text.startsWith("-") === true; index += 1) if (rest[index]?.text === "-C") index += 1;
  if (index > 0 && index >= rest.length) return { form: GIT, name: "git", named: [first], before: null, words: rest };
  return knownInside([READERS_OF_GIT, WRITING_OF_GIT], first, rest.slice(index), { form: GIT, words: rest.slice(0, index) });
}

/** The row of a command after a program's name: of two words, or of one. */
function knownInside(
  tables: readonly Readonly<Record<string, CommandForm>>[],
  first: ShellWord,
  rest: readonly ShellWord[],
  before: Known["before"],
): Known | null {
  for (const length of [2, 1]) {
    const named = rest.slice(0, length);
    if (named.length < length || named.some(({ open }) => open !== null)) continue;
    const inner = named.map(({ text }) => text).join(" ");
    for (const table of tables) {
      const found = own(table, inner);
      if (found !== null)
        return { form: found, name: `${first.text} ${inner}`, named: [first, ...named], before, words: rest.slice(length) };
    }
  }
  return null;
}

function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}
