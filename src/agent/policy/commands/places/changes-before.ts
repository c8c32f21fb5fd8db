import type { Place } from "../operand-files.ts";
import { optionsOf } from "../shell-word.ts";
import type { SimpleCommand } from "../simple-commands.ts";
import { knownCommand, type Known } from "../table.ts";
import { unwrapped } from "../wrappers.ts";

type Changes = Place["changes"];

/** The changes that a command finds, for each command of a line: those of commands before it, and of those in its pipeline. */
export function changesBefore(commands: readonly SimpleCommand[]): readonly Changes[] {
  if (commands.length < 2) return commands.map(() => "nothing");
  const made = commands.map(({ words }) => (words.length === 0 ? "nothing" : madeBy(knownCommand(unwrapped(words)))));
  const pipelines = new Map<SimpleCommand, Changes[]>();
  for (const [index, command] of commands.entries()) {
    const own = command.pipedFrom === null ? [] : (pipelines.get(command.pipedFrom) ?? []);
    own.push(made[index] ?? "nothing");
    pipelines.set(command, own);
  }
  const most = new Map<readonly Changes[], Changes>();
  for (const own of pipelines.values()) if (own.length > 1 && !most.has(own)) most.set(own, own.reduce(more));
  let before: Changes = "nothing";
  return commands.map((command, index) => {
    const found = more(before, most.get(pipelines.get(command) ?? []) ?? "nothing");
    before = more(before, made[index] ?? "nothing");
    return found;
  });
}

function more(one: Changes, other: Changes): Changes {
  if (one === "links" || other === "links") return "links";
  return one === "folders" || other === "folders" ? "folders" : "nothing";
}

/** What a command may make besides files. One that the table does not know may make folders. */
function madeBy(known: Known | null): Changes {
  if (known === null) return "folders";
  const { makes, enters, links, flags } = known.form;
  if (makes !== "links" || enters === null) return makes ?? "nothing";
  const isMaking = (option: string): boolean => enters.has(option) || links.has(option) || !flags.has(option);
  const options = known.words.filter(({ text, open }) => open !== null || (text.startsWith("-") && text !== "--"));
  return options.some(({ text, open }) => open !== null || optionsOf(text).some(isMaking)) ? "links" : "nothing";
}
