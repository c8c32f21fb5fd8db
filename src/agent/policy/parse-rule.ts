import { accepted, refused, type Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import { commandPattern } from "../bash/command-pattern.ts";
import { operatorProblem, withHeldQuotes, withReleasedQuotes } from "../bash/pattern-words.ts";
import { parametersOf, speaksOf } from "../tools/path-places.ts";
import type { Tool } from "../tools/tool.ts";
import { isOfServerTools } from "../tools/tool.ts";
import { alternativesOf, bracketProblem, globMatcher, isPattern, textMatcher } from "../workspace/glob.ts";
import { isWithin, type Condition, type DeniedPath, type PathPattern, type Rule } from "./rule.ts";
import { NOT_CLOSED, NOT_QUOTED, patternOf, takesEverything, type RuleProblem } from "./rule-text.ts";
import { usesOf } from "./rule-values.ts";

/** The tools that rules may speak of. */
type Tools = ReadonlyMap<string, Tool>;

/**
 * Is told of a rule whose tools are not there, which is accepted then. A path that its only condition may name stays
 * closed for all tools. Without it such a rule is refused.
 */
export type OnAbsent = (rule: string, place: string) => void;

/**
 * A rule of the form `Tool`, `Tool(*)` or `Tool(parameter:pattern, other:"pattern")`; the tool's name may be a pattern
 * as well. The pattern of a path is read as in a .gitignore: without a slash it names files and folders anywhere, with
 * one it starts at the workspace's root, and a folder stands for all that lies in it.
 *
 * @example
 * fs_read                                  // every call of fs_read
 * fs_*(path:.env)                          // files and folders named .env, by any file tool that has a path
 * fs_write(path:/src/**)                   // all that lies in src
 * fs_write(path:"/a, b.txt")               // a quoted pattern may hold commas and spaces
 * bash_run(command:npm run *)              // command lines that run nothing but npm run
 */
export function parseRule(
  source: string,
  place: string,
  tools: Tools,
  onAbsent: OnAbsent | null = null,
): Result<Rule, RuleProblem> {
  try {
    return accepted(ruleOf(source, place, tools, onAbsent));
  } catch (error) {
    if (error instanceof Problem) return refused({ character: error.offset + 1, message: error.message });
    throw error;
  }
}

class Problem extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

function ruleOf(source: string, place: string, tools: Tools, onAbsent: OnAbsent | null): Rule {
  const open = source.indexOf("(");
  const name = open < 0 ? source : source.slice(0, open);
  const spoken = toolsNamed(name, tools, onAbsent !== null);
  const isAbsent = spoken.length === 0 && !isOfServerTools(name);
  if (isAbsent) onAbsent?.(source, place);
  const isForTool = textMatcher(name);
  if (open < 0) return { source, place, scope: "own", isForTool, conditions: [], deniedPath: null };
  if (!source.endsWith(")")) throw new Problem(source.length, NOT_CLOSED);
  const inner = source.slice(open + 1, -1);
  if (takesEverything(inner)) return { source, place, scope: "own", isForTool, conditions: [], deniedPath: null };
  const written = splitConditions(inner, open + 1);
  const parts = written.map((text) => readCondition(text, spoken));
  const repeated = parts.find((part, index) => parts.slice(0, index).some(({ parameter }) => parameter === part.parameter));
  if (repeated !== undefined) throw new Problem(repeated.offset, `${repeated.parameter} stands twice`);
  const able = spoken.filter((tool) => parts.every(({ parameter }) => hasParameter(tool, parameter)));
  if (able.length === 0 && spoken.length > 0)
    throw new Problem(open + 1, `no tool that ${name} names has all of these parameters`);
  const conditions = parts.map((part) => conditionOf(part, able));
  const [only] = conditions;
  return {
    source,
    place,
    // A rule about a file or a command binds the children, too; a bare tool name is about the own tools of an agent.
    scope: "tree",
    isForTool,
    conditions,
    deniedPath: conditions.length === 1 && only !== undefined ? (isAbsent ? closedPath(parts) : deniedPathOf(only, able)) : null,
  };
}

/** None for tools of MCP servers that are not there yet: their parameters hold neither paths nor commands. */
function toolsNamed(name: string, tools: Tools, mayBeAbsent: boolean): readonly Tool[] {
  const wrong = /[^A-Za-z0-9_*?-]/.exec(name);
  if (name === "") throw new Problem(0, "expected the name of a tool");
  if (wrong !== null) throw new Problem(wrong.index, `a tool's name has no ${JSON.stringify(wrong[0])}`);
  const isNamed = textMatcher(name);
  const named = [...tools.values()].filter((tool) => isNamed(tool.name));
  if (named.length === 0 && !mayBeAbsent && !isOfServerTools(name))
    throw new Problem(0, `there is no tool ${name}: the tools are ${[...tools.keys()].join(", ")}`);
  return named;
}

type Written = { readonly text: string; readonly offset: number };

/** The text between commas that stand outside of quotes, brackets and braces. */
function splitConditions(inner: string, offset: number): readonly Written[] {
  const parts: Written[] = [];
  let start = 0;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index <= inner.length; index += 1) {
    const character = inner[index];
    if (quoted) {
      if (character === "\\") index += 1;
      else if (character === '"') quoted = false;
      else if (character === undefined) throw new Problem(offset + start, 'a quoted pattern has no closing "');
    } else if (character === '"') quoted = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth = Math.max(0, depth - 1);
    else if (character === undefined || (character === "," && depth === 0)) {
      parts.push({ text: inner.slice(start, index), offset: offset + start });
      start = index + 1;
    }
  }
  return parts;
}

type ConditionText = { readonly parameter: string; readonly pattern: string; readonly offset: number };

function readCondition({ text, offset }: Written, spoken: readonly Tool[]): ConditionText {
  const begin = offset + (text.length - text.trimStart().length);
  const match = /^\s*([A-Za-z_$][\w$-]*(?:\[\]\.[A-Za-z_$][\w$-]*)?)\s*:\s*/.exec(text);
  const parameter = match?.[1];
  if (match === null || parameter === undefined) throw new Problem(begin, "expected parameter:pattern");
  if (spoken.length > 0 && !spoken.some((tool) => hasParameter(tool, parameter))) {
    const known = [...new Set(spoken.flatMap(parameterNames))];
    const names = spoken.length === 1 ? (spoken[0]?.name ?? "") : "the tools";
    throw new Problem(
      begin,
      `${names} has no parameter ${parameter}: there ${known.length === 1 ? "is" : "are"} ${known.join(", ") || "none"}`,
    );
  }
  const at = offset + match[0].length;
  const pattern = patternOf(text.slice(match[0].length).trimEnd());
  if (pattern === null) throw new Problem(at, NOT_QUOTED);
  if (pattern === "") throw new Problem(at, `expected a pattern for ${parameter}; \`${parameter}:*\` takes everything`);
  return { parameter, pattern, offset: at };
}

/** The names by which rules speak of a tool's input: its parameters, and the places of paths in lists. */
function parameterNames({ inputSchema, paths, commands }: Tool): readonly string[] {
  const places = [...Object.keys(paths), ...Object.keys(commands)].filter((place) => place.includes("[]."));
  return [...Object.keys(parametersOf(inputSchema)), ...places];
}

function hasParameter(tool: Tool, parameter: string): boolean {
  return parameterNames(tool).some((name) => speaksOf(parameter, name));
}

function conditionOf(part: ConditionText, tools: readonly Tool[]): Condition {
  const { parameter, pattern, offset } = part;
  const hasCommand = tools.some(({ commands }) => Object.keys(commands).some((place) => speaksOf(parameter, place)));
  const problem = bracketProblem(hasCommand ? withHeldQuotes(pattern) : pattern);
  if (problem !== null) throw new Problem(offset, problem);
  const hasPath = tools.some((tool) => usesOf(tool, parameter).length > 0);
  return {
    parameter,
    pattern,
    isText: compiled(offset, () => textMatcher(pattern)),
    isOfSome: isPattern(pattern) && !/^\*+$/.test(pattern),
    path: hasPath ? pathPattern(part) : null,
    command: hasCommand ? compiled(offset, () => commandPattern(commandsOf(part))) : null,
  };
}

/** The patterns of commands that the pattern of a line stands for. */
function commandsOf({ pattern, offset }: ConditionText): readonly string[] {
  const alternatives = alternativesOf(withHeldQuotes(pattern)).map(withReleasedQuotes);
  const problem = alternatives.map(operatorProblem).find((each) => each !== null);
  if (problem !== undefined) throw new Problem(offset, problem);
  return alternatives;
}

/** A rule that names a path alone closes the path: for everything, if one of its tools reads there. */
function deniedPathOf({ parameter, path }: Condition, tools: readonly Tool[]): DeniedPath | null {
  if (path === null) return null;
  const uses = tools.flatMap((tool) => usesOf(tool, parameter));
  return {
    isMatch: path.isMatch,
    isNamed: path.isNamed,
    closes: uses.every((use) => use === "write") ? "writing" : "everything",
    mayWrite: uses.includes("write"),
  };
}

/** The path that a condition on a tool that is not there may name; null if it can name none. */
function closedPath([part]: readonly ConditionText[]): DeniedPath | null {
  if (part === undefined) return null;
  try {
    const { isMatch, isNamed } = pathPattern(part);
    return { isMatch, isNamed, closes: "everything", mayWrite: false };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

function pathPattern({ pattern, offset }: ConditionText): PathPattern {
  const alternatives = compiled(offset, () => alternativesOf(pattern)).map((alternative) => pathAlternative(alternative, offset));
  const name = namedPath(pattern);
  return {
    source: pattern.replace(/^(\.?\/)/, ""),
    isMatch: (path) => alternatives.some(({ isMatch }) => isMatch(path)),
    isNamed: name.isNamed,
    folders: [...alternatives.map(({ folder }) => folder), ...(isPattern(pattern) ? [name.folder] : [])],
  };
}

/** The pattern as a name: that of a file, or of a folder with all that lies in it. */
function namedPath(pattern: string): { readonly isNamed: (path: string) => boolean; readonly folder: string } {
  const plain = pattern.replace(/^\.?\//, "").replace(/\/$/, "");
  if (!isPattern(plain)) return { isNamed: () => false, folder: "." };
  const segments = plain.split("/");
  if (segments.length === 1 && !/^\.?\//.test(pattern))
    return { isNamed: (path) => path.split("/").includes(plain), folder: "." };
  const folder = segments.slice(0, segments.findIndex(isPattern)).join("/") || ".";
  return { isNamed: (path) => isWithin(plain, path), folder };
}

/** One alternative of the pattern of a path, without braces. */
function pathAlternative(
  pattern: string,
  offset: number,
): { readonly isMatch: (name: string) => boolean; readonly folder: string } {
  const isAnchored = /^\.?\//.test(pattern);
  const plain = pattern.replace(/^\.?\//, "").replace(/\/$/, "");
  if (plain === "" || plain === ".") return { isMatch: () => true, folder: "." };
  const segments = plain.split("/");
  if (segments.includes("..")) throw new Problem(offset, "the pattern of a path has no `..`: write it from the workspace's root");
  if (segments.some((segment) => segment === "" || segment === "."))
    throw new Problem(offset, "the pattern of a path has no empty names and no `.` in it");
  if (segments.length === 1 && !isAnchored) {
    const isNamed = compiled(offset, () => textMatcher(plain));
    return { isMatch: (name) => name.split("/").some(isNamed), folder: "." };
  }
  const isMatch = compiled(offset, () => globMatcher(plain, true));
  const named = segments.findIndex(isPattern);
  return {
    isMatch: (name) => isMatch(name) || foldersOf(name).some(isMatch),
    folder: segments.slice(0, named < 0 ? segments.length : named).join("/") || ".",
  };
}

function compiled<Compiled>(offset: number, compile: () => Compiled): Compiled {
  try {
    return compile();
  } catch (error) {
    throw new Problem(offset, messageOf(error));
  }
}

/** The folders in which a path lies, outermost first. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) folders.push(path.slice(0, slash));
  return folders;
}
