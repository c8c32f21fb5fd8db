import { PathRefused } from "./workspace.ts";

/** The most alternatives that the braces of one pattern may expand to. */
const ALTERNATIVES = 100;
/** The longest pattern, in characters: braces are expanded recursively. */
const PATTERN_CHARACTERS = 1_000;
const EXPANDED_CHARACTERS = 10_000;

type Token =
  | { readonly kind: "literal"; readonly character: string }
  | { readonly kind: "any" }
  | { readonly kind: "many" }
  | { readonly kind: "set"; readonly isNegated: boolean; readonly ranges: readonly (readonly [string, string])[] };
type Segment = "**" | Name;
type Name = { readonly literal: string } | { readonly tokens: readonly Token[] };

/**
 * A matcher of paths by a glob pattern: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` for any folders. Its time is
 * bounded by the product of the lengths: patterns come from models, and one that backtracks would stop the server.
 * Names that begin with a dot match only a pattern with the dot, or with `dot`.
 */
export function globMatcher(pattern: string, dot: boolean): (path: string) => boolean {
  const alternatives = alternativesOf(pattern).map((alternative) =>
    alternative.split("/").map((segment): Segment => (segment === "**" ? "**" : nameOf(segment))),
  );
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) => matchSegments(segments, names, dot));
  };
}

/**
 * A matcher of any text by a pattern of `*`, `?`, `[a-z]` and `{a,b}`, where `*` matches everything, slashes too.
 * Bounded likewise.
 */
export function textMatcher(pattern: string): (text: string) => boolean {
  const alternatives = alternativesOf(pattern).map(nameOf);
  return (text) => alternatives.some((alternative) => matchName(alternative, text, true));
}

export function isPattern(text: string): boolean {
  return /[*?[{]/.test(text);
}

/** The patterns without braces that a pattern expands to. Bounded, since matching takes their length times that of the names. */
export function alternativesOf(pattern: string): readonly string[] {
  if (pattern.length > PATTERN_CHARACTERS) throw new PathRefused(`a pattern has at most ${PATTERN_CHARACTERS} characters`);
  const alternatives = [...new Set(expandBraces(pattern))];
  if (alternatives.reduce((sum, { length }) => sum + length, 0) > EXPANDED_CHARACTERS)
    throw new PathRefused(
      `the alternatives of a pattern have more than ${EXPANDED_CHARACTERS} characters: search in several steps`,
    );
  return alternatives;
}

export function bracketProblem(pattern: string): string | null {
  let depth = 0;
  for (let index = 0; index < pattern.length; index += 1) {
    if (pattern[index] === "{") depth += 1;
    if (pattern[index] === "}") depth -= 1;
    if (depth < 0) return "a } has no {";
    if (pattern[index] !== "[") continue;
    const end = pattern.indexOf("]", index + 2);
    if (end < 0) return "a [ has no ]";
    if (/[{}]/.test(pattern.slice(index, end))) return "a brace cannot stand in brackets";
    index = end;
  }
  return depth > 0 ? "a { has no }" : null;
}

function expandBraces(pattern: string): string[] {
  let expanded = [""];
  let rest = pattern;
  for (;;) {
    const open = rest.indexOf("{");
    const group = open < 0 ? null : closingBrace(rest, open);
    if (group === null) return expanded.map((start) => start + rest);
    const inner = group.alternatives.flatMap(expandBraces);
    if (expanded.length * inner.length > ALTERNATIVES)
      throw new PathRefused(`the pattern has more than ${ALTERNATIVES} alternatives in its braces: search in several steps`);
    const before = rest.slice(0, open);
    expanded = expanded.flatMap((start) => inner.map((alternative) => start + before + alternative));
    rest = rest.slice(group.end + 1);
  }
}

function closingBrace(pattern: string, open: number): { end: number; alternatives: string[] } | null {
  const alternatives: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let index = open; index < pattern.length; index += 1) {
    if (pattern[index] === "{") depth += 1;
    if (pattern[index] === "," && depth === 1) {
      alternatives.push(pattern.slice(start, index));
      start = index + 1;
    }
    if (pattern[index] === "}") depth -= 1;
    if (depth === 0) return { end: index, alternatives: [...alternatives, pattern.slice(start, index)] };
  }
  return null;
}

function nameOf(segment: string): Name {
  const list = tokens(segment);
  return list.every((token) => token.kind === "literal") ? { literal: segment } : { tokens: list };
}

function tokens(segment: string): Token[] {
  const list: Token[] = [];
  for (let index = 0; index < segment.length; index += 1) {
    const character = segment[index] ?? "";
    const end = character === "[" ? segment.indexOf("]", index + 2) : -1;
    if (character === "*") {
      if (list.at(-1)?.kind !== "many") list.push({ kind: "many" });
    } else if (character === "?") list.push({ kind: "any" });
    else if (end > 0) {
      list.push(setToken(segment.slice(index + 1, end)));
      index = end;
    } else list.push({ kind: "literal", character });
  }
  return list;
}

function setToken(body: string): Token {
  const isNegated = body.startsWith("!") || body.startsWith("^");
  const characters = isNegated ? body.slice(1) : body;
  const ranges = [...characters.matchAll(/(.)-(.)|(.)/gs)].map(
    ([, from, to, single]) => [from ?? single ?? "", to ?? single ?? ""] as const,
  );
  return { kind: "set", isNegated, ranges };
}

/** The classic two pointers: after a mismatch only the last `**` takes one more name. */
function matchSegments(segments: readonly Segment[], names: readonly string[], dot: boolean): boolean {
  let segment = 0;
  let name = 0;
  let star = -1;
  let resume = 0;
  while (name < names.length) {
    const current = segments[segment];
    const candidate = names[name] ?? "";
    if (current === "**") {
      star = segment;
      resume = name;
      segment += 1;
    } else if (current !== undefined && matchName(current, candidate, dot)) {
      segment += 1;
      name += 1;
    } else if (star >= 0 && (dot || !(names[resume] ?? "").startsWith("."))) {
      segment = star + 1;
      resume += 1;
      name = resume;
    } else return false;
  }
  return segments.slice(segment).every((left) => left === "**");
}

function matchName(wanted: Name, name: string, dot: boolean): boolean {
  if ("literal" in wanted) return wanted.literal === name;
  const { tokens: pattern } = wanted;
  const [first] = pattern;
  if (name.startsWith(".") && !dot && !(first?.kind === "literal" && first.character === ".")) return false;
  let token = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < name.length) {
    const current = pattern[token];
    if (current?.kind === "many") {
      star = token;
      resume = index;
      token += 1;
    } else if (current !== undefined && matchCharacter(current, name[index] ?? "")) {
      token += 1;
      index += 1;
    } else if (star >= 0) {
      token = star + 1;
      resume += 1;
      index = resume;
    } else return false;
  }
  return pattern.slice(token).every((left) => left.kind === "many");
}

function matchCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case "literal":
      return token.character === character;
    case "set":
      return token.ranges.some(([from, to]) => character >= from && character <= to) !== token.isNegated;
    case "any":
    case "many":
      return true;
  }
}
