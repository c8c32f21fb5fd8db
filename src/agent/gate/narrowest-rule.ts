import type { Json } from "../../lib/json.ts";
import { namesOf, type RuleValue, type RuleValues } from "./rule-values.ts";
import type { Tool } from "../tools/tool.ts";

/** Longer texts are not made into a rule: nobody would read it. */
const TEXT_CHARACTERS = 200;

/**
 * The narrowest rule that speaks of a call and is worth keeping: for a tool with paths exactly these paths, whatever
 * the other parameters are; for others exactly these parameters. Null where there is none that can be read.
 */
export function narrowestRule(tool: Tool, values: RuleValues): string | null {
  const isPath = ([parameter]: readonly [string, unknown]): boolean => tool.paths[parameter] !== undefined;
  const all = Object.entries(values).filter(([, list]) => list.length > 0);
  const told = all.some(isPath) ? all.filter(isPath) : all;
  if (told.length === 0) return Object.keys(tool.paths).length > 0 ? null : tool.name;
  const conditions = told.map(([parameter, list]) => conditionOf(parameter, list));
  return conditions.includes(null) ? null : `${tool.name}(${conditions.join(", ")})`;
}

function conditionOf(parameter: string, list: readonly RuleValue[]): string | null {
  const patterns = list.map(patternOf);
  if (patterns.includes(null)) return null;
  const pattern = patterns.length === 1 ? String(patterns[0]) : `{${patterns.join(",")}}`;
  return `${parameter}:${quoted(list[0]?.kind === "file" ? `/${pattern}` : pattern)}`;
}

/** A pattern that matches this value only; null where none can. A file that a link leads to has no one name. */
function patternOf(value: RuleValue): string | null {
  const [name, ...others] = namesOf(value);
  if (name === undefined || others.length > 0 || /[{},]/.test(name) || name.length > TEXT_CHARACTERS) return null;
  switch (value.kind) {
    case "search":
      return null;
    case "file":
      return name === "." ? null : literal(name);
    case "text":
      return literal(name);
  }
}

function literal(name: string): string {
  return name.replace(/[*?[]/g, (character) => `[${character}]`);
}

/** Quoted where the bare text would be read otherwise. */
function quoted(pattern: string): string {
  const isPlain = /^[^\s,()[\]{}"\\]+$/.test(pattern);
  return isPlain ? pattern : JSON.stringify(pattern satisfies Json);
}
