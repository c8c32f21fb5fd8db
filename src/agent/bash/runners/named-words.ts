import type { ShellWord } from "../command-line.ts";
import { PACKAGE_RUNNERS, runsOthers, RUNNING_OPTIONS, TAKES_LINES, TEXT_LETTERS, TEXT_OPTIONS } from "./runners.ts";
import { behindOptions, valueOf, commandName, lineOf, quotedCommand, type Wrapped } from "./wrapped.ts";

/** Runners of programs that belong to a project: a rule names the program, and `*` stands for its operands. */
const OF_PROJECTS: ReadonlySet<string> = new Set("npm pnpm yarn bun uv poetry pipenv hatch bundle".split(" "));
/** Package managers, whose scripts may be called as their commands are, with the commands that run a program of a package. */
const MANAGERS: ReadonlyMap<string, RegExp> = new Map([
  // npm takes the beginning of a command for it.
  ["npm", /^(?:exec?|x|ini|init|innit|crea?t?e?)$/],
  ["pnpm", /^(?:exec|dlx|create)$/],
  ["yarn", /^(?:exec|dlx|create)$/],
  ["bun", /^(?:x|create)$/],
]);
/** The options that say yes beforehand. `true` or `false` may stand behind them. */
const SAYS_YES = /^(?:-y|--yes)$/;
/** Commands of package managers behind which all is named: they run a line, or set what later lines run. */
const SETTING = /^(?:explor?e?|c|con|conf|confi|config|set|pkg?)$/;
const READING = /^(?:get|list|ls)$/;
/** Commands of package managers behind which a command for several packages stands. */
const FOR_SEVERAL = /^(?:workspaces?|recursive|multi|m)$/;

/** Commands of git that run what stands behind them, or the hooks of a repository. */
const RUN_BY_GIT: ReadonlySet<string> = new Set("filter-branch for-each-repo merge-index remote-ext remote-fd hook".split(" "));
/** Commands of git that run what stands behind one of their own. */
const DEEPER_OF_GIT: ReadonlyMap<string, string> = new Map([
  ["bisect", "run"],
  ["submodule", "foreach"],
]);
/** Options of git itself whose value, the next word, is a setting, or a place where settings are found. */
const SETTINGS_OF_GIT: ReadonlySet<string> = new Set(["-c", "--config-env", "--exec-path", "--git-dir", "--work-tree"]);

/** The most commands that are looked at behind each other; of more, all words are named. */
const DEPTH = 3;

/**
 * The positions of the words by which a command runs another: `*` of an allow rule stands for none of them. Options must be
 * named by themselves, wherever they stand.
 */
export function namedWords(words: readonly ShellWord[]): ReadonlySet<number> {
  const naming = new Naming(words);
  naming.from(0, 0);
  return naming.found;
}

class Naming {
  readonly found = new Set<number>();
  readonly #words: readonly ShellWord[];
  readonly #seen = new Set<number>();

  constructor(words: readonly ShellWord[]) {
    this.#words = words;
  }

  /** Takes the words of the command that begins at a position. */
  from(start: number, depth: number): void {
    const first = this.#words[start];
    if (first === undefined || first.open !== null || this.#seen.has(start)) return;
    this.#seen.add(start);
    const name = commandName(first);
    if ((runsOthers(name) && start > 0) || depth > DEPTH) return this.#all(start + 1);
    if (PACKAGE_RUNNERS.has(name)) this.#program(start + 1, depth);
    else if (name === "git") this.#git(start);
    else if (MANAGERS.has(name)) this.#manager(start, name, depth);
    else if (RUNNING_OPTIONS.has(name)) this.#behind(start, name, depth);
    this.#texts(start, name);
  }

  #all(start: number): void {
    for (let index = start; index < this.#words.length; index += 1) this.found.add(index);
  }

  #textAt(index: number): string {
    return this.#words[index]?.text ?? "";
  }

  /** The position of the first word behind another that is meant; -1 if none is. */
  #next(start: number, isMeant: (text: string) => boolean): number {
    return this.#words.findIndex(({ text }, index) => index > start && isMeant(text));
  }

  /** The positions at which the command behind options may stand: whether they take the next word is not known. */
  #commands(start: number): readonly number[] {
    return behindOptions(this.#words.slice(start), 0).flatMap((each) =>
      each.kind === "words" ? [this.#words.length - each.words.length] : [],
    );
  }

  /** A program that is run with words of its own. */
  #program(start: number, depth: number): void {
    let first = start;
    while (SAYS_YES.test(this.#textAt(first)) && !/^(?:true|false|null)$/.test(this.#textAt(first + 1))) first += 1;
    for (const at of this.#commands(first)) {
      this.found.add(at);
      this.from(at, depth + 1);
    }
  }

  #behind(start: number, name: string, depth: number): void {
    const options = RUNNING_OPTIONS.get(name) ?? [];
    const isFd = name.startsWith("fd");
    const at = this.#next(start, (text) =>
      options.some((option) => text === option || (isFd && option.startsWith("-") && text.startsWith(option))),
    );
    if (at < 0) return;
    if (OF_PROJECTS.has(name)) this.#program(at + 1, depth);
    else this.#all(at + 1);
  }

  #manager(start: number, name: string, depth: number): void {
    const isRunning = (text: string): boolean => MANAGERS.get(name)?.test(text) === true;
    for (const at of this.#commands(start + 1)) {
      const text = this.#textAt(at);
      if (isRunning(text)) this.#program(at + 1, depth);
      else if (SETTING.test(text)) {
        if (!READING.test(this.#textAt(at + 1))) this.#all(at);
      } else if (FOR_SEVERAL.test(text)) {
        const inner = this.#next(at, isRunning);
        if (inner >= 0) this.#program(inner + 1, depth);
      }
    }
  }

  #git(start: number): void {
    for (const at of this.#commands(start + 1)) {
      for (let index = start + 2; index <= at; index += 1)
        if (SETTINGS_OF_GIT.has(this.#textAt(index - 1))) this.found.add(index);
      const command = this.#textAt(at);
      const inner = DEEPER_OF_GIT.get(command);
      const deeper = inner === undefined ? -1 : this.#next(at, (text) => text === inner);
      if (RUN_BY_GIT.has(command)) this.#all(at);
      else if (deeper > 0) this.#all(deeper);
      else if (command === "config" && this.#next(at, mayNameProgram) > 0) this.#all(at + 1);
      else this.#operandsOfGit(command, at);
    }
  }

  #operandsOfGit(command: string, at: number): void {
    if (!/^(?:push|clone|rebase|difftool)$/.test(command)) return;
    for (let index = at + 1; index < this.#words.length; index += 1) {
      const before = this.#textAt(index - 1);
      const isNamed =
        command === "push"
          ? // With nothing before the colon, what stands behind it is deleted.
            this.#textAt(index).startsWith(":")
          : command === "clone"
            ? /^(?:-c|--config)$/.test(before)
            : valueOf(before, "-x") === "";
      if (isNamed) this.found.add(index);
    }
  }

  /** The texts that options give a shell, and texts among the words of commands that take lines there. */
  #texts(start: number, name: string): void {
    // Filters of git stand behind filter-branch, of which all is named.
    const isOption = (option: string): boolean => {
      const command = TEXT_LETTERS.get(option);
      return (
        name !== "git" ||
        (!option.endsWith("-filter") && (command === undefined || this.#next(start, (text) => text === command) > 0))
      );
    };
    const options = (TEXT_OPTIONS.get(name) ?? []).filter(isOption);
    if (options.length === 0 && !TAKES_LINES.has(name)) return;
    for (let index = start + 1; index < this.#words.length; index += 1) {
      const before = this.#textAt(index - 1);
      const isValue = before.startsWith("-") && options.some((option) => valueOf(before, option) === "");
      if (isValue || (TAKES_LINES.has(name) && /\s/.test(this.#textAt(index)))) this.found.add(index);
    }
  }
}

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
function mayNameProgram(text: string): boolean {
  return /^--ren|^rename-section$/.test(text) || (/^[a-z][\w-]*\..+/i.test(text) && !HARMLESS_SETTING.test(`${text}=`));
}

function isMore(setting: ShellWord | undefined): boolean {
  return setting === undefined || setting.open !== null || !isHarmless(setting.text);
}

function isHarmless(setting: string): boolean {
  return HARMLESS_SETTING.test(setting) || /^alias\./i.test(setting);
}
