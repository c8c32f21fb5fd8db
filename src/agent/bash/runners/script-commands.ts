import type { ShellWord } from "../command-line.ts";
import { roughCommands } from "../rough-split.ts";
import { valueOf, type Wrapped } from "./wrapped.ts";

const SED: ReadonlySet<string> = new Set(["sed", "gsed", "ssed"]);
const AWK: ReadonlySet<string> = new Set(["awk", "gawk", "mawk", "nawk", "original-awk"]);

/** Options of a program with a value: a script, its file, another one, or an ending, which takes the rest of the word alone. */
type ScriptOptions = Readonly<Record<"script" | "file" | "other" | "ending", readonly string[]>>;
const SED_OPTIONS: ScriptOptions = {
  script: ["-e", "--expression"],
  file: ["-f", "--file"],
  other: ["-l", "--line-length"],
  ending: ["-i", "--in-place"],
};
const AWK_OPTIONS: ScriptOptions = {
  script: ["-e", "--source"],
  file: ["-f", "-E", "-i", "-l", "-W", "--file", "--exec", "--include", "--load"],
  other: ["-F", "-v", "--field-separator", "--assign"],
  ending: [],
};

/** The commands that scripts of sed and awk run, as far as they are written out, and that they run some. */
export function runByScript(name: string, first: ShellWord, words: readonly ShellWord[]): readonly Wrapped[] {
  const isSed = SED.has(name);
  if (!isSed && !AWK.has(name)) return [];
  const { scripts, isFile } = scriptsOf(words, isSed ? SED_OPTIONS : AWK_OPTIONS);
  if (isFile) return [{ kind: "hidden", at: first, reason: `${name} runs what a file holds` }];
  const texts = isSed ? [scripts.map(({ text }) => text).join("\n")] : scripts.map(({ text }) => text);
  const unknown = scripts.find(({ text, open }) => open !== null && /^"?\$(?:\w+|\{[^}]*\}|\(.*\))"?$/s.test(text));
  if (unknown !== undefined) return [{ kind: "hidden", at: first, reason: `only the shell knows the script of ${name}` }];
  const isOpen = scripts.some(({ open }) => open !== null);
  return texts.flatMap((text): readonly Wrapped[] => {
    // What stands in quotes beside a variable is read with them.
    const read = isSed ? sedRuns(isOpen ? text.replace(/["']/g, "") : text) : awkRuns(text);
    if (read === "nothing" || (read === "unclear" && isOpen)) return [];
    const said = (read === "unclear" ? [] : read).flatMap((each) => roughCommands(each, first));
    const found: Wrapped[] = said.map((each) => ({ kind: "likely", words: each }));
    return found.concat({ kind: "hidden", at: first, reason: `${name} may run commands by its script` });
  });
}

function scriptsOf(
  words: readonly ShellWord[],
  options: ScriptOptions,
): { readonly scripts: readonly ShellWord[]; readonly isFile: boolean } {
  const scripts: ShellWord[] = [];
  const operands: ShellWord[] = [];
  let isFile = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const option = valuedOption(word.text, options);
    if (option === null) {
      if (!word.text.startsWith("-") || word.text === "-") operands.push(word);
      continue;
    }
    if (option.value === "" && option.use !== "ending") index += 1;
    const next = option.value === "" ? words[index] : { ...word, text: option.value };
    if (option.use === "script" && next !== undefined) scripts.push(next);
    isFile ||= option.use === "file";
  }
  return { scripts: scripts.length > 0 ? scripts : operands.slice(0, 1), isFile };
}

/** The first option of a word that has a value, which is empty if the next word is it. */
function valuedOption(
  text: string,
  options: ScriptOptions,
): { readonly use: keyof ScriptOptions; readonly value: string } | null {
  let first: { readonly use: keyof ScriptOptions; readonly value: string } | null = null;
  for (const use of ["script", "file", "other", "ending"] as const)
    for (const option of options[use]) {
      const value = valueOf(text, option);
      // Of letters in one word, the first takes the rest.
      if (value !== null && (first === null || value.length > first.value.length)) first = { use, value };
    }
  return first;
}

/** The texts that a script runs as commands; empty if they are not written out. */
type Runs = readonly string[] | "nothing" | "unclear";

/** A bracket of a pattern. The parts of no pattern here can be read in two ways: that takes too long. */
const BRACKET = String.raw`\[\^?\]?(?:\[[:.=][^\]\n]*\]|[^\][\n]|\[(?![:.=]))*\]`;
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|\/(?:\\.|${BRACKET}|[^/\\\n[])*\/[IM]*|\\([^\\\n])(?:\\.|(?!\N)[^\\\n])*\N[IM]*)`;
/** The addresses of a command of sed. */
const ADDRESSES = new RegExp(
  String.raw`[\s;]*(?:${ADDRESS.replaceAll("\\N", "\\1")}(?:\s*,\s*(?:[+~]\d+|${ADDRESS.replaceAll("\\N", "\\2")}))?)?[\s!]*`,
  "sy",
);
/** The parts of `s`: what stands between them, the pattern, the text and the flags. */
const REPLACES = new RegExp(
  String.raw`([^\\\n])(?:\\.|${BRACKET}|(?!\1)[^\\[])*\1((?:\\.|(?!\1)[^\\])*)\1([gpiImMe\d]*(?:w[^\n]*)?)`,
  "sy",
);
const TRANSLATES = /([^\\\n])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1()/sy;

/** The commands that a script of GNU sed runs: those of `e`, and of the flag `e` of `s`. */
function sedRuns(script: string): Runs {
  const found: string[] = [];
  let runs = false;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const taken = pattern.exec(script);
    if (taken !== null) at = pattern.lastIndex;
    return taken;
  };
  while (at < script.length) {
    take(ADDRESSES);
    const command = script[at];
    if (command === undefined) break;
    at += 1;
    if (command === "e") {
      runs = true;
      found.push(take(/[^\n]*/y)?.[0] ?? "");
    } else if (command === "s" || command === "y") {
      const replaced = take(command === "s" ? REPLACES : TRANSLATES);
      if (replaced === null) return "unclear";
      if (replaced[3]?.includes("e") === true) {
        runs = true;
        found.push(replaced[2] ?? "");
      }
    } else if (/[aic]/.test(command)) take(/(?:\\.|[^\\\n])*/sy);
    else if (/[rRwW:#btTvF]/.test(command)) take(/[:btTv]/.test(command) ? /[^\S\n]*[^\s;}]*/y : /[^\n]*/y);
    else if (!/[{}=dDgGhHnNpPxzqQlL]/.test(command)) return "unclear";
    else take(/\s*\d*/y);
  }
  return runs ? found : "nothing";
}

/** A text, a pattern, a comment, a name or number, or a sign of a program of awk. A pattern stands where a value can begin. */
const AWK_TOKEN = /\s+|#[^\n]*|"(?:\\.|[^"\\])*"|[\w$.]+|\|\||[^]/g;

const AWK_PATTERN = new RegExp(String.raw`\/(?:\\.|${BRACKET}|[^/\\\n[])*\/`, "y");

/** The commands that a program of awk runs: by `system`, a pipe, or `@`, which calls and loads. */
function awkRuns(program: string): Runs {
  const texts: string[] = [];
  let runs = false;
  let isValue = false;
  const tokens = new RegExp(AWK_TOKEN);
  for (let token = tokens.exec(program); token !== null; token = tokens.exec(program)) {
    const [text] = token;
    if (/^[\s#]/.test(text)) continue;
    if (text === "/" && !isValue) {
      AWK_PATTERN.lastIndex = token.index;
      if (AWK_PATTERN.exec(program) === null) return "unclear";
      tokens.lastIndex = AWK_PATTERN.lastIndex;
    } else if (text.startsWith('"')) texts.push(text.slice(1, -1));
    runs ||= text === "|" || text === "@" || text === "system";
    isValue = /^(?:[\w$."]|[)\]])/.test(text) && !/^(?:return|in|print|printf|getline|case)$/.test(text);
  }
  return runs ? texts : "nothing";
}
