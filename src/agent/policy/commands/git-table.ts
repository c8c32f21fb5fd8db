import { form, type CommandForm } from "./command-form.ts";

/** Options of all commands that print commits or differences. --output writes; --ext-diff and --textconv run programs. */
const DIFFERENCES =
  "-p -u --patch -s --no-patch --raw --stat --numstat --shortstat --dirstat --summary --name-only --name-status --color --no-color --word-diff --color-words --no-renames --check --full-index --binary --abbrev -M -C -D -R -a --text -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --exit-code --quiet --minimal --patience --histogram --function-context -W --no-ext-diff --no-textconv --cc -c -m --root --find-renames --find-copies --relative --compact-summary --no-prefix -z";
const DIFFERENCE_VALUES =
  "-U --unified --stat --color --word-diff --abbrev -M -C --find-renames --find-copies --diff-filter -S -G --diff-algorithm --submodule --ignore-submodules --relative --src-prefix --dst-prefix --inter-hunk-context --word-diff-regex --color-words --dirstat";
/** Those of them whose value, if they have one, is joined to them. */
const DIFFERENCE_OPTIONAL =
  "-U --unified --stat --color --word-diff --abbrev -M -C --find-renames --find-copies --submodule --ignore-submodules --relative --color-words --dirstat";
const COMMITS =
  "--oneline --graph --decorate --no-decorate --all --branches --tags --remotes --merges --no-merges --first-parent --reverse --follow --source --left-right --cherry --cherry-pick --cherry-mark --boundary --date-order --topo-order --author-date-order --simplify-by-decoration --full-history --abbrev-commit --no-abbrev-commit --parents --children --relative-date --not --merge --walk-reflogs -g -i --regexp-ignore-case -E -F --all-match --invert-grep --log-size --no-notes --notes --count --full-diff";
const COMMIT_VALUES =
  "-n --max-count --skip --since --after --until --before --author --committer --grep --format --pretty --date --decorate --branches --tags --remotes -L --exclude --glob --min-parents --max-parents --encoding --notes --decorate-refs --decorate-refs-exclude";

const COMMIT_OPTIONAL =
  "--format --pretty --decorate --branches --tags --remotes --notes --min-parents --max-parents --exclude --glob --encoding --date";

/** Options with which a difference tells names and counts only, and those with which it tells lines besides. */
const OUTLINES = "--stat --numstat --shortstat --name-only --name-status --summary -s --no-patch";
const CONTENTS =
  "-p -u --patch -U --unified --word-diff --color-words --binary -W --function-context --cc -c -m --check -L -S -G";

/** Options that stand for what references name, which may be a file as well as a commit. */
const REFERENCES = "--all --branches --tags --remotes --glob -g --walk-reflogs";
const REVISIONS = ["revision"] as const;
/** The names that a search of a repository leaves out, since they are mostly not in it. */
const leavesOut = [".git", "node_modules"] as const;
const plain = (flags: string, text = "", optional = ""): CommandForm => form({ flags, text, optional, operands: REVISIONS });
const contents = (flags: string, text = "", more = ""): CommandForm =>
  form({
    flags,
    text,
    optional: `${DIFFERENCE_OPTIONAL} ${COMMIT_OPTIONAL}`,
    operands: REVISIONS,
    enters: "always",
    outlines: OUTLINES,
    contents: `${CONTENTS} ${more}`,
    leavesOut,
    takesNumber: true,
  });

/** Options of git itself before its command. -c, --exec-path, --git-dir, --work-tree and -p run or read what they name. */
export const GIT = form({
  flags: "--no-pager -P --no-optional-locks --no-replace-objects --literal-pathspecs --version --help",
  folder: "-C",
});

/** Commands of git that only read. */
export const GIT_TABLE: Readonly<Record<string, CommandForm>> = {
  // With -v it prints the difference besides.
  status: form({
    flags:
      "-s --short -b --branch --porcelain --long -v --verbose -z --ignored --ahead-behind --no-ahead-behind --show-stash --no-renames --renames -u -uno -uall -unormal",
    text: "--porcelain --untracked-files --ignored --ignore-submodules --column --find-renames",
    optional: "--porcelain --untracked-files --ignored --ignore-submodules --column --find-renames",
    operands: REVISIONS,
    enters: "-v --verbose",
    leavesOut,
  }),
  log: form({
    flags: `${DIFFERENCES} ${COMMITS}`,
    text: `${DIFFERENCE_VALUES} ${COMMIT_VALUES}`,
    optional: `${DIFFERENCE_OPTIONAL} ${COMMIT_OPTIONAL}`,
    operands: REVISIONS,
    enters: CONTENTS,
    leavesOut,
    takesNumber: true,
  }),
  shortlog: plain(
    "-s -n -e --summary --numbered --email --no-merges --all",
    "--since --until --after --before --author --format",
    "--format",
  ),
  show: contents(`${DIFFERENCES} ${COMMITS}`, `${DIFFERENCE_VALUES} ${COMMIT_VALUES}`, REFERENCES),
  diff: contents(`${DIFFERENCES} --cached --staged --merge-base -1 -2 -3 --ours --theirs --base`, DIFFERENCE_VALUES),
  "diff-tree": contents(`${DIFFERENCES} -r -t --no-commit-id`, DIFFERENCE_VALUES),
  "diff-index": contents(`${DIFFERENCES} --cached`, DIFFERENCE_VALUES),
  "diff-files": contents(DIFFERENCES, DIFFERENCE_VALUES),
  // Without -O, which opens what it finds in a program, and --no-index.
  grep: form({
    flags:
      "-i -v -w -n -l -L -c -h -H -E -F -G -P -o -q -p -W -I -a --ignore-case --invert-match --word-regexp --line-number --name-only --files-with-matches --count --extended-regexp --fixed-strings --perl-regexp --only-matching --quiet --cached --heading --break --show-function --function-context --column --and --or --not --all-match -z",
    text: "-e -A -B -C --after-context --before-context --context --max-depth --threads --color -m --max-count",
    optional: "--color",
    read: "-f",
    instead: "-e -f",
    operands: ["text", "revision"],
    enters: "always",
    leavesOut,
    takesNumber: true,
  }),
  blame: form({
    flags:
      "-l -t -s -e -w -c -b -f -n -p --root --line-porcelain --porcelain --show-email --show-name --show-number --color-lines --minimal -M -C --first-parent --show-stats",
    text: "-L --since --date --abbrev -M -C --ignore-rev",
    optional: "--abbrev -M -C --date",
    read: "--ignore-revs-file --contents",
    operands: REVISIONS,
  }),
  annotate: plain("-l -t -s"),
  // With operands, or -d, -m, -D: changed.
  branch: form({
    flags: "-a --all -r --remotes -v -vv --verbose --list --show-current --no-color --color -i --ignore-case --no-column",
    text: "--contains --no-contains --merged --no-merged --sort --format --points-at --color",
    optional: "--color",
    takesNames: true,
  }),
  tag: form({
    flags: "-l --list --no-column -i",
    text: "--contains --no-contains --merged --no-merged --sort --format --points-at -n",
    optional: "-n",
    takesNames: true,
  }),
  remote: form({ flags: "-v --verbose", takesNames: true }),
  "rev-parse": plain(
    "--verify -q --quiet --short --abbrev-ref --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches --tags --remotes --show-superproject-working-tree",
    "--short --abbrev-ref --default --path-format --branches --tags --glob",
    "--short --abbrev-ref --path-format --branches --tags --glob",
  ),
  "rev-list": form({
    flags: `${COMMITS} --objects -s`,
    text: COMMIT_VALUES,
    optional: COMMIT_OPTIONAL,
    operands: REVISIONS,
    takesNumber: true,
  }),
  "ls-files": plain(
    "-c -d -m -o -i -s -u -k -t -v -z --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude-standard --directory --error-unmatch --full-name --deduplicate --eol",
    "-x --exclude --abbrev --format",
    "--abbrev --format",
  ),
  "ls-tree": plain(
    "-r -d -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev --object-only",
    "--format --abbrev",
    "--format --abbrev",
  ),
  describe: plain(
    "--all --tags --long --always --dirty --contains --exact-match --first-parent --debug --abbrev",
    "--abbrev --match --exclude --dirty --candidates --broken",
    "--abbrev --dirty --broken",
  ),
  "name-rev": plain("--tags --name-only --always", "--refs"),
  "merge-base": plain("-a --all --octopus --is-ancestor --fork-point"),
  "cat-file": contents("-t -s -e -p --batch-check"),
  "for-each-ref": plain("--ignore-case", "--count --sort --format --points-at --merged --no-merged --contains --no-contains"),
  "show-ref": plain(
    "--heads --branches --tags --head -d --verify -q --quiet -s --hash --abbrev",
    "--hash --abbrev",
    "--hash --abbrev",
  ),
  "count-objects": form({ flags: "-v -H" }),
  "check-ignore": plain("-v -n -q -z --no-index --verbose --non-matching"),
  "check-attr": plain("-a --all --cached -z"),
  version: form({ flags: "--build-options" }),
  whatchanged: contents(`${DIFFERENCES} ${COMMITS}`, `${DIFFERENCE_VALUES} ${COMMIT_VALUES}`),
};
/** Commands of git with one of their own: only these of them read. */
export const GIT_DEEPER: Readonly<Record<string, Readonly<Record<string, CommandForm>>>> = {
  stash: {
    list: form({ flags: COMMITS, text: COMMIT_VALUES, optional: COMMIT_OPTIONAL, enters: "-L", leavesOut, takesNumber: true }),
    // With --include-untracked it prints what the repository does not track.
    show: contents(DIFFERENCES, DIFFERENCE_VALUES),
  },
  remote: { "get-url": form({ flags: "--all --push", operands: ["text"] }) },
  worktree: { list: form({ flags: "--porcelain -v -z" }) },
  config: {
    "--get": form({ flags: "--local --global --system --null -z --show-origin --show-scope", operands: ["text"] }),
    "--list": form({ flags: "--local --show-origin --show-scope --name-only -z" }),
    "-l": form({ flags: "--local --show-origin --show-scope --name-only -z" }),
    get: form({ flags: "--local --all --show-origin", operands: ["text"] }),
    list: form({ flags: "--local --show-origin" }),
  },
  reflog: {
    show: form({
      flags: COMMITS,
      text: COMMIT_VALUES,
      optional: COMMIT_OPTIONAL,
      operands: REVISIONS,
      enters: "-L",
      leavesOut,
      takesNumber: true,
    }),
  },
  submodule: { status: form({ flags: "--cached --recursive", operands: ["read"] }) },
  bisect: { log: form({}) },
  notes: { list: form({}), show: form({ operands: ["text"] }) },
};
