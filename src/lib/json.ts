import { storable } from "./text.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item: Json) => mapStrings(item, change));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapStrings(item, change)]));
  return value;
}

/**
 * JSON text that PostgreSQL can store: NUL and lone surrogates are replaced visibly. JSON.stringify writes both as
 * escapes, so that most texts need no second pass.
 */
export function storableJson(value: unknown): string {
  return storableJsonText(JSON.stringify(value));
}

export function storableJsonText(text: string): string {
  return isStorable(text) ? text : JSON.stringify(mapStrings(JSON.parse(text) as Json, storable));
}

/** The value whose JSON text is storable. */
export function storableValue(value: unknown): unknown {
  return isStorable(JSON.stringify(value)) ? value : mapStrings(value as Json, storable);
}

function isStorable(text: string): boolean {
  return !text.includes("\\u") || !/\\u(0000|d[89a-f])/.test(text);
}

export function someString(value: Json, test: (text: string) => boolean): boolean {
  if (typeof value === "string") return test(value);
  if (Array.isArray(value)) return value.some((item: Json) => someString(item, test));
  if (isJsonObject(value)) return Object.entries(value).some(([key, item]) => test(key) || someString(item, test));
  return false;
}

/** True if `value` has more than so many parts: array items and object fields at any depth. It stops counting then. */
export function hasMoreParts(value: Json, most: number): boolean {
  const waiting: Json[] = [value];
  let parts = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const inner: readonly Json[] = Array.isArray(next) ? next : isJsonObject(next) ? Object.values(next) : [];
    parts += inner.length;
    if (parts > most) return true;
    waiting.push(...inner);
  }
  return false;
}

export function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === "\\") index += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "{" || character === "[") deepest = Math.max(deepest, (depth += 1));
    else if (character === "}" || character === "]") depth -= 1;
  }
  return deepest;
}

/** The deepest nesting of JSON from outside: its checks and storage are recursive. */
export const MOST_LEVELS = 100;

export function isNestedDeeper(value: Json, levels: number): boolean {
  let level = [value].filter(isNest);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((nest): readonly Json[] => Object.values(nest)).filter(isNest);
  }
  return false;
}

function isNest(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === "object" && value !== null;
}

/**
 * The value as JSON: functions and undefined are dropped, dates become texts; undefined if nothing is left or the value
 * is cyclic.
 */
export function toJson(value: unknown): Json | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}
