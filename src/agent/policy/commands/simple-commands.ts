import { forEachChild, parse, type Assignment, type Command, type Redirection, type SyntaxNode } from "unbash";
import type { Span, Trouble } from "./command-line.ts";
import { shellWord, type ShellWord } from "./shell-word.ts";

/** A redirection of a command. */
export type Redirect =
  | (Span & { readonly kind: "file"; readonly writes: boolean; readonly target: ShellWord })
  /** Text of the line that the command reads; null if only the shell knows it. */
  | (Span & { readonly kind: "text"; readonly text: string | null });

/** A simple command as it stands in a line. */
export type SimpleCommand = Span & {
  readonly assignments: readonly ShellWord[];
  readonly words: readonly ShellWord[];
  readonly redirects: readonly Redirect[];
  /** The command whose output it reads by a pipe; null if it reads none. */
  readonly pipedFrom: SimpleCommand | null;
  /** True if it certainly runs in the shell of the line itself: what it does to that shell, as `cd` does, holds for what follows. */
  readonly isTopLevel: boolean;
};

/** A line taken apart: its simple commands, wherever they stand, and the first part of it that is more than a list of them. */
export type ParsedLine = {
  readonly commands: readonly SimpleCommand[];
  readonly trouble: Trouble | null;
  /** The first error of the parser; null if it understands the line. */
  readonly error: Trouble | null;
};

/** Nodes that no simple line has, with what they are called. */
const UNUSUAL: Readonly<Partial<Record<SyntaxNode["type"], string>>> = {
  Subshell: "a subshell",
  BraceGroup: "a group",
  If: "an if",
  For: "a for",
  ArithmeticFor: "a for",
  Select: "a select",
  While: "a loop",
  Case: "a case",
  TestCommand: "a [[ ]]",
  ArithmeticCommand: "a (( ))",
  Function: "a function",
  Coproc: "a coprocess",
};
/** Nodes of a simple line, besides the commands and all that lies in one. */
const SIMPLE: ReadonlySet<SyntaxNode["type"]> = new Set([
  "Script",
  "Statement",
  "AndOr",
  "Pipeline",
  "Command",
  "Time",
  "Negation",
]);

/** Takes a line apart. It must be within the bounds. Never throws for what is wrong with the line. */
export function simpleCommands(line: string): ParsedLine {
  const script = parse(line);
  const [first] = script.errors ?? [];
  const error =
    first === undefined ? null : { start: first.pos, end: line.length, reason: `the shell would not read it: ${first.message}` };
  const reading = new Reading();
  reading.visit(script, null, true, null);
  return { commands: reading.commands, trouble: error ?? reading.trouble, error };
}

class Reading {
  readonly commands: SimpleCommand[] = [];
  trouble: Trouble | null = null;

  /** `within` is the place of an escaped substitution: positions in it are not those of the line. */
  visit(node: SyntaxNode, within: Span | null, isTopLevel: boolean, pipedFrom: SimpleCommand | null): void {
    const place = within ?? { start: node.pos, end: node.end };
    switch (node.type) {
      case "Command":
        this.#command(node, within, isTopLevel, pipedFrom);
        return;
      case "Pipeline": {
        let before: SimpleCommand | null = null;
        for (const command of node.commands) {
          this.visit(command, within, isTopLevel && node.commands.length === 1, before);
          before = this.commands.at(-1) ?? null;
        }
        return;
      }
      case "AndOr":
        for (const [index, command] of node.commands.entries()) {
          const isCertain = node.operators.slice(0, index).every((operator) => operator === "&&");
          this.visit(command, within, isTopLevel && isCertain, null);
        }
        return;
      case "Statement":
        if (node.background === true) this.#meet("a command in the background", place);
        this.visit(node.command, within, isTopLevel && node.background !== true, null);
        return;
      case "CommandExpansion":
        if (node.script !== undefined) this.visit(node.script, node.script.source === undefined ? within : place, false, null);
        return;
      default: {
        const unusual = UNUSUAL[node.type];
        if (unusual !== undefined) this.#meet(unusual, place);
        forEachChild(node, (child) => this.visit(child, within, isTopLevel && SIMPLE.has(node.type), null));
      }
    }
  }

  #meet(what: string, { start, end }: Span): void {
    this.trouble ??= { start, end, reason: `${what} is not a simple command` };
  }

  #command(node: Command, within: Span | null, isTopLevel: boolean, pipedFrom: SimpleCommand | null): void {
    const at = (word: ShellWord): ShellWord => (within === null ? word : { ...word, ...within });
    const assignments = node.prefix.flatMap((part) => (part.type === "Assignment" ? [at(assignmentWord(part))] : []));
    const words = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((part) =>
      at(part.type === "Word" ? shellWord(part) : assignmentWord(part)),
    );
    const redirects = node.redirects.flatMap((redirection) => redirectOf(redirection, within));
    const { start, end } = within ?? { start: node.pos, end: node.end };
    const command: SimpleCommand = { start, end, assignments, words, redirects, pipedFrom, isTopLevel };
    const position = this.commands.length;
    this.commands.push(command);
    forEachChild(node, (child) => this.visit(child, within, false, null));
    // What its words substitute runs before it, and is read after it: a pipe sees the command itself last.
    if (this.commands.length > position + 1) this.commands.push(...this.commands.splice(position, 1));
  }
}

/** An assignment, before a command or among the arguments, as in `export A=1`. */
function assignmentWord(part: Assignment): ShellWord {
  const value = part.value.type === "Word" ? shellWord(part.value) : null;
  const isOpen = value === null || value.open !== null || part.index !== undefined;
  return {
    start: part.pos,
    end: part.end,
    text: isOpen ? part.text : `${part.name}${part.append === true ? "+" : ""}=${value.text}`,
    open: isOpen ? "a variable or substitution" : null,
    assigns: true,
  };
}

function redirectOf(redirection: Redirection, within: Span | null): readonly Redirect[] {
  const span = { start: within?.start ?? redirection.pos, end: within?.end ?? redirection.end };
  switch (redirection.type) {
    case "HereString": {
      const word = redirection.target === undefined ? null : shellWord(redirection.target);
      return [{ ...span, kind: "text", text: word === null || word.open !== null ? null : word.text }];
    }
    case "HereDoc": {
      const { parts, text } = redirection.body;
      const isPlain = parts === undefined || parts.every(({ type }) => type === "Literal");
      return [{ ...span, kind: "text", text: isPlain ? text : null }];
    }
    case "Redirect": {
      if (redirection.target === undefined) return [];
      const target = { ...shellWord(redirection.target), ...within };
      const { operator } = redirection;
      // `2>&1` and `>&-` name no file, `>&file` does.
      if ((operator === ">&" || operator === "<&") && target.open === null && /^(\d+-?|-)$/.test(target.text)) return [];
      return [{ ...span, kind: "file", writes: operator !== "<" && operator !== "<&", target }];
    }
  }
}
