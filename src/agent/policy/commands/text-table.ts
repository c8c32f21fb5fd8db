import { form, type CommandForm } from "./command-form.ts";

/** Options that only ask what a command is. */
const ABOUT = "--help --version";

const GREP = form({
  flags: `${ABOUT} -i -v -c -l -L -n -N -h -H -o -q -s -w -x -E -F -G -P -a -I -z -b -U -T -r -R --ignore-case --invert-match --count --files-with-matches --files-without-match --line-number --no-filename --with-filename --only-matching --quiet --silent --no-messages --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --text --null --recursive --dereference-recursive --color --colour --no-ignore-case`,
  text: "-e --regexp -m --max-count -A --after-context -B --before-context -C --context --color --colour --include --exclude --label --binary-files",
  optional: "--color --colour --context",
  read: "-f --file --exclude-from",
  leftOut: "--exclude-dir",
  instead: "-e --regexp -f --file",
  operands: ["text", "read"],
  enters: "-r -R --recursive --dereference-recursive",
  follows: "-R --dereference-recursive",
  takesNumber: true,
});
const AWK = form({ text: "-F -v", operands: ["awk program", "read"], hasOptionsFirst: true });
/** Prints its files, with options for the way. */
const print = (flags: string, text = "", optional = ""): CommandForm =>
  form({ flags: `${ABOUT} ${flags}`, text, optional, operands: ["read"], takesNumber: true });

/** Commands that read texts and print them. */
export const TEXT_TABLE: Readonly<Record<string, CommandForm>> = {
  cat: print("-n -b -A -E -T -s -u -v -e -t --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank"),
  tac: print(""),
  nl: print("-p", "-b -w -s -v -n -i"),
  head: print("-q -v --quiet --verbose", "-n -c --lines --bytes"),
  // Without -f, which does not end.
  tail: form({ flags: `${ABOUT} -q -v`, text: "-n -c --lines --bytes", operands: ["read"], takesNumber: true }),
  wc: print("-l -w -c -m -L --lines --words --bytes --chars --max-line-length"),
  cut: print("-s --only-delimited --complement -z", "-d -f -c -b --delimiter --fields --characters --bytes --output-delimiter"),
  paste: print("-s -z", "-d"),
  column: print("-t -x -n -J", "-s -o -c -N"),
  fold: print("-s", "-w"),
  fmt: print("-u -s", "-w"),
  rev: print(""),
  expand: print("-i", "-t"),
  unexpand: print("-a", "-t"),
  od: print("-c -x -v -b -d -o", "-A -t -N -j -w", "-w"),
  hexdump: print("-C -c -v -x", "-n -s -e"),
  strings: form({ flags: `${ABOUT} -a`, text: "-n -t -e", operands: ["read"], takesNumber: true, takesResponseFiles: true }),
  comm: print("-1 -2 -3 -12 -13 -23 -i"),
  cmp: print("-s -l -b", "-n -i"),
  join: print("-i", "-t -1 -2 -o -a -v -e"),
  base64: print("-d -D --decode -i", "-w --wrap"),
  base32: print("-d --decode", "-w"),
  md5sum: print("-b -t"),
  sha1sum: print("-b -t"),
  sha224sum: print("-b -t"),
  sha256sum: print("-b -t"),
  sha384sum: print("-b -t"),
  sha512sum: print("-b -t"),
  cksum: print("", "-a"),
  file: print("-b -i -L -h -k -N --brief --mime --mime-type --mime-encoding", "-F"),
  tsort: print(""),
  // Without -o, which writes, --files0-from, --compress-program, which runs, and -T.
  sort: print(
    "-n -r -u -f -b -g -h -V -d -i -M -R -s -z -c -C --numeric-sort --reverse --unique --ignore-case --human-numeric-sort --version-sort --stable --check",
    "-k --key -t --field-separator",
  ),
  // A second operand of these two is a file that is written.
  uniq: form({ flags: `${ABOUT} -c -d -u -i -D --count --repeated --unique`, text: "-f -s -w", operands: ["read"], most: 1 }),
  // Its options are whole words: -ps is another than -p and -s.
  xxd: form({
    flags: "-b -i -p -u -e",
    text: "-c -g -l -s",
    operands: ["read"],
    most: 1,
    hasLongWords: true,
    hasOptionsFirst: true,
  }),
  tr: form({ flags: `${ABOUT} -d -s -c -C -t --delete --squeeze-repeats --complement`, operands: ["text"] }),
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  // Without --pre, --hostname-bin, -z, and those that turn its rules of what to leave out off.
  rg: form({
    flags: `${ABOUT} -i -s -S -n -N -l -c -v -w -x -F -o -q -p -H -I -U -P -a -0 --ignore-case --case-sensitive --smart-case --line-number --no-line-number --files-with-matches --files-without-match --count --count-matches --invert-match --word-regexp --line-regexp --fixed-strings --only-matching --quiet --with-filename --no-filename --heading --no-heading --multiline --pcre2 --json --column --vimgrep --trim --stats --no-messages --files --type-list --null`,
    text: "-e --regexp -t --type -T --type-not -A --after-context -B --before-context -C --context -m --max-count --max-depth -d -M --max-columns -r --replace --sort --sortr --color --colors -j --threads -E --encoding --max-filesize",
    globs: "-g --glob --iglob",
    read: "-f --file --ignore-file",
    instead: "-e --regexp -f --file --files",
    operands: ["text", "read"],
    enters: "always",
    leavesOut: ["hidden", "ignored"],
    showsFiles: "-t --type",
    tellsNames: "--files --type-list",
    showsAll: "--ignore-file",
  }),
  diff: form({
    flags: `${ABOUT} -u -c -q -s -y -i -w -b -B -E -a -r -N -e -n -t --brief --report-identical-files --side-by-side --ignore-case --ignore-all-space --ignore-blank-lines --unified --recursive --new-file --color --text --minimal`,
    text: "-U -C -W --unified --width --color --label -L -x --exclude -I",
    operands: ["read"],
    // Without -r, too, it prints the files of the folders that it is given.
    enters: "always",
    follows: "always",
  }),
  // Only scripts that print: `w`, `e` and -i write and run.
  sed: form({
    flags: `${ABOUT} -n -E -r -u -z -s --quiet --silent --regexp-extended`,
    scripts: "-e --expression",
    instead: "-e --expression",
    operands: ["sed script", "read"],
  }),
  awk: AWK,
  gawk: AWK,
  mawk: AWK,
  jq: form({
    flags: `${ABOUT} -r -c -n -s -e -S -j -M -C -a -R --raw-output --compact-output --null-input --slurp --exit-status --sort-keys --raw-input --tab`,
    text: "--indent",
    operands: ["jq filter", "read"],
  }),
};
