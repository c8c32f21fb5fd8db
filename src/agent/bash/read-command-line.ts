import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { headBytes } from "../../lib/text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { boundsProblem } from "./bounds.ts";
import { type CommandLine, type FoundCommand, type Span, type Trouble, literalWord, type ShellWord } from "./command-line.ts";
import { foundCommand } from "./found-command.ts";
import type { Place } from "./operand-files.ts";
import { roughCommands } from "./rough-split.ts";
import { evaluatedIn, programSetBy } from "./runners/evaluated-texts.ts";
import { isReader } from "./table.ts";
import { simpleCommands, type Redirect, type SimpleCommand } from "./simple-commands.ts";
import { commandName, type Wrapped } from "./runners/wrapped.ts";
import { unwrapped, wrappedIn } from "./wrappers.ts";

/** The most commands that are looked for inside of others, with so many words in all, and how deeply. */
const INNER_COMMANDS = 100;
const INNER_WORDS = 4_000;
const INNER_DEPTH = 8;
/** The longest text of a line that is kept beside its commands, in bytes: the input has the whole. */
const TEXT_BYTES = 256;
/** The entries of folders that are looked at for all wildcards of a line. */
const LINE_ENTRIES = 10_000;
/** Commands that may change the folder of the shell. */
const MOVING: ReadonlySet<string> = new Set(["cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"]);

/** The surroundings of a line: a folder of the workspace, and variables that are set for the line, each as `NAME=value`. */
export type LineContext = { readonly workspace: Workspace; readonly folder: string; readonly environment: readonly string[] };

/**
 * Reads a command line as rules see it. A variable that is set for the line counts as an assignment before each of its
 * commands. Throws PathClosed if the line names what is the server's own, and never for another line, whatever it is.
 */
export function readCommandLine(line: string, { workspace, folder, environment }: LineContext): CommandLine {
  const whole: Span = { start: 0, end: line.length };
  const place: Place = { workspace, folder, mayHaveChanged: false, named: new Map(), left: { entries: LINE_ENTRIES } };
  const bound = boundsProblem(line);
  if (bound !== null) {
    const trouble = { ...whole, reason: bound };
    return { text: headBytes(line, TEXT_BYTES), trouble, hidden: trouble, chosen: null, commands: roughly(line, whole, place) };
  }
  const parsed = simpleCommands(line);
  const set = environment.map((text) => literalWord(text, whole));
  const search = new InnerCommands(place);
  const changing = parsed.commands.filter(({ words }) => words.length > 0 && !isReader(unwrapped(words)));
  for (const command of parsed.commands)
    search.readWhole(
      { ...command, assignments: [...set, ...command.assignments] },
      changing.some((each) => each !== command),
    );
  search.readSet(parsed.sets);
  search.readEvaluated(evaluatedIn(line, parsed.commands, literalWord(line, whole)), whole);
  const rough = parsed.error === null ? [] : roughly(line, whole, place);
  return {
    text: headBytes(line, TEXT_BYTES),
    trouble: parsed.trouble,
    hidden: parsed.error ?? search.hidden,
    chosen: search.chosen,
    commands: [...search.commands, ...rough],
  };
}

function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

function roughly(text: string, place: Span, at: Place): readonly FoundCommand[] {
  return roughCommands(text, place).map((words) => foundCommand(bare(words, place), false, at));
}

function bare(words: readonly ShellWord[], { start, end }: Span): SimpleCommand {
  return { start, end, assignments: [], words, redirects: [], pipedFrom: null, holds: "nothing", chain: 0 };
}

/** True if a redirection cannot fail: text, nothing, or a stream that every shell has. */
function alwaysOpens(redirect: Redirect): boolean {
  switch (redirect.kind) {
    case "text":
      return true;
    case "descriptor":
      return /^[012]$/.test(redirect.text);
    case "file":
      return redirect.target.open === null && redirect.target.text === "/dev/null";
  }
}

/** The commands of a line with those inside of them, and the folder in which each runs. */
class InnerCommands {
  readonly commands: FoundCommand[] = [];
  hidden: Trouble | null = null;
  chosen: Trouble | null = null;
  #place: Place;
  /** The chain that alone stands in the folder; null if all that follows does. */
  #heldBy: number | null = null;
  /** True if the shell came into its folder by a link. */
  #isLinked = false;
  /** True while a command is read that is one by its looks only. */
  #isLikely = false;
  #inner = 0;
  #words = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  readWhole(command: SimpleCommand, mayHaveChanged: boolean): void {
    this.#place = { ...this.#place, mayHaveChanged };
    if (this.#heldBy !== null && this.#heldBy !== command.chain) {
      this.#place = { ...this.#place, folder: null };
      this.#heldBy = null;
    }
    const [name] = command.words;
    if (name !== undefined && name.open !== null)
      this.#hide(command, `only the shell knows what is run: ${name.text} has ${name.open}`);
    this.commands.push(foundCommand(command, true, this.#place));
    const inner = unwrapped(command.words);
    if (inner !== command.words) this.commands.push(foundCommand(command, false, this.#place));
    this.#look(wrappedIn({ ...command, words: inner }), command, INNER_DEPTH);
    if (!MOVING.has(commandName(name))) return;
    this.#place = { ...this.#place, folder: this.#folderAfter(command) };
    if (command.holds === "its chain") this.#heldBy = command.chain;
  }

  /** Reads the texts that the line evaluates. */
  readEvaluated(texts: readonly Wrapped[], at: Span): void {
    this.#look(texts, at, INNER_DEPTH);
  }

  /** Reads the names that loops and expansions set. */
  readSet(names: readonly ShellWord[]): void {
    for (const name of names) this.#look(programSetBy(name), name, INNER_DEPTH);
  }

  /** The folder in which the shell stands after a command that may change it; null if only the shell knows. */
  #folderAfter({ words: [name, target, ...more], redirects, holds }: SimpleCommand): string | null {
    const { workspace } = this.#place;
    const entered = this.commands.findLast(({ isWhole }) => isWhole);
    if (name?.text !== "cd" || target === undefined || more.length > 0 || holds === "nothing" || entered?.trouble !== null)
      return null;
    // The shell goes back to where it came from, or to what it finds by a pattern.
    if (target.open !== null || target.text === "-") return null;
    // A redirection that cannot be opened keeps the shell where it is.
    if (!redirects.every(alwaysOpens)) return null;
    const names = entered.files.find(({ isRedirect }) => !isRedirect)?.names;
    const folder = names?.at(-1);
    // The shell goes up from the folder as it was named, not from the folder to which a link leads.
    if (this.#isLinked && target.text.split("/").includes("..")) return null;
    this.#isLinked ||= names !== undefined && names.length > 1;
    // A folder that is not there, or may not be entered, leaves the shell where it is.
    return folder !== undefined && mayEnter(join(workspace.root, folder)) ? folder : null;
  }

  #look(wrapped: readonly Wrapped[], at: Span, depth: number): void {
    for (const each of wrapped) {
      if (each.kind === "hidden") this.#hide(at, each.reason);
      else if (each.kind === "chosen") this.#choose(at, each.reason);
      else if (depth === 0 || this.#inner >= INNER_COMMANDS || this.#words >= INNER_WORDS)
        this.hidden ??= { start: at.start, end: at.end, reason: "commands are nested too deeply in others" };
      else if (each.kind === "likely") this.#insideLikely(each.words, at, depth);
      else if (each.kind === "words") this.#inside(bare(each.words, at), at, depth);
      else this.#line(each.text, at, depth);
    }
  }

  #line(text: string, at: Span, depth: number): void {
    const bound = boundsProblem(text);
    const parsed = bound === null ? simpleCommands(text) : null;
    const error = bound ?? parsed?.error?.reason ?? null;
    for (const command of parsed?.commands ?? []) this.#inside({ ...command, start: at.start, end: at.end }, at, depth);
    for (const name of parsed?.sets ?? []) this.#look(programSetBy(name), at, depth - 1);
    if (error === null) return;
    this.#hide(at, error);
    this.commands.push(...roughly(text, at, this.#place));
  }

  #inside(command: SimpleCommand, at: Span, depth: number): void {
    const [name] = command.words;
    if (name !== undefined && name.open !== null) this.#hide(at, "the name of a command is not written out");
    this.#inner += 1;
    this.#words += command.words.length;
    this.commands.push(foundCommand({ ...command, start: at.start, end: at.end }, false, this.#place));
    this.#look(wrappedIn(command), at, depth - 1);
  }

  #insideLikely(words: readonly ShellWord[], at: Span, depth: number): void {
    const before = this.#isLikely;
    this.#isLikely = true;
    this.#inside(bare(words, at), at, depth);
    this.#isLikely = before;
  }

  #hide({ start, end }: Span, reason: string): void {
    if (!this.#isLikely) this.hidden ??= { start, end, reason };
  }

  #choose({ start, end }: Span, reason: string): void {
    if (!this.#isLikely) this.chosen ??= { start, end, reason };
  }
}
