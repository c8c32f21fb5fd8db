import type { ShellWord } from "../shell-word.ts";
import { lineOf, quotedCommand, type Wrapped } from "./wrapped.ts";

/** The commands of aliases that git is given: `-c alias.p=push` and `config alias.p push`. */
export function aliasesOfGit(words: readonly ShellWord[]): readonly Wrapped[] {
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

/** Options of git itself that take the next word. */
const VALUED: ReadonlySet<string> = new Set(["-C", "--namespace"]);
/** Options of git itself that name a program, or a place where settings are found. */
const NAMES_MORE = /^--(?:config-env|exec-path=|git-dir|work-tree)/;

/**
 * True if words behind git set what may name a program: options of git itself, of `clone`, and `config` with a value. Aliases
 * are looked at for themselves.
 */
export function setsMore(words: readonly ShellWord[]): boolean {
  let index = 0;
  for (let word = words[0]; word?.text.startsWith("-") === true; word = words[index]) {
    if (NAMES_MORE.test(word.text) || (word.text === "-c" && isMore(words[index + 1]))) return true;
    index += word.text === "-c" || VALUED.has(word.text) ? 2 : 1;
  }
  const [command, ...rest] = words.slice(index);
  if (command?.text === "clone")
    return rest.some(({ text }, at) =>
      text === "-c" || text === "--config" ? isMore(rest[at + 1]) : text.startsWith("--config=") && !isHarmless(text.slice(9)),
    );
  if (command?.text !== "config" || rest.some(({ text }) => /^--(?:get|unset|list)/.test(text))) return false;
  return rest.some((word, at) => {
    const value = rest[at + 1];
    if (value === undefined || value.text.startsWith("-")) return false;
    return word.open !== null ? !word.text.startsWith("-") : /^[a-z][\w-]*\..+/i.test(word.text) && !isHarmless(`${word.text}=`);
  });
}

/** True if a word of `git config` may be a setting that names a program, or if it renames settings. */
export function mayNameProgram(text: string): boolean {
  return /^--ren|^rename-section$/.test(text) || (/^[a-z][\w-]*\..+/i.test(text) && !HARMLESS_SETTING.test(`${text}=`));
}

function isMore(setting: ShellWord | undefined): boolean {
  return setting === undefined || setting.open !== null || !isHarmless(setting.text);
}

function isHarmless(setting: string): boolean {
  return HARMLESS_SETTING.test(setting) || /^alias\./i.test(setting);
}
