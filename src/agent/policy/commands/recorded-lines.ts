import { readWords, type ReadWord } from "../../bash/command-form.ts";
import type { FoundCommand, FoundWord, ShellWord } from "../../bash/command-line.ts";
import { scriptReason } from "../../bash/known-words.ts";
import { knownCommand } from "../../bash/table.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";

/** The values that were recorded of a call, in which commands that have no row, or not these options, do not only read. */
export function asListedNow(values: RuleValues): RuleValues {
  const again = (value: RuleValue): RuleValue =>
    value?.kind === "command" && Array.isArray(value.line?.commands)
      ? { ...value, line: { ...value.line, commands: value.line.commands.map(listedNow) } }
      : value;
  return Object.fromEntries(
    Object.entries(values).map(([parameter, list]) => [parameter, Array.isArray(list) ? list.map(again) : list]),
  );
}

/** A command that had a row when it was recorded: with a reason, and words that a rule must name, if its row does not have them. */
function listedNow(command: FoundCommand): FoundCommand {
  const own = command.words.findIndex(({ mustBeNamed }) => mustBeNamed !== "an assignment");
  if (command.effect === "unknown" || own < 0) return command;
  const words = command.words.slice(own).map(({ text }): ShellWord => ({
    text,
    // What was open was looked at then, and is nothing else now.
    open: null,
    assigns: false,
    start: command.start,
    end: command.end,
  }));
  const known = knownCommand(words);
  const name = known?.name ?? words[0]?.text ?? "";
  const read = known === null ? null : readWords(known.form, name, known.words, () => null);
  const reasons = new Map<ShellWord, string>();
  for (const word of read?.words ?? []) {
    const reason = reasonOf(word, name);
    if (reason !== null) reasons.set(word.word, reason);
  }
  if (known === null) for (const word of words.slice(1)) if (/^-./.test(word.text)) reasons.set(word, UNKNOWN_OPTION);
  const misses = known !== null && known.form.needs !== null && read?.options.has(known.form.needs) === false;
  if (known !== null && reasons.size === 0 && !misses) return command;
  const [first] = reasons.values();
  const reason = known === null ? `${name} is not known to only read` : (first ?? `${name} is asked about without an option`);
  return {
    ...command,
    effect: known === null || known.form.effect === "runs" ? "unknown" : known.form.effect,
    trouble: command.trouble ?? { start: command.start, end: command.end, reason },
    words: command.words.map((word, index): FoundWord => {
      const shell = words[index - own];
      return { ...word, mustBeNamed: word.mustBeNamed ?? (shell === undefined ? null : (reasons.get(shell) ?? null)) };
    }),
  };
}

const UNKNOWN_OPTION = "an option that is not known to be harmless";

function reasonOf(read: ReadWord, name: string): string | null {
  switch (read.kind) {
    case "option":
      return null;
    case "not harmless":
      return read.reason;
    // A rule may name what a command changes by `*`.
    case "unexpected":
      return null;
    case "used":
      return scriptReason(read, name);
  }
}
