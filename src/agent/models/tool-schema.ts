import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";

/** The longest schema after references are inlined, in characters: references may be nested. */
const MOST_CHARACTERS = 64 * 1024;

const BOUNDS: Readonly<Record<string, (bound: Json) => string | null>> = {
  pattern: () => null,
  format: () => null,
  minLength: (bound) => (bound === 0 ? null : bound === 1 ? "not empty" : `at least ${said(bound)} characters`),
  maxLength: (bound) => `at most ${said(bound)} characters`,
  minItems: (bound) => (bound === 0 ? null : `at least ${said(bound)} items`),
  maxItems: (bound) => `at most ${said(bound)} items`,
  minProperties: () => null,
  maxProperties: () => null,
  uniqueItems: () => null,
};

/**
 * A tool's schema for servers of models: patterns, formats, lengths and counts are moved into descriptions, and `$ref`
 * is inlined. The original schema validates inputs.
 */
export function toolSchema(schema: JsonObject): JsonObject {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const inlined = inlinedReferences(schema);
  const whole = withoutAlternatives(plain(JSON.stringify(inlined).length > MOST_CHARACTERS ? schema : inlined));
  // Some servers reject an object without `properties`.
  const sent = { properties: {}, ...whole };
  made.set(schema, sent);
  return sent;
}

const ALTERNATIVES = ["allOf", "anyOf", "oneOf"] as const;

/**
 * The schema without alternatives at its top, which some servers of models reject: with the fields of all of them. A field
 * that two of them define differently may have any value.
 */
function withoutAlternatives(schema: JsonObject): JsonObject {
  if (ALTERNATIVES.every((keyword) => schema[keyword] === undefined)) return schema;
  const { allOf, anyOf, oneOf, if: _if, then, else: otherwise, not: _not, additionalProperties: _closed, ...own } = schema;
  const parts = [...listed(allOf), ...listed(anyOf), ...listed(oneOf), then ?? null, otherwise ?? null].filter(isJsonObject);
  const properties = new Map<string, Json>();
  for (const part of [own, ...parts.map(withoutAlternatives)])
    for (const [name, field] of Object.entries(isJsonObject(part["properties"]) ? part["properties"] : {})) {
      const known = properties.get(name);
      properties.set(name, known === undefined || JSON.stringify(known) === JSON.stringify(field) ? field : {});
    }
  return { ...own, properties: Object.fromEntries(properties) };
}

export function openSchema(schema: JsonObject): JsonObject {
  const { additionalProperties: _closed, ...open } = schema;
  return mapSubschemas(open, openSchema);
}

const made = new WeakMap<JsonObject, JsonObject>();

function plain(schema: JsonObject): JsonObject {
  const bounds = Object.entries(schema).flatMap(([keyword, value]) => {
    const bound = Object.hasOwn(BOUNDS, keyword) ? BOUNDS[keyword]?.(value) : null;
    return bound == null ? [] : [bound];
  });
  const kept = Object.entries(schema).filter(([keyword]) => !Object.hasOwn(BOUNDS, keyword));
  const mapped = loosened(Object.fromEntries(kept), mapSubschemas(Object.fromEntries(kept), plain));
  if (bounds.length === 0) return mapped;
  const { description } = schema;
  const words = bounds.join(", ");
  return { ...mapped, description: typeof description === "string" ? `${description} (${words})` : words };
}

/**
 * The mapped schema without conditions that depend on removed bounds: `not` and `if` would hold for other values, and
 * two of `oneOf` could hold.
 */
function loosened(schema: JsonObject, mapped: JsonObject): JsonObject {
  const isChanged = (keyword: string): boolean => JSON.stringify(schema[keyword]) !== JSON.stringify(mapped[keyword]);
  const { not, if: condition, then, else: otherwise, oneOf, ...others } = mapped;
  const has = <Value extends Json>(keyword: string, value: Value | undefined): Record<string, Value> =>
    value === undefined ? {} : { [keyword]: value };
  return {
    ...others,
    ...(isChanged("not") ? {} : has("not", not)),
    ...(isChanged("if") ? {} : { ...has("if", condition), ...has("then", then), ...has("else", otherwise) }),
    ...has(isChanged("oneOf") && !Object.hasOwn(others, "anyOf") ? "anyOf" : "oneOf", oneOf),
  };
}

function inlinedReferences(root: JsonObject): JsonObject {
  let left = MOST_CHARACTERS;
  const inline = (schema: JsonObject, within: readonly string[]): JsonObject => {
    const reference = schema["$ref"];
    if (typeof reference !== "string") {
      const own = Object.entries(schema).filter(([keyword]) => keyword !== "$defs" && keyword !== "definitions");
      return mapSubschemas(Object.fromEntries(own), (each) => inline(each, within));
    }
    const { $ref: _reference, ...beside } = schema;
    const target = within.includes(reference) ? null : referred(root, reference);
    left -= JSON.stringify(target).length;
    if (target === null || left < 0) return inline(beside, within);
    const isBoth = Object.keys(beside).some((keyword) => Object.hasOwn(target, keyword) && !ANNOTATIONS.has(keyword));
    const whole = isBoth ? { ...beside, allOf: [target, ...listed(beside["allOf"])] } : { ...target, ...beside };
    return inline(whole, [...within, reference]);
  };
  return inline(root, []);
}

export function referred(root: JsonObject, reference: string): JsonObject | null {
  if (!reference.startsWith("#/")) return null;
  let found: Json | undefined = root;
  for (const step of reference.slice(2).split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(name)] as Json | undefined;
    else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : null;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(["title", "description", "default", "examples"]);

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function said(bound: Json): string {
  return typeof bound === "number" ? String(bound) : JSON.stringify(bound);
}

/** Keywords of JSON Schema whose value is a schema, a list of schemas, or schemas by name. `items` may be either of the first two. */
const SCHEMA: ReadonlySet<string> = new Set([
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedProperties",
]);
const SCHEMAS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** True for keywords whose values are schemas, lists of schemas, or schemas by name. */
export function holdsSchemas(keyword: string): boolean {
  return SCHEMA.has(keyword) || SCHEMAS.has(keyword) || NAMED_SCHEMAS.has(keyword);
}

export function mapSubschemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const changed = Object.entries(schema).map(([keyword, value]) => [keyword, changedValue(keyword, value, change)] as const);
  return Object.fromEntries(changed);
}

function changedValue(keyword: string, value: Json, change: (schema: JsonObject) => JsonObject): Json {
  const each = (item: Json): Json => (isJsonObject(item) ? change(item) : item);
  if (Array.isArray(value))
    return SCHEMAS.has(keyword) || keyword === "items" ? value.map((item: Json) => each(item)) : (value as Json);
  if (SCHEMA.has(keyword)) return each(value);
  if (!NAMED_SCHEMAS.has(keyword) || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, each(item)]));
}
