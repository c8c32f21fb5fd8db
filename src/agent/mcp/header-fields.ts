import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";

/** The field of a schema that says that a parameter is sent as a header, too (SEP-2243). */
const FIELD = "x-mcp-header";

const TYPES: ReadonlySet<Json | undefined> = new Set(["string", "integer", "boolean"]);

/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The reason why the headers that a schema names are invalid, so that its tool must be left out; null if they are valid.
 * Only texts, integers and booleans below `properties` may be headers, each with a name of its own.
 */
export function headerProblem(schema: JsonObject): string | null {
  const names = new Set<string>();
  let found = 0;
  const visit = ({ properties, [FIELD]: name, type }: JsonObject, isTop: boolean): boolean => {
    if (name !== undefined) {
      found += 1;
      if (isTop || typeof name !== "string" || !TOKEN.test(name) || !TYPES.has(type)) return false;
      if (names.has(name.toLowerCase())) return false;
      names.add(name.toLowerCase());
    }
    const inner = isJsonObject(properties) ? Object.values(properties).filter(isJsonObject) : [];
    return inner.every((each) => visit(each, false));
  };
  const isValid = visit(schema, true) && found === countOf(schema);
  return isValid ? null : `names a header (${FIELD}) that is not allowed`;
}

/** All places that have the field; a parameter may be named so. */
function countOf(value: Json, isOfNames = false): number {
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, item) => sum + countOf(item), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [key, item]) => sum + (key === FIELD && !isOfNames ? 1 : 0) + countOf(item, key === "properties" && !isOfNames),
    0,
  );
}
