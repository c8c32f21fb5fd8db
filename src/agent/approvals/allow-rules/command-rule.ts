import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength } from "../../../lib/text.ts";
import type { CommandLine, FoundCommand, Trouble } from "../../bash/command-line.ts";
import { patternOfWord } from "../../bash/pattern-words.ts";
import type { RuleValues } from "../../policy/rule-values.ts";

/** Longer patterns, in bytes, are not proposed: people would not read them. */
const PATTERN_BYTES = 300;

/** Programs whose first word is a command: it is always part of the rule. */
const WITH_COMMANDS: ReadonlySet<string> = new Set(
  "git npm pnpm yarn bun npx deno cargo go docker podman kubectl helm pip pip3 uv poetry gh glab terraform dotnet mvn gradle apt apt-get brew systemctl node python python3".split(
    " ",
  ),
);

/** Programs that run a command with the names that they read. */
const TAKES_NAMES: ReadonlySet<string> = new Set(["xargs", "parallel"]);

/** Why no rule is useful, and whether a person may still write one. */
export type NoRule = { readonly reason: string; readonly byHand: boolean };

/** The pattern of a parameter's lines, without its quotes; refused with the reason if none is useful. */
export function commandPatternOf(lines: readonly CommandLine[], past: readonly CommandLine[]): Result<string, NoRule> {
  const patterns: string[] = [];
  // The recorded calls include this one: its own commands are no others.
  const known = past.filter(({ text }) => lines.every((line) => line.text !== text)).flatMap(wholeCommands);
  for (const line of lines) {
    const trouble = line.trouble ?? line.hidden;
    if (trouble !== null) return refused(notTakenIn(trouble));
    for (const command of wholeCommands(line)) {
      const name = command.words[0]?.text ?? "";
      if (TAKES_NAMES.has(name))
        return refused({
          reason: `contains ${name}, which passes on file names that rules cannot check`,
          byHand: true,
        });
      const pattern = patternOfCommand(command, known);
      if (!pattern.ok) return pattern;
      if (!patterns.includes(pattern.value)) patterns.push(pattern.value);
    }
  }
  const [only] = patterns;
  if (only === undefined) return refused({ reason: "contains no command", byHand: false });
  const pattern = patterns.length === 1 ? only : `{${patterns.join(",")}}`;
  return byteLength(pattern) > PATTERN_BYTES
    ? refused({ reason: `has commands longer than ${PATTERN_BYTES} bytes: the rule would be unreadable`, byHand: true })
    : accepted(pattern);
}

export function linesIn(values: RuleValues, place: string): readonly CommandLine[] {
  return (values[place] ?? []).flatMap((value) => (value.kind === "command" ? [value.line] : []));
}

function wholeCommands({ commands }: CommandLine): readonly FoundCommand[] {
  return commands.filter(({ isWhole }) => isWhole);
}

/**
 * The words of a command up to the first that varied among recorded commands of the same kind. If that is later, up to
 * its last option; `*` for the rest. If none varied, exactly this command.
 */
function patternOfCommand(command: FoundCommand, past: readonly FoundCommand[]): Result<string, NoRule> {
  if (command.barrier !== null) return refused(notTakenIn(command.barrier));
  const { words } = command;
  const fixed = WITH_COMMANDS.has(words[0]?.text ?? "") ? 2 : 1;
  const varied = past
    .filter((other) => sharedWords(command, other) >= Math.min(fixed, words.length))
    .map((other) => (isSame(command, other) ? words.length : sharedWords(command, other)));
  // Options are named, even if a rule would not need them: readers of the rule see them.
  const named = words.findLastIndex(({ text, mustBeNamed }) => mustBeNamed !== null || /^-./.test(text)) + 1;
  const stays = Math.min(words.length, Math.max(named, ...(varied.length === 0 ? [words.length] : [Math.min(...varied)])));
  const isExact = varied.every((shared) => shared === words.length);
  const patterns: string[] = [];
  for (const { text, isOpen } of words.slice(0, isExact ? words.length : stays)) {
    const pattern = isOpen ? null : patternOfWord(text);
    if (pattern === null)
      return refused({ reason: `contains the word ${JSON.stringify(text)}, which a pattern cannot express`, byHand: false });
    patterns.push(pattern);
  }
  return accepted([...patterns, ...(isExact ? [] : ["*"])].join(" "));
}

function notTakenIn({ reason }: Trouble): NoRule {
  return { reason: `contains a part that no rule can match: ${reason}`, byHand: false };
}

function sharedWords(one: FoundCommand, other: FoundCommand): number {
  const different = one.words.findIndex(({ text }, index) => other.words[index]?.text !== text);
  return different < 0 ? one.words.length : different;
}

function isSame(one: FoundCommand, other: FoundCommand): boolean {
  return one.words.length === other.words.length && sharedWords(one, other) === one.words.length;
}
