import type { PassedOver, ShellWord } from "./command-line.ts";

/**
 * The use of a word of a command. A `revision` may be a file, as the operands of `git diff` are. `folder` is where the rest of
 * the command works. Line numbers, as `10,20p`, are all that sed may be given; a count may not be an older option, such as the `f` of
 * `tail -cf`, which follows.
 */
export type WordUse =
  "text" | "read" | "write" | "revision" | "folder" | "line numbers" | "count" | "printf format" | "date format";

/** A row of a table: which options of a command are harmless, and what its words stand for. */
export type CommandForm = {
  /** A command that runs what the workspace says is never proved, whatever its words are. */
  readonly effect: "reads" | "writes" | "runs";
  readonly flags: ReadonlySet<string>;
  readonly valued: ReadonlyMap<string, WordUse>;
  /** Those of them whose value is joined to them, if they have one: they never take the next word. */
  readonly optional: ReadonlySet<string>;
  /** The option without which it is not harmless; null for none. */
  readonly needs: string | null;
  readonly operands: readonly WordUse[];
  /** The use of the last of several operands, if it is another. */
  readonly last: WordUse | null;
  /** False if every word is an operand, whatever it begins with. */
  readonly hasOptions: boolean;
  /** Options that take the place of the first operand, as `-e` does for grep. */
  readonly instead: ReadonlySet<string>;
  /** Options with which the command goes into folders; null if it always does. */
  readonly enters: ReadonlySet<string> | null;
  /** Options with which a search tells names and counts only, if no others stand beside them. */
  readonly outlines: ReadonlySet<string>;
  /** Options with which it tells names only of what lies in folders; null if it always does. */
  readonly tellsNames: ReadonlySet<string> | null;
  /** Options with which links to folders are followed; null if what lies behind them counts always. */
  readonly follows: ReadonlySet<string> | null;
  /** What a search of it passes over. */
  readonly leavesOut: readonly PassedOver[];
  /** Options with which it may pass over nothing. */
  readonly showsAll: ReadonlySet<string>;
  /** True if options are whole words with one dash, as those of find are: `--` ends none of them. */
  readonly hasLongWords: boolean;
  /** True if `-5` is a number of lines. */
  readonly takesNumber: boolean;
  /** True if operands, of which the form has none, are names that it changes: rules may name those by `*`. */
  readonly takesNames: boolean;
  /** Options with which operands are patterns of names that it prints. */
  readonly lists: ReadonlySet<string>;
  /** True if a last operand that is a folder takes the others in: the command writes files of their names in it. */
  readonly putsIntoFolder: boolean;
  /** The operands that may have `$?` in them: texts, or the one of two that are compared as numbers; null if none may. */
  readonly status: "texts" | "compared" | null;
  /** The most operands. */
  readonly most: number;
};

/** The form of a command in words: options and uses are separated by spaces. */
export type FormText = {
  readonly effect?: CommandForm["effect"];
  readonly flags?: string;
  readonly text?: string;
  readonly optional?: string;
  readonly read?: string;
  readonly folder?: string;
  readonly lines?: string;
  readonly counts?: string;
  readonly needs?: string;
  readonly operands?: readonly WordUse[];
  readonly last?: WordUse;
  readonly hasOptions?: boolean;
  readonly instead?: string;
  /** `always`, or the options with which it goes into folders. */
  readonly enters?: string;
  readonly outlines?: string;
  /** `always`, or the options. */
  readonly tellsNames?: string;
  /** `always`, or the options. */
  readonly follows?: string;
  readonly leavesOut?: readonly PassedOver[];
  readonly showsAll?: string;
  readonly hasLongWords?: boolean;
  readonly takesNumber?: boolean;
  readonly takesNames?: boolean;
  readonly lists?: string;
  readonly putsIntoFolder?: boolean;
  readonly status?: "texts" | "compared";
  readonly most?: number;
};

/** The form that its texts stand for. The use of the last operand is that of all after it; none takes no operands. */
export function form(given: FormText): CommandForm {
  const list = (text: string | undefined): readonly string[] =>
    text === undefined ? [] : text.split(/\s+/).filter((word) => word !== "");
  const optionsOrAlways = (text: string | undefined): ReadonlySet<string> | null =>
    text === "always" ? null : new Set(list(text));
  const valued = (text: string | undefined, use: WordUse): readonly (readonly [string, WordUse])[] =>
    list(text).map((option) => [option, use] as const);
  return {
    effect: given.effect ?? "reads",
    flags: new Set(list(given.flags)),
    valued: new Map([
      ...valued(given.text, "text"),
      ...valued(given.read, "read"),
      ...valued(given.folder, "folder"),
      ...valued(given.lines, "line numbers"),
      ...valued(given.counts, "count"),
    ]),
    optional: new Set(list(given.optional)),
    needs: given.needs ?? null,
    operands: given.operands ?? [],
    last: given.last ?? null,
    hasOptions: given.hasOptions ?? true,
    instead: new Set(list(given.instead)),
    enters: optionsOrAlways(given.enters),
    outlines: new Set(list(given.outlines)),
    tellsNames: optionsOrAlways(given.tellsNames),
    follows: optionsOrAlways(given.follows),
    leavesOut: given.leavesOut ?? [],
    showsAll: new Set(list(given.showsAll)),
    hasLongWords: given.hasLongWords ?? false,
    takesNumber: given.takesNumber ?? false,
    takesNames: given.takesNames ?? false,
    lists: new Set(list(given.lists)),
    putsIntoFolder: given.putsIntoFolder ?? false,
    status: given.status ?? null,
    most: given.most ?? Infinity,
  };
}

/** A word with what it stands for: its use and the text that has it, or why the table does not say that it is harmless. */
export type ReadWord = { readonly word: ShellWord } & (
  | { readonly kind: "used"; readonly use: WordUse; readonly text: string; readonly isOperand: boolean }
  | { readonly kind: "option" }
  | { readonly kind: "not harmless"; readonly reason: string }
  /** An operand of a command that reads only without: a rule may name it by `*`. */
  | { readonly kind: "unexpected"; readonly reason: string }
);

/** The words behind the name of a command, read by its form, and the options among them. */
export type ReadWords = { readonly words: readonly ReadWord[]; readonly options: ReadonlySet<string> };

/** The words that the shell makes of one with wildcards or braces, or more than those; null if nobody can say. */
type Expansion = (word: ShellWord) => readonly string[] | null;

/** Reads the words behind a command's name. Of an operand with wildcards or braces, each word that it may become is read. */
export function readWords(form: CommandForm, name: string, given: readonly ShellWord[], expansion: Expansion): ReadWords {
  const words: ReadWord[] = [];
  const options = new Set<string>();
  const operands: { readonly word: ShellWord; readonly text: string; readonly isExpanded: boolean; readonly index: number }[] =
    [];
  let areOptionsOver = false;
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index];
    if (word === undefined) break;
    const open = mayHaveStatus(form, given, index) ? null : whyOpen(word);
    if (open !== null) {
      const attached = attachedTo(form, word);
      const expanded = attached === null ? expansion(word) : [];
      if (attached !== null) {
        options.add(attached);
        words.push({ word, kind: "option" });
      }
      if (expanded === null) words.push({ word, kind: "not harmless", reason: open });
      for (const text of expanded ?? []) {
        operands.push({ word, text, isExpanded: true, index: words.length });
        words.push({ word, kind: "option" });
      }
    } else if (!areOptionsOver && !form.hasLongWords && word.text === "--") {
      areOptionsOver = true;
      words.push({ word, kind: "option" });
    } else if (areOptionsOver || !isOption(form, word)) {
      operands.push({ word, text: word.text, isExpanded: false, index: words.length });
      words.push({ word, kind: "option" });
    } else {
      const option = readOption(form, word, given[index + 1], operands.length > 0);
      if (option === null)
        words.push({ word, kind: "not harmless", reason: `${name} ${shown(word)} is not known to be harmless` });
      else {
        for (const each of option.options) options.add(each);
        words.push(option.value === null || option.takesNext ? { word, kind: "option" } : { word, ...option.value });
        if (option.takesNext) {
          index += 1;
          const next = given[index];
          if (next !== undefined && option.value !== null) {
            const reason = whyOpen(next) ?? whyNoValue(name, next);
            words.push(reason === null ? { word: next, ...option.value } : { word: next, kind: "not harmless", reason });
          }
        }
      }
    }
  }
  const isFirstGiven = [...form.instead].some((option) => options.has(option));
  const isList = [...form.lists].some((option) => options.has(option));
  const uses: readonly WordUse[] = isList ? ["text"] : isFirstGiven ? form.operands.slice(1) : form.operands;
  for (const [position, { word, text, isExpanded, index }] of operands.entries()) {
    const isLast = position > 0 && position === operands.length - 1;
    const written = isLast && form.last !== null ? form.last : uses[Math.min(position, uses.length - 1)];
    const hasStatus = word.open !== null && !isExpanded;
    const use = hasStatus && form.status === "compared" ? "text" : written;
    // The shell puts names in an order of its own.
    const isUncertain = isExpanded && (position < uses.length - 1 || form.last !== null);
    words[index] =
      use === undefined || position >= form.most || isUncertain || (hasStatus && use !== "text")
        ? {
            word,
            kind: form.takesNames ? "unexpected" : "not harmless",
            reason: `${name} with ${shown(word)} is not known to be harmless`,
          }
        : { word, kind: "used", use, text, isOperand: true };
  }
  return { words, options };
}

/**
 * True if a word may have `$?` in it. The shell may split that into several words: behind a text they are texts, and a
 * comparison of a number with more or fewer words than one is none.
 */
function mayHaveStatus({ status }: CommandForm, given: readonly ShellWord[], index: number): boolean {
  const word = given[index];
  if (word?.open !== "an exit status") return false;
  switch (status) {
    case null:
      return false;
    case "texts":
      return true;
    case "compared": {
      const [one, sign, other, ...more] = given;
      const isCompared = more.length === 0 && sign?.open === null && COMPARES.has(sign.text) && word !== sign;
      return isCompared && [one, other].every((each) => each === word || (each?.open === null && /^\d+$/.test(each.text)));
    }
  }
}

const COMPARES: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "=", "!="]);

/** Why nobody knows what a word stands for as the command gets it; null if it is what is written. */
function whyOpen(word: ShellWord): string | null {
  return word.open === null ? null : `only the shell knows what ${shown(word)} is: it has ${word.open}`;
}

/**
 * The option with a text that a word is, whatever names the wildcards or braces in its value stand for: each is that option again. Null
 * for other words.
 */
function attachedTo({ valued }: CommandForm, { text, open }: ShellWord): string | null {
  if (open !== "a wildcard" && open !== "a brace expansion") return null;
  const [, option = null] = /^(--[a-z][a-z-]*)=[\w./,{}*?[\]+:@-]*$/.exec(text) ?? [];
  return option !== null && valued.get(option) === "text" ? option : null;
}

/** Why a word may be more than the value of the option before it; null if it is one: some programs take an option there. */
function whyNoValue(name: string, { text }: ShellWord): string | null {
  return /^-[^\d]/.test(text) ? `${name} may take ${JSON.stringify(text)} for an option` : null;
}

type Option = {
  readonly options: readonly string[];
  readonly value: { readonly kind: "used"; readonly use: WordUse; readonly text: string; readonly isOperand: false } | null;
  readonly takesNext: boolean;
};

/**
 * An option with its value, which may be the next word; null if it is not in the form. Behind an operand some systems read
 * the next word as another operand.
 */
function readOption(
  { flags, valued, optional, operands, hasLongWords, takesNumber }: CommandForm,
  { text }: ShellWord,
  next: ShellWord | undefined,
  isBehind: boolean,
): Option | null {
  const takesNext = (found: Option): Option =>
    isBehind && !hasLongWords && operands.includes("read") && found.value?.use === "text"
      ? { ...found, value: { ...found.value, use: "read" }, takesNext: true }
      : { ...found, takesNext: true };
  const alone: Option = { options: [text], value: null, takesNext: false };
  const withValue = (option: string, value: string): Option | null => {
    const use = valued.get(option);
    return use === undefined
      ? null
      : { options: [option], value: { kind: "used", use, text: value, isOperand: false }, takesNext: false };
  };
  if (flags.has(text) || optional.has(text)) return alone;
  // Without its value, which the program asks for, it does nothing.
  if (next === undefined && ["text", "count"].includes(valued.get(text) ?? "")) return alone;
  if (valued.has(text)) {
    const found = next === undefined ? null : withValue(text, next.text);
    return found === null ? null : takesNext(found);
  }
  if (hasLongWords) return null;
  if (takesNumber && /^-\d+$/.test(text)) return alone;
  const equals = text.indexOf("=");
  if (text.startsWith("--")) return equals < 0 ? null : withValue(text.slice(0, equals), text.slice(equals + 1));
  const options: string[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text[at] ?? ""}`;
    options.push(letter);
    if (flags.has(letter)) continue;
    const rest = text.slice(at + 1);
    if (rest === "" && optional.has(letter)) continue;
    if (rest === "") {
      const last = next === undefined ? null : withValue(letter, next.text);
      return last === null ? null : takesNext({ ...last, options });
    }
    const joined = withValue(letter, rest);
    return joined === null ? null : { ...joined, options };
  }
  return { options, value: null, takesNext: false };
}

function isOption({ hasLongWords, hasOptions, flags }: CommandForm, { text }: ShellWord): boolean {
  if (!hasOptions) return false;
  if (hasLongWords && flags.has(text)) return true;
  return text.startsWith("-") && text !== "-";
}

/** A word for people, in quotes: of a long one the beginning. */
export function shown({ text }: Pick<ShellWord, "text">): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
