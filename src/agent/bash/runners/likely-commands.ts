import { roughCommands } from "../rough-split.ts";
import type { ShellWord } from "../command-line.ts";
import { knownCommand } from "../table.ts";
import { behindOptions, part, type Wrapped } from "./wrapped.ts";
import { OWN_WORDS, TAKES_LINES } from "./runners.ts";

/** Words behind which a program that nobody listed mostly takes a command. */
const STARTS = /^(?:--|run|exec|-c|--(?:command|cmd|exec|run)(?:=(.*))?)$/s;

/**
 * The commands that a command runs by its looks: the words behind `--`, `run`, `exec` or `-c` of one that the table does
 * not know, and texts of those that take lines among their words.
 */
export function likelyIn(name: string, words: readonly ShellWord[]): readonly Wrapped[] {
  const [, ...rest] = words;
  const lines = TAKES_LINES.has(name) ? rest.filter(isText).flatMap(linesOf) : [];
  if (OWN_WORDS.has(name) || knownCommand(words) !== null) return lines;
  const index = rest.findIndex(({ text }) => STARTS.test(text));
  const start = rest[index];
  if (start === undefined) return lines;
  const texts = rest.filter((word, at) => isText(word) && at > index && STARTS.test(rest[at - 1]?.text ?? ""));
  const [, value] = STARTS.exec(start.text) ?? [];
  const behind = [...(value === undefined ? [] : [part(start, value)]), ...rest.slice(index + 1)];
  return [
    ...lines,
    ...[...texts, ...behind.slice(0, 1).filter(isText)].flatMap(linesOf),
    ...behindOptions(behind, start.text === "--" ? 0 : 1).flatMap((each): readonly Wrapped[] =>
      each.kind === "words" ? [{ kind: "likely", words: each.words }] : [],
    ),
  ];
}

function isText({ text, open }: ShellWord): boolean {
  return open === null && /\S\s+\S/.test(text);
}

/** The commands in a text: from its start, and behind a sign or a name that says what it is, as in `exec=…` or `!…`. */
function linesOf(word: ShellWord): readonly Wrapped[] {
  const signs = [/^(?:[-\w]*[:=!+\\]+\s*)+/, /^\w+\s+/, /^-\w/];
  const texts = [word.text, ...signs.map((sign) => word.text.replace(sign, ""))];
  return [...new Set(texts)].flatMap((text) => roughCommands(text, word)).map((words) => ({ kind: "likely", words }));
}
