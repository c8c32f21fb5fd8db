import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength } from "../../../lib/text.ts";
import { commandPatternOf, linesIn, type NoRule } from "./command-rule.ts";
import { namesOf, useOf, type RuleValue, type RuleValues } from "../../policy/rule-values.ts";
import { parametersOf, placeOf } from "../../tools/path-places.ts";
import type { Tool } from "../../tools/tool.ts";

/** Longer texts, in bytes, are not made into a rule: people would not read it. */
const TEXT_BYTES = 200;

/**
 * The narrowest useful rule for a call. For a tool with paths: exactly these paths, numbers and booleans, and any
 * texts; of a list of paths also a part, in any order. For others: exactly these parameters, if all are given, since a
 * rule cannot require an absent one, and none is a list. Refused with the reason if no readable rule exists.
 */
export function narrowestRule(
  tool: Tool,
  values: RuleValues,
  input: JsonObject,
  past: readonly RuleValues[] = [],
): Result<string, NoRule> {
  if (Object.keys(tool.commands).length > 0) return narrowestCommandRule(tool, values, input, past);
  const given = Object.entries(values).filter(([place]) => Object.hasOwn(input, placeOf(place).parameter));
  const hasPaths = Object.keys(tool.paths).length > 0;
  if (hasPaths && !given.some(([parameter]) => isPath(tool, parameter))) return refused(byHand("the call names no path"));
  const open = Object.keys(parametersOf(tool.inputSchema)).find((parameter) => !given.some(([name]) => name === parameter));
  if (!hasPaths && open !== undefined)
    return refused(byHand(`the call omits ${open}, and a rule cannot require that a parameter is absent`));
  const lists = new Set(Object.keys(tool.paths).flatMap((place) => listOf(place) ?? []));
  const untold = [...lists].find((list) => !hasTextsOnly(input[list]));
  if (untold !== undefined)
    return refused(byHand(`${untold} contains values other than paths and texts, which rules cannot match`));
  const told = given.filter(
    ([parameter]) => !hasPaths || isPath(tool, parameter) || (typeof input[parameter] !== "string" && !lists.has(parameter)),
  );
  const listed = told.find(([parameter]) => !isPath(tool, parameter) && Array.isArray(input[parameter]))?.[0];
  if (listed !== undefined) return refused(byHand(`${listed} is a list: a rule would also match parts of it, in any order`));
  const conditions: string[] = [];
  for (const [parameter, list] of told) {
    const condition = conditionOf(parameter, list);
    if (!condition.ok) return refused(byHand(`${parameter} ${condition.refusal}`));
    conditions.push(condition.value);
  }
  return accepted(conditions.length === 0 ? tool.name : `${tool.name}(${conditions.join(", ")})`);
}

/**
 * The same for a tool with command lines: their commands, up to the first word that varied in the past. Paths and
 * choices are as given; texts and numbers stay open.
 */
function narrowestCommandRule(
  tool: Tool,
  values: RuleValues,
  input: JsonObject,
  past: readonly RuleValues[],
): Result<string, NoRule> {
  const conditions: string[] = [];
  for (const [place, list] of Object.entries(values)) {
    if (!Object.hasOwn(input, placeOf(place).parameter)) continue;
    const isLine = Object.hasOwn(tool.commands, place);
    const condition = isLine
      ? mapped(
          commandPatternOf(
            linesIn(values, place),
            past.flatMap((each) => linesIn(each, place)),
          ),
          (pattern) => `${place}:${quoted(pattern)}`,
        )
      : isPath(tool, place) || typeof input[place] === "boolean"
        ? unsaid(conditionOf(place, list))
        : null;
    if (condition === null) continue;
    if (!condition.ok) return refused({ ...condition.refusal, reason: `${place} ${condition.refusal.reason}` });
    conditions.push(condition.value);
  }
  return conditions.length === 0
    ? refused({ reason: "the call has no command line", byHand: false })
    : accepted(`${tool.name}(${conditions.join(", ")})`);
}

function mapped(result: Result<string, NoRule>, change: (value: string) => string): Result<string, NoRule> {
  return result.ok ? accepted(change(result.value)) : result;
}

function unsaid(result: Result<string, string>): Result<string, NoRule> {
  return result.ok ? result : refused(byHand(result.refusal));
}

/** A rule that is not proposed, but that a person may write. */
function byHand(reason: string): NoRule {
  return { reason, byHand: true };
}

function listOf(place: string): string | null {
  const { parameter, field } = placeOf(place);
  return field === null ? null : parameter;
}

function hasTextsOnly(list: Json | undefined): boolean {
  if (!Array.isArray(list)) return true;
  return list.every(
    (item) => isJsonObject(item) && Object.values(item).every((value) => value === null || typeof value === "string"),
  );
}

function isPath(tool: Tool, parameter: string): boolean {
  return useOf(tool, parameter) !== undefined;
}

function conditionOf(parameter: string, list: readonly RuleValue[]): Result<string, string> {
  const patterns: string[] = [];
  for (const value of list) {
    const pattern = patternOf(value);
    if (!pattern.ok) return pattern;
    patterns.push(pattern.value);
  }
  const [only] = patterns;
  if (only === undefined) return refused("names nothing");
  const different = [...new Set(patterns)];
  const pattern = different.length === 1 ? only : `{${different.join(",")}}`;
  return accepted(`${parameter}:${quoted(list[0]?.kind === "file" ? `/${pattern}` : pattern)}`);
}

/** A pattern that matches only this value. Refused with the reason if none does. */
function patternOf(value: RuleValue): Result<string, string> {
  const [name, ...others] = namesOf(value);
  if (name === undefined || others.length > 0) return refused("leads through a link, so it has several names");
  if (/[{},]/.test(name)) return refused("contains a brace or a comma, which patterns use for alternatives");
  if (byteLength(name) > TEXT_BYTES) return refused(`is longer than ${TEXT_BYTES} bytes: the rule would be unreadable`);
  if (value.kind === "search") return refused("is a pattern itself");
  if (value.kind === "file" && name === ".") return refused("is the whole workspace");
  return accepted(literal(name));
}

function literal(name: string): string {
  return name.replace(/[*?[]/g, (character) => `[${character}]`);
}

/** Quoted if the bare text would be parsed otherwise. */
function quoted(pattern: string): string {
  const isPlain = /^[^\s,()[\]{}"\\]+( [^\s,()[\]{}"\\]+)*$/.test(pattern);
  return isPlain ? pattern : JSON.stringify(pattern);
}
