import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { hasMoreParts, isJsonObject, isNestedDeeper, MOST_LEVELS, type Json, type JsonObject } from "../../lib/json.ts";
import { toolSchema } from "../models/tool-schema.ts";
import { issuesOf, LISTED_PARTS, type ValidationIssue } from "../tools/input-schema.ts";

export type SchemaCheck = (value: Json) => readonly ValidationIssue[];

/** The largest schema, in characters of JSON. */
const MOST_CHARACTERS = 256 * 1024;

const MOST_ISSUES = 50;

/** The reason why a schema from outside is not usable; null if it is. */
export function schemaProblem(schema: unknown): string | null {
  if (!isJsonObject(schema)) return "is no object";
  if (schema["type"] !== "object") return 'must have type "object"';
  if (isNestedDeeper(schema, MOST_LEVELS)) return `is nested more than ${MOST_LEVELS} levels deep`;
  const characters = JSON.stringify(schema).length;
  return characters > MOST_CHARACTERS ? `has ${characters} characters: at most ${MOST_CHARACTERS}` : null;
}

/**
 * The check of values by a schema from outside, in the form that models are given: without patterns, formats and bounds,
 * which its server checks itself. So its time is linear, whatever the schema says. If references or patterns of names
 * remain, or the schema does not compile, only the fields at the top are checked. `$schema` names the dialect, 2020-12 by
 * default.
 */
export function schemaCheck(schema: JsonObject): SchemaCheck {
  const compiled = new Map<boolean, ValidateFunction>();
  return (value) => {
    const lists = !hasMoreParts(value, LISTED_PARTS);
    const validate = compiled.get(lists) ?? compile(schema, lists);
    compiled.set(lists, validate);
    return validate(value) ? [] : issuesOf(validate.errors ?? [], value).slice(0, MOST_ISSUES);
  };
}

function compile(schema: JsonObject, allErrors: boolean): ValidateFunction {
  const options: Options = { ...COMPILING, allErrors };
  const { $schema: dialect, $id: _id, id: _oldId, ...sent } = toolSchema(schema);
  if (/"(?:\$(?:ref|dynamicRef|recursiveRef)|patternProperties)":/.test(JSON.stringify(sent))) return topOf(schema, options);
  try {
    return ajvOf(dialect, options).compile(sent);
  } catch {
    return topOf(schema, options);
  }
}

const COMPILING = {
  strict: false,
  validateFormats: false,
  logger: false,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

function ajvOf(dialect: Json | undefined, options: Options): Pick<Ajv, "compile"> {
  if (typeof dialect === "string" && /draft-0[3-7]/.test(dialect)) return new Ajv(options);
  return typeof dialect === "string" && dialect.includes("2019-09") ? new Ajv2019(options) : new Ajv2020(options);
}

function topOf({ required }: JsonObject, options: Options): ValidateFunction {
  const names = Array.isArray(required) ? [...new Set(required.filter((name: Json) => typeof name === "string"))] : [];
  return new Ajv2020(options).compile({ type: "object", required: names });
}
