import { commandName, lineOf, quotedCommand, type Wrapped } from "./settings/wrapped.ts";
import { aliasesOfGit, setsMore } from "./settings/git-settings.ts";
import {
  JOINED,
  MORE,
  PLAIN,
  READINGS,
  RUNNERS,
  RUNNING_OPTIONS,
  SHELLS,
  TAKES_MORE,
  TEXT_LETTERS,
  TEXT_OPTIONS,
} from "./settings/runners.ts";
import { programsSetBy } from "./settings/program-variables.ts";
import type { ShellWord } from "./shell-word.ts";
import type { SimpleCommand } from "./simple-commands.ts";

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
export function wrappedIn(command: SimpleCommand): readonly Wrapped[] {
  const { words, redirects, pipedFrom } = command;
  const [first, ...rest] = words;
  const found: Wrapped[] = [...programsSetBy(command), ...redirects.flatMap(hiddenByRedirect)];
  if (first === undefined) return [...found, ...substitutedIn(command.assignments)];
  const name = commandName(first);
  const skipped = RUNNERS.get(name);
  if (skipped !== undefined) found.push(...behindOptions(TAKES_MORE.has(name) ? [...rest, MORE] : rest, skipped));
  for (const option of RUNNING_OPTIONS.get(name) ?? [])
    for (const [index, word] of rest.entries()) {
      if (word.text !== option) continue;
      // What find puts in the place of {} stands nowhere in the line.
      const behind = rest
        .slice(index + 1)
        .map((each): ShellWord => (name !== "git" && each.text.includes("{}") ? opened(each) : each));
      found.push(...behindOptions(behind, name === "docker" || name === "podman" ? 1 : 0));
      if (name === "git") found.push(...joined(behind), ...joined(behind.slice(behind.findIndex(isNoOption))));
    }
  if (SHELLS.has(name)) found.push(...readByShell(rest, redirects, pipedFrom, first));
  for (const option of TEXT_OPTIONS.get(name) ?? [])
    if (!TEXT_LETTERS.has(option) || rest.some(({ text }) => TEXT_LETTERS.get(option) === text))
      found.push(...textsOf(rest, option));
  if (JOINED.has(name)) {
    found.push(...joined(rest));
    for (const inner of behindOptions(rest, skipped ?? 0)) if (inner.kind === "words") found.push(...joined(inner.words));
  }
  if (name === "git") found.push(...aliasesOfGit(rest));
  if (name.startsWith("git-")) found.push({ kind: "words", words: [part(first, "git"), part(first, name.slice(4)), ...rest] });
  if (name === "git" && rest.some(({ text }) => text === "for-each-repo"))
    found.push({ kind: "words", words: [first, ...rest.slice(rest.findIndex(({ text }) => text === "for-each-repo") + 1)] });
  found.push(...substitutedIn(command.assignments), ...(EVALUATING.has(name) ? substitutedIn(rest) : []));
  const reason = hiddenBy(name, rest);
  if (reason !== null) found.push({ kind: "hidden", at: first, reason });
  if (name === "trap" || name === "alias" || name === "git" || name === "fc")
    for (const word of rest) found.push(...quotedCommand(name, word));
  if (name === "source" || name === ".") found.push({ kind: "hidden", at: first, reason: `${name} runs what a file holds` });
  return found;
}

/** Commands of the shell that may evaluate what a word has in quotes. */
const EVALUATING: ReadonlySet<string> = new Set(
  "test [ printf read let declare typeset local export readonly set unset wait mapfile readarray".split(" "),
);

/** The substitutions in words that are quoted: arithmetic, references and indices run them later. */
function substitutedIn(words: readonly ShellWord[]): readonly Wrapped[] {
  return words.flatMap((at) =>
    at.open !== null
      ? []
      : [...at.text.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(
          ([, text, ticked]) => ({ kind: "line", text: text ?? ticked ?? "", at }) as const,
        ),
  );
}

/** Behind an unusual redirection bash may read the name of a command. */
function hiddenByRedirect(redirect: SimpleCommand["redirects"][number]): readonly Wrapped[] {
  return redirect.kind === "file" && redirect.target.open === "an unusual redirection"
    ? [{ kind: "hidden", at: redirect.target, reason: "bash may read a redirection as a word" }]
    : [];
}

function opened({ text, assigns, start, end }: ShellWord): ShellWord {
  return { text, open: MORE.open, assigns, start, end };
}

function part({ start, end }: ShellWord, text: string): ShellWord {
  return { text, open: null, assigns: false, start, end };
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
    else if (word.assigns || (word.open === null && /^[A-Za-z_]\w*=/.test(word.text))) mayBeValue = false;
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

/** The most texts behind `-c` that are read: values of its options may stand before the one that runs. */
const SHELL_TEXTS = 8;

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
    for (const word of words[command]?.open === null ? texts.slice(0, SHELL_TEXTS) : words.slice(command))
      found.push(lineOf(word));
  }
  for (const redirect of redirects)
    if (redirect.kind === "file" && !redirect.writes && command < 0)
      found.push({ kind: "hidden", at, reason: "a shell runs what a file holds" });
    else if (redirect.kind === "text")
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
    case "env":
      return textsOf(words, "-S").some(({ kind, ...text }) => kind === "line" && /[\\$]/.test("text" in text ? text.text : ""))
        ? "env reads its text in its own way"
        : null;
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
