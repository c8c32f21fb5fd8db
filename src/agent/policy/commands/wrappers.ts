import type { ShellWord } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-commands.ts";

/** Something that a command runs besides itself: the words of a command, or a text that a shell reads. */
export type Wrapped =
  | { readonly kind: "words"; readonly words: readonly ShellWord[] }
  | { readonly kind: "line"; readonly text: string; readonly at: ShellWord }
  /** The line does not say what is run. */
  | { readonly kind: "hidden"; readonly at: ShellWord; readonly reason: string };

/** Commands that run the words behind their options, after so many operands of their own. */
const RUNNERS: ReadonlyMap<string, number> = new Map([
  ...[
    "sudo",
    "doas",
    "pkexec",
    "env",
    "xargs",
    "nice",
    "nohup",
    "stdbuf",
    "setsid",
    "ionice",
    "command",
    "builtin",
    "exec",
    "time",
  ].map((name) => [name, 0] as const),
  ...["busybox", "toybox", "unshare", "nsenter", "strace", "ltrace", "gdb", "systemd-run", "dbus-run-session", "xvfb-run"].map(
    (name) => [name, 0] as const,
  ),
  ...[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "runuser",
    "fakeroot",
    "catchsegv",
    "parallel",
    "watch",
    "entr",
    "caffeinate",
    "proot",
    "bwrap",
  ].map((name) => [name, 0] as const),
  ...["timeout", "flock", "chroot", "chrt", "taskset", "setarch", "ssh", "firejail", "gosu", "su-exec", "setpriv", "prlimit"].map(
    (name) => [name, 1] as const,
  ),
]);
/** Commands that run their words with more words behind them, which stand nowhere in the line. */
const TAKES_MORE: ReadonlySet<string> = new Set(["xargs", "parallel", "entr"]);
const MORE: ShellWord = { text: "", open: "a variable or substitution", assigns: false, start: 0, end: 0 };
/** Commands that run the words behind one of these. */
const RUNNING_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["find", ["-exec", "-execdir", "-ok", "-okdir"]],
  ["fd", ["-x", "-X", "--exec", "--exec-batch"]],
  ["npm", ["exec", "x"]],
  ["pnpm", ["exec", "dlx"]],
  ["yarn", ["exec", "dlx"]],
  ["bun", ["x"]],
  ["git", ["run", "foreach", "--exec", "-x"]],
  ["docker", ["exec", "run"]],
  ["podman", ["exec", "run"]],
  ["kubectl", ["--"]],
]);
/** The most commands that the words behind a runner are read as. */
const READINGS = 20;
/** Commands that hand their words, or the text of an option, to a shell. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish"]);
const TEXT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["su", ["-c", "--command"]],
  ["script", ["-c", "--command"]],
  ["runuser", ["-c", "--command"]],
  ["flock", ["-c", "--command"]],
  ["npx", ["-c", "--call"]],
  ["npm", ["-c", "--call"]],
  ["git", ["--exec", "-x", "--upload-pack", "--receive-pack"]],
  ["env", ["-S", "--split-string"]],
  ["compgen", ["-C", "-W"]],
  ["complete", ["-C", "-W"]],
  ["mapfile", ["-C"]],
  ["readarray", ["-C"]],
]);
const JOINED: ReadonlySet<string> = new Set(["eval", "ssh", "watch", "parallel"]);
/** Wrappers that change neither who nor where nor with what a command runs: allow rules look through them. */
const PLAIN: Readonly<
  Record<string, { readonly flags: readonly string[]; readonly valued: readonly string[]; readonly operands: number }>
> = {
  timeout: {
    flags: ["--foreground", "--preserve-status", "-v", "--verbose"],
    valued: ["-k", "--kill-after", "-s", "--signal"],
    operands: 1,
  },
  nice: { flags: [], valued: ["-n", "--adjustment"], operands: 0 },
  nohup: { flags: [], valued: [], operands: 0 },
};

/** The name of a command without its folders: `/bin/rm` is `rm`. */
export function commandName(word: ShellWord | undefined): string {
  return word === undefined ? "" : word.text.slice(word.text.lastIndexOf("/") + 1);
}

/** Commands that run a program of a package, which they name first. */
export const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "uvx"]);

/** True if the words of a command are another command, or a text that a shell reads. */
export function runsOthers(name: string): boolean {
  if (PACKAGE_RUNNERS.has(name)) return false;
  return (
    RUNNERS.has(name) || SHELLS.has(name) || JOINED.has(name) || ["source", ".", "su", "script", "trap", "alias"].includes(name)
  );
}

/** The command that a wrapper runs as it is, with nothing changed that counts; the words themselves if there is no such wrapper. */
export function unwrapped(words: readonly ShellWord[]): readonly ShellWord[] {
  const [name] = words;
  const plain = name === undefined || name.open !== null || !Object.hasOwn(PLAIN, name.text) ? undefined : PLAIN[name.text];
  if (plain === undefined) return words;
  let index = 1;
  for (; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined || word.open !== null || !word.text.startsWith("-")) break;
    const [option = ""] = word.text.split("=");
    if (plain.flags.includes(word.text) || (word.text.includes("=") && plain.valued.includes(option))) continue;
    if (plain.valued.includes(word.text)) index += 1;
    else if (!(name?.text === "nice" && /^-\d+$/.test(word.text))) return words;
  }
  const own = words.slice(index, index + plain.operands);
  const inner = words.slice(index + plain.operands);
  return inner.length === 0 || own.some(({ open }) => open !== null) ? words : unwrapped(inner);
}

/** All that a command runs besides itself, as far as it can be found. It may be more than what is run, and never runs less. */
export function wrappedIn({ words, redirects, pipedFrom }: SimpleCommand): readonly Wrapped[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const name = commandName(first);
  const found: Wrapped[] = [];
  const skipped = RUNNERS.get(name);
  if (skipped !== undefined) found.push(...behindOptions(TAKES_MORE.has(name) ? [...rest, MORE] : rest, skipped));
  for (const option of RUNNING_OPTIONS.get(name) ?? [])
    for (const [index, word] of rest.entries()) {
      if (word.text !== option) continue;
      const behind = rest.slice(index + 1);
      found.push(...behindOptions(behind, name === "docker" || name === "podman" ? 1 : 0));
      if (name === "git") found.push(...joined(behind), ...joined(behind.slice(behind.findIndex(isNoOption))));
    }
  if (SHELLS.has(name)) found.push(...readByShell(rest, redirects, pipedFrom, first));
  for (const option of TEXT_OPTIONS.get(name) ?? [])
    // Letters before -x are those of `git rebase -ix`; other commands of git take text behind one dash.
    if (option !== "-x" || rest.some(({ text }) => text === "rebase")) found.push(...textsOf(rest, option));
  if (JOINED.has(name)) {
    found.push(...joined(rest));
    for (const inner of behindOptions(rest, skipped ?? 0)) if (inner.kind === "words") found.push(...joined(inner.words));
  }
  if (name === "git") found.push(...aliasesOfGit(rest));
  const reason = hiddenBy(name, rest);
  if (reason !== null) found.push({ kind: "hidden", at: first, reason });
  if (name === "trap" || name === "alias" || name === "git" || name === "fc")
    for (const word of rest) found.push(...quotedCommand(name, word));
  if (name === "source" || name === ".") found.push({ kind: "hidden", at: first, reason: `${name} runs what a file holds` });
  return found;
}

/**
 * The commands behind options and so many operands. Whether an option takes the next word is not known: both readings
 * count.
 */
function behindOptions(words: readonly ShellWord[], operands: number): readonly Wrapped[] {
  let index = 0;
  let mayBeValue = false;
  const found: Wrapped[] = [];
  for (let left = operands; index < words.length && found.length < READINGS; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    if (word.open === null && word.text === "--") mayBeValue = false;
    else if (word.open === null && word.text.startsWith("-")) mayBeValue = !word.text.includes("=");
    else if (word.assigns) mayBeValue = false;
    else {
      const rest = words.slice(index);
      found.push(
        word.open === null
          ? { kind: "words", words: rest }
          : { kind: "hidden", at: word, reason: "the name of a command is not written out" },
      );
      if (mayBeValue) mayBeValue = false;
      else if (left > 0) left -= 1;
      else break;
    }
  }
  return found;
}

function readByShell(
  words: readonly ShellWord[],
  redirects: SimpleCommand["redirects"],
  pipedFrom: SimpleCommand | null,
  at: ShellWord,
): readonly Wrapped[] {
  const found: Wrapped[] = [];
  const command = words.findIndex(({ text, open }) => open !== null || (/^-[a-zA-Z]*c/.test(text) && !text.startsWith("--")));
  if (command >= 0) {
    const texts = words.slice(command + 1).filter(({ text }) => !/^[-+]/.test(text));
    for (const word of words[command]?.open === null ? texts.slice(0, 2) : words.slice(command)) found.push(lineOf(word));
  }
  for (const redirect of redirects)
    if (redirect.kind === "text")
      found.push(
        redirect.text === null
          ? { kind: "hidden", at, reason: "a shell reads what is not written out" }
          : { kind: "line", text: redirect.text, at },
      );
  if (pipedFrom !== null) {
    const [name, ...said] = pipedFrom.words;
    found.push({ kind: "hidden", at, reason: "a shell runs what another command writes" });
    if (["echo", "printf", "cat"].includes(commandName(name))) found.push(...joined(said), ...said.map(lineOf));
    for (const redirect of pipedFrom.redirects)
      if (redirect.kind === "text" && redirect.text !== null) found.push({ kind: "line", text: redirect.text, at });
  }
  if (command < 0 && words.some(({ text }) => !text.startsWith("-")))
    found.push({ kind: "hidden", at, reason: "a shell runs what a file holds" });
  return found;
}

/** The texts of an option: behind it or joined to it, also of a long one that is cut short, or a short one behind other letters. */
function textsOf(words: readonly ShellWord[], option: string): readonly Wrapped[] {
  return words.flatMap((word, index) => {
    const text = valueOf(word.text, option);
    if (text === null) return [];
    if (text !== "") return [lineOf({ ...word, text })];
    const next = words[index + 1];
    return next === undefined ? [] : [lineOf(next)];
  });
}

/** The value that a word gives an option; empty if the next word is it, null if the word is not the option. */
function valueOf(text: string, option: string): string | null {
  if (option.startsWith("--")) {
    const [, name = "", value = ""] = /^(--[^=]+)=?(.*)$/s.exec(text) ?? [];
    return name !== "" && option.startsWith(name) ? value : null;
  }
  const letter = option.slice(1);
  const [before = ""] = /^-[a-zA-Z0-9]+/.exec(text) ?? [];
  const position = before.indexOf(letter, 1);
  return position < 0 ? null : text.slice(position + 1).replace(/^=/, "");
}

function isNoOption({ text, open }: ShellWord): boolean {
  return open !== null || !text.startsWith("-");
}

/** The commands of aliases that git is given: `-c alias.p=push` and `config alias.p push`. */
function aliasesOfGit(words: readonly ShellWord[]): readonly Wrapped[] {
  return words.flatMap((word, index) => {
    const alias = /^(?:--config-env=)?alias\.[^=]*(?:=(.*))?$/is.exec(word.text);
    if (alias === null) return [];
    const value = alias[1];
    if (word.text.startsWith("--")) return [{ kind: "hidden", at: word, reason: "an alias is not written out" } as const];
    const command = value === undefined ? words[index + 1] : { ...word, text: value };
    if (command === undefined) return [];
    return command.text.trimStart().startsWith("!")
      ? quotedCommand("git", command)
      : [lineOf({ ...command, text: `git ${command.text}` })];
  });
}

/** Settings of git that name no program and no file with more settings. */
const HARMLESS_SETTING =
  /^(?:user|author|committer|color|advice|column)\.|^(?:core\.(?:quotepath|autocrlf|eol|abbrev)|commit\.gpgsign|diff\.(?:renames|algorithm)|init\.defaultbranch|log\.date|merge\.conflictstyle|pull\.(?:ff|rebase)|push\.default|safe\.directory)=/i;

/** True if options of git itself set what may name a program. Aliases are looked at for themselves. */
function setsMore(words: readonly ShellWord[]): boolean {
  for (let index = 0; index < words.length; index += 1) {
    const { text = "" } = words[index] ?? {};
    const next = words[index + 1];
    if (text === "-c") {
      if (next === undefined || next.open !== null) return true;
      if (!HARMLESS_SETTING.test(next.text) && !/^alias\./i.test(next.text)) return true;
      index += 1;
    } else if (["-C", "--git-dir", "--work-tree", "--namespace"].includes(text)) index += 1;
    else if (text.startsWith("--config-env")) return true;
    else if (!text.startsWith("-")) return false;
  }
  return false;
}

/** Why words of a command leave open what is run; null if they do not. */
function hiddenBy(name: string, words: readonly ShellWord[]): string | null {
  const has = (option: string): boolean => words.some(({ text }) => valueOf(text, option) !== null);
  switch (name) {
    case "xargs":
      return has("-I") || has("-i") || has("-J") || has("--replace") ? "xargs puts what it reads into the command" : null;
    case "parallel":
      return words.some(({ text }) => /[{]|^::/.test(text)) ? "parallel puts what it reads into the command" : null;
    case "git":
      return setsMore(words) ? "a setting of git may name a program" : null;
    case "hash":
      return has("-p") ? "hash gives a program another name" : null;
    default:
      return null;
  }
}

function joined(words: readonly ShellWord[]): readonly Wrapped[] {
  const [first] = words;
  if (first === undefined) return [];
  const open = words.find((word) => word.open !== null);
  const text = words.map((word) => word.text).join(" ");
  return [
    { kind: "line", text, at: first },
    ...(open === undefined ? [] : [{ kind: "hidden", at: open, reason: "a shell reads what is not written out" } as const]),
  ];
}

/** The command of a trap, an alias, or an alias of git's, which begins with `!`. */
function quotedCommand(name: string, word: ShellWord): readonly Wrapped[] {
  if (name === "trap") return [lineOf(word)];
  const value = /^[^=]*=(.*)$/s.exec(word.text)?.[1] ?? word.text;
  if (name === "git") return /^\s*!/.test(value) ? [{ kind: "line", text: value.replace(/^\s*!/, ""), at: word }] : [];
  return word.text.includes("=") ? [{ kind: "line", text: value, at: word }] : [];
}

function lineOf(word: ShellWord): Wrapped {
  return word.open === null
    ? { kind: "line", text: word.text, at: word }
    : { kind: "hidden", at: word, reason: "a shell reads what is not written out" };
}
