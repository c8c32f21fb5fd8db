import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";

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
