import { isJsonObject, isNestedDeeper, MOST_LEVELS, type Json, type JsonObject } from "../../lib/json.ts";
import { NO_TOKENS, type TokenUsage } from "./model.ts";

/** The most tokens that one call can use: larger numbers are ignored. */
const MOST_TOKENS = 1_000_000_000;

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function objectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * The value as JSON text, or itself if it is a text; empty for none. Too deeply nested values become a text that is no
 * object.
 */
export function jsonTextIn(value: unknown): string {
  if (value === null || value === undefined || typeof value === "string") return textIn(value);
  return isNestedDeeper(value as Json, MOST_LEVELS) ? '"nested too deeply"' : JSON.stringify(value);
}

export function itemsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A whole number from 0 on, also as text; otherwise null. */
export function countIn(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? Math.floor(number) : null;
}

/** A provider's token count; null if it is invalid, or more than one call can use. */
export function tokensIn(value: unknown): number | null {
  const count = countIn(value);
  return count === null || count > MOST_TOKENS ? null : count;
}

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

/** The growing counts of one answer: a lower final count, such as 0, is ignored. */
export function mostOf(before: TokenUsage, counted: TokenUsage): TokenUsage {
  return {
    inputTokens: Math.max(before.inputTokens, counted.inputTokens),
    outputTokens: Math.max(before.outputTokens, counted.outputTokens),
    cacheReadTokens: Math.max(before.cacheReadTokens, counted.cacheReadTokens),
    cacheWriteTokens: Math.max(before.cacheWriteTokens, counted.cacheWriteTokens),
  };
}

/** The non-empty fields that are not in `known`; without those that are nested too deeply to be stored. */
export function otherFields(value: JsonObject, known: ReadonlySet<string>): JsonObject {
  const others = Object.entries(value).filter(
    ([name, field]) => !known.has(name) && field !== null && !isNestedDeeper(field, MOST_LEVELS),
  );
  return Object.fromEntries(others);
}

/**
 * Merges a further fragment of fields, as the providers' SDKs do: texts are joined, list items are matched by `index`,
 * and other values are replaced.
 */
export function joinedFields(before: JsonObject, further: JsonObject): JsonObject {
  const joined = new Map(Object.entries(before));
  joinFields(joined, further);
  return Object.fromEntries(joined);
}

export function joinFields(fields: Map<string, Json>, further: JsonObject): void {
  for (const [name, value] of Object.entries(further)) fields.set(name, joinedValue(name, fields.get(name), value));
}

/** Identifying fields are not joined when they are repeated. */
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
