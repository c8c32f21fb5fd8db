import { isJsonObject, mapStrings, someString, type Json, type JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { holdsSchemas, mapSubschemas } from "../models/tool-schema.ts";
import { isPlain, plainText } from "./plain-text.ts";

/** Keywords whose texts a server compares with inputs, or by which a schema names its parts: they stay as they are. */
const EXACT: ReadonlySet<string> = new Set([
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$ref",
  "const",
  "dependencies",
  "dependentRequired",
  "enum",
  "pattern",
  "required",
]);

/**
 * The schema without characters that people do not see. They are removed from words: descriptions, titles, defaults, examples, and
 * values of unknown keywords. Names of parameters and exact values must have none, since without them a server would not know them:
 * the refusal names the keyword.
 */
export function plainSchema(root: JsonObject): Result<JsonObject, string> {
  const hidden = new Set<string>();
  const plain = (schema: JsonObject): JsonObject => {
    const entries = Object.entries(mapSubschemas(schema, plain)).map(([keyword, value]): [string, Json] => {
      if (!holdsSchemas(keyword) && !EXACT.has(keyword)) return [plainText(keyword), mapStrings(value, plainText)];
      if (holdsSchemas(keyword) ? !hasPlainNames(value) : someString(value, (text) => !isPlain(text))) hidden.add(keyword);
      return [keyword, value];
    });
    return Object.fromEntries(entries);
  };
  const made = plain(root);
  return hidden.size === 0 ? accepted(made) : refused(`has characters that people do not see, in ${[...hidden].join(", ")}`);
}

function hasPlainNames(value: Json): boolean {
  return !isJsonObject(value) || Object.keys(value).every(isPlain);
}
