import { form, type CommandForm } from "./command-form.ts";
import { GIT, GIT_DEEPER, GIT_TABLE } from "./git-table.ts";
import { SYSTEM_TABLE, WRITING_TABLE } from "./system-table.ts";
import { TEXT_TABLE } from "./text-table.ts";
import type { ShellWord } from "./shell-word.ts";

/**
 * Programs that say their version and do nothing else. cargo, rustc, rustup, go, yarn, pnpm, dotnet, mvn, gradle and jest are
 * none of them: they first run what a file of the project names, such as `rust-toolchain.toml`, `.yarnrc.yml` or `.mvn/jvm.config`.
 */
const VERSIONED =
  "node npm npx bun deno python python3 pip pip3 uv ruby java javac gcc g++ clang make cmake tsc eslint prettier vitest docker kubectl terraform gh psql sqlite3 php perl bash".split(
    " ",
  );
const VERSION = form({ flags: "--version -v -V" });
/** Those that say it by a letter: shells and others read their input by it. */
const VERSION_LETTERS: Readonly<Record<string, readonly string[]>> = {
  "-v": "node npm npx bun deno ruby make gcc g++ clang tsc eslint prettier vitest docker terraform php perl".split(" "),
  "-V": "python python3 pip pip3 uv psql".split(" "),
};

/** Commands of package managers and tools that only read. */
const TOOLS: Readonly<Record<string, Readonly<Record<string, CommandForm>>>> = {
  pip: { list: form({}), show: form({ operands: ["text"] }), freeze: form({}) },
  install: {
    "-d": form({ effect: "writes", flags: "-v -p", text: "-m --mode -o -g", operands: ["write"], makes: "folders" }),
  },
  docker: { ps: form({ flags: "-a -q" }), images: form({ flags: "-a -q" }) },
};

/** A command that the table knows: its form, the words before those that the form reads, and what git works by before its own command. */
export type Known = {
  readonly form: CommandForm;
  /** The name with its commands: `git stash list`. */
  readonly name: string;
  readonly named: readonly ShellWord[];
  readonly before: { readonly form: CommandForm; readonly words: readonly ShellWord[] } | null;
  readonly words: readonly ShellWord[];
};

/** The entry of the table for the words of a command; null if the table does not know it. */
export function knownCommand(words: readonly ShellWord[]): Known | null {
  const [first, ...rest] = words;
  if (first === undefined || first.open !== null) return null;
  if (first.text === "git") return knownOfGit(first, rest);
  if (first.text === "[") {
    const last = rest.at(-1);
    return last?.text === "]" ? known(SYSTEM_TABLE, "test", [first], rest.slice(0, -1)) : null;
  }
  const deeper = own(TOOLS, first.text);
  const [second] = rest;
  const inner = deeper === null || second === undefined || second.open !== null ? null : own(deeper, second.text);
  if (inner !== null && second !== undefined)
    return { form: inner, name: `${first.text} ${second.text}`, named: [first, second], before: null, words: rest.slice(1) };
  if (first.text === "command" && !/^-[vV]$/.test(second?.text ?? "")) return null;
  if (first.text === "env" && rest.some(({ text }) => text !== "-0")) return null;
  for (const table of [TEXT_TABLE, SYSTEM_TABLE, WRITING_TABLE]) {
    const found = known(table, first.text, [first], rest);
    if (found !== null) return found;
  }
  return VERSIONED.includes(first.text) && rest.length === 1 && second !== undefined && saysVersion(first.text, second.text)
    ? { form: VERSION, name: first.text, named: [first], before: null, words: rest }
    : null;
}

function saysVersion(name: string, option: string): boolean {
  return option === "--version" || own(VERSION_LETTERS, option)?.includes(name) === true;
}

function knownOfGit(first: ShellWord, rest: readonly ShellWord[]): Known | null {
  let index = 0;
  for (; rest[index]?.text.startsWith("-") === true; index += 1) if (rest[index]?.text === "-C") index += 1;
  const before = { form: GIT, words: rest.slice(0, index) };
  const [command, ...words] = rest.slice(index);
  if (command === undefined) return index === 0 ? null : { form: GIT, name: "git", named: [first], before: null, words: rest };
  if (command.open !== null) return null;
  const [inner, ...deeper] = words;
  const found = inner === undefined || inner.open !== null ? null : own(own(GIT_DEEPER, command.text) ?? {}, inner.text);
  if (found !== null && inner !== undefined)
    return { form: found, name: `git ${command.text} ${inner.text}`, named: [first, command, inner], before, words: deeper };
  const plain = own(GIT_TABLE, command.text);
  return plain === null ? null : { form: plain, name: `git ${command.text}`, named: [first, command], before, words };
}

function known(
  table: Readonly<Record<string, CommandForm>>,
  name: string,
  named: readonly ShellWord[],
  words: readonly ShellWord[],
): Known | null {
  const found = own(table, name);
  return found === null ? null : { form: found, name, named, before: null, words };
}

function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}
