import { isJsonObject, MOST_LEVELS, nesting, someString, type Json } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";

/**
 * The arguments as a JSON object. Invalid JSON, NUL, or too deep nesting leaves them as text: they are never repaired,
 * since repaired calls would run.
 */
export function parseArguments(args: string): Json {
  if (nesting(args) > MOST_LEVELS) return args;
  try {
    const parsed = JSON.parse(args) as Json;
    return isJsonObject(parsed) && !someString(parsed, hasNul) ? parsed : args;
  } catch {
    return args;
  }
}

export function argumentsProblem(args: string): string {
  if (nesting(args) > MOST_LEVELS) return `must not be nested more than ${MOST_LEVELS} levels deep`;
  try {
    const parsed = JSON.parse(args) as Json;
    return isJsonObject(parsed) && someString(parsed, hasNul) ? "must not contain NUL characters" : "must be an object";
  } catch (error) {
    return `is not JSON: ${messageOf(error)}`;
  }
}

function hasNul(text: string): boolean {
  return text.includes("\0");
}
