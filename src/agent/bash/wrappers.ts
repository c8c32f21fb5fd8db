import { commandName, lineOf, quotedCommand, type Wrapped, behindOptions, part, valueOf } from "./runners/wrapped.ts";
import { evaluatedBy, programsSetBy } from "./runners/evaluated-texts.ts";
import { aliasesOfGit, setsMore } from "./runners/named-words.ts";
import {
  isShell,
  JOINED,
  MORE,
  PLAIN,
  RUNNERS,
  RUNNING_OPTIONS,
  TAKES_MORE,
  TEXT_LETTERS,
  TEXT_OPTIONS,
} from "./runners/runners.ts";
import { likelyIn } from "./runners/likely-commands.ts";
import { runByScript } from "./runners/script-commands.ts";
import { runByXargs } from "./runners/xargs-words.ts";
import type { ShellWord } from "./command-line.ts";
import type { SimpleCommand } from "./simple-commands.ts";

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
    if (plain.valued.includes(word.text)) {
      index += 1;
      // A value that is not written out may be several words, and one of these the program.
      if (words[index]?.open !== null) return words;
    } else if (!(name?.text === "nice" && /^-\d+$/.test(word.text))) return words;
  }
  const own = words.slice(index, index + plain.operands);
  const inner = words.slice(index + plain.operands);
  return inner.length === 0 || own.some(({ open }) => open !== null) ? words : unwrapped(inner);
}

/** All that a command runs besides itself, as far as it can be found. It may be more than what is run, and never runs less. */
export function wrappedIn(command: SimpleCommand): readonly Wrapped[] {
  const { words } = command;
  const [first, ...rest] = words;
  const found: Wrapped[] = [...programsSetBy(command), ...command.redirects.flatMap(hiddenByRedirect)];
  found.push(...evaluatedBy(command));
  if (first === undefined) return found;
  const name = commandName(first);
  const skipped = RUNNERS.get(name);
  if (name === "xargs") found.push(...runByXargs(rest));
  else if (skipped !== undefined) found.push(...behindOptions(TAKES_MORE.has(name) ? [...rest, MORE] : rest, skipped));
  for (const option of RUNNING_OPTIONS.get(name) ?? []) found.push(...behindOption(name, rest, option));
  if (isShell(name)) found.push(...readByShell(command));
  for (const option of TEXT_OPTIONS.get(name) ?? [])
    if (name !== "git" || !TEXT_LETTERS.has(option) || rest.some(({ text }) => TEXT_LETTERS.get(option) === text))
      found.push(...textsOf(rest, option));
  if (JOINED.has(name)) {
    found.push(...joined(rest));
    for (const inner of behindOptions(rest, skipped ?? 0)) if (inner.kind === "words") found.push(...joined(inner.words));
  }
  found.push(...runByScript(name, first, rest), ...likelyIn(name, words));
  if (name === "git") found.push(...aliasesOfGit(rest));
  if (name.startsWith("git-")) found.push({ kind: "words", words: [part(first, "git"), part(first, name.slice(4)), ...rest] });
  if (name === "git" && rest.some(({ text }) => text === "for-each-repo"))
    found.push({ kind: "words", words: [first, ...rest.slice(rest.findIndex(({ text }) => text === "for-each-repo") + 1)] });
  const reason = hiddenBy(name, rest);
  if (reason !== null) found.push({ kind: "hidden", at: first, reason });
  if (name === "trap" || name === "alias" || name === "git" || name === "fc")
    for (const word of rest) found.push(...quotedCommand(name, word));
  if (name === "source" || name === ".") found.push({ kind: "hidden", at: first, reason: `${name} runs what a file holds` });
  return found;
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

/** The most places of one option behind which a command is looked for: each is followed by all words to the end. */
const MOST_PLACES = 8;

/** The commands behind an option that begins one, or that are joined to it. */
function behindOption(name: string, words: readonly ShellWord[], option: string): readonly Wrapped[] {
  let places = 0;
  return words.flatMap((word, index): readonly Wrapped[] => {
    const isFd = name.startsWith("fd");
    // A word that is not written out may be the option.
    const value =
      word.text === option || word.open !== null ? "" : isFd || option.startsWith("--") ? joinedTo(word.text, option) : null;
    if (value === null) return [];
    places += 1;
    if (places > MOST_PLACES)
      return places > MOST_PLACES + 1 ? [] : [{ kind: "hidden", at: word, reason: `${option} stands there too often` }];
    const given = [...(value === "" ? [] : [part(word, value)]), ...words.slice(index + 1)];
    if (name === "git")
      return [...behindOptions(given, 0), ...joined(given), ...joined(given.slice(given.findIndex(isNoOption)))];
    // What find and fd put in the place of {}, or at the end, stands nowhere in the line.
    const puts = given.map((each): ShellWord => (/\{[/.]*\}/.test(each.text) ? opened(each) : each));
    return behindOptions(isFd ? [...puts, MORE] : puts, name === "docker" || name === "podman" ? 1 : 0);
  });
}

/** The value that is joined to an option; null if the word is not the option with one. */
function joinedTo(text: string, option: string): string | null {
  const joint = option.startsWith("--") ? `${option}=` : option;
  return text.startsWith(joint) ? text.slice(joint.length) : null;
}

/** All that a shell runs: the texts of its options, and what it reads, which a line rarely says. */
function readByShell({ words: [first, ...words], redirects, pipedFrom }: SimpleCommand): readonly Wrapped[] {
  if (first === undefined) return [];
  const isPower = /^(?:pwsh|powershell)/.test(commandName(first));
  const isText = isPower ? /^[-/]c/i : /^-[a-zA-Z]*c/;
  const found: Wrapped[] = words.flatMap((word) => {
    const [, value] = /^--[\w-]+=(.*)$/s.exec(word.text) ?? [];
    return value === undefined ? [] : [lineOf({ ...word, text: value })];
  });
  const command = words.findIndex(({ text, open }) => open !== null || isText.test(text));
  if (command >= 0) {
    const texts = words.slice(command + 1).filter(({ text }) => !/^[-+]/.test(text));
    // Each `o` takes a value, which may stand before the text that is run.
    const values = words.reduce((count, { text }) => count + (/^[-+][a-zA-Z]+$/.test(text) ? text.split(/o/i).length - 1 : 0), 0);
    const run = isPower ? texts : texts.slice(0, values + 1);
    if (isPower) found.push(...joined(texts));
    for (const word of words[command]?.open === null ? run : words.slice(command)) found.push(lineOf(word));
  }
  const hide = (reason: string): number => found.push({ kind: "hidden", at: first, reason });
  for (const redirect of redirects)
    if (redirect.kind === "file" && !redirect.writes && command < 0) hide("a shell runs what a file holds");
    else if (redirect.kind === "text" && redirect.text === null) hide("a shell reads what is not written out");
    else if (redirect.kind === "text" && redirect.text !== null) found.push({ kind: "line", text: redirect.text, at: first });
  if (pipedFrom !== null) {
    const [name, ...said] = pipedFrom.words;
    hide("a shell runs what another command writes");
    if (["echo", "printf", "cat"].includes(commandName(name))) found.push(...joined(said), ...said.map(lineOf));
    for (const redirect of pipedFrom.redirects)
      if (redirect.kind === "text" && redirect.text !== null) found.push({ kind: "line", text: redirect.text, at: first });
  }
  const about = commandName(first) === "at" ? /^-l$/ : /^--(?:version|help)$/;
  if (command >= 0 || words.some(({ text }) => about.test(text))) return found;
  if (words.some(({ text }) => !text.startsWith("-"))) hide("a shell runs what a file holds");
  // Around it may stand a pipe or a redirection: `exec < x.sh; sh`.
  else if (!redirects.some(({ kind }) => kind === "text")) hide("a shell runs what it reads");
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

function isNoOption({ text, open }: ShellWord): boolean {
  return open !== null || !text.startsWith("-");
}

/** Why words of a command leave open what is run; null if they do not. */
function hiddenBy(name: string, words: readonly ShellWord[]): string | null {
  const has = (option: string): boolean => words.some(({ text }) => valueOf(text, option) !== null);
  switch (name) {
    case "parallel":
      return words.some(({ text }) => /[{]|^::/.test(text)) ? "parallel puts what it reads into the command" : null;
    case "git":
      return setsMore(words) ? "a setting of git may name a program" : null;
    case "env":
      return ["-S", "--split-string"].some((option) => textsOf(words, option).some(hasEscapes))
        ? "env reads its text in its own way"
        : null;
    case "hash":
      return has("-p") ? "hash gives a program another name" : null;
    case "enable":
      return has("-f") ? "enable loads what a file holds" : null;
    default:
      return null;
  }
}

function hasEscapes(wrapped: Wrapped): boolean {
  return wrapped.kind === "line" && /[\\$]/.test(wrapped.text);
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
