import { form, type CommandForm } from "./command-form.ts";

const ABOUT = "--help --version";
const NOTHING = form({ flags: ABOUT });
const texts = (flags = "", text = ""): CommandForm => form({ flags: `${ABOUT} ${flags}`, text, operands: ["text"] });

/** Commands that look at the system, at names of files and at nothing. */
export const SYSTEM_TABLE: Readonly<Record<string, CommandForm>> = {
  true: texts(),
  false: texts(),
  ":": texts(),
  echo: form({ operands: ["text"], hasOptions: false, status: "texts" }),
  // Without -v, which evaluates the name of a variable.
  printf: form({ operands: ["printf format", "text"], status: "texts" }),
  pwd: form({ flags: "-L -P" }),
  cd: form({ flags: "-L -P", operands: ["read"], most: 1 }),
  whoami: NOTHING,
  id: texts("-u -g -G -n -un -gn"),
  groups: texts(),
  uname: form({ flags: `${ABOUT} -a -s -n -r -v -m -p -o` }),
  arch: NOTHING,
  nproc: form({ flags: `${ABOUT} --all` }),
  uptime: form({ flags: `${ABOUT} -p -s` }),
  free: form({ flags: `${ABOUT} -h -m -g -b -k -t`, text: "-s -c" }),
  locale: form({ flags: "-a" }),
  // With an operand it sets the name.
  hostname: form({ flags: "-f -s -i -I -d" }),
  // Without -s, which sets the clock, and -f.
  date: form({
    flags: `${ABOUT} -u -R --utc --rfc-email -I`,
    text: "-d --date -I --iso-8601 --rfc-3339",
    optional: "-I --iso-8601",
    operands: ["date format"],
    most: 1,
  }),
  cal: texts("-3 -y -m"),
  sleep: texts(),
  seq: texts("-w", "-s -f"),
  expr: texts(),
  basename: texts("-a -z", "-s"),
  dirname: texts("-z"),
  which: texts("-a"),
  type: form({ flags: "-a -t -p -P", operands: ["text"] }),
  printenv: texts("-0"),
  // With words it runs them.
  env: form({ flags: "-0" }),
  // With -v and -V it only looks.
  command: form({ flags: "-v -V", operands: ["text"] }),
  getconf: texts("-a"),
  df: form({ flags: `${ABOUT} -h -H -T -i -a -k -m -l`, text: "-t -x", operands: ["read"] }),
  du: form({
    flags: `${ABOUT} -h -s -a -c -k -m -b -x -S -0 --human-readable --summarize --all --total --apparent-size`,
    text: "-d --max-depth --exclude -t --threshold",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
  }),
  ls: form({
    flags: `${ABOUT} -a -A -l -h -r -R -t -S -1 -d -F -i -n -o -g -p -s -c -u -U -X -m -x -C -B -G -k -L -Q -Z -v --all --almost-all --human-readable --reverse --recursive --size --directory --classify --color --group-directories-first --inode --numeric-uid-gid --full-time`,
    text: "--color --sort --time --time-style --format -I --ignore -w --hide --block-size --indicator-style",
    // Some systems have no value for these.
    optional: "-I -w",
    operands: ["read"],
    enters: "-R --recursive",
    tellsNames: "always",
    follows: "-L",
  }),
  // The value of -L, -P and -I is the next word, also if letters stand behind them.
  tree: form({
    hasLongWords: true,
    flags:
      "--version -ad -da -af -fi -ah -sh -a -d -f -i -s -h -D -p -u -g -C -n -F -r -t -J --dirsfirst --noreport --gitignore --prune",
    text: "-L -I -P --filelimit",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
  }),
  stat: form({ flags: `${ABOUT} -L -f -t`, text: "-c --format --printf", operands: ["read"] }),
  readlink: form({ flags: `${ABOUT} -f -e -m -n -z`, operands: ["read"] }),
  realpath: form({ flags: `${ABOUT} -e -m -s -q -z`, text: "--relative-to --relative-base", operands: ["read"] }),
  // Without -v, which evaluates the name of a variable.
  test: form({
    flags: "-e -f -d -r -w -x -s -L -h -n -z -a -o -eq -ne -lt -le -gt -ge -nt -ot -ef ! ( )",
    operands: ["revision"],
    hasLongWords: true,
    status: "compared",
  }),
  // Without -exec, -ok, -delete, -fprint, -fprintf, -fls and -files0-from.
  find: form({
    flags: `${ABOUT} -H -L -P -print -print0 -ls -depth -d -follow -xdev -mount -o -or -a -and -not ! ( ) , -empty -prune -nouser -nogroup -true -false -readable -writable -executable -daystart -quit`,
    text: "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -newermt -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -lname -fstype",
    read: "-newer -anewer -cnewer -samefile",
    operands: ["read"],
    enters: "always",
    tellsNames: "always",
    follows: "-L -follow",
    hasLongWords: true,
  }),
};

/** Commands that change files, which they name. */
export const WRITING_TABLE: Readonly<Record<string, CommandForm>> = {
  mkdir: form({
    effect: "writes",
    flags: `${ABOUT} -p -v --parents --verbose`,
    text: "-m --mode",
    operands: ["write"],
    makes: "folders",
  }),
  rmdir: form({ effect: "writes", flags: `${ABOUT} -p -v`, operands: ["write"] }),
  touch: form({ effect: "writes", flags: `${ABOUT} -a -m -c`, text: "-d -t", read: "-r", operands: ["write"] }),
  rm: form({
    effect: "writes",
    flags: `${ABOUT} -f -r -R -v -d -i -I --force --recursive --verbose --dir`,
    operands: ["write"],
    enters: "-r -R --recursive",
  }),
  cp: form({
    effect: "writes",
    flags: `${ABOUT} -r -R -a -f -n -p -u -v -i -T -l -s --recursive --force --verbose --archive --no-clobber --update --link --symbolic-link`,
    operands: ["read"],
    last: "write",
    putsIntoFolder: true,
    enters: "-r -R -a -s --recursive --archive --symbolic-link",
    follows: "always",
    links: "-l -s --link --symbolic-link",
    makes: "links",
  }),
  // Without -b, -S and -t.
  ln: form({
    effect: "writes",
    flags: `${ABOUT} -s -f -n -i -v -r -T -L -P --symbolic --force --no-dereference --verbose --relative --no-target-directory`,
    operands: ["linked"],
    last: "write",
    putsIntoFolder: true,
    enters: "always",
    follows: "always",
    linksByText: true,
    makes: "links",
  }),
  link: form({ effect: "writes", flags: ABOUT, operands: ["linked", "write"], makes: "links", most: 2 }),
  unlink: form({ effect: "writes", flags: ABOUT, operands: ["write"], most: 1 }),
  // Without -s, which runs strip, -b, -S, -t and --strip-program; with -d all operands are folders.
  install: form({
    effect: "writes",
    flags: `${ABOUT} -c -C -p -v -D -T --compare --preserve-timestamps --verbose`,
    text: "-m --mode -o --owner -g --group",
    operands: ["read"],
    last: "write",
    putsIntoFolder: true,
    makes: "folders",
  }),
  mv: form({
    effect: "writes",
    flags: `${ABOUT} -f -n -u -v -i -T --force --verbose --no-clobber`,
    operands: ["write"],
    putsIntoFolder: true,
    enters: "always",
    follows: "always",
    makes: "links",
  }),
  tee: form({ effect: "writes", flags: `${ABOUT} -a --append`, operands: ["write"] }),
  truncate: form({ effect: "writes", flags: ABOUT, text: "-s --size", operands: ["write"] }),
  chmod: form({
    effect: "writes",
    flags: `${ABOUT} -v -c -R --recursive`,
    operands: ["text", "write"],
    enters: "-R --recursive",
  }),
};
