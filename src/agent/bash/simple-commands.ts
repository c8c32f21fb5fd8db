import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type ParameterExpansionPart,
  type Redirection,
  type SyntaxNode,
} from "unbash";
import { type Span, type Trouble, shellWord, type ShellWord } from "./command-line.ts";

/** A redirection of a command. */
export type Redirect =
  | (Span & { readonly kind: "file"; readonly writes: boolean; readonly target: ShellWord })
  /** Text of the line that the command reads; null if only the shell knows it. */
  | (Span & { readonly kind: "text"; readonly text: string | null })
  /** Another descriptor, as in `2>&1`, or none at all, as in `>&-`. */
  | (Span & { readonly kind: "descriptor"; readonly text: string });

/**
 * The part of a line for which a command holds what it does to the shell: all that follows if it certainly runs, the rest of its
 * `&&` chain if it may not run, and nothing if it runs in a shell of its own or nobody knows in which.
 */
export type Holding = "the line" | "its chain" | "nothing";

/** A simple command as it stands in a line. */
export type SimpleCommand = Span & {
  readonly assignments: readonly ShellWord[];
  readonly words: readonly ShellWord[];
  readonly redirects: readonly Redirect[];
  /** The command whose output it reads by a pipe; null if it reads none. */
  readonly pipedFrom: SimpleCommand | null;
  /** The part of the line for which it holds what it does to the shell, as `cd` does. */
  readonly holds: Holding;
  /** The number of its list of commands joined by `&&`: each of them runs only if those before it succeeded. */
  readonly chain: number;
};

/** A line taken apart: its simple commands, wherever they stand, and the first part of it that is more than a list of them. */
export type ParsedLine = {
  readonly commands: readonly SimpleCommand[];
  /** The names that its loops and expansions set, as `${name:=value}` does. */
  readonly sets: readonly ShellWord[];
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
  reading.visit(script, { within: null, holds: "the line", pipedFrom: null });
  return { commands: reading.commands, sets: reading.sets, trouble: error ?? reading.trouble, error };
}

/** The standing of a node. `within` is the place of an escaped substitution: positions in it are not those of the line. */
type Standing = { readonly within: Span | null; readonly holds: Holding; readonly pipedFrom: SimpleCommand | null };

class Reading {
  readonly commands: SimpleCommand[] = [];
  readonly sets: ShellWord[] = [];
  trouble: Trouble | null = null;
  #chain = 0;

  visit(node: SyntaxNode, at: Standing): void {
    const { within, holds } = at;
    const place = within ?? { start: node.pos, end: node.end };
    switch (node.type) {
      case "Command":
        this.#command(node, at);
        return;
      case "Pipeline": {
        let before: SimpleCommand | null = null;
        for (const command of node.commands) {
          this.visit(command, { within, holds: node.commands.length === 1 ? holds : "nothing", pipedFrom: before });
          before = this.commands.at(-1) ?? null;
        }
        return;
      }
      case "AndOr":
        for (const [index, command] of node.commands.entries()) {
          const before = node.operators.slice(0, index);
          if (before.at(-1) !== "&&") this.#chain += 1;
          this.visit(command, { within, holds: before.length === 0 ? holds : heldBehind(before, holds), pipedFrom: null });
        }
        this.#chain += 1;
        return;
      case "Statement":
        if (node.background === true) this.#meet("a command in the background", place);
        this.visit(node.command, { within, holds: node.background === true ? "nothing" : holds, pipedFrom: null });
        return;
      case "CommandExpansion":
        if (node.script !== undefined)
          this.visit(node.script, {
            within: node.script.source === undefined ? within : place,
            holds: "nothing",
            pipedFrom: null,
          });
        return;
      default: {
        const unusual = UNUSUAL[node.type];
        if (unusual !== undefined) this.#meet(unusual, place);
        if (node.type === "ParameterExpansion") this.sets.push(...setBy(node, place));
        if (node.type === "For" || node.type === "Select") this.sets.push({ ...shellWord(node.name), ...place });
        forEachChild(node, (child) =>
          this.visit(child, { within, holds: SIMPLE.has(node.type) ? holds : "nothing", pipedFrom: null }),
        );
      }
    }
  }

  #meet(what: string, { start, end }: Span): void {
    this.trouble ??= { start, end, reason: `${what} is not a simple command` };
  }

  #command(node: Command, { within, holds, pipedFrom }: Standing): void {
    const at = (word: ShellWord): ShellWord => (within === null ? word : { ...word, ...within });
    const assignments = node.prefix.flatMap((part) => (part.type === "Assignment" ? [at(assignmentWord(part))] : []));
    const words = [...(node.name === undefined ? [] : [node.name]), ...node.args].map((part) =>
      at(part.type === "Word" ? shellWord(part) : assignmentWord(part)),
    );
    const redirects = node.redirects.flatMap((redirection) => redirectOf(redirection, within));
    const { start, end } = within ?? { start: node.pos, end: node.end };
    const command: SimpleCommand = { start, end, assignments, words, redirects, pipedFrom, holds, chain: this.#chain };
    const position = this.commands.length;
    this.commands.push(command);
    forEachChild(node, (child) => this.visit(child, { within, holds: "nothing", pipedFrom: null }));
    // What its words substitute runs before it, and is read after it: a pipe sees the command itself last.
    if (this.commands.length > position + 1) this.commands.push(...this.commands.splice(position, 1));
  }
}

/** The assignment of an expansion that makes one: `${name:=value}`. */
function setBy({ prefix, parameter, operation }: ParameterExpansionPart, place: Span): readonly ShellWord[] {
  if (operation?.type !== "Default" || (operation.operator !== "=" && operation.operator !== ":=")) return [];
  const value = shellWord(operation.operand);
  return [{ ...value, ...place, text: prefix === undefined ? `${parameter}=${value.text}` : `\${parameter}`, assigns: true }];
}

/** The extent to which a `cd` behind operators holds: it runs only if those before it succeeded or failed. */
function heldBehind(operators: readonly string[], holds: Holding): Holding {
  return holds !== "nothing" && operators.every((operator) => operator === "&&") ? "its chain" : "nothing";
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
  if (redirection.descriptor?.type === "FileDescriptorVariable") {
    const target: ShellWord = { ...span, text: "a descriptor", open: "a variable or substitution", assigns: false };
    return [{ ...span, kind: "file", writes: true, target }];
  }
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
      if ((operator === ">&" || operator === "<&") && target.open === null && /^(\d+-?|-)$/.test(target.text))
        return [{ ...span, kind: "descriptor", text: target.text }];
      // Bash takes what stands behind a descriptor for another word, and expands the name of a file twice.
      const isUnusual =
        operator === "<&" ||
        (operator === ">&" && (target.open !== null || !/^(?!-|\d+-)[\p{L}\p{N}_./@%+,:= -]+$/u.test(target.text)));
      const named: ShellWord = isUnusual ? { ...target, open: "an unusual redirection" } : target;
      return [{ ...span, kind: "file", writes: operator !== "<" && operator !== "<&", target: named }];
    }
  }
}
