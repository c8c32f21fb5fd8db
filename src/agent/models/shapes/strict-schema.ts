import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { referred } from "../tool-schema.ts";

/** A schema as providers enforce it. */
export type StrictSchema = {
  readonly schema: JsonObject;
  /** True if a field may be left out. */
  readonly hasOptional: boolean;
};

/** The bounds of Anthropic, the strictest, on fields that may be left out and on alternatives. */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;
/** References may be nested. */
const MOST_PARTS = 2_000;

/** Keywords that bound a value or are about people: they are moved into the description. The answer is checked by all. */
const SAID = words(`minLength maxLength pattern format contentEncoding contentMediaType minimum maximum exclusiveMinimum
  exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties title default examples`);

const READ = words("required properties items anyOf oneOf enum const type description additionalProperties");
const LEFT_OUT = words("$schema $id id $anchor $comment $defs definitions deprecated readOnly writeOnly");

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/**
 * The schema in the subset that providers enforce: closed objects, no recursion, no bounds. Null for a schema that says
 * something else in this form: recursion, open fields, conditions, tuples, or too many alternatives.
 */
export function strictSchema(schema: JsonObject): StrictSchema | null {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const strict = new Strictening(schema).result();
  made.set(schema, strict);
  return strict;
}

const made = new WeakMap<JsonObject, StrictSchema | null>();

const NOT_STRICT = Symbol("not strict");

class Strictening {
  readonly #root: JsonObject;
  #optional = 0;
  #unions = 0;
  #parts = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  result(): StrictSchema | null {
    try {
      const schema = this.#strict(this.#root, []);
      return { schema, hasOptional: this.#optional > 0 };
    } catch (error) {
      if (error === NOT_STRICT) return null;
      throw error;
    }
  }

  #strict(schema: Json | undefined, within: readonly string[]): JsonObject {
    this.#parts += 1;
    if (!isJsonObject(schema) || this.#parts > MOST_PARTS) throw NOT_STRICT;
    const reference = schema["$ref"];
    if (typeof reference === "string") {
      const target = within.includes(reference) ? null : referred(this.#root, reference);
      if (target === null) throw NOT_STRICT;
      const { $ref: _reference, ...beside } = schema;
      const annotations = Object.keys(beside).filter((name) => !LEFT_OUT.has(name) && name !== "description");
      if (annotations.length > 0) throw NOT_STRICT;
      return this.#strict({ ...target, ...(beside["description"] === undefined ? {} : { description: beside["description"] }) }, [
        ...within,
        reference,
      ]);
    }
    const said = Object.entries(schema).filter(([name]) => SAID.has(name));
    if (Object.keys(schema).some((name) => !SAID.has(name) && !READ.has(name) && !LEFT_OUT.has(name) && !name.startsWith("x-")))
      throw NOT_STRICT;
    const description = describedBy(schema["description"], said);
    return { ...this.#form(schema, within), ...(description === "" ? {} : { description }) };
  }

  #form(schema: JsonObject, within: readonly string[]): JsonObject {
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(alternatives)) {
      if (schema["properties"] !== undefined || (within.length === 0 && schema === this.#root)) throw NOT_STRICT;
      this.#countUnion();
      return { anyOf: alternatives.map((each: Json) => this.#strict(each, within)) };
    }
    if (schema["enum"] !== undefined) return { ...typeOf(schema), enum: plainValues(schema["enum"]) };
    if (schema["const"] !== undefined) return { ...typeOf(schema), enum: plainValues([schema["const"]]) };
    const { type } = schema;
    if (Array.isArray(type)) {
      const types: readonly Json[] = type;
      this.#countUnion();
      return { anyOf: types.map((each) => this.#form({ ...schema, type: each }, within)) };
    }
    switch (type) {
      case "object":
        return this.#object(schema, within);
      case "array":
        return { type, items: this.#strict(schema["items"], within) };
      case "string":
      case "number":
      case "integer":
      case "boolean":
      case "null":
        return { type };
      default:
        throw NOT_STRICT;
    }
  }

  #object(schema: JsonObject, within: readonly string[]): JsonObject {
    const { properties = {}, required = [], additionalProperties } = schema;
    const isMap = additionalProperties !== undefined && additionalProperties !== false;
    // An object without fields would be empty for ever.
    if (!isJsonObject(properties) || isMap || Object.keys(properties).length === 0) throw NOT_STRICT;
    const names: readonly Json[] = Array.isArray(required) ? required : [];
    const missing = names.some((name) => typeof name !== "string" || !Object.hasOwn(properties, name));
    if (missing) throw NOT_STRICT;
    const fields = Object.entries(properties).map(([name, field]) => [name, this.#strict(field, within)] as const);
    this.#optional += fields.filter(([name]) => !names.includes(name)).length;
    if (this.#optional > MOST_OPTIONAL) throw NOT_STRICT;
    return { type: "object", properties: Object.fromEntries(fields), required: names, additionalProperties: false };
  }

  #countUnion(): void {
    this.#unions += 1;
    if (this.#unions > MOST_UNIONS) throw NOT_STRICT;
  }
}

function typeOf({ type }: JsonObject): JsonObject {
  return typeof type === "string" ? { type } : {};
}

function plainValues(values: Json): readonly Json[] {
  const list: readonly Json[] = Array.isArray(values) ? values : [];
  if (list.length === 0 || list.some((value) => typeof value === "object" && value !== null)) throw NOT_STRICT;
  return list;
}

function describedBy(description: Json | undefined, said: readonly (readonly [string, Json])[]): string {
  const bounds = said.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
  const own = typeof description === "string" ? description : "";
  return bounds === "" ? own : own === "" ? bounds : `${own} (${bounds})`;
}
