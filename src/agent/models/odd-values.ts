import { isJsonObject, isNestedDeeper, MOST_LEVELS, type Json, type JsonObject } from "../../lib/json.ts";
import { NO_TOKENS, type TokenUsage } from "./model.ts";

/** The most tokens that one call can have used: what is more is no count. */
const MOST_TOKENS = 1_000_000_000;

/** The text that a value is; empty for whatever is none. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The object that a value is; one without fields for whatever is none. */
export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A text, or another value as JSON text; empty for none. What is nested too deeply becomes a text that is no object. */
export function jsonTextIn(value: unknown): string {
  if (value === null || value === undefined || typeof value === "string") return textIn(value);
  return isNestedDeeper(value as Json, MOST_LEVELS) ? '"nested too deeply"' : JSON.stringify(value);
}

/** The items of a list; none for whatever is no list. */
export function itemsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A whole number from 0 on, also if it is written as text; null for whatever is none. */
export function countIn(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? Math.floor(number) : null;
}

/** Tokens that a provider counts; null for what is no count, or more than one call can use. */
export function tokensIn(value: unknown): number | null {
  const count = countIn(value);
  return count === null || count > MOST_TOKENS ? null : count;
}

/** The counts with those that are known in the place of earlier ones. */
export function countedSince(
  before: TokenUsage = NO_TOKENS,
  counts: { readonly [Name in keyof TokenUsage]?: number | null },
): TokenUsage {
  return {
    inputTokens: counts.inputTokens ?? before.inputTokens,
    outputTokens: counts.outputTokens ?? before.outputTokens,
    cacheReadTokens: counts.cacheReadTokens ?? before.cacheReadTokens,
    cacheWriteTokens: counts.cacheWriteTokens ?? before.cacheWriteTokens,
  };
}

/** Counts of one answer as they grow: a server that says less in the end, such as 0, has not taken anything back. */
export function mostOf(before: TokenUsage, counted: TokenUsage): TokenUsage {
  return {
    inputTokens: Math.max(before.inputTokens, counted.inputTokens),
    outputTokens: Math.max(before.outputTokens, counted.outputTokens),
    cacheReadTokens: Math.max(before.cacheReadTokens, counted.cacheReadTokens),
    cacheWriteTokens: Math.max(before.cacheWriteTokens, counted.cacheWriteTokens),
  };
}

/** The fields of an object that are not in `known` and say something; none that are nested too deeply to be stored. */
export function otherFields(value: JsonObject, known: ReadonlySet<string>): JsonObject {
  const others = Object.entries(value).filter(
    ([name, field]) => !known.has(name) && field !== null && !isNestedDeeper(field, MOST_LEVELS),
  );
  return Object.fromEntries(others);
}

/**
 * Adds what a further piece of a stream says to what its fields said before, as the SDKs of providers do: texts are joined, items
 * of lists are told apart by their `index`, and what else comes again takes the place of what was.
 */
export function joinedFields(before: JsonObject, further: JsonObject): JsonObject {
  const joined = new Map(Object.entries(before));
  joinFields(joined, further);
  return Object.fromEntries(joined);
}

/** The same for the fields of a whole answer, which may come in many pieces. */
export function joinFields(fields: Map<string, Json>, further: JsonObject): void {
  for (const [name, value] of Object.entries(further)) fields.set(name, joinedValue(name, fields.get(name), value));
}

/** Fields that name what they stand in: said again, they are not joined. */
const NAMING: ReadonlySet<string> = new Set(["index", "type", "id", "format", "role", "name"]);

function joinedValue(name: string, before: Json | undefined, further: Json): Json {
  if (further === null) return before ?? null;
  if (typeof before === "string" && typeof further === "string") return NAMING.has(name) ? further : before + further;
  if (Array.isArray(before) && Array.isArray(further)) return joinedItems(before as readonly Json[], further as readonly Json[]);
  if (isJsonObject(before) && isJsonObject(further)) return joinedFields(before, further);
  return further;
}

function joinedItems(before: readonly Json[], further: readonly Json[]): readonly Json[] {
  const items = [...before];
  for (const item of further) {
    const index = isJsonObject(item) ? item["index"] : undefined;
    const same = index === undefined ? -1 : items.findIndex((each) => isJsonObject(each) && each["index"] === index);
    const known = items[same];
    if (isJsonObject(known) && isJsonObject(item) && known["type"] === item["type"]) items[same] = joinedFields(known, item);
    else items.push(item);
  }
  return items;
}
