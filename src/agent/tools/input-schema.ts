import { Ajv, type Options, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { mapSubschemas } from "../models/subschemas.ts";
import { describe } from "./validation-issue.ts";

/** The definition of a tool is wrong; the message says where. */
export class ToolDefinitionError extends Error {
  override readonly name = "ToolDefinitionError";
}

/** The schema of a tool's input, in which objects take the properties that they name. Throws ToolDefinitionError. */
export function schemaOf(name: string, schema: object): JsonObject {
  const json = JSON.parse(JSON.stringify(schema)) as JsonObject;
  if (json["type"] !== "object") throw new ToolDefinitionError(`the inputSchema of tool ${name} must have type "object"`);
  // What several schemas describe together is closed by none of them.
  const inner = JSON.stringify(json).includes('"allOf":') ? json : mapSubschemas(json, closedObject);
  return isOpen(json) ? inner : { ...inner, additionalProperties: false };
}

/**
 * The schema, in which objects take the properties that they name and no others, unless they say so themselves. An object that names
 * none takes any, and so does one that is described by alternatives or conditions besides.
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

/** The check that a schema is one. It is made once for all tools, since to make it takes longer than to compile a tool's schema. */
const schemas = withFormats({});

/** Knows the formats of texts (date-time, email, uri, uuid, ipv4 and others), which are checked in full. */
function withFormats(options: Options): Ajv {
  return addFormats.default(new Ajv(options), { mode: "full" });
}

/** The options by which a tool's schema is compiled. The schema was checked before. */
const COMPILING = {
  useDefaults: true,
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;

/** A schema whose library checks inputs once more itself: its words may be the library's own, and its patterns have flags that JSON Schema has not. */
const CHECKED_AGAIN = { ...COMPILING, strict: false, validateFormats: false, logger: false } as const;

/** What checks inputs by a schema, and lists all problems or the first. Throws ToolDefinitionError for a schema that is none. */
export function compile<Input>(
  name: string,
  schema: JsonObject,
  problems: "all" | "first" = "all",
  isCheckedAgain = false,
): ValidateFunction<Input> {
  try {
    const read = isCheckedAgain ? withoutPatterns(schema) : schema;
    if (schemas.validateSchema(read) !== true) throw new Error(`schema is invalid: ${schemas.errorsText()}`);
    // One for each tool: what a schema refers to is looked for in that schema alone.
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

/** A default that does not fit would fail each call that leaves its parameter out. Throws ToolDefinitionError. */
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
