import { isNestedDeeper, type Json } from "../../../lib/json.ts";
import { messageOf } from "../../../lib/text.ts";
import type { ShapeProblem } from "../../../db/commit/change.ts";
import { SHAPE_LEVELS } from "./shape.ts";

/** The longest text that is read as JSON, in characters. */
const MOST_CHARACTERS = 1024 * 1024;

export type ReadAnswer = { readonly value: Json } | { readonly problem: ShapeProblem };

/**
 * Reads the value of an answer from its text blocks. Some models put it into a code fence, or words around it. It is taken
 * only if it is unmistakable: the last block that is JSON, or the only fence, or the only object in the text.
 */
export function readAnswer(texts: readonly string[]): ReadAnswer {
  const said = texts.map((text) => text.trim()).filter((text) => text !== "");
  const characters = said.reduce((sum, text) => sum + text.length, 0);
  if (characters === 0) return problem("is empty: it must be a JSON object");
  if (characters > MOST_CHARACTERS) return problem(`has ${characters} characters, and ${MOST_CHARACTERS} is the most`);
  for (const text of said.toReversed()) {
    const read = parsed(text);
    if (read !== null) return bounded(read.value);
  }
  const whole = said.join("\n");
  const found = onlyOf(fenced(whole)) ?? onlyOf(objectsIn(whole));
  return found === null ? problem(`is no JSON: ${reasonOf(said.at(-1) ?? "")}`) : bounded(found.value);
}

function bounded(value: Json): ReadAnswer {
  if (isNestedDeeper(value, SHAPE_LEVELS)) return problem(`is nested more than ${SHAPE_LEVELS} levels deep`);
  return hasHugeNumber(value) ? problem("has a number that is too large") : { value };
}

/** Such as 1e400, which would be stored as null. */
function hasHugeNumber(value: Json): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some((part: Json) => hasHugeNumber(part));
}

function problem(message: string): ReadAnswer {
  return { problem: { path: "/", message } };
}

type Parsed = { readonly value: Json };

function parsed(text: string): Parsed | null {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

function reasonOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return messageOf(error).slice(0, 200);
  }
}

function onlyOf(candidates: readonly string[]): Parsed | null {
  const read = candidates.flatMap((candidate) => parsed(candidate) ?? []);
  return read.length === 1 ? (read[0] ?? null) : null;
}

function fenced(text: string): readonly string[] {
  const parts = text.split(/^```.*$/m);
  return parts.filter((_, index) => index % 2 === 1 && index < parts.length - 1);
}

/** The texts from each outermost brace to its partner. An object within a list is a part of it. */
function objectsIn(text: string): readonly string[] {
  const found: string[] = [];
  let start = -1;
  let depth = 0;
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (depth > 0 && isString) {
      if (character === "\\") index += 1;
      else if (character === '"') isString = false;
    } else if (depth > 0 && character === '"') isString = true;
    else if (character === "{" || character === "[") {
      if (depth === 0) start = index;
      depth += 1;
    } else if ((character === "}" || character === "]") && depth > 0) {
      depth -= 1;
      if (depth === 0 && text[start] === "{") found.push(text.slice(start, index + 1));
    }
  }
  return found;
}
