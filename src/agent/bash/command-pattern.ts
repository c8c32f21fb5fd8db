import { textMatcher } from "../workspace/glob.ts";
import { type FoundCommand, type FoundWord, optionsOf } from "./command-line.ts";
import { wordsOfPattern } from "./pattern-words.ts";

/** A word of a pattern: `*` alone stands for any words; another one for a word that it matches. */
type PatternWord =
  | { readonly kind: "any" }
  | { readonly kind: "word"; readonly text: string; readonly isPlain: boolean; readonly isMatch: (text: string) => boolean };

/** A pattern of one simple command: whole words, in order. */
export type CommandPattern = { readonly alternatives: readonly (readonly PatternWord[])[] };

/** The pattern of a rule; each alternative is one of a command. Throws PathRefused for one that is too long. */
export function commandPattern(alternatives: readonly string[]): CommandPattern {
  return {
    alternatives: alternatives.map((alternative) =>
      wordsOfPattern(alternative).map(({ pattern, text }) =>
        pattern === "*" && text === null
          ? { kind: "any" }
          : {
              kind: "word",
              text: text ?? pattern,
              isPlain: text !== null,
              isMatch: text === null ? textMatcher(pattern) : (other) => other === text,
            },
      ),
    ),
  };
}

/** True if the pattern takes in all of a command: each word is named, or one that `*` stands for. As an allow rule must. */
export function coversCommand({ alternatives }: CommandPattern, { words, isWhole, barrier }: FoundCommand): boolean {
  return isWhole && barrier === null && alternatives.some((pattern) => coversWords(pattern, words));
}

/** The first word for which alone the pattern does not take a command in, since the pattern must name it; undefined for none. */
export function unnamedWord(pattern: CommandPattern, command: FoundCommand): FoundWord | undefined {
  const coversBut = (left: FoundWord | null): boolean =>
    coversCommand(pattern, {
      ...command,
      words: command.words.map((word) => (word === left ? word : { ...word, mustBeNamed: null })),
    });
  return coversBut(null) ? command.words.find((word) => word.mustBeNamed !== null && !coversBut(word)) : undefined;
}

/** The first word behind those that the pattern takes in, where it has no `*` for more; undefined if it takes in none, or all. */
export function wordBehind(pattern: CommandPattern, command: FoundCommand): FoundWord | undefined {
  return command.words.findLast(
    (_word, index) => index > 0 && coversCommand(pattern, { ...command, words: command.words.slice(0, index) }),
  );
}

/** The classic two pointers: after a mismatch only the last `*` takes one word more. */
function coversWords(pattern: readonly PatternWord[], words: readonly FoundWord[]): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < words.length) {
    const wanted = pattern[at];
    const word = words[index];
    if (word === undefined) return false;
    if (wanted?.kind === "any") {
      star = at;
      resume = index;
      at += 1;
    } else if (wanted !== undefined && isNamedBy(wanted, word)) {
      at += 1;
      index += 1;
    } else if (star >= 0 && words[resume]?.mustBeNamed === null) {
      at = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  return pattern.slice(at).every(({ kind }) => kind === "any");
}

function isNamedBy(wanted: PatternWord & { readonly kind: "word" }, { text, mustBeNamed }: FoundWord): boolean {
  return (mustBeNamed === null || wanted.isPlain) && wanted.isMatch(text);
}

/** The word of a pattern on a command: it speaks of it, it may, since only the shell knows some words, or it does not. */
export type Touch = "yes" | "maybe" | "no";

/**
 * The answer of a deny or ask rule to a command: it is one that begins with the words of the pattern, wherever options stand
 * between them. Assignments and the folder of the program do not count. Options that the pattern names may stand
 * anywhere, alone or joined.
 */
export function touchesCommand({ alternatives }: CommandPattern, { words }: FoundCommand): Touch {
  const start = words.findIndex(({ text }) => !ASSIGNMENT.test(text));
  const own = start < 0 ? [] : words.slice(start);
  let touch: Touch = "no";
  for (const pattern of alternatives) {
    const isRaw = pattern[0]?.kind === "word" && ASSIGNMENT.test(pattern[0].text);
    const found = touchesWords(pattern, isRaw ? words : own);
    if (found === "yes") return "yes";
    if (found === "maybe") touch = "maybe";
  }
  return touch;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=/;

function touchesWords([first, ...rest]: readonly PatternWord[], [name, ...words]: readonly FoundWord[]): Touch {
  if (first === undefined || name === undefined) return "no";
  if (first.kind === "any") return "yes";
  if (name.isOpen) return "maybe";
  if (!first.isMatch(name.text) && !first.isMatch(name.text.slice(name.text.lastIndexOf("/") + 1))) return "no";
  const options = rest.flatMap((wanted) => (wanted.kind === "word" && wanted.text.startsWith("-") ? [wanted] : []));
  const operands = rest.filter((wanted) => wanted.kind === "any" || !wanted.text.startsWith("-"));
  const isOpen = words.some((word) => word.isOpen);
  const closed = words.filter((word) => !word.isOpen);
  const hasOptions = options.every((wanted) => hasOption(wanted, closed));
  if (hasOptions && beginsWith(operands, words, false)) return "yes";
  return isOpen && beginsWith(operands, words, true) ? "maybe" : "no";
}

/** True if the words begin with those of the pattern, between which options with or without a value may stand. */
function beginsWith(pattern: readonly PatternWord[], words: readonly FoundWord[], areOpenAnything: boolean): boolean {
  const last = pattern.length;
  let states = closure(pattern, new Set([0]));
  let values = new Set<number>();
  for (const word of words) {
    if (states.has(last)) return true;
    // The word after an option may be its value.
    const next = new Set<number>(values);
    const nextValues = new Set<number>();
    for (const state of states) {
      const wanted = pattern[state];
      if (wanted === undefined) continue;
      if (wanted.kind === "any") next.add(state);
      if (word.isOpen) {
        if (areOpenAnything) for (let later = state; later <= last; later += 1) next.add(later);
      } else if (word.text.startsWith("-")) {
        next.add(state);
        nextValues.add(state);
      } else {
        if (ASSIGNMENT.test(word.text)) next.add(state);
        if (wanted.kind === "word" && wanted.isMatch(word.text)) next.add(state + 1);
      }
    }
    states = closure(pattern, next);
    values = nextValues;
  }
  return states.has(last);
}

/** The states with those behind a `*`, which may stand for nothing. */
function closure(pattern: readonly PatternWord[], states: Set<number>): Set<number> {
  for (const state of states) if (pattern[state]?.kind === "any") states.add(state + 1);
  return states;
}

/** Other names of options that are often denied. */
const SAME: ReadonlyMap<string, readonly string[]> = new Map([
  ["-f", ["--force"]],
  ["--force", ["-f"]],
  ["-r", ["-R", "--recursive"]],
  ["-R", ["-r", "--recursive"]],
  ["--recursive", ["-r", "-R"]],
  ["-d", ["--delete"]],
  ["--delete", ["-d"]],
]);

function hasOption(wanted: PatternWord & { readonly kind: "word" }, words: readonly FoundWord[]): boolean {
  if (words.some(({ text }) => wanted.isMatch(text))) return true;
  const letters = /^-[A-Za-z]+$/.test(wanted.text) ? optionsOf(wanted.text) : [wanted.text];
  return letters.every((option) =>
    [option, ...(SAME.get(option) ?? [])].some((name) => words.some(({ text }) => isOption(text, name))),
  );
}

/** True if a word is an option, by itself, with a value, joined with others or shortened. */
function isOption(text: string, option: string): boolean {
  if (option.startsWith("--")) {
    const [name = ""] = text.split("=");
    return name === option || (name.length > 3 && option.startsWith(name));
  }
  return /^-[^-]/.test(text) && text.includes(option.slice(1));
}
