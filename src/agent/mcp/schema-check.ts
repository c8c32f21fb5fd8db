import type { Ajv, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { hasMoreParts, isJsonObject, isNestedDeeper, MOST_LEVELS, type Json, type JsonObject } from "../../lib/json.ts";
import { toolSchema } from "../models/tool-schema.ts";
import { LISTED_PARTS, valueIssues, type ValidationIssue } from "../tools/input-schema.ts";
import { dialectOf } from "../tools/schema-dialects.ts";

export type SchemaCheck = (value: Json) => readonly ValidationIssue[];

/** The largest schema, in characters of JSON. */
const MOST_CHARACTERS = 256 * 1024;

/** The largest schema that is compiled, in characters: that takes up to some 20 ms a KB, in which the server does nothing else. */
const COMPILED_CHARACTERS = 16 * 1024;

const MOST_ISSUES = 50;

/** The field of a schema that says why it replaces another one. */
export const UNUSABLE = "x-triplane-problem";

/** The reason why a schema from outside is not usable; null if it is. */
export function schemaProblem(schema: unknown): string | null {
  if (!isJsonObject(schema)) return "is no object";
  if (typeof schema[UNUSABLE] === "string") return schema[UNUSABLE];
  if (schema["type"] !== "object") return 'must have type "object"';
  if (isNestedDeeper(schema, MOST_LEVELS)) return `is nested more than ${MOST_LEVELS} levels deep`;
  const characters = JSON.stringify(schema).length;
  if (characters > MOST_CHARACTERS) return `has ${characters} characters: at most ${MOST_CHARACTERS}`;
  return isValid(schema) ? null : "is no valid JSON Schema";
}

/** By the schema of its dialect: servers of models refuse a whole request for one invalid schema. */
function isValid(schema: JsonObject): boolean {
  const { $schema: dialect, ...plain } = schema;
  try {
    const { name, make } = dialectOf(dialect);
    const checking = checkers.get(name) ?? make(CHECKING);
    checkers.set(name, checking);
    return checking.validateSchema(plain) === true;
  } catch {
    return false;
  }
}

/** The schema of a dialect is compiled once. */
const checkers = new Map<string, Pick<Ajv, "validateSchema">>();

const CHECKING = { strict: false, validateFormats: false, logger: false } as const;

/**
 * The check of values by a schema from outside, in the form that models are given. Patterns, formats and bounds are left
 * to its server. So its time is linear, whatever the schema says. If references or patterns of names
 * remain, or the schema is large or does not compile, only the fields at the top are checked. `$schema` names the dialect, 2020-12 by
 * default.
 */
export function schemaCheck(schema: JsonObject): SchemaCheck {
  const compiled = new Map<boolean, ValidateFunction>();
  return (value) => {
    const lists = !hasMoreParts(value, LISTED_PARTS);
    const validate = compiled.get(lists) ?? compile(schema, lists);
    compiled.set(lists, validate);
    return valueIssues(validate, value).slice(0, MOST_ISSUES);
  };
}

function compile(schema: JsonObject, allErrors: boolean): ValidateFunction {
  const options: Options = { ...COMPILING, allErrors };
  const { $schema: dialect, $id: _id, id: _oldId, ...sent } = toolSchema(schema);
  const text = JSON.stringify(sent);
  if (text.length > COMPILED_CHARACTERS || /"(?:\$(?:ref|dynamicRef|recursiveRef)|patternProperties)":/.test(text))
    return topOf(schema, options);
  try {
    return dialectOf(dialect).make(options).compile(sent);
  } catch {
    return topOf(schema, options);
  }
}

const COMPILING = {
  strict: false,
  ownProperties: true,
  validateFormats: false,
  logger: false,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

function topOf({ required }: JsonObject, options: Options): ValidateFunction {
  const names = Array.isArray(required) ? [...new Set(required.filter((name: Json) => typeof name === "string"))] : [];
  return new Ajv2020(options).compile({ type: "object", required: names });
}
