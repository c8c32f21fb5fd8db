import type { JsonObject } from "../../lib/json.ts";
import { byteLength } from "../../lib/text.ts";
import { namesOf, useOf, type RuleValue, type RuleValues } from "../policy/rule-values.ts";
import { parametersOf, type Tool } from "../tools/tool.ts";

/** Longer texts are not made into a rule: nobody would read it. In bytes. */
const TEXT_BYTES = 200;

/**
 * The narrowest rule that speaks of a call and is worth keeping. For a tool with paths: exactly these paths, with the
 * numbers and booleans that were given, whatever its texts are. For others: exactly these parameters, if none is left
 * open, since a rule cannot say that a parameter is absent. Null if there is none that can be read.
 */
export function narrowestRule(tool: Tool, values: RuleValues, input: JsonObject): string | null {
  const given = Object.entries(values).filter(([parameter]) => Object.hasOwn(input, parameter));
  const hasPaths = Object.keys(tool.paths).length > 0;
  if (
    hasPaths
      ? !given.some(([parameter]) => isPath(tool, parameter))
      : given.length < Object.keys(parametersOf(tool.inputSchema)).length
  )
    return null;
  const told = given.filter(([parameter]) => !hasPaths || isPath(tool, parameter) || typeof input[parameter] !== "string");
  const conditions = told.map(([parameter, list]) => conditionOf(parameter, list));
  if (conditions.includes(null)) return null;
  return conditions.length === 0 ? tool.name : `${tool.name}(${conditions.join(", ")})`;
}

function isPath(tool: Tool, parameter: string): boolean {
  return useOf(tool, parameter) !== undefined;
}

function conditionOf(parameter: string, list: readonly RuleValue[]): string | null {
  const patterns = list.map(patternOf);
  if (patterns.length === 0 || patterns.includes(null)) return null;
  const pattern = patterns.length === 1 ? String(patterns[0]) : `{${patterns.join(",")}}`;
  return `${parameter}:${quoted(list[0]?.kind === "file" ? `/${pattern}` : pattern)}`;
}

/** A pattern that matches this value only; null if none can. A file that a link leads to has no one name. */
function patternOf(value: RuleValue): string | null {
  const [name, ...others] = namesOf(value);
  if (name === undefined || others.length > 0 || /[{},]/.test(name) || byteLength(name) > TEXT_BYTES) return null;
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

/** Quoted if the bare text would be read otherwise. */
function quoted(pattern: string): string {
  const isPlain = /^[^\s,()[\]{}"\\]+$/.test(pattern);
  return isPlain ? pattern : JSON.stringify(pattern);
}
