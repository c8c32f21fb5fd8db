import { Ajv, type Options, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { mapSubschemas } from "../models/subschemas.ts";
import { describe } from "./validation-issue.ts";

/** The definition of a tool is invalid; the message names the place. */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
}

/** The schema of a tool's input, whose objects accept only their named properties. Throws ToolDefinitionError. */
export function schemaOf(name: string, schema: object): JsonObject {
  const json = JSON.parse(JSON.stringify(schema)) as JsonObject;
  if (json["type"] !== "object") throw new ToolDefinitionError(`the inputSchema of tool ${name} must have type "object"`);
  // Combined schemas cannot be closed one by one.
  const inner = JSON.stringify(json).includes('"allOf":') ? json : mapSubschemas(json, closedObject);
  return isOpen(json) ? inner : { ...inner, additionalProperties: false };
}

/**
 * The schema, whose objects accept only their named properties, unless they say otherwise. Objects without properties,
 * or with alternatives or conditions, stay open.
 */
function closedObject(schema: JsonObject): JsonObject {
  const namesProperties = isJsonObject(schema["properties"]);
  const isComposed = ["if", "not", "dependentSchemas"].some((keyword) => keyword in schema);
  if (isComposed || (namesProperties && ("anyOf" in schema || "oneOf" in schema))) return schema;
  const inner = mapSubschemas(schema, closedObject);
  return namesProperties && !isOpen(schema) ? { ...inner, additionalProperties: false } : inner;
}

function isOpen(schema: JsonObject): boolean {
  return "additionalProperties" in schema || "unevaluatedProperties" in schema;
}

const schemas = withFormats({});

function withFormats(options: Options): Ajv {
  return addFormats.default(new Ajv(options), { mode: "full" });
}

const COMPILING = {
  useDefaults: true,
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

/**
 * For a schema whose library validates again: it may have its own keywords, and regular expression flags that JSON
 * Schema lacks.
 */
const CHECKED_AGAIN = { ...COMPILING, strict: false, validateFormats: false, logger: false } as const;

export function compile<Input>(
  name: string,
  schema: JsonObject,
  problems: "all" | "first" = "all",
  isCheckedAgain = false,
): ValidateFunction<Input> {
  try {
    const read = isCheckedAgain ? withoutPatterns(schema) : schema;
    if (schemas.validateSchema(read) !== true) throw new Error(`schema is invalid: ${schemas.errorsText()}`);
    // One for each tool: references resolve only within its schema.
    return withFormats({ ...(isCheckedAgain ? CHECKED_AGAIN : COMPILING), allErrors: problems === "all" }).compile<Input>(read);
  } catch (error) {
    throw new ToolDefinitionError(
      `the inputSchema of tool ${name} is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function withoutPatterns({ pattern: _pattern, ...schema }: JsonObject): JsonObject {
  return mapSubschemas(schema, withoutPatterns);
}

/** An invalid default would fail each call without that parameter. Throws ToolDefinitionError. */
export function checkDefaults(name: string, schema: JsonObject): void {
  if (!JSON.stringify(schema).includes('"default":')) return;
  const validate = compile(name, { ...schema, required: [] });
  if (validate({})) return;
  const problem = validate.errors?.find(({ instancePath }) => instancePath !== "");
  if (problem !== undefined)
    throw new ToolDefinitionError(
      `the default of ${problem.instancePath.slice(1).replaceAll("/", ".")} of tool ${name} does not fit: it ${describe(problem)}`,
    );
}
